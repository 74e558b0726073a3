//! What earlier phases of a task left for the next, as texts.

use std::collections::BTreeMap;

use sequester_core::context::Work;
use sequester_core::digest::Digest;
use sequester_core::evidence::{self, Evidence};
use sequester_core::id::TreeId;
use sequester_core::report::{self, Report};
use sequester_core::repository::Repository;
use sequester_core::run::{Because, Order, TaskSpec};
use sequester_core::store::RunStore;

use super::world::Trouble;

/// Reports of the phases before, what the checks said of the change, what speaks against it, and the change itself.
pub(super) fn gather(
    spec: &TaskSpec,
    order: &Order,
    base: &TreeId,
    store: &dyn RunStore,
    repository: &dyn Repository,
) -> Result<Vec<Work>, Trouble> {
    let piece = |title: &str, text: String| Work {
        task: spec.id.clone(),
        title: title.to_owned(),
        text,
        is_change: false,
    };
    let mut work = Vec::new();
    for digest in &order.findings {
        let report = read(store, digest)?;
        let title = format!("Report of the phase {}", report.phase());
        work.push(piece(&title, report::excerpt(&report)));
    }
    if let Some(digest) = &order.evidence {
        work.push(piece("The checks that the runtime ran on the change", results(store, digest)?));
    }
    for because in &order.because {
        match because {
            Because::Checks(digest) => {
                let text = String::from_utf8_lossy(&store.blob(digest)?).into_owned();
                work.push(piece(
                    "What speaks against the change; mend this and nothing else",
                    text,
                ));
            }
            Because::Judgement(digest) => {
                let report = read(store, digest)?;
                let title =
                    format!("What the phase {} found; mend this and nothing else", report.phase());
                work.push(piece(&title, report::objection(&report)));
            }
        }
    }
    if let Some(tree) = &order.from {
        let change = repository.between(base, tree)?;
        let is_named = |path: &str| spec.files.iter().any(|file| file.path == path);
        let text =
            if order.phase.changes_files() { change.show_beside(is_named) } else { change.show() };
        let shown = piece(Work::CHANGE_TITLE, text);
        work.push(Work { is_change: true, ..shown });
    }
    Ok(work)
}

fn read(store: &dyn RunStore, digest: &Digest) -> Result<Report, Trouble> {
    serde_json::from_slice(&store.blob(digest)?).map_err(|error| unreadable("A report", &error))
}

fn results(store: &dyn RunStore, digest: &Digest) -> Result<String, Trouble> {
    let evidence: Evidence = serde_json::from_slice(&store.blob(digest)?)
        .map_err(|error| unreadable("The evidence", &error))?;
    let mut outputs: BTreeMap<Digest, String> = BTreeMap::new();
    for output in evidence.checks.iter().filter_map(|check| check.output.as_ref()) {
        let text = String::from_utf8_lossy(&store.blob(output)?).into_owned();
        outputs.insert(output.clone(), text);
    }
    Ok(evidence::check_results(&evidence, &outputs))
}

fn unreadable(what: &str, error: &serde_json::Error) -> Trouble {
    Trouble::Crew {
        message: format!("{what} of an earlier phase cannot be read: {error}."),
        hint: "Start the task again with `sequester resume RUN --retry TASK`.".to_owned(),
    }
}
