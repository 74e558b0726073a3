//! How many connections there are at once.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

pub(super) struct Slots {
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    free: usize,
    is_closed: bool,
}

/// A place for one connection, free again when it is dropped.
pub(super) struct Slot(Arc<Slots>);

impl Slots {
    pub(super) fn new(count: usize) -> Arc<Self> {
        Arc::new(Self {
            state: Mutex::new(State { free: count, is_closed: false }),
            changed: Condvar::new(),
        })
    }

    /// Waits until one is free. None once it is over.
    pub(super) fn take(self: &Arc<Self>) -> Option<Slot> {
        let is_full = |state: &mut State| state.free == 0 && !state.is_closed;
        let state = self.changed.wait_while(self.lock(), is_full);
        let mut state = state.unwrap_or_else(PoisonError::into_inner);
        if state.is_closed {
            return None;
        }
        state.free -= 1;
        Some(Slot(Arc::clone(self)))
    }

    pub(super) fn close(&self) {
        self.lock().is_closed = true;
        self.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.0.lock().free += 1;
        self.0.changed.notify_one();
    }
}
