//! What earlier phases of a task left for the next, as texts.

use sequester_core::context::Work;
use sequester_core::digest::Digest;
use sequester_core::id::{TaskId, TreeId};
use sequester_core::report;
use sequester_core::repository::Repository;
use sequester_core::run::{Because, Order};
use sequester_core::store::RunStore;

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
        work.push(piece("The change under test, against the task's base", change.show()));
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

fn findings(store: &dyn RunStore, report: &Digest) -> Result<(String, String), Trouble> {
    Ok(report::told(&store.blob(report)?))
}
