//! What the words of a task say about the change that it needs.

use serde::{Deserialize, Serialize};

use super::{Task, mention};

/// Judged by code from the task's title, its text and the sections above it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[allow(clippy::struct_excessive_bools, reason = "each is a fact of its own in the stored JSON")]
pub struct TaskWording {
    /// It writes tests that fail until a later task makes them pass.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub expects_failing_tests: bool,
    /// It looks at something, or acts outside of the files.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub may_change_nothing: bool,
    /// It asks for a change only if one is needed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_conditional: bool,
    /// It takes something away, perhaps with its tests.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub removes: bool,
}

impl TaskWording {
    pub fn of_task(task: &Task) -> Self {
        let title = Self::of_title(&task.title);
        let text = normalized(&task.text);
        let above = |phrases: &[&str]| {
            let mut parents = task.parents.iter();
            parents.any(|one| {
                has_any(&normalized(&one.title), phrases)
                    || has_any(&normalized(head(&one.text)), phrases)
            })
        };
        let is_red = || ends_in_failure(&text) || above(&TESTS_FAIL);
        Self {
            expects_failing_tests: title.expects_failing_tests
                || is_about_tests(&task.title) && is_red(),
            may_change_nothing: title.may_change_nothing || has_any(&text, &NO_CHANGE),
            ..title
        }
    }

    pub fn of_title(title: &str) -> Self {
        let lower = normalized(title);
        Self {
            expects_failing_tests: is_about_tests(title)
                && (names_failing_tests(&lower) || has_any(&lower, &TESTS_FAIL)),
            may_change_nothing: mention::reads_or_acts(title)
                || is_command(title)
                || has_any(&lower, &ACTS_OUTSIDE),
            is_conditional: has_any(&lower, &CONDITIONS),
            removes: takes_away(&lower),
        }
    }

    /// What either of two readings found.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            expects_failing_tests: self.expects_failing_tests || other.expects_failing_tests,
            may_change_nothing: self.may_change_nothing || other.may_change_nothing,
            is_conditional: self.is_conditional || other.is_conditional,
            removes: self.removes || other.removes,
        }
    }
}

/// Words that say that new tests fail at first.
#[rustfmt::skip]
const TESTS_FAIL: [&str; 30] = [
    "must fail", "expected to fail", "tests should fail", "test should fail", "tests will fail", "test will fail",
    "they will fail", "they should fail", "ensure they fail", "ensure it fails", "verify they fail", "verify it fails",
    "verify that they fail", "verify the test fails", "verify the tests fail", "verify tests fail", "confirm they fail",
    "confirm it fails", "watch it fail", "see it fail", "fail before", "fail until", "fails until", "fail first",
    "fails first", "expected: fail", "test fails", "tests fail", "red phase", "red: write",
];

/// Words that say that tests pass when the task is done.
#[rustfmt::skip]
const TESTS_PASS: [&str; 12] = [
    "expected: pass", "make it pass", "make them pass", "verify it passes", "verify they pass", "verify tests pass",
    "tests pass", "test passes", "should pass", "must pass", "all pass", "to green",
];

/// Words of a task that changes no file.
const NO_CHANGE: [&str; 4] =
    ["no code changes", "no changes in this task", "no file changes", "changes no files"];

/// Work outside of the files.
#[rustfmt::skip]
const ACTS_OUTSIDE: [&str; 11] = [
    "make sure", "create commit", "create a commit", "create pr", "create a pr", "create pull request",
    "create a pull request", "open a pr", "prepare pr", "smoke test", "sanity check",
];

const CONDITIONS: [&str; 13] = [
    "if present",
    "if needed",
    "if necessary",
    "if any",
    "if required",
    "if applicable",
    "if it exists",
    "if exists",
    "as needed",
    "where needed",
    "where necessary",
    "any remaining",
    "consider ",
];

/// A long text above very many tasks is not read whole for each of them.
const HEAD_BYTES: usize = 4_096;

fn head(text: &str) -> &str {
    &text[..text.floor_char_boundary(HEAD_BYTES)]
}

/// In lower case, without marks, on one line.
fn normalized(text: &str) -> String {
    let plain: String = text.chars().filter(|c| !"*_`".contains(*c)).collect();
    plain.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ")
}

fn has_any(text: &str, phrases: &[&str]) -> bool {
    phrases.iter().any(|phrase| text.contains(phrase))
}

fn last_of(text: &str, phrases: &[&str]) -> Option<usize> {
    phrases.iter().filter_map(|phrase| text.rfind(phrase)).max()
}

/// Whether the last word about tests is that they fail.
fn ends_in_failure(text: &str) -> bool {
    last_of(text, &TESTS_FAIL).is_some_and(|at| last_of(text, &TESTS_PASS) < Some(at))
}

fn words(text: &str) -> Vec<String> {
    let lower = text.to_lowercase();
    let words = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_owned).collect()
}

fn is_test_word(word: &str) -> bool {
    matches!(word, "test" | "tests" | "spec" | "specs" | "testing" | "e2e")
}

/// Whether a title is about tests and not about what they test.
fn is_about_tests(title: &str) -> bool {
    #[rustfmt::skip]
    const OTHERS: [&str; 18] = [
        "fix", "repair", "implement", "pass", "passes", "green", "remove", "delete", "refactor", "make", "debug",
        "skip", "investigate", "resolve", "address", "handle", "triage", "unskip",
    ];
    let words = words(title);
    words.iter().any(|word| is_test_word(word))
        && !words.iter().any(|word| OTHERS.contains(&word.as_str()))
}

/// `failing tests`, `red unit tests`; not `until failing tests end`.
fn names_failing_tests(title: &str) -> bool {
    let words = words(title);
    let is_failing = |at: &usize| {
        let mut next = words[at + 1..].iter().take(3);
        matches!(words[*at].as_str(), "failing" | "red") && next.any(|word| is_test_word(word))
    };
    let found = (0..words.len()).find(is_failing);
    found.is_some_and(|at| !words[..at].iter().any(|word| word == "until"))
}

/// Whether a title is nothing but a command.
fn is_command(title: &str) -> bool {
    let inner = title.trim().strip_prefix('`').and_then(|rest| rest.strip_suffix('`'));
    inner.is_some_and(|inner| !inner.contains('`') && inner.contains(' '))
}

fn takes_away(title: &str) -> bool {
    #[rustfmt::skip]
    const VERBS: [&str; 10] = [
        "remove", "delete", "drop", "retire", "eliminate", "prune", "consolidate", "deduplicate", "dedupe", "cleanup",
    ];
    let words = words(title);
    let first = mention::first_word(title);
    let is_verb = |word: &String| VERBS.contains(&word.as_str());
    let is_phrase = title.contains("clean up") || title.contains("get rid of");
    VERBS.contains(&first.as_str())
        || is_phrase
        || words.iter().any(|word| is_test_word(word)) && words.iter().any(is_verb)
}

#[cfg(test)]
mod tests;
