//! One line of a test runner.

use super::Package;
use crate::check::Counts;

/// What a line says.
pub(super) enum Said {
    Nothing,
    /// All of a run.
    Summary(Counts),
    /// How many tests a run had; what became of them follows.
    Begin(u64),
    /// A part of a summary that stands on several lines.
    More(Counts),
    /// The same, and something else where no summary has begun.
    Below(Counts),
    /// The last of them.
    End(Counts),
    /// All so far, said again.
    Again(Counts),
    /// One class, which the summary counts again.
    Part(Counts),
    /// One test, which the summary counts again.
    Single(Counts),
    GoTest(Counts),
    GoPackage(Package),
    /// A task of Gradle's that tests: it tells its tests only if it is asked to.
    GradleTask(Sources),
    Loose(Counts),
}

#[derive(Clone, Copy, PartialEq)]
pub(super) enum Sources {
    Some,
    None,
}

const PASSED: Counts = Counts { passed: 1, failed: 0, skipped: 0 };
const FAILED: Counts = Counts { passed: 0, failed: 1, skipped: 0 };
const SKIPPED: Counts = Counts { passed: 0, failed: 0, skipped: 1 };
const NONE: Counts = Counts { passed: 0, failed: 0, skipped: 0 };

/// Lines that say that there was nothing to run.
const NO_TESTS: [&str; 11] = [
    "no tests ran",
    "No tests were found!!!",
    "No tests executed!",
    "NO TESTS RAN",
    "No test files found",
    "No tests found",
    "Tests  no tests",
    "There are no tests to run",
    "No test is available",
    "No tests to run",
    "error: no tests to run",
];

pub(super) fn read(line: &str) -> Said {
    if let Some(said) = go(line).or_else(|| tap(line)).or_else(|| gradle(line)) {
        return said;
    }
    let line = plain(line);
    if NO_TESTS.iter().any(|start| line.starts_with(start)) {
        return Said::Summary(NONE);
    }
    let words = words(line);
    headed(line, &words).or_else(|| counted(line, &words)).unwrap_or_else(|| loose(&words))
}

/// Without what stands around a summary: rules, a log's level, the package that a monorepo's runner names.
fn plain(line: &str) -> &str {
    let line = line.trim();
    let line = line.rsplit_once("test: ").map_or(line, |(_, own)| own);
    let levels = ["[INFO]", "[ERROR]", "[WARNING]", "[WARN]"];
    let line = levels.iter().find_map(|level| line.strip_prefix(level)).unwrap_or(line);
    line.trim_matches([' ', '=', '\t'])
}

/// Words with the colon that follows them: the number behind it is theirs.
fn words(line: &str) -> Vec<&str> {
    let parts = line.split(|c: char| !c.is_alphanumeric() && c != ':');
    parts.filter(|word| !word.trim_matches(':').is_empty()).collect()
}

/// By the words that it begins with.
fn headed(line: &str, words: &[&str]) -> Option<Said> {
    let starts = |head: &str| line.starts_with(head);
    if starts("test result:") || starts("Summary [") || starts("ok |") || starts("FAILED |") {
        return Some(Said::Summary(before(words)));
    }
    if starts("Tests run:") || starts("Total tests run:") {
        let counts = labelled(words)?;
        let of_class = line.contains("Time elapsed");
        return Some(if of_class { Said::Part(counts) } else { Said::Summary(counts) });
    }
    if starts("Tests:") || starts("Tests ") {
        return match words.get(1)?.parse::<u64>() {
            // `Tests: 5, Assertions: 12, Failures: 1.` of PHPUnit, or `Tests:  1 failed, 5 passed, 6 total` of Jest.
            Ok(_) if words.get(2)?.ends_with(':') => Some(Said::Summary(labelled(words)?)),
            Ok(_) => names_any(words).then(|| Said::Summary(before(words))),
            Err(_) => labelled(words).map(Said::Loose),
        };
    }
    if starts("Passed!") || starts("Failed!") || starts("Skipped!") || starts("Test summary:") {
        return Some(Said::Summary(labelled(words)?));
    }
    if starts("Total tests:") {
        return Some(Said::Begin(words.get(2)?.parse().ok()?));
    }
    if starts("Ran ") && is_test(words.get(2)?) {
        // Bun has said what became of them before; unittest says it behind.
        let across = line.contains(" across ");
        return (!across).then_some(Said::Begin(words.get(1)?.parse().ok()?));
    }
    if starts("Executed ") && is_test(words.get(2)?) {
        let counts = before(words);
        let all: u64 = words.get(1)?.parse().ok()?;
        let passed = all.saturating_sub(counts.failed).saturating_sub(counts.skipped);
        return Some(Said::Again(Counts { passed, ..counts }));
    }
    verdict(line, words)
}

/// What stands below `Ran 5 tests`, or alone: `OK (skipped=1)`, `FAILED (failures=1)`, `OK (5 tests, 12 assertions)`.
fn verdict(line: &str, words: &[&str]) -> Option<Said> {
    let first = *words.first()?;
    if !matches!(first, "OK" | "FAILED") {
        return None;
    }
    if words.len() == 1 {
        return Some(Said::End(NONE));
    }
    let own = line.contains('=') && line[first.len()..].starts_with(" (");
    if own {
        let pairs = line[first.len()..].trim_matches([' ', '(', ')']).split(", ");
        let pairs = pairs.filter_map(|pair| pair.split_once('='));
        let counts = pairs.filter_map(|(name, number)| of(name, number.parse().ok()?));
        return Some(Said::End(counts.fold(NONE, Counts::plus)));
    }
    let passed = words.get(1)?.parse().ok()?;
    is_test(words.get(2)?).then_some(Said::Summary(Counts { passed, ..NONE }))
}

/// By the number that it begins with: `5 passed, 1 failed in 0.1s`, `5 examples, 1 failure`, `80% tests passed`.
fn counted(line: &str, words: &[&str]) -> Option<Said> {
    let number: u64 = words.first()?.parse().ok().filter(|_| line.starts_with(is_digit))?;
    let second = *words.get(1)?;
    if line.contains("% tests passed,") {
        let failed: u64 = words.get(3)?.parse().ok()?;
        let all: u64 = words.last()?.parse().ok()?;
        return Some(Said::Summary(Counts { passed: all.saturating_sub(failed), failed, ..NONE }));
    }
    let totals = ["examples", "example", "runs", "tests", "test", "doctests", "doctest"];
    if totals.contains(&second) {
        let completed = words.get(2) == Some(&"completed");
        let counts = before(words);
        let told = words.iter().any(|word| word.starts_with("failure")) || completed;
        let all = words.windows(2).filter(|pair| totals.contains(&pair[1]));
        let all = all.filter_map(|pair| pair[0].parse().ok()).fold(0_u64, u64::saturating_add);
        let passed = all.saturating_sub(counts.failed).saturating_sub(counts.skipped);
        return told.then_some(Said::Summary(Counts { passed, ..counts }));
    }
    // `5 passing (3ms)`, then `1 failing` on the next line; `5 pass`, then `0 fail`.
    let alone = words.len() == 2 || line.contains(" (");
    let counts = of(second, number)?;
    match second {
        "passing" | "failing" | "pending" if alone => Some(Said::More(counts)),
        "pass" | "fail" | "skip" | "todo" if words.len() == 2 => Some(Said::More(counts)),
        // Pytest tells how long it took.
        _ if line.rsplit_once(" in ").is_some_and(|(_, took)| is_time(took)) => {
            Some(Said::Summary(before(words)))
        }
        _ => None,
    }
}

/// `ok pkg 0.01s` with tabs between, `--- PASS: TestAdd (0.00s)`. Tests within tests are indented, and not counted apart.
fn go(line: &str) -> Option<Said> {
    if let Some(test) = line.strip_prefix("--- ") {
        let (how, _) = test.split_once(": ")?;
        return match how {
            "PASS" => Some(Said::GoTest(PASSED)),
            "FAIL" => Some(Said::GoTest(FAILED)),
            "SKIP" => Some(Said::GoTest(SKIPPED)),
            _ => None,
        };
    }
    let (how, rest) = line.split_once('\t').or_else(|| line.split_once("  "))?;
    let empty = rest.contains("[no test files]") || rest.contains("[no tests to run]");
    match how.trim() {
        "?" | "ok" if empty => Some(Said::GoPackage(Package::Empty)),
        "ok" if is_timed(rest) => Some(Said::GoPackage(Package::Passed)),
        "FAIL" if is_timed(rest) || rest.ends_with(" failed]") => {
            Some(Said::GoPackage(Package::Failed))
        }
        _ => None,
    }
}

/// A package, then how long it took.
fn is_timed(rest: &str) -> bool {
    let mut words = rest.split_whitespace().skip(1);
    words.next().is_some_and(|took| took == "(cached)" || is_time(took))
}

/// `0.12s`, and what may follow it.
fn is_time(text: &str) -> bool {
    let number = text.split(' ').next().and_then(|took| took.strip_suffix('s'));
    number.is_some_and(|number| number.starts_with(is_digit))
}

/// `ok 1 - adds`, `not ok 2`, and the sums that some runners put below: `# pass 5`, `ℹ fail 0`.
fn tap(line: &str) -> Option<Said> {
    if let Some(sum) = line.strip_prefix("# ").or_else(|| line.strip_prefix("ℹ ")) {
        let (name, number) = sum.split_once(' ')?;
        let number: u64 = number.trim().parse().ok()?;
        return match name {
            "tests" => Some(Said::Begin(number)),
            "pass" | "fail" | "cancelled" | "skipped" | "todo" | "skip" => {
                of(name, number).map(Said::More)
            }
            _ => None,
        };
    }
    let not = line.strip_prefix("not ok ");
    if let Some(rest) = not.or_else(|| line.strip_prefix("ok ")) {
        let lower = rest.to_ascii_lowercase();
        let aside = lower.contains("# skip") || lower.contains("# todo");
        let number = rest.split([' ', '\t']).next()?;
        number.parse::<u64>().ok()?;
        let counts = if aside { SKIPPED } else { not.map_or(PASSED, |_| FAILED) };
        return Some(Said::Single(counts));
    }
    None
}

/// `CartTest > adds() PASSED`, `> Task :shop:test NO-SOURCE`.
fn gradle(line: &str) -> Option<Said> {
    if let Some(task) = line.strip_prefix("> Task ") {
        let mut words = task.split(' ');
        let tests = words.next().is_some_and(|name| name.ends_with(":test"));
        let sources = if words.next() == Some("NO-SOURCE") { Sources::None } else { Sources::Some };
        return tests.then_some(Said::GradleTask(sources));
    }
    let (_, how) = line.rsplit_once(' ').filter(|(test, _)| test.contains(" > "))?;
    match how {
        "PASSED" => Some(Said::Single(PASSED)),
        "FAILED" => Some(Said::Single(FAILED)),
        "SKIPPED" => Some(Said::Single(SKIPPED)),
        _ => None,
    }
}

/// Sentences that are no runner's that is known: `all 5 tests passed`, `Tests passed: 5`. `running 3 tests` says what is to
/// come; files and suites are no tests.
fn loose(words: &[&str]) -> Said {
    let lower = |word: &str| word.trim_end_matches(':').to_ascii_lowercase();
    let others = ["files", "suites", "file", "suite", "snapshots"];
    let begins = words.first().is_some_and(|word| lower(word) == "running");
    if begins || words.iter().take(3).any(|word| others.contains(&lower(word).as_str())) {
        return Said::Nothing;
    }
    if let [label, number] = words
        && let (Some(name), Ok(number)) = (label.strip_suffix(':'), number.parse())
        && let Some(counts) = of(&lower(name), number)
    {
        return Said::Below(counts);
    }
    let passed = |word: &str| matches!(lower(word).as_str(), "passed" | "passing" | "pass");
    let three = words.windows(3).find_map(|three| {
        let number = three[0].parse().ok()?;
        (is_test(three[1]) && passed(three[2])).then_some(Counts { passed: number, ..NONE })
    });
    let named = || words.windows(2).any(|pair| pair[0].parse::<u64>().is_ok() && passed(pair[1]));
    let counts = three.or_else(|| named().then(|| before(words))).or_else(|| {
        let told = words.windows(2).any(|pair| pair[0].ends_with(':') && passed(pair[0]));
        told.then(|| labelled(words)).flatten()
    });
    counts.map_or(Said::Nothing, Said::Loose)
}

/// The numbers before their words, where each word counts once: `5 passed, 1 failed`.
fn before(words: &[&str]) -> Counts {
    let pairs = words.windows(2);
    pairs.filter_map(|pair| of(pair[1], pair[0].parse().ok()?)).fold(NONE, Counts::plus)
}

fn names_any(words: &[&str]) -> bool {
    words.windows(2).any(|pair| pair[0].parse::<u64>().is_ok() && of(pair[1], 0).is_some())
}

/// The numbers behind their labels: `Failed: 0, Passed: 5`, `Tests run: 5, Failures: 0, Skipped: 1`.
fn labelled(words: &[&str]) -> Option<Counts> {
    let (mut counts, mut all, mut any, mut passes) = (NONE, None, false, false);
    for pair in words.windows(2) {
        let (Some(label), Ok(number)) = (pair[0].strip_suffix(':'), pair[1].parse::<u64>()) else {
            continue;
        };
        let label = label.to_ascii_lowercase();
        match (label.as_str(), of(&label, number)) {
            ("run" | "tests" | "total", _) => all = all.or(Some(number)),
            (_, Some(some)) => {
                any = true;
                passes |= matches!(label.as_str(), "passed" | "succeeded" | "passes");
                counts = counts.plus(some);
            }
            _ => {}
        }
    }
    any |= all.is_some();
    if let Some(all) = all.filter(|_| !passes) {
        counts.passed = all.saturating_sub(counts.failed).saturating_sub(counts.skipped);
    }
    any.then_some(counts)
}

/// What a number counts that stands beside this word.
fn of(word: &str, number: u64) -> Option<Counts> {
    Some(match word {
        "passed" | "pass" | "passing" | "passes" | "succeeded" | "xpassed" => {
            Counts { passed: number, ..NONE }
        }
        "failed"
        | "fail"
        | "failing"
        | "failures"
        | "failure"
        | "errors"
        | "error"
        | "cancelled"
        | "timed"
        | "unexpected successes" => Counts { failed: number, ..NONE },
        "skipped" | "skip" | "skips" | "ignored" | "pending" | "todo" | "xfailed"
        | "incomplete" | "risky" | "expected failures" => Counts { skipped: number, ..NONE },
        _ => return None,
    })
}

fn is_test(word: &str) -> bool {
    matches!(word, "test" | "tests")
}

fn is_digit(character: char) -> bool {
    character.is_ascii_digit()
}
