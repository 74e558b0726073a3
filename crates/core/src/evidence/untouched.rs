//! What a change leaves alone: files that the plan's prose mentions, or everything. Of the files it is only said.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::deliverable::plain;
use super::{Input, quoted};
use crate::plan::{Action, fits_path};
use crate::report::{Conclusion, Findings, Report};
use crate::run::FileSpec;

/// A file that the plan names and that the change does not touch.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct UntouchedHint {
    pub path: String,
    pub presence: HintPresence,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HintPresence {
    There,
    NotThere,
}

impl UntouchedHint {
    /// For people and for the reviewer.
    pub fn sentence(&self) -> String {
        let path = quoted(&self.path);
        match self.presence {
            HintPresence::There => {
                format!("the plan names {path}, which this change does not touch")
            }
            HintPresence::NotThere => format!("the plan names {path}, which is not there"),
        }
    }
}

/// Only files that are to be written: whoever reads one leaves no trace of it.
pub(super) fn hints(input: &Input<'_>) -> Vec<UntouchedHint> {
    let hints = input.task.hints.iter().map(|hint| &hint.0);
    // Where nothing was changed at all, that is what is said of declared files.
    let is_idle = input.change.entries.is_empty();
    let is_change = |file: &&FileSpec| !matches!(file.action, Action::Create | Action::Delete);
    let declared = input.task.files.iter().filter(|file| !is_idle && is_change(file));
    let untouched = declared
        .chain(hints)
        .filter(|file| file.action.writes())
        .map(|hint| plain(&hint.path))
        .filter(|path| !input.change.entries.iter().any(|entry| touches(&entry.path, path)));
    let found = untouched.map(|path| UntouchedHint {
        path: path.to_owned(),
        presence: if (input.mentioned)(path) {
            HintPresence::There
        } else {
            HintPresence::NotThere
        },
    });
    found.collect::<BTreeSet<_>>().into_iter().collect()
}

/// Whether a changed file is the one that is named, or lies in the directory that is named.
fn touches(changed: &str, named: &str) -> bool {
    fits_path(named, changed)
        || changed.strip_prefix(named).is_some_and(|below| below.starts_with('/'))
}

/// A writer that reports complete and changed nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EmptyChange {
    /// Why no change was needed, in the words of its report.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

const NO_REASON: &str = "Nothing was changed, and the report does not say why. Make the change; if none is needed, give the reason in `issues`.";

const FALSE_CLAIM: &str =
    "Nothing was changed, and the report names changed files. Make the change, or report none.";

/// What speaks against a change of nothing.
pub(super) fn no_reason(input: &Input<'_>) -> String {
    let claims = input.report.is_some_and(|report| !claimed_files(report).is_empty());
    if claims { FALSE_CLAIM } else { NO_REASON }.to_owned()
}

fn claimed_files(report: &Report) -> &[String] {
    match &report.findings {
        Findings::Write(change) | Findings::Execute(change) => &change.files_changed,
        _ => &[],
    }
}

/// Nothing where something was changed, or where the task need not change anything.
pub(super) fn empty_change(input: &Input<'_>) -> Option<EmptyChange> {
    let report = input.report.filter(|report| report.verdict == Conclusion::Proceed)?;
    if !matches!(report.findings, Findings::Write(_) | Findings::Execute(_)) {
        return None;
    }
    let claimed = claimed_files(report);
    let wording = input.task.wording();
    // Declared files speak for themselves, but those of tests that a task only runs.
    let declares = input.task.files.iter().any(|file| match file.action {
        Action::Test => !wording.may_change_nothing,
        action => action.writes(),
    });
    if !input.change.entries.is_empty() || declares {
        return None;
    }
    if wording.may_change_nothing {
        // A file that is not in the tree may be one that git ignores.
        let is_false = claimed.iter().any(|path| (input.exists)(plain(path)));
        return is_false.then_some(EmptyChange { reason: None });
    }
    let summary = Some(report.context_summary.trim().to_owned());
    let summary = summary.filter(|text| wording.is_conditional && !text.is_empty());
    let reason = reason(report).or(summary).filter(|_| claimed.is_empty());
    Some(EmptyChange { reason })
}

/// An issue, a note of its review, or a summary that says so.
fn reason(report: &Report) -> Option<String> {
    let notes = report.self_review.iter().filter_map(|one| one.note.as_ref());
    let summary = Some(&report.context_summary).filter(|text| says_why(text));
    let mut said = report.issues.iter().chain(notes).chain(summary);
    said.find(|text| !text.trim().is_empty()).map(|text| text.trim().to_owned())
}

/// Whether a text says that there was nothing to change. Of whoever says that something was done, it is not taken for a reason.
fn says_why(text: &str) -> bool {
    let lower = text.to_lowercase();
    WHYS.iter().any(|why| lower.contains(why))
}

const WHYS: [&str; 26] = [
    "nothing was changed",
    "nothing changed",
    "there are none",
    "there is none",
    "found none",
    "finds none",
    "none found",
    "none exist",
    "is not present",
    "does not exist",
    "do not exist",
    "does not apply",
    "already",
    "no change",
    "no changes",
    "nothing to change",
    "nothing to do",
    "no edit",
    "not needed",
    "no modification",
    "not necessary",
    "not required",
    "unnecessary",
    "read-only",
    "no code change",
    "unchanged",
];
