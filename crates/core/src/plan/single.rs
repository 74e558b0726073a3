//! A plan of one task, said in a sentence.

use super::{Action, FileRef, Format, Plan, Task};
use crate::fault::Place;
use crate::id::TaskId;
use crate::path::RepoPath;

impl Plan {
    /// A task whose text, files and constraints are given one by one. Its title is the text's first line.
    pub fn single(text: &str, files: Vec<RepoPath>, constraints: Vec<String>) -> Self {
        let line = text.trim_start().lines().next().unwrap_or_default();
        let mut title = line.trim_start_matches('#').trim();
        for mark in ["- ", "* ", "[ ] "] {
            title = title.strip_prefix(mark).unwrap_or(title).trim_start();
        }
        let place = Place { line: 1, column: 1 };
        let file = |path| FileRef { path, action: Action::Change, lines: None, place };
        let task = Task {
            id: TaskId::new("task"),
            title: title.chars().take(TITLE).collect(),
            text: text.to_owned(),
            files: files.into_iter().map(file).collect(),
            constraints,
            ..Task::default()
        };
        let mut plan = Self::new(Format::Native);
        plan.tasks.push(task);
        plan
    }
}

const TITLE: usize = 80;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_title_is_the_first_line_without_its_marks() {
        let title = |text: &str| Plan::single(text, vec![], vec![]).tasks[0].title.clone();
        assert_eq!(title("\n## Mails \n\nSend them."), "Mails");
        assert_eq!(title("- [ ] Send `a`:\n"), "Send `a`:");
        assert_eq!(title("* **[x]** is kept"), "**[x]** is kept");
        assert_eq!(title("find it"), "find it");
        assert_eq!(title(&"x".repeat(200)).len(), TITLE);
    }
}
