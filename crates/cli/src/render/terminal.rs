//! What is known of the terminal, and what must never reach it.

use std::env;
use std::fmt::Write as _;
use std::io::{IsTerminal, stderr, stdout};
use std::os::fd::AsFd;

pub(crate) use sequester_core::printable::clean;
use sequester_core::printable::turns_text;
use terminal_size::terminal_size_of;

/// Whether standard output takes colours: a terminal, and nobody said no.
pub(crate) fn takes_colours() -> bool {
    let said_no = env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let dumb = env::var_os("TERM").is_some_and(|value| value == "dumb");
    stdout().is_terminal() && !said_no && !dumb
}

/// The width of the terminal that answers go to; without a terminal nothing is cut.
pub(crate) fn width() -> usize {
    width_of(&stdout())
}

/// The width of the terminal that notes go to.
pub(crate) fn note_width() -> usize {
    width_of(&stderr())
}

fn width_of(stream: &(impl AsFd + IsTerminal)) -> usize {
    if !stream.is_terminal() {
        return usize::MAX;
    }
    terminal_size_of(stream).map_or(80, |(width, _)| usize::from(width.0).max(20))
}

/// Cleaned, with the number of each character that turns text, so that whoever reviews it sees where.
pub(crate) fn clean_marked(text: &str) -> String {
    let mut marked = String::with_capacity(text.len());
    for c in text.chars() {
        if turns_text(c) {
            let _ = write!(marked, "<U+{:04X}>", u32::from(c));
        } else {
            marked.push(c);
        }
    }
    clean(&marked).into_owned()
}

/// At most `most` characters on one line, the last one an ellipsis if something was cut.
pub(crate) fn cut(text: &str, most: usize) -> String {
    let line = clean(text).replace(['\n', '\t'], " ");
    if line.chars().count() <= most {
        return line;
    }
    let mut short: String = line.chars().take(most.saturating_sub(1)).collect();
    short.push('…');
    short
}

/// A text on one line after another, each at most `width` characters, broken between words where that can be.
pub(crate) fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in clean(text).split_whitespace() {
        let mut word: Vec<char> = word.chars().collect();
        loop {
            let line = lines.last_mut().map_or(0, |line| line.chars().count());
            let gap = usize::from(line > 0);
            let fits = line.saturating_add(gap + word.len()) <= width;
            // A word longer than a whole line is broken: a terminal would do so as well.
            if !fits && line > 0 {
                lines.push(String::new());
                continue;
            }
            let rest = if fits { Vec::new() } else { word.split_off(width.max(1)) };
            if let Some(line) = lines.last_mut() {
                line.extend(std::iter::repeat_n(' ', gap).chain(word));
            }
            if rest.is_empty() {
                break;
            }
            word = rest;
        }
    }
    lines
}

/// Lines that are too long go on below, as far in as they began; those of a list below their text.
pub(crate) fn fold(text: &str, width: usize) -> String {
    let mut out = String::new();
    for line in text.lines() {
        if line.chars().count() <= width {
            out.extend([line, "\n"]);
            continue;
        }
        let told = line.trim_start();
        let indent = " ".repeat(line.len() - told.len());
        let (mark, told) = told.split_at(mark(told));
        let room = width.saturating_sub(indent.len() + mark.len()).max(1);
        for (at, part) in wrap(told, room).iter().enumerate() {
            let mark = if at == 0 { mark.to_owned() } else { " ".repeat(mark.len()) };
            out.extend([indent.as_str(), &mark, part]);
            out.push('\n');
        }
    }
    out
}

/// How long the mark is that a line of a list begins with: `- ` or `2. `.
fn mark(line: &str) -> usize {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    match (digits, line.get(digits..)) {
        (0, Some(rest)) if rest.starts_with("- ") => 2,
        (1..=3, Some(rest)) if rest.starts_with(". ") => digits + 2,
        _ => 0,
    }
}

/// `1234567` as `1,234,567`.
pub(crate) fn number(value: usize) -> String {
    let digits = value.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// `512 MiB`, `4 GiB`; what is no whole number of these is told to a tenth.
pub(crate) fn size(bytes: u64) -> String {
    let units = [(30, "GiB"), (20, "MiB"), (10, "KiB")];
    let Some((shift, unit)) = units.into_iter().find(|(shift, _)| bytes >> shift > 0) else {
        return plural(usize::try_from(bytes).unwrap_or(usize::MAX), "byte");
    };
    let tenths = u128::from(bytes) * 10 / (1 << shift);
    match tenths % 10 {
        0 => format!("{} {unit}", tenths / 10),
        part => format!("{}.{part} {unit}", tenths / 10),
    }
}

/// `1 task`, `2 tasks`.
pub(crate) fn plural(count: usize, word: &str) -> String {
    format!("{} {word}{}", number(count), if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escape_sequences_never_reach_the_terminal() {
        assert_eq!(clean("a\x1b[2Jb\tc\r"), "a\u{fffd}[2Jb\tc\u{fffd}");
        assert_eq!(clean("a\u{202e}b"), "a\u{fffd}b");
        assert_eq!(clean("plain ünïcode\n"), "plain ünïcode\n");
    }

    #[test]
    fn numbers_and_lines_are_made_for_reading() {
        assert_eq!(number(1_234_567), "1,234,567");
        assert_eq!(number(999), "999");
        assert_eq!(cut("one\ntwo three", 8), "one two…");
        assert_eq!(plural(1, "task"), "1 task");
    }

    #[test]
    fn lines_are_broken_between_words_and_go_on_where_they_began() {
        assert_eq!(wrap("one two  three", 8), ["one two", "three"]);
        assert_eq!(wrap("abcdefgh ij", 3), ["abc", "def", "gh", "ij"]);
        assert_eq!(wrap("", 8), [""]);
        assert_eq!(wrap("a b", usize::MAX), ["a b"]);
        let text = "short\n  - one two three\n    four five six\n\nend";
        let folded = "short\n  - one\n    two\n    three\n    four\n    five\n    six\n\nend\n";
        assert_eq!(fold(text, 10), folded);
        assert_eq!(fold(text, 80), format!("{text}\n"));
        assert_eq!(fold("  12. one two three", 12), "  12. one\n      two\n      three\n");
    }
}
