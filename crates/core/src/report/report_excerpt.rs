//! What a later phase is told of a report: its summary and a bounded part of its findings, never the conversation behind it.

use std::borrow::Cow;
use std::fmt::Write as _;

use super::finding_list::FindingList;
use super::{Conclusion, Findings, Report, SUMMARY_TOKENS};
use crate::tokens;

/// Of the findings that pass from one phase to the next.
pub const FINDINGS_TOKENS: usize = 1_000;
/// Of the findings that an attempt has to mend.
pub const OBJECTION_TOKENS: usize = 2_000;
/// Of one finding.
const ITEM_TOKENS: usize = 200;
/// Said of findings that have no room, where the reader can ask for them, and where not.
const RECALLABLE: &str = "more findings are not shown. Ask for them with `recall`.";
const LEFT_OUT: &str = "more findings are not shown.";

/// What a later phase of the task builds on. A plan's steps pass whole.
pub fn excerpt(report: &Report) -> String {
    let most = match report.findings {
        Findings::Plan(_) => usize::MAX,
        _ => FINDINGS_TOKENS,
    };
    told(report, most, RECALLABLE)
}

/// What speaks against a change, for the attempt that mends it.
pub fn objection(report: &Report) -> String {
    told(report, OBJECTION_TOKENS, LEFT_OUT)
}

/// The findings alone, numbered, for another subagent that waits for this report.
pub fn numbered(report: &Report, most: usize) -> String {
    render(&report.findings.lists(), most, LEFT_OUT)
}

fn told(report: &Report, most: usize, rest: &str) -> String {
    let mut text = report.context_summary.trim().to_owned();
    if let Conclusion::Stop { reason, resolution, .. } = &report.verdict {
        let _ = write!(text, "\n\nreason: {}", cut(reason, SUMMARY_TOKENS));
        if let Some(resolution) = resolution {
            let _ = write!(text, "\n\nresolution: {}", cut(resolution, SUMMARY_TOKENS));
        }
    }
    let findings = render(&report.findings.lists(), most, rest);
    if !findings.is_empty() {
        let _ = write!(text, "\n\n{findings}");
    }
    text
}

fn cut(text: &str, most: usize) -> Cow<'_, str> {
    let head = if most == usize::MAX { text } else { tokens::head(text, most) };
    if head.len() == text.len() { text.into() } else { format!("{head} …").into() }
}

/// The first of each list, then the second of each, as far as they fit; what has no room is counted.
fn render(lists: &[FindingList], most: usize, rest: &str) -> String {
    let cost = |text: &str| tokens::count(text) + 6;
    let longest = if most == usize::MAX { usize::MAX } else { ITEM_TOKENS };
    let line = |item: &str| {
        let line = item.split_whitespace().collect::<Vec<_>>().join(" ");
        cut(&line, longest).into_owned()
    };
    let mut shown: Vec<Vec<String>> = vec![Vec::new(); lists.len()];
    let mut left = most.saturating_sub(lists.iter().map(|list| cost(&list.name)).sum());
    let rounds = lists.iter().map(|list| list.items.len()).max().unwrap_or(0);
    'full: for round in 0..rounds {
        for (list, shown) in lists.iter().zip(&mut shown) {
            let Some(item) = list.items.get(round) else { continue };
            let item = line(item);
            let Some(rest) = left.checked_sub(cost(&item)) else { break 'full };
            left = rest;
            shown.push(item);
        }
    }
    let mut text = String::new();
    for (list, shown) in lists.iter().zip(&shown).filter(|(_, shown)| !shown.is_empty()) {
        let _ = writeln!(text, "{}:", list.name);
        for (number, item) in (1..).zip(shown) {
            let _ = writeln!(text, "{number}. {item}");
        }
    }
    let all: usize = lists.iter().map(|list| list.items.len()).sum();
    let more = all - shown.iter().map(Vec::len).sum::<usize>();
    if more > 0 {
        let _ = writeln!(text, "({more} {rest})");
    }
    text.truncate(text.trim_end().len());
    text
}
