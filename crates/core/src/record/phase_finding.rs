//! Findings of earlier phases of a task that its later phases can ask for, beyond what their contexts show.

use std::sync::Arc;

use super::{Chosen, Kind, Record};
use crate::id::TaskId;
use crate::recall::{Entry, Index, Query, Relevance, Seen};
use crate::report::{Report, SUMMARY_TOKENS};
use crate::secret::redact;
use crate::tokens;

/// Each finding of a report as a record of its own. They pass from phase to phase, never from task to task.
/// `place` is that of the report among those that an attempt builds on, from 1: two steps may have one phase.
pub fn phase_findings(task: &TaskId, place: usize, report: &Report) -> Vec<Record> {
    let phase = report.phase();
    let lists = report.findings.lists().into_iter();
    let items = lists.flat_map(|list| {
        (1..)
            .zip(list.items)
            .map(move |(number, item): (usize, String)| (list.name.clone(), number, item))
    });
    let records = items.map(|(list, number, item)| Record {
        id: format!("{task}/{place}-{phase}/{}-{number}", list.replace(' ', "-")).into(),
        task: task.clone(),
        kind: Kind::Finding,
        title: format!("{phase}: {list}"),
        text: redact(tokens::head(item.trim(), SUMMARY_TOKENS)).text.into_owned(),
        paths: Vec::new(),
        refs: Vec::new(),
        label: String::new(),
    });
    records.collect()
}

/// Those that a question is about, the best first.
pub fn rank_findings(findings: Vec<Record>, text: &str, most: usize) -> Vec<Chosen> {
    let mut index = Index::default();
    for Record { title, text, paths, .. } in &findings {
        index.add(&Entry { title, summary: text, paths });
    }
    let seen: Vec<Seen> = (0..findings.len()).map(|at| Seen { at, age: 1, uses: 0 }).collect();
    let ranked = index.rank(&Query { text, paths: &[] }, &seen, Relevance::Words);
    let findings: Vec<Arc<Record>> = findings.into_iter().map(Arc::new).collect();
    let chosen = ranked.into_iter().take(most).map(|one| Chosen {
        record: Arc::clone(&findings[one.at]),
        score: Some(one.score),
        why: one.why,
    });
    chosen.collect()
}
