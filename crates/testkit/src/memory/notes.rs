//! Notes without a file.

use std::sync::{Arc, Mutex, PoisonError};

use sequester_core::id::{RunId, TaskId};
use sequester_core::notes::{BYTES, Note, Notebook, Notes};

/// All clones share one text.
#[derive(Clone, Default)]
pub struct MemoryNotes {
    text: Arc<Mutex<String>>,
}

impl Notebook for MemoryNotes {
    fn read(&self) -> Result<String, String> {
        Ok(self.text.lock().unwrap_or_else(PoisonError::into_inner).clone())
    }

    fn merge(&self, run: &RunId, task: &TaskId, notes: &[Note]) -> Result<Vec<String>, String> {
        let mut text = self.text.lock().unwrap_or_else(PoisonError::into_inner);
        let mut file = Notes::parse(&text);
        for note in notes {
            file.merge(note, run, task);
        }
        let told = file.compact(BYTES);
        *text = file.render();
        Ok(told)
    }
}
