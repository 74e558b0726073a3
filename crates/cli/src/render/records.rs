//! Records as people and programs read them.

use std::fmt::Write as _;

use sequester_core::id::RunId;
use sequester_core::moment::Moment;
use sequester_core::record::{ListedRecord, Record};
use sequester_core::report::Label;
use serde::Serialize;

use super::table;
use super::terminal::{clean, cut, fold};

/// The JSON shape.
#[derive(Serialize)]
pub(crate) struct Row<'a> {
    #[serde(flatten)]
    record: &'a Record,
    run: &'a RunId,
    #[serde(flatten)]
    artifact: Option<ArtifactFields<'a>>,
    /// When it was recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<Moment>,
    /// By how many tasks.
    uses: u32,
}

/// The label and the title of an artifact by the names that its tool has for them.
#[derive(Serialize)]
struct ArtifactFields<'a> {
    #[serde(rename = "type")]
    label: Label,
    relevance: &'a str,
}

impl<'a> ArtifactFields<'a> {
    fn of(record: &'a Record) -> Option<Self> {
        let relevance = &record.title;
        record.artifact_type().map(|label| Self { label, relevance })
    }
}

impl<'a> Row<'a> {
    pub(crate) fn of(run: &'a RunId, listed: &'a ListedRecord) -> Self {
        let ListedRecord { record, uses, at } = listed;
        Self { record, run, artifact: ArtifactFields::of(record), at: *at, uses: *uses }
    }
}

/// One line each.
pub(crate) fn list(rows: &[Row<'_>], width: usize) -> String {
    let cells = |row: &Row<'_>| {
        let Record { id, kind, text, .. } = row.record;
        let text = text.lines().next().unwrap_or_default();
        [id.to_string(), kind.as_str().to_owned(), row.uses.to_string(), cut(text, LINE)]
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
        let Record { id, kind, text, paths, refs, .. } = row.record;
        let _ = writeln!(out, "{gap}{id} ({}{used})", kind.as_str());
        for line in text.lines() {
            let _ = writeln!(out, "{}", format!("  {line}").trim_end());
        }
        for (name, list) in [("touched", paths), ("refs", refs)] {
            if !list.is_empty() {
                let _ = writeln!(out, "  {name}: {}", list.join(", "));
            }
        }
    }
    fold(&clean(&out), width)
}
