//! Notes as people read them.

use std::fmt::Write as _;

use sequester_core::notes::{Entry, PATH, TEMPLATE};

use super::terminal::{clean, fold};

/// Each part under its section, with who wrote it.
pub(crate) fn render(entries: &[Entry], width: usize) -> String {
    let mut out = String::new();
    for (at, one) in entries.iter().enumerate() {
        if at > 0 {
            out.push('\n');
        }
        let section = if one.section.is_empty() { "Notes" } else { &one.section };
        let pinned = if one.pinned { ", pinned" } else { "" };
        let _ = writeln!(out, "{section} (by {}{pinned})", one.author);
        for line in one.content.lines() {
            let _ = writeln!(out, "{}", format!("  {line}").trim_end());
        }
    }
    fold(&clean(&out), width)
}

pub(crate) fn made() -> String {
    let sections = TEMPLATE.map(|name| format!("`{name}`")).join(", ");
    format!(
        "`{PATH}` was made, with the sections {sections}.\n\
         What you write there is shown to every subagent of the runs that you start afterwards.\n\
         To show them a whole section, also what subagents wrote in it, put a line `<!-- pinned -->` under its heading.\n"
    )
}
