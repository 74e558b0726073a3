//! Titles that are struck: `~~...~~`.

use super::words;

/// Words behind a struck title that say what became of it.
const REMARKS: [&str; 16] = [
    "removed",
    "dropped",
    "cancelled",
    "canceled",
    "obsolete",
    "superseded",
    "skipped",
    "skip",
    "deferred",
    "moved",
    "merged",
    "duplicate",
    "not",
    "n/a",
    "wontfix",
    "won't",
];

/// Whether a title is struck from end to end, with or without its id. Behind the strike, only a remark may stand: in brackets, or
/// one that begins with a word such as `removed`. `~~Use this~~ Use that` is not struck.
pub(super) fn is_struck(text: &str, id: &str) -> bool {
    let Some((before, mut rest)) = text.split_once("~~") else { return false };
    if before.contains('\n') || !is_id(before, id) {
        return false;
    }
    loop {
        let Some((_, behind)) = rest.split_once("~~") else { return false };
        let line = behind.lines().next().unwrap_or_default();
        match line.trim_start_matches(is_separator).strip_prefix("~~") {
            Some(_) => rest = behind.split_once("~~").map_or("", |(_, next)| next),
            None => return is_remark(line),
        }
    }
}

/// Whether words are nothing but the word for task, the id, and marks in brackets.
fn is_id(before: &str, id: &str) -> bool {
    let mut rest = before;
    let mut plain = String::new();
    while let Some((head, tail)) = rest.split_once('[') {
        plain.push_str(head);
        rest = tail.split_once(']').map_or("", |(_, behind)| behind);
    }
    plain.push_str(rest);
    let mut parts = plain.split(|c: char| !c.is_alphanumeric() && c != '.');
    parts.all(|part| {
        let part = part.trim_matches('.');
        part.is_empty() || part == id || words::is_task(part)
    })
}

fn is_separator(c: char) -> bool {
    c.is_whitespace() || matches!(c, '*' | '_' | '-' | '–' | '—' | ':' | ';' | ',' | '.')
}

fn is_remark(line: &str) -> bool {
    let rest = line.trim_start_matches(is_separator);
    let word = rest.split(|c: char| c.is_whitespace() || matches!(c, ':' | ',' | '.' | '*' | ';'));
    let word = word.map(str::to_lowercase).next().unwrap_or_default();
    let says = rest.chars().any(char::is_alphanumeric);
    !says || REMARKS.contains(&word.as_str()) || is_bracketed(rest)
}

/// `(moved to T004)`, and nothing behind it.
fn is_bracketed(rest: &str) -> bool {
    let end = rest.trim_end_matches(is_separator);
    [('(', ')'), ('[', ']'), ('（', '）')].into_iter().any(|(open, close)| {
        let inner = end.strip_prefix(open).and_then(|rest| rest.strip_suffix(close));
        inner.is_some_and(|inner| !inner.contains(close))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_is_struck_only_from_end_to_end() {
        for text in [
            "~~T003 c~~",
            "**~~T003 c~~**",
            "T003 ~~c~~",
            "T003 [P] [US1] ~~c~~",
            "Task T003: ~~c~~",
            "~~T003 c~~ (moved to T005)",
            "~~T003 c~~ — removed",
            "~~T003~~ ~~c~~",
            "~~T003 c~~\nmore",
            "~~T003 c\nd~~",
        ] {
            assert!(is_struck(text, "T003"), "{text}");
        }
        for text in [
            "~~Use axios~~ Use fetch in src/api.ts",
            "~~Use axios~~ → fetch",
            "T003 Use ~~axios~~ fetch",
            "T003 Use ~~axios~~",
            "~~T003 c",
            "T003 c",
            "~~Use axios~~ (slow) Use fetch (fast)",
        ] {
            assert!(!is_struck(text, "T003"), "{text}");
        }
    }
}
