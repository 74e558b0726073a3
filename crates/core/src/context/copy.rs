//! Copies of the plan: a file that lists the plan's tasks is never shown, wherever it lies and however old it is.

use std::collections::HashSet;

use crate::plan::Plan;

/// Knows the lines that head the plan's tasks.
#[derive(Clone, Debug, Default)]
pub(super) struct Guard {
    headings: HashSet<String>,
}

impl Guard {
    pub(super) fn new(plan: &Plan, source: &str) -> Self {
        let lines: Vec<&str> = source.lines().collect();
        let headings = plan
            .tasks
            .iter()
            .filter_map(|task| lines.get((task.place.line as usize).checked_sub(1)?))
            .map(|line| bare(line))
            .filter(|line| line.len() > 3)
            .collect();
        Self { headings }
    }

    /// Whether `text` heads at least two of the tasks, and half of them.
    pub(super) fn is_copy(&self, text: &str) -> bool {
        if self.headings.len() < 2 {
            return false;
        }
        let seen: HashSet<String> =
            text.lines().map(bare).filter(|line| self.headings.contains(line)).collect();
        seen.len() >= 2 && seen.len() * 2 >= self.headings.len()
    }
}

/// A line without what changes when a task is ticked or moved.
fn bare(line: &str) -> String {
    line.trim().replace("[x]", "[ ]").replace("[X]", "[ ]")
}
