//! Files: those that the plan names must be there, those that it does not name are shown.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{Input, quoted};
use crate::id::TaskId;
use crate::plan::{Action, fits_path};
use crate::run::FileSpec;

/// A deliverable that is not as the plan names it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Missing {
    pub path: String,
    pub lack: Lack,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Lack {
    NotThere,
    /// It was to be deleted.
    StillThere,
    /// Nothing at all was changed.
    Untouched,
}

impl Missing {
    pub(super) fn sentence(&self) -> String {
        let path = quoted(&self.path);
        match self.lack {
            Lack::NotThere => format!("{path} is to be there after this task, and is not."),
            Lack::StillThere => format!("{path} is to be deleted, and is still there."),
            Lack::Untouched => format!("{path} is to be changed, and nothing was changed at all."),
        }
    }
}

/// A file that was changed and not declared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Undeclared {
    pub path: String,
    /// Tasks that this one neither needs nor is needed by. With one of them it speaks against the task.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub declared_by: Vec<TaskId>,
}

pub(super) fn missing(input: &Input<'_>) -> Vec<Missing> {
    let idle = input.change.entries.is_empty();
    let lacks = input.task.files.iter().filter_map(|file| {
        let path = plain(&file.path);
        let there = (input.exists)(path);
        let lack = match file.action {
            Action::Read => return None,
            Action::Delete => there.then_some(Lack::StillThere),
            _ if !there => Some(Lack::NotThere),
            _ => idle.then_some(Lack::Untouched),
        };
        Some(Missing { path: path.to_owned(), lack: lack? })
    });
    lacks.collect::<BTreeSet<_>>().into_iter().collect()
}

/// A task that declares nothing has nothing undeclared, but for what others declare.
pub(super) fn undeclared(input: &Input<'_>) -> Vec<Undeclared> {
    let own = Declared::of(&input.task.files);
    let others: Vec<(&TaskId, Declared<'_>)> =
        input.others.iter().map(|other| (&other.task, Declared::of(&other.files))).collect();
    let paths = input.change.entries.iter().map(|entry| entry.path.as_str());
    let hints = &input.task.hints;
    let hinted = |path: &str| hints.iter().any(|hint| fits_path(plain(&hint.0.path), path));
    let extra = paths.filter(|path| !own.holds(path));
    let extra: BTreeSet<&str> = extra.collect();
    let found = extra.into_iter().map(|path| {
        let by = others.iter().filter(|(_, files)| files.holds(path));
        let by: BTreeSet<&TaskId> = by.map(|(task, _)| *task).collect();
        Undeclared { path: path.to_owned(), declared_by: by.into_iter().cloned().collect() }
    });
    let is_told = |file: &Undeclared| {
        let beyond = input.task.files_declared && !hinted(&file.path);
        beyond || !file.declared_by.is_empty()
    };
    found.filter(is_told).collect()
}

/// Paths that a task may write, for a look that costs no more than the depth of a path.
struct Declared<'a>(BTreeSet<&'a str>);

impl<'a> Declared<'a> {
    fn of(files: &'a [FileSpec]) -> Self {
        let writes = files.iter().filter(|file| file.action.writes());
        Self(writes.map(|file| plain(&file.path)).collect())
    }

    /// By itself, or in a folder that is declared.
    fn holds(&self, path: &str) -> bool {
        let mut folders = path.match_indices('/').map(|(slash, _)| &path[..slash]);
        self.0.contains(path) || folders.any(|folder| self.0.contains(folder))
    }
}

/// As the tree names it.
pub(super) fn plain(path: &str) -> &str {
    path.trim().trim_start_matches("./").trim_end_matches('/')
}
