//! The port to the file.

use super::Note;
use crate::id::{RunId, TaskId};

/// The notes of a project on its disk. What cannot be done is said in a sentence and is no reason for a run to end.
pub trait Notebook: Send + Sync {
    /// As they stand now; empty where there are none.
    fn read(&self) -> Result<String, String>;

    /// Puts what a task left into the file, all of it or nothing, durably, in the place of all that it had there. Others may write at
    /// the same time, and people may save: nobody's line is lost. To do it again changes nothing. Answers with what there is to say.
    fn merge(&self, run: &RunId, task: &TaskId, notes: &[Note]) -> Result<Vec<String>, String>;
}
