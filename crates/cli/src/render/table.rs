//! Rows under headings, as wide as the terminal.

use std::fmt::Write as _;

use super::terminal::{clean, cut};

/// No column but the last is wider than this.
const WIDEST: usize = 32;

/// Each row on one line; the last column takes the rest.
pub(crate) fn render<const N: usize>(
    headings: [&str; N],
    rows: &[[String; N]],
    width: usize,
) -> String {
    let headings = headings.map(str::to_owned);
    let cells = |column: usize| std::iter::once(&headings).chain(rows).map(move |row| &row[column]);
    let widths: Vec<usize> = (0..N)
        .map(|at| cells(at).map(|cell| cell.chars().count()).max().unwrap_or(0).min(WIDEST))
        .collect();
    let mut out = String::new();
    for row in std::iter::once(&headings).chain(rows) {
        let mut line = String::new();
        for (at, (cell, width)) in row.iter().zip(&widths).enumerate() {
            if at + 1 == N {
                line.push_str(&clean(cell));
            } else {
                let _ = write!(line, "{:width$}  ", cut(cell, *width));
            }
        }
        out.push_str(cut(&line, width).trim_end());
        out.push('\n');
    }
    out
}

/// `key  value` lines; a line without a value is left out.
pub(crate) fn fields(fields: &[(&str, String)]) -> String {
    let column = fields.iter().map(|(key, _)| key.len()).max().unwrap_or(0);
    let mut out = String::new();
    for (key, value) in fields.iter().filter(|(_, value)| !value.is_empty()) {
        let _ = writeln!(out, "  {key:column$}  {}", clean(value));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_cells_and_lines_as_the_terminal() {
        let rows = [["a".to_owned(), "long words\nhere".to_owned()], ["bcd".into(), "x".into()]];
        let table = render(["n", "what"], &rows, 12);
        assert_eq!(table, "n    what\na    long w…\nbcd  x\n");
    }
}
