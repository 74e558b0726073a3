//! Rows of tables that look like tasks: no format has its tasks there.

use std::collections::HashSet;

use super::markdown::Document;
use super::tree::Tree;
use super::{mark, words};
use crate::fault::{Code, Fault};

/// Rows that make a table look like a list of tasks.
const FEWEST: usize = 2;

/// A row whose first cell is nothing but the id of a task.
struct Row<'a> {
    table: usize,
    /// Where its line begins.
    at: usize,
    id: &'a str,
}

/// How many rows look like tasks.
pub(super) fn count(document: &Document<'_>) -> usize {
    rows(document).count()
}

/// One warning for each table with rows whose ids no task has.
pub(super) fn untaken(document: &Document<'_>, tree: &Tree) -> Vec<Fault> {
    let known: HashSet<&str> = tree.units.iter().map(|unit| unit.id.as_str()).collect();
    let rows: Vec<Row<'_>> = rows(document).filter(|row| !known.contains(row.id)).collect();
    let tables = rows.chunk_by(|one, two| one.table == two.table);
    tables.filter(|rows| rows.len() >= FEWEST).map(|rows| warning(document, rows)).collect()
}

fn warning(document: &Document<'_>, rows: &[Row<'_>]) -> Fault {
    let count = rows.len();
    let (first, last) = (rows[0].id, rows[count - 1].id);
    Fault::new(
        Code::UntakenTask,
        document.lines.place(rows[0].at),
        format!(
            "{count} rows of a table look like tasks (`{first}` to `{last}`). They are not taken as tasks."
        ),
        format!("Write each as a checkbox, such as `- [ ] {first} ...`."),
    )
}

fn rows<'a>(document: &Document<'a>) -> impl Iterator<Item = Row<'a>> {
    document.table_lines().filter_map(|(table, at, line)| {
        let cell = line.trim_start().strip_prefix('|')?.split('|').next()?.trim();
        let is_id = |word: &str| words::is_spec_kit(word) || words::is_track(word);
        let plain = mark::leading_id(cell, is_id);
        let named = || mark::numbered(cell).map(|found| (found.id, &cell[cell.len()..]));
        let (id, rest) = plain.or_else(named)?;
        let is_whole = !rest.contains(char::is_alphanumeric);
        (is_whole && mark::numbered(cell).is_none_or(|found| found.title.is_empty()))
            .then_some(Row { table, at, id })
    })
}
