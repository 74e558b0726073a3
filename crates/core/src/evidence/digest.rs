//! What a fix attempt is told of the failing checks. Made by code, so that nothing of the conversation before gets in.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt::Write as _;

use super::{Checked, Evidence};
use crate::check::{without_colour, without_times};
use crate::context::fence;
use crate::digest::Digest;
use crate::report::Report;
use crate::tokens;

/// Most that a digest has.
pub const TOKENS: usize = 2_000;
/// The same of what a person is shown beside a question.
const GIST: usize = 500;
/// Headings and fences of a check.
const AROUND: usize = 100;
/// Least that is worth showing of an output.
const LEAST: usize = 120;
const LINE_BYTES: usize = 300;
/// Lines that are looked at closer.
const MOST_LINES: usize = 120;

/// At most [`TOKENS`]: what speaks against the change, then of each failing check the lines that tell the most.
/// `outputs` has what the checks printed, by their digests. Nothing if nothing speaks against it.
pub fn digest(evidence: &Evidence, outputs: &BTreeMap<Digest, String>) -> String {
    within(TOKENS, evidence, outputs)
}

/// The same in short, for a person: with the report's words where nothing was changed, and the claims that the runtime saw otherwise.
pub fn gist(
    evidence: &Evidence,
    outputs: &BTreeMap<Digest, String>,
    report: Option<&Report>,
) -> String {
    let mut text = within(GIST, evidence, outputs);
    if let Some(report) = report.filter(|_| evidence.files_changed.is_empty()) {
        let summary = tokens::head(report.context_summary.trim(), GIST / 4);
        let _ = writeln!(text, "\nIts report says: {summary}");
    }
    if !evidence.contradictions.is_empty() {
        text += "\nWhat its report claims and the runtime saw otherwise:\n\n";
        let told = evidence.contradictions.iter().map(String::as_str);
        list(&mut text, told, GIST / 4);
    }
    text
}

fn within(most: usize, evidence: &Evidence, outputs: &BTreeMap<Digest, String>) -> String {
    if evidence.passed() {
        return String::new();
    }
    let mut text = "What speaks against the change:\n\n".to_owned();
    list(&mut text, evidence.fails.iter().map(|one| one.sentence.as_str()), most / 4);
    let failing: Vec<&Checked> = evidence.checks.iter().filter(|check| check.held).collect();
    for (at, check) in failing.iter().enumerate() {
        let left = most.saturating_sub(tokens::count(&text));
        let share = (left / (failing.len() - at)).saturating_sub(AROUND);
        if share < LEAST && at > 0 {
            let _ = writeln!(text, "\nThe output of {} more is left out.", failing.len() - at);
            break;
        }
        let output = check.output.as_ref().and_then(|output| outputs.get(output));
        show(check, output.map_or("", String::as_str), share, &mut text);
    }
    tokens::head(&text, most).to_owned()
}

/// As many as fit, the rest counted.
fn list<'a>(text: &mut String, told: impl ExactSizeIterator<Item = &'a str>, most: usize) {
    let (count, mut spent) = (told.len(), 0);
    for (at, sentence) in told.enumerate() {
        spent += tokens::count(sentence) + 4;
        if spent > most {
            let _ = writeln!(text, "- And {} more.", count - at);
            break;
        }
        let _ = writeln!(text, "- {sentence}");
    }
}

fn show(check: &Checked, output: &str, share: usize, text: &mut String) {
    let command = super::quoted(check.command.as_deref().unwrap_or_default());
    let code = check.code.map_or_else(String::new, |code| format!(", exit code {code}"));
    let _ = write!(text, "\n## {}: {command}{code}", check.kind);
    if let Some(counts) = check.counts {
        let _ = write!(
            text,
            ", {} passed, {} failed, {} skipped",
            counts.passed, counts.failed, counts.skipped
        );
    }
    let lines = telling(output, share);
    if lines.is_empty() {
        text.push_str("\n\nIt printed nothing.\n");
    } else {
        let fence = fence(&lines);
        let _ = writeln!(text, "\n\n{fence}text\n{lines}{fence}");
    }
}

/// Lines that name an error or a place in the code, then the end, in `share` tokens. Half is the end's, and what the one
/// does not need is the other's.
pub(super) fn telling(output: &str, share: usize) -> String {
    let (mut named, mut end) = (Vec::new(), VecDeque::new());
    let mut seen = BTreeSet::new();
    for (at, line) in output.lines().enumerate() {
        let line = &line[..line.floor_char_boundary(LINE_BYTES)];
        let line = without_colour(line).replace(|c: char| c.is_control() && c != '\t', "");
        let line = without_times(line.trim_end());
        if line.is_empty() {
            continue;
        }
        if named.len() < MOST_LINES && tells(&line) && seen.insert(line.clone()) {
            named.push((at, line.clone()));
        }
        end.push_back((at, line));
        if end.len() > MOST_LINES {
            end.pop_front();
        }
    }
    let cost = |line: &str| tokens::count(line) + 1;
    let fit = |lines: &mut dyn Iterator<Item = (usize, String)>, most: usize| {
        let mut spent = 0;
        let kept: Vec<(usize, String)> = lines
            .take_while(|(_, line)| {
                spent += cost(line);
                spent <= most
            })
            .collect();
        let spent: usize = kept.iter().map(|(_, line)| cost(line)).sum();
        (kept, spent)
    };
    let (_, whole_end) = fit(&mut end.iter().rev().cloned(), share / 2);
    let (named, spent) = fit(&mut named.into_iter(), share - whole_end);
    let shown: BTreeSet<usize> = named.iter().map(|(at, _)| *at).collect();
    let rest = end.into_iter().rev().filter(|(at, _)| !shown.contains(at));
    let (mut end, _) = fit(&mut { rest }, share - spent);
    end.reverse();
    let mut text = String::new();
    let mut before = None;
    for (at, line) in named.into_iter().chain(end) {
        if before.is_some_and(|before| at != before + 1) && !text.ends_with("...\n") {
            text.push_str("...\n");
        }
        before = Some(at);
        text.push_str(&line);
        text.push('\n');
    }
    text
}

/// Whether a line names an error, or a place in the project's own code.
pub(super) fn tells(line: &str) -> bool {
    const STARTS: [&str; 15] = [
        "error",
        "fail",
        "fatal",
        "e  ",
        "panic",
        "thread '",
        "assert",
        "traceback",
        "exception",
        "not ok",
        "--- fail",
        "✗",
        "✕",
        "×",
        "●",
    ];
    const INSIDE: [&str; 4] = ["error:", "error[", "error ts", "exception:"];
    const FOREIGN: [&str; 4] = ["node_modules/", "site-packages/", "/rustc/", "registry/src/"];
    let lower = line.trim_start().to_lowercase();
    if FOREIGN.iter().any(|folder| lower.contains(folder)) {
        return false;
    }
    let error = STARTS.iter().any(|start| lower.starts_with(start))
        || INSIDE.iter().any(|word| lower.contains(word));
    error || (names_place(line) && !lower.contains("warning"))
}

/// `src/a.rs:3`, `a.ts(3,5)`, `File "a.py", line 3`.
fn names_place(line: &str) -> bool {
    let marked = line.match_indices([':', '(']).any(|(at, _)| {
        let number = line[at + 1..].starts_with(|c: char| c.is_ascii_digit());
        let word = line[..at].rsplit([' ', '"', '\'', '(', '`']).next().unwrap_or("");
        let ending = word.rsplit_once('.').map_or("", |(_, ending)| ending);
        number
            && (1..=6).contains(&ending.len())
            && ending.starts_with(|c: char| c.is_ascii_alphabetic())
            && ending.bytes().all(|byte| byte.is_ascii_alphanumeric())
    });
    marked || line.contains("\", line ")
}
