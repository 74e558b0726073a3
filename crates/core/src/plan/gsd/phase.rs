//! The plans of a phase directory, joined to one text and parted again.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::ops::Range;

use super::super::lines::Lines;
use crate::fault::Fault;

const DONE_MARK: &str = " (done)";

/// A plan of a phase directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PhasePlan {
    pub file_name: String,
    pub text: String,
    /// Its summary lies beside it.
    pub done: bool,
}

/// The plans of a phase directory as one text, in the order of their names.
pub fn join_phase(mut plans: Vec<PhasePlan>) -> String {
    plans.sort_by(|one, two| one.file_name.cmp(&two.file_name));
    // The line before each plan has more or fewer blanks than any line of a plan that looks like it.
    let lines = plans.iter().flat_map(|plan| plan.text.lines());
    let used: BTreeSet<usize> = lines.filter_map(|line| Some(file_mark(line)?.0)).collect();
    let width = (1..=used.len() + 1).find(|width| !used.contains(width)).unwrap_or(1);
    let mut joined = String::new();
    for PhasePlan { file_name, text, done } in plans {
        let mark = if done { DONE_MARK } else { "" };
        // Writing to a string cannot fail.
        let _ = write!(joined, "<!--{:width$}plan file: {file_name}{mark} -->\n{text}", "");
        if !joined.ends_with('\n') {
            joined.push('\n');
        }
    }
    joined
}

/// The blanks of a line that begins a plan, and what stands behind its words.
fn file_mark(line: &str) -> Option<(usize, &str)> {
    let inner = line.strip_prefix("<!--")?;
    let words = inner.trim_start_matches(' ');
    Some((inner.len() - words.len(), words.strip_prefix("plan file: ")?))
}

/// One plan of the text.
pub(in super::super) struct Part {
    /// Of its file; empty where the text is one file.
    pub(super) name: String,
    pub(super) done: bool,
    pub(super) range: Range<usize>,
}

/// The plans of a text; none where it is not joined from files.
pub(in super::super) fn joined_parts(source: &str) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    let Some((width, _)) = source.lines().next().and_then(file_mark) else { return parts };
    let mut at = 0;
    for line in source.split_inclusive('\n') {
        let start = at;
        at += line.len();
        let mark = file_mark(line.trim_end()).filter(|(blanks, _)| *blanks == width);
        let Some(named) = mark.and_then(|(_, rest)| rest.strip_suffix(" -->")) else { continue };
        if let Some(before) = parts.last_mut() {
            before.range.end = start;
        }
        let open = named.strip_suffix(DONE_MARK);
        let (name, done) = (open.unwrap_or(named).to_owned(), open.is_some());
        parts.push(Part { name, done, range: at..source.len() });
    }
    parts
}

/// Names the files in the faults of a joined text, for the person knows no other lines than theirs.
pub(in super::super) fn name_files<'a>(source: &str, faults: impl Iterator<Item = &'a mut Fault>) {
    let (parts, lines) = (joined_parts(source), Lines::new(source));
    let first = |part: &Part| lines.place(part.range.start).line;
    for fault in faults {
        let behind = parts.partition_point(|part| first(part) <= fault.place.line);
        if let Some(part) = behind.checked_sub(1).map(|part| &parts[part]) {
            let line = fault.place.line - first(part) + 1;
            fault.message = format!("In `{}`, line {line}: {}", part.name, fault.message);
        }
    }
}
