//! Claims of a report, held against what the runtime saw.

use std::collections::BTreeSet;

use super::deliverable::plain;
use super::{Evidence, Input, Known, quoted};
use crate::check::Kind;
use crate::report::{Conclusion, Findings, Report, Validation};

/// No report is read further; its own size is bounded besides.
const MOST: usize = 100;

pub(super) fn contradictions(input: &Input<'_>, evidence: &Evidence) -> Vec<String> {
    let Some(report) = input.report else {
        return Vec::new();
    };
    let mut told = BTreeSet::new();
    match &report.findings {
        Findings::Write(change) | Findings::Execute(change) => {
            told.extend(files(&change.files_changed, evidence));
            told.extend(tests(&change.tests_written, input));
        }
        Findings::Validate(validation) => told.extend(checks(validation, evidence)),
        _ => {}
    }
    told.extend(completion(report, evidence));
    told.into_iter().take(MOST).collect()
}

/// Between the old and the new path of a file that was renamed.
const ARROWS: [&str; 4] = [" -> ", " → ", " => ", " to "];

/// A path may be that of a directory with changed files, or name both paths of a rename.
fn files(claimed: &[String], evidence: &Evidence) -> impl Iterator<Item = String> {
    let changed: BTreeSet<&str> =
        evidence.files_changed.iter().map(|file| file.path.as_str()).collect();
    let refused: BTreeSet<&str> = evidence.refused.iter().map(|file| file.path.as_str()).collect();
    let is_changed = move |path: &str| {
        let below = format!("{path}/");
        let first = changed.range(below.as_str()..).next();
        changed.contains(path) || first.is_some_and(|first| first.starts_with(&below))
    };
    claimed.iter().filter_map(move |claim| {
        let path = plain(claim);
        let mut renamed = ARROWS.iter().filter_map(|arrow| claim.split_once(arrow));
        let is_rename = renamed.any(|(old, new)| is_changed(plain(old)) && is_changed(plain(new)));
        if is_changed(path) || is_rename {
            return None;
        }
        let seen = if refused.contains(path) { "it was refused" } else { "it was not" };
        Some(format!("The report says that {} was changed, and {seen}.", quoted(path)))
    })
}

/// Paths must be there, names must be in the code where there is an outline of it. Anything else is a title.
fn tests(claimed: &[String], input: &Input<'_>) -> impl Iterator<Item = String> {
    claimed.iter().filter_map(|claim| {
        let (path, name) = claim.split_once("::").unwrap_or((claim, ""));
        let path = plain(path);
        let is_name =
            |text: &str| !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || c == '_');
        let is_path = !path.contains(char::is_whitespace) && path.contains(['/', '.']);
        let lies = if is_path {
            !(input.exists)(path)
        } else {
            let name =
                if name.is_empty() { path } else { name.rsplit("::").next().unwrap_or(name) };
            is_name(name) && name.contains('_') && (input.names)(name) == Known::Missing
        };
        lies.then(|| {
            format!(
                "The report says that the test {} was written, and it is not there.",
                quoted(claim)
            )
        })
    })
}

fn checks(claimed: &Validation, evidence: &Evidence) -> impl Iterator<Item = String> {
    let checks = &claimed.checks;
    let claims = [
        (Kind::Types, checks.types.passed),
        (Kind::Lint, checks.lint.passed),
        (Kind::Tests, checks.tests.passed),
        (Kind::Security, checks.security.passed),
    ];
    claims.into_iter().filter(|(_, passed)| *passed).filter_map(|(kind, _)| {
        let mut seen = evidence.checks.iter().filter(|check| check.kind == kind);
        let failed = seen.find(|check| !check.passed && check.is_found())?;
        let command = quoted(failed.command.as_deref().unwrap_or_default());
        Some(format!("The report says that the check `{kind}` passed, and {command} did not."))
    })
}

fn completion(report: &Report, evidence: &Evidence) -> impl Iterator<Item = String> {
    let complete = report.verdict == Conclusion::Proceed;
    let missing = evidence.missing.iter().filter(move |_| complete);
    missing
        .map(|missing| format!("The report says that the task is complete. {}", missing.sentence()))
}
