//! Which tasks are done, and whether what they left for the project's notes is in their file.

use super::event::Ended;
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
    pub fn is_done(&self) -> bool {
        self.ended.as_ref().is_some_and(|ended| ended.state == Ended::Done)
    }

    /// Done again, it leaves something else.
    fn is_noted(&self) -> bool {
        self.noted == self.ended_at
    }
}
