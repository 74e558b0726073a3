//! Whether a command came to what a step expects.

use sequester_core::plan::step::{Exit, Expect};

use super::file::holds_words;

/// What shells give for a command that could not run: never the failure that a step expects.
const NOT_RUN: [i32; 2] = [126, 127];
/// Programs that end with 1 where they find nothing.
const FINDERS: [&str; 4] = ["grep", "rg", "egrep", "diff"];

/// What is not as expected, to follow "was to".
pub(super) fn miss(command: &str, expect: &Expect, code: i32, output: &str) -> Option<String> {
    let found_nothing = expect.silent && code == 1 && finds(command);
    let (met, wanted) = match expect.exit {
        Exit::Pass => (code == 0 || found_nothing, "end with exit code 0".to_owned()),
        Exit::Fail => (code != 0 && !NOT_RUN.contains(&code), "fail".to_owned()),
        Exit::Code(wanted) => (code == i32::from(wanted), format!("end with exit code {wanted}")),
    };
    if !met {
        return Some(format!("{wanted}, and ended with exit code {code}"));
    }
    if expect.silent && !output.trim().is_empty() {
        return Some("print nothing, and printed something".to_owned());
    }
    if let Some(text) = expect.text.as_ref().filter(|text| !holds_words(&flat(output), &flat(text)))
    {
        return Some(format!("print `{text}`, and did not"));
    }
    if let Some(line) = missing(&expect.lines, output) {
        return Some(format!("print the line `{line}`, and did not"));
    }
    expect.count.and_then(|count| miscount(count, output))
}

fn finds(command: &str) -> bool {
    command
        .split(|c: char| c.is_whitespace() || "|;&(".contains(c))
        .any(|word| FINDERS.contains(&word))
}

/// Without what stands invisible at the ends of lines.
fn flat(text: &str) -> String {
    text.trim().lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
}

/// The first expected line that the output does not hold behind those before it.
fn missing<'e>(expected: &'e [String], output: &str) -> Option<&'e String> {
    let mut lines = output.lines();
    expected
        .iter()
        .filter(|line| !matches!(line.as_str(), "..." | "…"))
        .find(|wanted| !lines.any(|line| timeless(line.trim()) == timeless(wanted)))
}

/// A line without the times that it states: `in 0.03s`, `12 ms`.
fn timeless(line: &str) -> String {
    let mut plain = String::new();
    let mut rest = line;
    while let Some(at) = rest.find(|c: char| c.is_ascii_digit()) {
        plain.push_str(&rest[..at]);
        let number = &rest[at..];
        let end = number.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(number.len());
        let (number, after) = number.split_at(end);
        let unit: String = after.trim_start().chars().take_while(|c| c.is_alphabetic()).collect();
        let is_time = matches!(
            unit.as_str(),
            "s" | "ms" | "µs" | "ns" | "sec" | "secs" | "seconds" | "second"
        );
        plain.push_str(if is_time { "#" } else { number });
        rest = after;
    }
    plain.push_str(rest);
    plain
}

/// Says so where the output states another number of tests that passed, or none.
fn miscount(count: u32, output: &str) -> Option<String> {
    let stated: Vec<u32> = output.lines().filter_map(passed).collect();
    let sum: u32 = stated.iter().fold(0, |sum, one| sum.saturating_add(*one));
    match stated.as_slice() {
        [] => Some(format!("show that {count} tests pass, and states no number of tests")),
        stated if stated.contains(&count) || sum == count => None,
        stated => {
            let stated: Vec<String> = stated.iter().map(u32::to_string).collect();
            Some(format!("show that {count} tests pass, and states {}", stated.join(", ")))
        }
    }
}

/// How many tests a line says have passed: `3 passed`, `Ran 3 tests`, `# pass 3`.
fn passed(line: &str) -> Option<u32> {
    let words: Vec<&str> =
        line.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let before = words.windows(2).find_map(|pair| {
        let named = matches!(pair[1], "passed" | "passing" | "tests" | "test" | "PASS" | "pass");
        pair[0].parse().ok().filter(|_| named)
    });
    before.or_else(|| {
        words.windows(2).find_map(|pair| {
            pair[1]
                .parse()
                .ok()
                .filter(|_| matches!(pair[0], "pass" | "passed" | "Passed" | "PASS"))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_of_tests_is_compared_where_the_output_states_it() {
        let expect = Expect { count: Some(5), ..Expect::default() };
        for ok in [
            "test result: ok. 5 passed; 0 failed",
            "===== 5 passed in 0.1s =====",
            "ℹ pass 5",
            "Ran 5 tests in 0.1s",
            "ok. 2 passed\nok. 3 passed",
            "Tests  5 passed (5)",
        ] {
            assert_eq!(miss("x", &expect, 0, ok), None, "{ok}");
        }
        for other in ["15 passed", "all good", "4 passed, 5 failed"] {
            assert!(miss("x", &expect, 0, other).is_some(), "{other}");
        }
    }

    #[test]
    fn text_needs_exit_0_and_whole_words_and_lines_may_differ_in_times() {
        let text = Expect { text: Some("3 passed".to_owned()), ..Expect::default() };
        assert_eq!(miss("x", &text, 0, "= 3 passed ="), None);
        assert!(
            miss("x", &text, 0, "13 passed").is_some() && miss("x", &text, 1, "3 passed").is_some()
        );
        let lines = Expect {
            lines: vec!["a".to_owned(), "3 passed in 0.03s".to_owned()],
            ..Expect::default()
        };
        assert_eq!(miss("x", &lines, 0, "z\na\nb\n3 passed in 1.20s\n"), None);
        assert!(miss("x", &lines, 0, "3 passed in 0.03s\na\n").is_some());
        let silent = Expect { silent: true, ..Expect::default() };
        assert_eq!(miss("grep -r x .", &silent, 1, ""), None);
        assert!(
            miss("make", &silent, 1, "").is_some() && miss("grep x .", &silent, 0, "a").is_some()
        );
    }
}
