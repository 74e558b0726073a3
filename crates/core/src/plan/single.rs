//! A plan of one task, said in a sentence.

use super::{Action, FileRef, Format, Plan, Task};
use crate::fault::Place;
use crate::id::TaskId;
use crate::path::RepoPath;

impl Plan {
    /// A task whose text, files and constraints are given one by one. Its title is the text's first line.
    pub fn single(text: &str, files: Vec<RepoPath>, constraints: Vec<String>) -> Self {
        let line =
            text.trim_start().lines().next().unwrap_or_default().trim_start_matches(['#', ' ']);
        let place = Place { line: 1, column: 1 };
        let file = |path| FileRef { path, action: Action::Change, lines: None, place };
        let task = Task {
            id: TaskId::new("task"),
            title: line.chars().take(TITLE).collect(),
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
