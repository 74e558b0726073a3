//! What makes a fence something else than a whole text: things left out or to be filled in, marks that end it too early.

use super::gap::Gap;

/// Fails unless a fence is the text itself, word for word. `marks` opened it, if it is clear where it ends.
pub(super) fn check(content: &str, marks: Option<usize>) -> Result<(), Gap> {
    if marks.is_none_or(|marks| is_cut(content, marks)) {
        return Err(Gap::code(
            "it is not clear where its code ends; a fence around a fence needs more backticks",
        ));
    }
    match content.lines().map(str::trim).find(|line| leaves_out(line)) {
        Some(line) => {
            Err(Gap::code(format!("its code leaves something out (`{}`)", super::gap::short(line))))
        }
        None if is_nothing(content) => Err(Gap::code("its code is yet to be written")),
        None => Ok(()),
    }
}

/// A line that opens a fence with as many backticks inside of a fence: the first bare one after it ended the outer one.
fn is_cut(content: &str, marks: usize) -> bool {
    content.lines().any(|line| {
        let line = line.trim_start();
        let info = line.trim_start_matches('`');
        marks > 0
            && line.len() - info.len() >= marks
            && info.starts_with(|c: char| c.is_ascii_alphabetic())
    })
}

fn leaves_out(line: &str) -> bool {
    if matches!(line, "..." | "…" | "[...]" | "(...)" | "{...}" | "...," | "…,") {
        return true;
    }
    if let Some(comment) = comment(line) {
        let lower = comment.to_lowercase();
        let bare = lower.trim_matches(['.', '…', ' ']);
        let dots = |text: &str| text.starts_with("...") || text.starts_with('…');
        let ended = lower.ends_with("...") || lower.ends_with('…');
        let named = [
            "existing code",
            "rest of",
            "remaining",
            "unchanged",
            "omitted",
            "as before",
            "existing imports",
        ];
        let alone =
            ["existing code", "rest of the file", "rest of file", "your code here", "unchanged"];
        return dots(&lower)
            || ended && named.iter().any(|words| lower.contains(words))
            || alone.contains(&bare);
    }
    ["{ ... }", "{ … }", "(…)", "{…}"].iter().any(|gap| line.contains(gap))
        || placeholder(line).is_some()
}

/// Whether all of it is a word that it is still to come.
fn is_nothing(content: &str) -> bool {
    let mut lines = content.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines.next().map(|line| comment(line).unwrap_or(line).to_lowercase());
    let waits = |line: String| ["todo", "tbd", "fixme"].iter().any(|word| line.starts_with(word));
    first.is_some_and(waits) && lines.next().is_none()
}

/// `<your name here>`: blanks between angle brackets, and nothing but words. `<T>` and tags with attributes are none.
fn placeholder(line: &str) -> Option<&str> {
    brackets(line).find(|inner| {
        let words: Vec<&str> = inner.split_whitespace().collect();
        let plain = |word: &&str| word.chars().all(|c| c.is_ascii_alphabetic() || c == '\'');
        let asks = ["your", "insert", "replace", "fill", "path", "name", "here"];
        words.len() > 1
            && words.iter().all(plain)
            && words.iter().any(|word| asks.contains(&word.to_ascii_lowercase().as_str()))
    })
}

/// What a command leaves for the reader to fill in: `<name>`, or a lone `...`.
pub(super) fn in_command(script: &str) -> Option<String> {
    let named = |inner: &&str| {
        inner.starts_with(|c: char| c.is_ascii_alphabetic())
            && inner.chars().all(|c| c.is_ascii_alphanumeric() || "-_ ".contains(c))
    };
    let dots = |word: &&str| matches!(*word, "..." | "…" | "[...]");
    let bracket = brackets(script).find(named).map(|inner| format!("<{inner}>"));
    bracket.or_else(|| script.split_whitespace().find(dots).map(str::to_owned))
}

/// What stands between `<` and the next `>` on the same line; `<<` opens a here-document.
fn brackets(text: &str) -> impl Iterator<Item = &str> {
    text.lines().flat_map(|line| line.match_indices('<').map(move |(at, _)| (line, at))).filter_map(
        |(line, at)| {
            let inner = &line[at + 1..];
            let end = inner.find(['>', '<'])?;
            let doubled = line[..at].ends_with('<');
            (!doubled && inner[end..].starts_with('>')).then(|| &inner[..end])
        },
    )
}

/// The words of a line that is nothing but a comment.
pub(super) fn comment(line: &str) -> Option<&str> {
    let line = line.trim();
    let inner = ["//", "#", "--", ";", "%"].iter().find_map(|mark| line.strip_prefix(mark));
    let framed =
        [("<!--", "-->"), ("/*", "*/"), ("{/*", "*/}"), ("\"\"\"", "\"\"\""), ("{{!", "}}")]
            .iter()
            .find_map(|(open, close)| line.strip_prefix(open)?.strip_suffix(close));
    framed.or(inner).map(|inner| inner.trim_start_matches(['/', '#', '!', '-']).trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_out_or_to_be_filled_in_is_no_text() {
        for gap in [
            "a\n...\nb",
            "// ... existing code ...",
            "# ...",
            "// existing code",
            "  // ... rest of the file",
            "TODO",
            "# TODO: write it",
            "name = <your name here>",
            "{ ... }",
            "…",
        ] {
            assert!(check(gap, Some(3)).is_err(), "{gap}");
        }
        for whole in [
            "fn a<T>(x: Vec<T>) {}",
            "<div>text</div>",
            "<input type=\"text\" name=\"a\">",
            "f(...args)",
            "// TODO: later\nlet a;",
            "# Use the existing table",
            "a < b and c > d",
            "let more = 1; // keep this",
        ] {
            assert!(check(whole, Some(3)).is_ok(), "{whole}");
        }
    }
}
