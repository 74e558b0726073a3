//! Red, then green: new tests must fail without the change, or they test nothing of it.

use super::worse::is_no_worse;
use super::{Checked, Input, Tdd, fails_by_itself, has_passed};
use crate::change::{Action, Change};
use crate::check::{self, Kind};
use crate::path::RepoPath;
use crate::plan::{self, step};
use crate::run::{CheckEnded, TaskSpec};

/// What of a change is laid over its base to see its tests fail there: its tests and what lies beside them. Nothing if it
/// brings none.
pub fn red_then_green(task: &TaskSpec, change: &Change) -> Option<Change> {
    let named = |path: &str| {
        let hints = task.hints.iter().map(|hint| &hint.0);
        let mut tests =
            task.files.iter().chain(hints).filter(|file| file.action == plan::Action::Test);
        tests.any(|file| super::deliverable::plain(&file.path) == path)
    };
    let brings = |action: Action| matches!(action, Action::Create | Action::Modify);
    let tests = change.entries.iter().filter(|entry| brings(entry.action));
    let tests = tests.filter(|entry| named(&entry.path) || is_test_file(&entry.path));
    let entries: Vec<_> = tests.cloned().collect();
    (!entries.is_empty()).then(|| Change { entries, ..Change::default() })
}

/// Whether a file is one of tests, or of what they use, by its name or folder.
pub fn is_test_file(path: &str) -> bool {
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
    let (stem, ending) = name.rsplit_once('.').unwrap_or((name, ""));
    let suffixed = || ["Test", "Tests", "Spec", "IT"].iter().any(|end| stem.ends_with(end));
    let by_language = match ending {
        "java" | "kt" | "kts" | "scala" | "groovy" | "cs" | "fs" | "php" | "swift" => suffixed(),
        "rs" => matches!(stem, "tests" | "test") || stem.ends_with("_tests"),
        "py" => matches!(stem, "conftest" | "tests"),
        "bats" => true,
        _ => false,
    };
    let beside = ["testdata", "__snapshots__", "__fixtures__", "fixtures"];
    by_language
        || folders.split('/').any(|folder| beside.contains(&folder))
        || RepoPath::parse(path).is_ok_and(|path| step::is_test(&path))
}

pub(super) fn tdd(input: &Input<'_>, checks: &[Checked]) -> Tdd {
    let red = input.red.iter().any(|red| is_red(input, red));
    let is_watched = |checked: &&Checked| {
        let same = |command: &str| input.red.iter().any(|ran| ran.check.command == command);
        checked.kind == Kind::Tests || checked.command.as_deref().is_some_and(same)
    };
    let watched: Vec<&Checked> = checks.iter().filter(is_watched).collect();
    let was_red = |checked: &Checked| {
        let mut red = input.red.iter().filter(|red| is_red(input, red));
        red.any(|red| checked.command.as_ref() == Some(&red.check.command))
    };
    // What fails in nothing new, before the change and after it, says nothing of the new tests.
    let is_green = |checked: &&Checked| checked.passed || !checked.held && !was_red(checked);
    let green = watched.iter().any(|one| one.passed) && watched.iter().all(is_green);
    Tdd { red, green }
}

/// Whether a command fails with nothing but the new tests, in more than without them. All of them must pass with the change.
fn is_red(input: &Input<'_>, red: &CheckEnded) -> bool {
    let ran = input.checks.iter().find(|ran| ran.ended.check == red.check);
    let base = ran.and_then(|ran| ran.base.as_ref()).filter(|base| !has_passed(base));
    let fails = fails_by_itself(red) && red.code != 0 && check::ended(red.code);
    fails && base.is_none_or(|base| !is_no_worse(input, red, base))
}

/// What is wrong with it, as sentences.
pub(super) fn faults(input: &Input<'_>, tdd: Tdd) -> Vec<String> {
    if red_then_green(input.task, input.change).is_none() {
        return vec!["Tests are to come first, and the change has no file of tests.".to_owned()];
    }
    let mut faults = Vec::new();
    if !tdd.red {
        let started = input.red.iter().any(|ran| check::ended(ran.code));
        let failed = input.red.iter().any(|ran| check::ended(ran.code) && ran.code != 0);
        faults.push(if failed {
            "With the new tests alone nothing fails that did not fail before them, so it is not shown that they test the change.".to_owned()
        } else if started {
            "The new tests pass without the change too, so they test nothing of it.".to_owned()
        } else {
            "It is not known whether the new tests fail without the change: they could not be run."
                .to_owned()
        });
    }
    if !tdd.green {
        faults.push("The new tests do not pass with the change.".to_owned());
    }
    faults
}
