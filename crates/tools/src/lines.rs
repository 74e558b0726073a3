//! Lines as a model is shown them: numbered, and cut where they are long.

use std::fmt::{self, Write as _};

/// The rest of a longer line is not shown.
const LINE_CHARS: usize = 2_000;

/// Lines of a text by number, from 1; line breaks of any kind left out.
pub(crate) fn numbered(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines().enumerate().map(|(index, line)| (index + 1, line))
}

/// A line that is shown, with what was cut from it.
pub(crate) struct Shown<'t> {
    pub(crate) line: &'t str,
    /// Characters that are not shown.
    pub(crate) cut: usize,
}

pub(crate) fn show(line: &str, most: usize) -> Shown<'_> {
    match line.char_indices().nth(most) {
        Some((at, _)) => Shown { line: &line[..at], cut: line[at..].chars().count() },
        None => Shown { line, cut: 0 },
    }
}

/// Adds one line as `Read` shows it.
pub(crate) fn push_numbered(output: &mut String, number: usize, line: &str) {
    let Shown { line, cut } = show(line, LINE_CHARS);
    // Writing to a string cannot fail.
    let _ = write!(output, "{number:>6}\t{line}");
    if cut > 0 {
        let _ = write!(output, " [{cut} more characters]");
    }
    output.push('\n');
}

/// Adds a word of the tool itself, on a line of its own.
pub(crate) fn note(output: &mut String, words: fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ = writeln!(output, "[{words}]");
}

/// `1 line`, `2 lines`.
pub(crate) fn count(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}
