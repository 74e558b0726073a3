//! Evidence: what the runtime saw of a task's change, weighed. A report can claim what it likes.

mod added_secret;
mod check_results;
mod claim;
mod deliverable;
mod digest;
mod interface;
mod red;
mod untouched;
mod worse;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::change::{self, Change, Entry, Refused};
use crate::check::{self, Counts, Kind};
use crate::digest::Digest;
use crate::id::TaskId;
use crate::plan;
use crate::report::Report;
use crate::run::{CheckEnded, FileSpec, TaskSpec};

pub use added_secret::{AddedSecret, added_secrets};
pub use check_results::check_results;
pub use deliverable::{Lack, Missing, Undeclared};
pub use digest::{TOKENS, digest, gist};
pub use interface::{Interfaces, Known, Named, named};
pub use red::{is_test_file, red_then_green};
pub use untouched::{EmptyChange, HintPresence, UntouchedHint};

/// All that is known of a task's change. The order within a list says nothing.
#[derive(Clone, Copy)]
pub struct Input<'a> {
    pub task: &'a TaskSpec,
    pub change: &'a Change,
    /// What the subagent claims.
    pub report: Option<&'a Report>,
    pub checks: &'a [Ran],
    /// Kinds that were asked for, with or without a command.
    pub wanted: &'a [Kind],
    /// Whether a path, file or folder, is in the tree that the change leads to.
    pub exists: &'a dyn Fn(&str) -> bool,
    /// Whether it has a file at a path, or one whose path ends with it.
    pub mentioned: &'a dyn Fn(&str) -> bool,
    /// Whether the outlines of that tree have a name.
    pub names: &'a dyn Fn(&str) -> Known,
    /// Tasks that this one neither needs nor is needed by.
    pub others: &'a [Other],
    /// The checks on the base with nothing but the new tests: [`red_then_green`].
    pub red: &'a [CheckEnded],
    /// Secrets that the change brings in.
    pub secrets: &'a [AddedSecret],
    /// What those that failed printed, by their digests.
    pub outputs: &'a BTreeMap<Digest, String>,
}

/// A check on the change; on the base too if it failed there, and the project's tests in any case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ran {
    pub ended: CheckEnded,
    pub base: Option<CheckEnded>,
}

/// Another task's declared files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Other {
    pub task: TaskId,
    pub files: Vec<FileSpec>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    /// As the change has them, whatever the report says.
    pub files_changed: Vec<FileChanged>,
    pub refused: Vec<Refused>,
    pub refused_more: usize,
    pub checks: Vec<Checked>,
    /// Deliverables that are not as the plan names them.
    pub missing: Vec<Missing>,
    /// Files that were changed and not declared.
    pub undeclared: Vec<Undeclared>,
    /// Files that the plan's prose mentions and that were not touched: nothing is refused for them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub untouched_hints: Vec<UntouchedHint>,
    /// Of a writer that changed nothing, where its task would have it change something.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub empty_change: Option<EmptyChange>,
    pub interfaces: Interfaces,
    /// Only of a task that asks for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tdd: Option<Tdd>,
    /// Claims of the report that the runtime saw otherwise, each a sentence. They are shown; what they hide fails by itself.
    pub contradictions: Vec<String>,
    /// What the report's own review finds not in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub admitted: Vec<String>,
    /// Secrets that the change brings in.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub secrets: Vec<AddedSecret>,
    /// What speaks against the task, the gravest first.
    pub fails: Vec<Failure>,
}

impl Evidence {
    pub fn passed(&self) -> bool {
        self.fails.is_empty()
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileChanged {
    pub path: String,
    pub action: change::Action,
    pub added: Option<usize>,
    pub removed: Option<usize>,
}

/// A check as it ended.
#[allow(clippy::struct_excessive_bools, reason = "each is a fact of its own in the stored JSON")]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checked {
    pub kind: Kind,
    /// Nothing if it was asked for and the project has none: it is not found, and has not passed.
    pub command: Option<String>,
    pub passed: bool,
    /// It fails on the base too.
    pub failed_before: bool,
    /// It speaks against the task.
    pub held: bool,
    /// The task writes tests that are to fail, and nothing that passed before fails.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub fails_as_asked: bool,
    /// The program that is not there, with the change and without: the check was not run, and has neither passed nor failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing_program: Option<String>,
    /// How many tests ran without the change, where fewer run with it and nobody said that they may go.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ran_before: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<i32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counts: Option<Counts>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Digest>,
}

/// Whether the new tests fail without the change, and pass with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tdd {
    pub red: bool,
    pub green: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    pub about: About,
    /// For people and for whoever mends it. It names no other task.
    pub sentence: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum About {
    Secret,
    Deliverable,
    Check,
    Tdd,
    Interface,
    Files,
}

/// Weighs all of it. The same input in any order gives the same evidence.
pub fn weigh(input: &Input<'_>) -> Evidence {
    let checks = checks(input);
    let mut evidence = Evidence {
        files_changed: files_changed(input.change),
        refused: input.change.refused.clone(),
        refused_more: input.change.refused_more,
        missing: deliverable::missing(input),
        undeclared: deliverable::undeclared(input),
        untouched_hints: untouched::hints(input),
        empty_change: untouched::empty_change(input),
        interfaces: interface::look(&input.task.produces, input.names),
        tdd: input.task.tdd.then(|| red::tdd(input, &checks)),
        checks,
        contradictions: Vec::new(),
        admitted: input.report.map(Report::unmended).unwrap_or_default(),
        secrets: input.secrets.iter().cloned().collect::<BTreeSet<_>>().into_iter().collect(),
        fails: Vec::new(),
    };
    evidence.refused.sort_by(|a, b| (&a.path, &a.why).cmp(&(&b.path, &b.why)));
    evidence.contradictions = claim::contradictions(input, &evidence);
    evidence.fails = fails(input, &evidence);
    evidence
}

fn files_changed(change: &Change) -> Vec<FileChanged> {
    let mut files: Vec<FileChanged> = change
        .entries
        .iter()
        .map(|entry| FileChanged {
            path: entry.path.clone(),
            action: entry.action,
            added: entry.added,
            removed: entry.removed,
        })
        .collect();
    files.sort_by(|a, b| a.path.cmp(&b.path));
    files
}

fn checks(input: &Input<'_>) -> Vec<Checked> {
    let mut checks: Vec<Checked> = input.checks.iter().map(|ran| checked(input, ran)).collect();
    let found = |kind: Kind| input.checks.iter().any(|ran| ran.ended.check.kind == kind);
    let has_rules = |kind: Kind| kind == Kind::Security && !input.change.entries.is_empty();
    if !input.change.entries.is_empty() {
        let (rules, passed) = (Some(SECRET_RULES.to_owned()), input.secrets.is_empty());
        checks.push(Checked::without_run(Kind::Security, rules, passed));
    }
    checks.extend(
        input
            .wanted
            .iter()
            .filter(|kind| !found(**kind) && !has_rules(**kind))
            .map(|kind| Checked::without_run(*kind, None, false)),
    );
    // Of one that ran twice, the run that speaks against the task counts.
    let key = |one: &Checked| (one.kind, one.command.clone());
    checks.sort_by_cached_key(|one| {
        let worst = (!one.held, one.passed, one.failed_before, Reverse(one.ran_before));
        (key(one), worst, one.code, one.counts, one.output.clone())
    });
    checks.dedup_by(|later, kept| key(later) == key(kept));
    checks
}

/// What stands in the place of a command: our own rules.
pub const SECRET_RULES: &str = "secret rules over the change (built in)";

fn checked(input: &Input<'_>, ran: &Ran) -> Checked {
    let CheckEnded { check, code, counts, output, .. } = &ran.ended;
    let ran_before = has_passed(&ran.ended).then(|| lost_tests(input, ran)).flatten();
    let passed = has_passed(&ran.ended) && ran_before.is_none();
    let before = ran.base.as_ref().filter(|base| !passed && !has_passed(base));
    // The task's own are there to be met, and mostly fail before its work.
    let is_excused = |base: &CheckEnded| worse::is_no_worse(input, &ran.ended, base);
    let excused = check.kind != Kind::Own && before.is_some_and(is_excused);
    let missing_program = missing_program(ran);
    let is_run = missing_program.is_none();
    let fails_as_asked = is_run && !passed && ran_before.is_none() && fails_as_asked(input, ran);
    Checked {
        kind: check.kind,
        command: Some(check.command.clone()),
        passed,
        failed_before: is_run && before.is_some(),
        held: is_run && !passed && !excused && !fails_as_asked,
        fails_as_asked,
        missing_program,
        ran_before,
        code: Some(*code),
        counts: *counts,
        output: Some(output.clone()),
    }
}

/// Whether only new tests fail, and the task is to write tests that fail. A change of anything but tests is no such task's.
fn fails_as_asked(input: &Input<'_>, ran: &Ran) -> bool {
    let is_watched = matches!(ran.ended.check.kind, Kind::Tests | Kind::Types);
    let only_tests = || input.change.entries.iter().all(|entry| is_test_file(&entry.path));
    let passing = |ended: &CheckEnded| ended.counts.map(|counts| counts.passed);
    let keeps = || match (ran.base.as_ref().and_then(passing), passing(&ran.ended)) {
        (Some(then), Some(now)) => now >= then,
        _ => true,
    };
    is_watched
        && fails_by_itself(&ran.ended)
        && input.task.wording().expects_failing_tests
        && only_tests()
        && keeps()
}

/// The program that a check lacks. Where the check found it without the change, the change is to blame.
fn missing_program(ran: &Ran) -> Option<String> {
    let missing = ran.ended.missing_program.as_ref()?;
    let is_same = |base: &CheckEnded| base.missing_program.as_ref() == Some(missing);
    ran.base.as_ref().is_none_or(is_same).then(|| missing.clone())
}

/// How many tests ran on the base, if fewer run now, or nothing tells of them any more. A plan that names files of tests to be
/// deleted says that they may go; so does a task that removes something, of tests that its change takes away.
fn lost_tests(input: &Input<'_>, ran: &Ran) -> Option<u64> {
    let base = ran.base.as_ref().filter(|_| ran.ended.check.kind == Kind::Tests)?;
    let then = base.counts.filter(|_| base.limit.is_none())?.ran();
    let now = ran.ended.counts.map_or(0, Counts::ran);
    let goes = |file: &FileSpec| file.action == plan::Action::Delete && is_test_file(&file.path);
    let mut named = input.task.files.iter().chain(input.task.hints.iter().map(|hint| &hint.0));
    let is_less = |entry: &Entry| {
        entry.action == change::Action::Delete
            || entry.removed.unwrap_or(0) > entry.added.unwrap_or(0)
    };
    let loses = |entry: &Entry| is_test_file(&entry.path) && is_less(entry);
    let is_removal = input.task.wording().removes && input.change.entries.iter().any(loses);
    (now < then && !is_removal && !named.any(goes)).then_some(then)
}

/// Whether it failed, and came to that by itself.
fn fails_by_itself(ended: &CheckEnded) -> bool {
    !has_passed(ended) && ended.limit.is_none()
}

fn has_passed(ended: &CheckEnded) -> bool {
    ended.passed && check::passed(ended.check.kind, ended.code, ended.counts)
}

fn fails(input: &Input<'_>, evidence: &Evidence) -> Vec<Failure> {
    let mut fails = Vec::new();
    let mut add = |about, sentence| fails.push(Failure { about, sentence });
    for secret in &evidence.secrets {
        add(About::Secret, secret.sentence());
    }
    for missing in &evidence.missing {
        add(About::Deliverable, missing.sentence());
    }
    if evidence.empty_change.as_ref().is_some_and(|empty| empty.reason.is_none()) {
        add(About::Deliverable, untouched::no_reason(input));
    }
    for check in evidence.checks.iter().filter(|check| check.held) {
        add(About::Check, check.sentence());
    }
    if let Some(tdd) = evidence.tdd {
        for sentence in red::faults(input, tdd) {
            add(About::Tdd, sentence);
        }
    }
    for name in &evidence.interfaces.missing {
        let sentence = format!("{} is to be produced, and is not found in the code.", quoted(name));
        add(About::Interface, sentence);
    }
    for file in evidence.undeclared.iter().filter(|file| !file.declared_by.is_empty()) {
        let path = quoted(&file.path);
        add(About::Files, format!("{path} was changed, and is not among the files of this task."));
    }
    fails
}

impl Checked {
    /// One that no program ran: it holds nothing against the task by itself.
    fn without_run(kind: Kind, command: Option<String>, passed: bool) -> Self {
        let (failed_before, held, ran_before) = (false, false, None);
        let fails_as_asked = false;
        let (code, counts, output) = (None, None, None);
        let missing_program = None;
        Self {
            kind,
            command,
            passed,
            failed_before,
            held,
            fails_as_asked,
            missing_program,
            ran_before,
            code,
            counts,
            output,
        }
    }

    pub fn is_found(&self) -> bool {
        self.command.is_some()
    }

    /// What is wrong with it, for one that did not pass.
    fn sentence(&self) -> String {
        let command = quoted(self.command.as_deref().unwrap_or_default());
        if let Some(before) = self.ran_before {
            let now = self.counts.map_or(0, Counts::ran);
            return format!(
                "The check `{}` does not pass: {command} ran {before} tests without the change, and {now} with it.",
                self.kind
            );
        }
        let failed =
            |count: u64| format!("{count} {} failed", if count == 1 { "test" } else { "tests" });
        let how = match (self.code, self.counts) {
            (Some(0), Some(counts)) if counts.ran() == 0 => "ran no test".to_owned(),
            (Some(0), Some(counts)) => format!("ended with 0, and {}", failed(counts.failed)),
            (Some(127), _) => "was not found (exit code 127)".to_owned(),
            (Some(code), Some(counts)) if counts.failed > 0 => {
                format!("ended with exit code {code}, and {}", failed(counts.failed))
            }
            (Some(0) | None, _) => "did not pass".to_owned(),
            (Some(code), _) => format!("ended with exit code {code}"),
        };
        let name = match self.kind {
            Kind::Own => "The task's own check".to_owned(),
            kind => format!("The check `{kind}`"),
        };
        format!("{name} does not pass: {command} {how}.")
    }
}

/// Longer texts are cut in sentences.
const QUOTED_BYTES: usize = 160;

/// As code on one line.
fn quoted(text: &str) -> String {
    let mut line: String = text
        .chars()
        .take(QUOTED_BYTES + 1)
        .map(|c| if c.is_control() || c == '`' { ' ' } else { c })
        .collect();
    if line.len() > QUOTED_BYTES {
        line.truncate(line.floor_char_boundary(QUOTED_BYTES));
        line.push('…');
    }
    format!("`{line}`")
}

#[cfg(test)]
mod tests;
