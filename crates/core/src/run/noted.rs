//! What done tasks left for the project's notes, and whether it is in their file.

use super::state::{RunState, TaskRun};
use crate::id::TaskId;

impl RunState {
    /// Done tasks whose notes are not in the file yet, as far as anybody knows.
    pub fn unnoted(&self) -> Vec<TaskId> {
        let open = self.tasks.iter().filter(|task| task.is_done() && !task.is_noted());
        open.map(|task| task.spec.id.clone()).collect()
    }
}

impl TaskRun {
    /// Done again, it leaves something else.
    fn is_noted(&self) -> bool {
        self.noted == self.ended_at
    }
}
