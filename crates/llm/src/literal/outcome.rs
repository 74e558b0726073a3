//! Whether a command came to what a step expects.

use sequester_core::check;
use sequester_core::plan::step::{self, Exit, Expect};

use super::file::holds_words;

/// Programs that end with 1 where they find nothing.
const FINDERS: [&str; 4] = ["grep", "rg", "egrep", "fgrep"];
/// What programs print that did not find what they were to run.
const NOT_FOUND: [&str; 3] = ["can't open file", "no such command", "missing script"];

/// What is not as expected, to follow "was to".
pub(super) fn miss(command: &str, expect: &Expect, code: i32, output: &str) -> Option<String> {
    let found_nothing = expect.silent && code == 1 && finds(command);
    let not_ended = match code {
        126 => Some("could not be started"),
        127 => Some("was not found"),
        code if !check::ended(code) => Some("did not end by itself"),
        _ => None,
    };
    let (met, wanted) = match expect.exit {
        Exit::Pass => (code == 0 || found_nothing, "end with exit code 0".to_owned()),
        Exit::Fail => (code != 0 && not_ended.is_none(), "fail".to_owned()),
        Exit::Code(wanted) => (code == i32::from(wanted), format!("end with exit code {wanted}")),
    };
    if let Some(why) = not_ended.filter(|_| !met) {
        let wanted = if expect.exit == Exit::Fail { "fail of itself" } else { &wanted };
        return Some(format!("{wanted}, and a program in it {why} (exit code {code})"));
    }
    if !met {
        return Some(format!("{wanted}, and ended with exit code {code}"));
    }
    if let Some(line) = not_run(command, expect, output).filter(|_| expect.exit == Exit::Fail) {
        return Some(format!("fail of itself, and what it runs was not found (`{line}`)"));
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

/// Whether the last program is one that finds: how it ends is how the command ends.
fn finds(command: &str) -> bool {
    step::last_pipeline(command).last().is_some_and(|last| FINDERS.contains(&last.program.as_str()))
}

/// The line that says that what was to run is not there, unless just that is expected.
fn not_run<'o>(command: &str, expect: &Expect, output: &'o str) -> Option<&'o str> {
    let words: Vec<&str> = command.split_whitespace().collect();
    let modules = words.windows(2).filter(|pair| pair[0] == "-m").map(|pair| pair[1]);
    let missing: Vec<String> =
        modules.map(|module| format!("no module named {}", module.to_lowercase())).collect();
    let expected =
        expect.text.iter().chain(&expect.lines).map(|text| plain(text)).collect::<Vec<_>>();
    let says = |line: &str, words: &str| {
        holds_words(&plain(line), words) && !expected.iter().any(|text| text.contains(words))
    };
    let words = || missing.iter().map(String::as_str).chain(NOT_FOUND);
    output.lines().map(str::trim).find(|line| words().any(|words| says(line, words)))
}

/// In lower case, without quotation marks around words.
fn plain(text: &str) -> String {
    text.to_lowercase()
        .replace(['"', '`'], "")
        .replace(" '", " ")
        .replace("' ", " ")
        .trim_end_matches('\'')
        .to_owned()
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
    match check::counts(output) {
        None => Some(format!("show that {count} tests pass, and states no number of tests")),
        Some(stated) if stated.passed == u64::from(count) => None,
        Some(stated) => Some(format!("show that {count} tests pass, and states {}", stated.passed)),
    }
}

#[cfg(test)]
mod tests;
