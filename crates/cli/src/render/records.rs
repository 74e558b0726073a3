//! Records as people and programs read them.

use std::fmt::Write as _;

use sequester_core::id::RunId;
use sequester_core::record::{Kind, Record};
use serde::Serialize;

use super::table;
use super::terminal::{clean, cut, fold};

/// The JSON shape.
#[derive(Serialize)]
pub(crate) struct Row<'a> {
    id: &'a str,
    run: &'a RunId,
    task: &'a str,
    kind: Kind,
    title: &'a str,
    text: &'a str,
    paths: &'a [String],
    refs: &'a [String],
    #[serde(skip_serializing_if = "str::is_empty")]
    label: &'a str,
    /// By how many tasks.
    uses: u32,
}

impl<'a> Row<'a> {
    pub(crate) fn of(run: &'a RunId, record: &'a Record, uses: u32) -> Self {
        Self {
            id: &record.id,
            run,
            task: record.task.as_str(),
            kind: record.kind,
            title: &record.title,
            text: &record.text,
            paths: &record.paths,
            refs: &record.refs,
            label: &record.label,
            uses,
        }
    }
}

/// One line each.
pub(crate) fn list(rows: &[Row<'_>], width: usize) -> String {
    let cells = |row: &Row<'_>| {
        let text = row.text.lines().next().unwrap_or_default();
        [row.id.to_owned(), row.kind.as_str().to_owned(), row.uses.to_string(), cut(text, LINE)]
    };
    let cells: Vec<[String; 4]> = rows.iter().map(cells).collect();
    clean(&table::render(["record", "kind", "uses", "text"], &cells, width)).into_owned()
}

/// Of a text in a list.
const LINE: usize = 200;

/// Each in full.
pub(crate) fn whole(rows: &[Row<'_>], width: usize) -> String {
    let mut out = String::new();
    for (at, row) in rows.iter().enumerate() {
        let used = match row.uses {
            0 => String::new(),
            1 => ", used by 1 task".to_owned(),
            more => format!(", used by {more} tasks"),
        };
        let gap = if at > 0 { "\n" } else { "" };
        let _ = writeln!(out, "{gap}{} ({}{used})", row.id, row.kind.as_str());
        for line in row.text.lines() {
            let _ = writeln!(out, "{}", format!("  {line}").trim_end());
        }
        for (name, list) in [("touched", row.paths), ("refs", row.refs)] {
            if !list.is_empty() {
                let _ = writeln!(out, "  {name}: {}", list.join(", "));
            }
        }
    }
    fold(&clean(&out), width)
}
