//! What an attempt that judges a change is told of the checks: the commands, how they ended, what they printed.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::digest::telling;
use super::{Checked, EmptyChange, Evidence, quoted};
use crate::context::fence;
use crate::digest::Digest;
use crate::tokens;

/// Of all outputs together.
const RESULTS_TOKENS: usize = 1_500;
/// Items of a self-review that are told.
const ADMITTED: usize = 20;
/// Of a reason for changing nothing.
const REASON_TOKENS: usize = 200;
/// Least that is worth showing of an output.
const LEAST: usize = 60;

/// One section for each check of the project and the task. Times are left out, so that two runs tell the same.
pub fn check_results(evidence: &Evidence, outputs: &BTreeMap<Digest, String>) -> String {
    let mut text = String::new();
    if evidence.checks.is_empty() {
        text.push_str("The project has no checks, and the task names none.\n");
    }
    let mut left = RESULTS_TOKENS;
    for (at, check) in evidence.checks.iter().enumerate() {
        let _ = writeln!(text, "- {}", outcome(check));
        let output = check.output.as_ref().and_then(|output| outputs.get(output));
        let share = left / (evidence.checks.len() - at);
        let Some(output) = output.filter(|_| share >= LEAST) else { continue };
        let lines = telling(output, share);
        if lines.is_empty() {
            continue;
        }
        left = left.saturating_sub(tokens::count(&lines));
        let fence = fence(&lines);
        let _ = writeln!(text, "\n{fence}text\n{lines}{fence}\n");
    }
    if !evidence.untouched_hints.is_empty() {
        text.push_str("\nThe change is not refused for this by itself:\n\n");
        for hint in evidence.untouched_hints.iter().take(ADMITTED) {
            let _ = writeln!(text, "- {}", hint.sentence());
        }
    }
    if let Some(EmptyChange { reason: Some(reason) }) = &evidence.empty_change {
        let reason = tokens::head(reason, REASON_TOKENS);
        let _ = writeln!(text, "\nThe author of the change says that none was needed: {reason}");
    }
    if !evidence.admitted.is_empty() {
        text.push_str("\nThe author of the change says itself that this is not in order:\n\n");
        for item in evidence.admitted.iter().take(ADMITTED) {
            let _ = writeln!(text, "- {}", tokens::head(item, LEAST));
        }
    }
    text
}

fn outcome(check: &Checked) -> String {
    let Some(command) = &check.command else {
        return format!("{}: none found in this project.", check.kind);
    };
    if let Some(program) = &check.missing_program {
        let command = quoted(command);
        return format!(
            "{}: {command} was not run: {} is not installed or not visible in the sandbox.",
            check.kind,
            quoted(program)
        );
    }
    let how = match (check.passed, check.failed_before) {
        (true, _) => "passed",
        _ if check.fails_as_asked => "failed, as the task asks for failing tests",
        (false, true) if !check.held => "failed, and fails the same way without the change",
        (false, _) => "failed",
    };
    let code = check.code.map_or_else(String::new, |code| format!(" with exit code {code}"));
    let counts = check.counts.map_or_else(String::new, |counts| {
        let (passed, failed, skipped) = (counts.passed, counts.failed, counts.skipped);
        format!(", {passed} tests passed, {failed} failed, {skipped} skipped")
    });
    format!("{}: {} {how}{code}{counts}.", check.kind, quoted(command))
}
