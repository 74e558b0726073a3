//! Notes without a file.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};

use sequester_core::id::{RunId, TaskId};
use sequester_core::notes::{BYTES, Note, Notebook, Notes};

/// All clones share one text.
#[derive(Clone, Default)]
pub struct MemoryNotes {
    text: Arc<Mutex<String>>,
    gate: Arc<Mutex<Option<Receiver<()>>>>,
    refusals: Arc<AtomicU32>,
}

impl MemoryNotes {
    /// As a full disk does, so many times.
    pub fn refuse(&self, times: u32) {
        self.refusals.store(times, Ordering::Relaxed);
    }

    /// Whoever merges next waits until what this gives is dropped.
    pub fn hold(&self) -> Sender<()> {
        let (held, gate) = channel();
        *self.gate.lock().unwrap_or_else(PoisonError::into_inner) = Some(gate);
        held
    }
}

impl Notebook for MemoryNotes {
    fn read(&self) -> Result<String, String> {
        Ok(self.text.lock().unwrap_or_else(PoisonError::into_inner).clone())
    }

    fn merge(&self, run: &RunId, task: &TaskId, notes: &[Note]) -> Result<Vec<String>, String> {
        let gate = self.gate.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(gate) = gate {
            let _ = gate.recv();
        }
        let less = |times: u32| times.checked_sub(1);
        if self.refusals.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).is_ok() {
            return Err("The disk is full.".to_owned());
        }
        let mut text = self.text.lock().unwrap_or_else(PoisonError::into_inner);
        let mut file = Notes::parse(&text);
        file.settle(run, task, notes);
        let told = file.compact(BYTES);
        *text = file.render();
        Ok(told)
    }
}
