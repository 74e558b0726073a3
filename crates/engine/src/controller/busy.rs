//! What is under way for which task, and the numbers that attempts get.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use sequester_core::id::TaskId;
use sequester_core::run::{Effect, Ended, TaskEnded};

/// Tasks with effects under way.
#[derive(Default)]
pub(super) struct BusyTasks {
    /// How many each has.
    pub(super) counts: BTreeMap<TaskId, usize>,
    /// How those end that cannot go on.
    lost: BTreeMap<TaskId, TaskEnded>,
}

impl BusyTasks {
    pub(super) fn add(&mut self, task: &TaskId) {
        *self.counts.entry(task.clone()).or_default() += 1;
    }

    pub(super) fn remove(&mut self, task: &TaskId) {
        if let Some(count) = self.counts.get_mut(task) {
            *count -= 1;
            if *count == 0 {
                self.counts.remove(task);
            }
        }
    }

    /// The task ends by this once nothing is under way for it: attempts side by side come to their own end.
    pub(super) fn lose(&mut self, task: TaskId, message: String, hint: String) {
        let resolution = Some(hint).filter(|hint| !hint.is_empty());
        let ended = TaskEnded { resolution, ..TaskEnded::new(Ended::Failed, Some(message)) };
        self.lost.entry(task).or_insert(ended);
    }

    pub(super) fn take_lost(&mut self) -> BTreeMap<TaskId, TaskEnded> {
        let (busy, idle) = std::mem::take(&mut self.lost)
            .into_iter()
            .partition(|(task, _)| self.counts.contains_key(task));
        self.lost = busy;
        idle
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
