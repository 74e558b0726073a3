//! Which records a task made use of: those that it was shown or recalled, and cited or whose files it touched.

use std::collections::BTreeSet;

use super::Record;
use super::left::{Read, touched};
use super::lineage::{counted, kept_by};
use crate::context::Manifest;
use crate::run::{TaskRun, Tried};

/// What a done task was shown, and what it did then.
#[derive(Debug)]
pub(super) struct Shown {
    /// Of records, in order, each once.
    pub(super) ids: BTreeSet<String>,
    /// Those that its reports name.
    cited: BTreeSet<String>,
    paths: BTreeSet<String>,
}

/// By what was recorded of the attempts that count.
pub(super) fn shown(task: &TaskRun, read: Read<'_>) -> Shown {
    let (mut ids, mut reports) = (BTreeSet::new(), Vec::<String>::new());
    for tried in counted(task) {
        let seen = seen_by(tried, read);
        if !seen.is_empty() {
            let report = tried.report.as_ref().and_then(read);
            reports.extend(report.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()));
        }
        ids.extend(seen);
    }
    let paths = if ids.is_empty() { Vec::new() } else { touched(task, read) };
    let is_cited = |id: &&String| reports.iter().any(|report| cites(report, id));
    let cited = ids.iter().filter(is_cited).cloned().collect();
    Shown { ids, cited, paths: paths.into_iter().collect() }
}

/// Ids of the records that an attempt had before it: in its context, and by `recall`.
fn seen_by(tried: &Tried, read: Read<'_>) -> BTreeSet<String> {
    let manifest = read(&tried.manifest).and_then(|bytes| serde_json::from_slice(&bytes).ok());
    let manifest: Manifest = manifest.unwrap_or_default();
    let recalled = kept_by(tried, read).map(|kept| kept.recalled).unwrap_or_default();
    manifest.records().map(str::to_owned).chain(recalled).collect()
}

/// The id of a record and its task, of what a manifest calls its source.
pub fn named(source: &str) -> Option<(&str, &str)> {
    source.strip_prefix("record ")?.rsplit_once(" of task ")
}

impl Shown {
    pub(super) fn uses(&self, record: &Record) -> bool {
        let touches = record.paths.iter().any(|path| self.paths.contains(path));
        touches || self.cited.contains(&*record.id)
    }
}

/// Whether a text names an id, and not a longer one that has it in it.
fn cites(text: &str, id: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || "-_./".contains(c);
    text.match_indices(id).any(|(at, _)| {
        let (before, behind) = (&text[..at], &text[at + id.len()..]);
        // A sentence may end with it.
        let behind = behind.strip_prefix('.').unwrap_or(behind);
        !before.ends_with(is_part) && !behind.starts_with(is_part)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_cited_where_it_stands_by_itself() {
        for (text, wanted) in [
            ("By \"1/summary\" it is so.", true),
            ("As in 1/summary.", true),
            ("1/summary", true),
            ("11/summary", false),
            ("a.1/summary", false),
            ("1/summary-2", false),
            ("1/summar", false),
        ] {
            assert_eq!(cites(text, "1/summary"), wanted, "{text}");
        }
    }

    #[test]
    fn a_source_names_the_record_and_its_task() {
        assert_eq!(
            named("record a of task b/summary of task a of task b").map(|one| one.1),
            Some("b")
        );
        assert_eq!(named("record 1/summary of task 1"), Some(("1/summary", "1")));
        assert_eq!(named("task 1"), None);
    }
}
