//! What a task left for the project's notes.

use super::left::{Read, counted};
use crate::agent::Kept;
use crate::notes::{self, Note};
use crate::report::Report;
use crate::run::TaskRun;

/// Of the attempts that count, what they wrote on the way and what their reports say; each section once.
pub fn notes(task: &TaskRun, read: Read<'_>) -> Vec<Note> {
    let mut left = Vec::new();
    for tried in counted(task) {
        let kept = read(&tried.kept).and_then(|bytes| serde_json::from_slice::<Kept>(&bytes).ok());
        left.extend(kept.unwrap_or_default().notes);
        let report = tried.report.as_ref().and_then(read);
        let report = report.and_then(|bytes| serde_json::from_slice::<Report>(&bytes).ok());
        left.extend(report.map(|report| report.notes).unwrap_or_default());
    }
    notes::joined(&left)
}
