//! What is known of the terminal, and what must never reach it.

use std::borrow::Cow;
use std::env;
use std::io::{IsTerminal, stdout};

/// Whether standard output takes colours: a terminal, and nobody said no.
pub(crate) fn takes_colours() -> bool {
    let said_no = env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let dumb = env::var_os("TERM").is_some_and(|value| value == "dumb");
    stdout().is_terminal() && !said_no && !dumb
}

/// The terminal's width; without a terminal nothing is cut.
pub(crate) fn width() -> usize {
    if !stdout().is_terminal() {
        return usize::MAX;
    }
    terminal_size::terminal_size().map_or(80, |(width, _)| usize::from(width.0).max(20))
}

/// Text from a plan or a repository without what a terminal would obey.
pub(crate) fn clean(text: &str) -> Cow<'_, str> {
    // Controls of direction make a line look like another one.
    let turns = |c: char| matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let harmless = |c: char| (!c.is_control() || c == '\n' || c == '\t') && !turns(c);
    if text.chars().all(harmless) {
        return Cow::Borrowed(text);
    }
    text.chars().map(|c| if harmless(c) { c } else { char::REPLACEMENT_CHARACTER }).collect()
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
}
