//! What a task left for the project's notes.

use super::left::Read;
use super::lineage::{kept_by, lineage};
use crate::notes::{self, Note};
use crate::report::Report;
use crate::run::TaskRun;

/// Of the attempts that count and those that they mended, what they wrote on the way and what their reports say; each section once.
pub fn notes(task: &TaskRun, read: Read<'_>) -> Vec<Note> {
    let mut left = Vec::new();
    for tried in lineage(task) {
        left.extend(kept_by(tried, read).unwrap_or_default().notes);
        let report = tried.report.as_ref().and_then(read);
        let report = report.and_then(|bytes| serde_json::from_slice::<Report>(&bytes).ok());
        left.extend(report.map(|report| report.notes).unwrap_or_default());
    }
    notes::joined(&left)
}
