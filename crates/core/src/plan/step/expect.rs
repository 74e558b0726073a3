//! What `Expected:` says: an ending, a text in the output, or words that only a reader can judge.

use super::sentence::{CODE, Sentence};
use super::{Exit, Expect};

/// Words that take the sting out of the one after them: `0 failed`, `no errors`.
const NONE: [&str; 6] = ["no", "0", "zero", "without", "nothing", "any"];

/// The expectation a sentence spells out; `None` where it is described only.
pub(super) fn read(said: &Sentence) -> Option<Expect> {
    let (plain, codes) = quoted(said);
    let exit = match verdict(head(&plain)) {
        Verdict::Mixed => return None,
        Verdict::Says(exit) => Some(exit),
        Verdict::Silent => None,
    };
    let text = text(&plain, &codes, exit.is_some());
    match exit {
        Some(exit) => Some(Expect { exit, text, silent: false }),
        None if is_silent(&plain) => Some(Expect { exit: Exit::Any, text: None, silent: true }),
        None => text.map(|text| Expect { exit: Exit::Any, text: Some(text), silent: false }),
    }
}

/// What a title says of how a command ends: `Run the test to verify it fails`.
pub(super) fn of_title(title: &Sentence) -> Option<Exit> {
    match verdict(&title.plain) {
        Verdict::Says(exit) => Some(exit),
        _ => None,
    }
}

/// What a sentence with a command says behind it: `and verify it passes`.
pub(super) fn of_tail(plain: &str) -> Result<Option<Exit>, ()> {
    match verdict(plain) {
        Verdict::Says(exit) => Ok(Some(exit)),
        Verdict::Mixed => Err(()),
        Verdict::Silent => Ok(None),
    }
}

pub(super) fn is_pass(exit: Exit) -> bool {
    matches!(exit, Exit::Pass | Exit::Code(0))
}

/// Quoted text counts as code; a verdict in code counts as a word.
fn quoted(said: &Sentence) -> (String, Vec<String>) {
    let (mut plain, mut codes) = (String::new(), Vec::new());
    let mut spans = said.codes.iter();
    let mut rest = said.plain.as_str();
    let mut raw = said.raw.as_str();
    while let Some(at) = rest.find([CODE, '"', '“']) {
        plain.push_str(&rest[..at]);
        let mark = rest[at..].chars().next().unwrap_or(CODE);
        let after = &rest[at + mark.len_utf8()..];
        if mark == CODE {
            let code = spans.next().map_or("", String::as_str);
            let word = code.to_lowercase();
            if matches!(word.as_str(), "pass" | "fail" | "ok" | "passed" | "failed") {
                plain.push_str(&word);
            } else {
                plain.push(CODE);
                codes.push(code.to_owned());
            }
            rest = after;
            continue;
        }
        // The plain words are in lower case: the text itself is taken from what was written.
        let close = if mark == '“' { '”' } else { '"' };
        let inner = raw.find(mark).and_then(|open| {
            let inner = &raw[open + mark.len_utf8()..];
            inner.find(close).map(|end| (&inner[..end], &inner[end + close.len_utf8()..]))
        });
        match (after.find(close), inner) {
            (Some(end), Some((inner, behind))) => {
                // Code spans inside of the quotes are a part of it.
                for _ in 0..after[..end].matches(CODE).count() {
                    spans.next();
                }
                plain.push(CODE);
                codes.push(inner.trim().to_owned());
                raw = behind;
                rest = &after[end + close.len_utf8()..];
            }
            _ => rest = after,
        }
    }
    plain.push_str(rest);
    (plain, codes)
}

/// Up to where the explanation begins.
fn head(plain: &str) -> &str {
    let marks = [" because", " since ", " — ", " – ", " - ", " (", " with ", ": ", " → ", " as "];
    let end = marks.iter().filter_map(|mark| plain.find(mark)).min();
    &plain[..end.unwrap_or(plain.len())]
}

enum Verdict {
    Says(Exit),
    Mixed,
    Silent,
}

/// Whether words say pass, fail, both or neither.
fn verdict(plain: &str) -> Verdict {
    let words: Vec<&str> = plain
        .split(|c: char| !c.is_alphanumeric() && c != CODE && c != '\'')
        .filter(|word| !word.is_empty())
        .collect();
    let (mut pass, mut fail) = (false, false);
    for (at, word) in words.iter().enumerate() {
        let before = at.checked_sub(1).map_or("", |at| words[at]);
        let none = NONE.contains(&before);
        let not = matches!(before, "not" | "never" | "n't" | "cannot" | "may" | "might" | "can")
            || before.ends_with("n't");
        match *word {
            "pass" | "passes" | "passed" | "passing" | "green" | "succeeds" | "succeed"
            | "success" | "successful" | "ok" => {
                if not || none {
                    return Verdict::Mixed;
                }
                pass = true;
            }
            "fail" | "fails" | "failed" | "failing" | "failure" | "failures" | "error"
            | "errors" | "red" => {
                if not {
                    return Verdict::Mixed;
                }
                pass |= none;
                fail |= !none;
            }
            "exit" | "exits" | "status" | "code" => {
                let next = words[at + 1..].iter().find(|word| {
                    !matches!(**word, "code" | "status" | "with" | "is" | "of" | "exit")
                });
                if let Some(code) = next.and_then(|word| word.parse::<u8>().ok()) {
                    return Verdict::Says(if code == 0 { Exit::Pass } else { Exit::Code(code) });
                }
            }
            _ => {}
        }
    }
    match (pass, fail) {
        (true, true) => Verdict::Mixed,
        (true, false) => Verdict::Says(Exit::Pass),
        (false, true) => Verdict::Says(Exit::Fail),
        (false, false) => Verdict::Silent,
    }
}

/// Text that must show: behind `with`, or all that is said.
fn text(plain: &str, codes: &[String], ended: bool) -> Option<String> {
    let at = plain.find(CODE)?;
    let before = plain[..at].trim_end_matches([' ', ':', '(']);
    let before = before
        .trim_end_matches(" message")
        .trim_end_matches(" error")
        .trim_end_matches(" an")
        .trim_end_matches(" the");
    let first = || codes.first().filter(|code| !code.is_empty()).cloned();
    if ended {
        let said = before.ends_with(" with")
            || before.ends_with(" containing")
            || plain[..at].ends_with(": ");
        return first().filter(|_| said);
    }
    let rest = plain[at + CODE.len_utf8()..].trim_start();
    let alone = rest.is_empty() || rest.starts_with(['(', '.', '—', '–']) || rest.starts_with("- ");
    let leads = [
        "",
        "output",
        "outputs",
        "prints",
        "shows",
        "output contains",
        "output includes",
        "contains",
        "includes",
        "the output",
        "output is",
    ];
    first().filter(|_| alone && leads.contains(&before) && codes.len() == 1)
}

fn is_silent(plain: &str) -> bool {
    let said = plain.trim_end_matches(['.', ' ']);
    let said = said.split(" (").next().unwrap_or(said);
    matches!(
        said,
        "no output"
            | "empty output"
            | "empty"
            | "nothing"
            | "prints nothing"
            | "(no output)"
            | "no matches"
            | "zero matches"
    )
}
