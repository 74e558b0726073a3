//! What earlier phases of a task left for the next, as texts.

use std::fmt::Write as _;

use sequester_core::change::Change;
use sequester_core::context::Work;
use sequester_core::digest::Digest;
use sequester_core::id::{TaskId, TreeId};
use sequester_core::repository::Repository;
use sequester_core::run::{Because, Order};
use sequester_core::store::RunStore;
use serde_json::Value;

use super::world::Trouble;

/// Findings of the phases before, the change under test, and what speaks against it.
pub(super) fn gather(
    task: &TaskId,
    order: &Order,
    base: &TreeId,
    store: &dyn RunStore,
    repository: &dyn Repository,
) -> Result<Vec<Work>, Trouble> {
    let piece =
        |title: &str, text: String| Work { task: task.clone(), title: title.to_owned(), text };
    let mut work = Vec::new();
    for report in &order.findings {
        let (phase, text) = findings(store, report)?;
        work.push(piece(&format!("Findings of the phase {phase}"), text));
    }
    if let Some(tree) = &order.from {
        let change = repository.between(base, tree)?;
        work.push(piece("The change under test, against the task's base", show(&change)));
    }
    match &order.because {
        Some(Because::Checks(digest)) => {
            let text = String::from_utf8_lossy(&store.blob(digest)?).into_owned();
            work.push(piece("What speaks against the change; mend this and nothing else", text));
        }
        Some(Because::Judgement(report)) => {
            let (phase, text) = findings(store, report)?;
            let title = format!("What the phase {phase} found; mend this and nothing else");
            work.push(piece(&title, text));
        }
        None => {}
    }
    Ok(work)
}

/// Of a report, what a later phase is told: never the conversation that led to it.
fn findings(store: &dyn RunStore, report: &Digest) -> Result<(String, String), Trouble> {
    let value: Value = serde_json::from_slice(&store.blob(report)?).unwrap_or_default();
    let text = |key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let mut told = text("context_summary");
    for key in ["reason", "resolution"] {
        let said = text(key);
        if !said.is_empty() {
            let _ = write!(told, "\n\n{key}: {said}");
        }
    }
    if let Some(findings) = value.get("findings") {
        let _ = write!(told, "\n\n{findings:#}");
    }
    Ok((text("phase"), told))
}

/// Names and counts first, then the lines.
fn show(change: &Change) -> String {
    let mut text = String::new();
    for entry in &change.entries {
        let (added, removed) = (entry.added.unwrap_or(0), entry.removed.unwrap_or(0));
        let _ = writeln!(text, "{} +{added} -{removed}", entry.path);
    }
    text.push('\n');
    text + &change.patch
}
