//! What is under way for which task, and the numbers that attempts get.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use sequester_core::id::TaskId;
use sequester_core::run::Effect;

/// Tasks with effects under way, and how many.
#[derive(Default)]
pub(super) struct BusyTasks(pub(super) BTreeMap<TaskId, usize>);

impl BusyTasks {
    pub(super) fn add(&mut self, task: &TaskId) {
        *self.0.entry(task.clone()).or_default() += 1;
    }

    pub(super) fn remove(&mut self, task: &TaskId) {
        if let Some(count) = self.0.get_mut(task) {
            *count -= 1;
            if *count == 0 {
                self.0.remove(task);
            }
        }
    }
}

/// Numbers of attempts that are about to begin: a subagent that another one asks for takes none of them.
#[derive(Default)]
pub(super) struct AttemptNumbers(Mutex<BTreeMap<TaskId, u32>>);

impl AttemptNumbers {
    pub(super) fn reserve(&self, effect: &Effect) {
        if let Effect::Attempt { task, number, .. } = effect {
            let mut given = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            given.insert(task.clone(), *number);
        }
    }

    /// The next one of a task that has begun so many.
    pub(super) fn next(&self, task: &TaskId, begun: u32) -> u32 {
        let given = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        given.get(task).copied().unwrap_or(0).max(begun) + 1
    }
}
