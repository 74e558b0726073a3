//! What tasks left to be done, as people read it.

use std::fmt::Write as _;

use sequester_core::record::Todo;

use super::terminal::{clean, fold, plural};

/// Of those that are listed.
const MOST: usize = 20;

/// With a line before it; nothing where nothing is left.
pub(crate) fn render(todos: &[Todo], width: usize) -> String {
    if todos.is_empty() {
        return String::new();
    }
    let mut out = "\nStill to be done:\n".to_owned();
    // Writing to a string cannot fail.
    for todo in todos.iter().take(MOST) {
        let _ = writeln!(out, "- {}: {}", todo.id, todo.text);
    }
    if let Some(more) = todos.len().checked_sub(MOST).filter(|more| *more > 0) {
        let more = plural(more, "more TODO");
        let _ = writeln!(out, "{more}; `sequester records --kind artifact` lists them all.");
    }
    fold(&clean(&out), width)
}
