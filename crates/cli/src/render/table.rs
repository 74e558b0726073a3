//! Rows under headings, as wide as the terminal.

use std::fmt::Write as _;

use super::terminal::{clean, fold, wrap};

/// No column but the last is wider than this in a terminal.
const WIDEST: usize = 32;
/// A last column that is narrower than this cannot be read: each row becomes a paragraph.
const NARROWEST: usize = 24;
const GAP: &str = "  ";

/// Columns in which something stands; what does not fit in its column goes on below. The last one takes the rest.
pub(crate) fn render<const N: usize>(
    headings: [&str; N],
    rows: &[[String; N]],
    width: usize,
) -> String {
    let headings = headings.map(str::to_owned);
    let used: Vec<usize> =
        (0..N).filter(|at| rows.iter().any(|row| !row[*at].is_empty())).collect();
    let Some((last, others)) = used.split_last() else { return String::new() };
    let all = || std::iter::once(&headings).chain(rows);
    let most = if width == usize::MAX { usize::MAX } else { WIDEST };
    let word = |at: usize| all().map(|row| longest_word(&row[at])).max().unwrap_or(0);
    let whole = |at: usize| all().map(|row| row[at].chars().count()).max().unwrap_or(0);
    // A path that is broken in the middle cannot be copied.
    let widest = |at: usize| whole(at).min(most).max(word(at));
    let mut columns: Vec<(usize, usize)> = others.iter().map(|at| (*at, widest(*at))).collect();
    let taken: usize = columns.iter().map(|(_, width)| width + GAP.len()).sum();
    let rest = width.saturating_sub(taken);
    if rest < NARROWEST.max(word(*last).min(width)) {
        return rows.iter().map(|row| paragraph(&headings, row, others, *last, width)).collect();
    }
    columns.push((*last, rest));
    all().map(|row| lines(row, &columns)).collect()
}

pub(super) fn longest_word(text: &str) -> usize {
    text.split_whitespace().map(|word| word.chars().count()).max().unwrap_or(0)
}

/// One row, on as many lines as its longest cell needs.
fn lines(row: &[String], columns: &[(usize, usize)]) -> String {
    let cells: Vec<Vec<String>> =
        columns.iter().map(|(at, width)| wrap(&row[*at], *width)).collect();
    let height = cells.iter().map(Vec::len).max().unwrap_or(0);
    let mut out = String::new();
    for at in 0..height {
        let mut line = String::new();
        for (place, (cell, (_, width))) in cells.iter().zip(columns).enumerate() {
            let text = cell.get(at).map_or("", String::as_str);
            let width = if place + 1 == columns.len() { 0 } else { *width };
            let _ = write!(line, "{text:width$}{GAP}");
        }
        out += line.trim_end();
        out.push('\n');
    }
    out
}

fn paragraph(
    headings: &[String],
    row: &[String],
    others: &[usize],
    last: usize,
    width: usize,
) -> String {
    let mut cells = others.iter().filter(|at| !row[**at].is_empty());
    let name = cells.next().map_or("", |at| row[*at].as_str());
    // A word alone does not say what it is.
    let is_word = !row[last].contains(' ');
    let cells = cells.copied().chain(is_word.then_some(last)).filter(|at| !row[*at].is_empty());
    let named: Vec<String> = cells.map(|at| format!("{} {}", headings[at], row[at])).collect();
    let mut text = name.to_owned() + "\n";
    for line in [named.join(", "), if is_word { String::new() } else { row[last].clone() }] {
        if !line.is_empty() {
            let _ = writeln!(text, "  {line}");
        }
    }
    fold(&clean(&text), width)
}

/// `key  value` lines; a line without a value is left out.
pub(crate) fn fields(fields: &[(&str, String)], width: usize) -> String {
    let column = fields.iter().map(|(key, _)| key.len()).max().unwrap_or(0);
    let rest = width.saturating_sub(column + 2 * GAP.len());
    let fields = fields.iter().filter(|(_, value)| !value.is_empty());
    if rest < NARROWEST {
        return fields.map(|(key, value)| below(key, value, width)).collect();
    }
    let mut out = String::new();
    for (key, value) in fields {
        for (at, line) in wrap(value, rest).iter().enumerate() {
            let key = if at == 0 { key } else { "" };
            let _ = writeln!(out, "{GAP}{key:column$}{GAP}{line}");
        }
    }
    out
}

/// The value beside its key, or below it where there is no room.
fn below(key: &str, value: &str, width: usize) -> String {
    let beside = format!("{GAP}{key}{GAP}{}", wrap(value, usize::MAX).join(" "));
    if !key.is_empty() && beside.chars().count() <= width {
        return beside + "\n";
    }
    let mut out = if key.is_empty() { String::new() } else { format!("{GAP}{key}\n") };
    for line in wrap(value, width.saturating_sub(2 * GAP.len()).max(1)) {
        let _ = writeln!(out, "{GAP}{GAP}{line}");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_word_is_broken_that_fits_in_a_line_of_its_own() {
        let path = "/a/folder/with/a/very/long/name/plan.md";
        let row = ["r1".to_owned(), path.to_owned(), "some words".to_owned()];
        assert_eq!(
            render(["run", "plan", "what"], std::slice::from_ref(&row), 80),
            format!(
                "run  plan                                     what\nr1   {path}  some words\n"
            )
        );
        let narrow = render(["run", "plan", "what"], &[row], 50);
        assert!(narrow.lines().any(|line| line.ends_with(path)), "{narrow}");
    }

    #[test]
    fn what_does_not_fit_in_its_column_goes_on_below() {
        let rows = [
            ["a".to_owned(), String::new(), "some words that take their room\nhere".to_owned()],
            ["bcd".into(), String::new(), "x".into()],
        ];
        let table = render(["n", "none", "what"], &rows, 30);
        let told = "n    what\na    some words that take\n     their room here\nbcd  x\n";
        assert_eq!(table, told);
        let wide = render(["n", "none", "what"], &rows, usize::MAX);
        assert_eq!(wide, "n    what\na    some words that take their room here\nbcd  x\n");
    }

    #[test]
    fn fields_that_have_no_room_beside_their_keys_stand_below_them() {
        let all = [("what would help", "Some words of advice.".to_owned()), ("run", "r1".into())];
        let narrow = fields(&all, 20);
        assert_eq!(narrow, "  what would help\n    Some words of\n    advice.\n  run  r1\n");
        let wide = "  what would help  Some words of advice.\n  run              r1\n";
        assert_eq!(fields(&all, 80), wide);
    }

    #[test]
    fn a_narrow_terminal_gets_paragraphs() {
        let rows = [["Explore".to_owned(), "read-only".into(), "Finds where things are.".into()]];
        let table = render(["name", "profile", "what"], &rows, 20);
        assert_eq!(table, "Explore\n  profile read-only\n  Finds where things\n  are.\n");
        let rows = [["write".to_owned(), "2".into(), "1%".into()]];
        let table = render(["phase", "attempts", "window used"], &rows, 20);
        assert_eq!(table, "write\n  attempts 2, window\n  used 1%\n");
    }
}
