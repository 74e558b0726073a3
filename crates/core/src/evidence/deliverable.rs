//! Files: those that the plan names must be there, those that it does not name are shown.

use std::collections::{BTreeSet, HashSet};

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
    let relative = Relative::of(input);
    let mut lookups = LOOKUPS;
    let lacks = input.task.files.iter().filter_map(|file| {
        let path = plain(&file.path);
        let there = (input.exists)(path);
        let mut is_elsewhere = || {
            let is_known =
                file.action != Action::Create && spend(&mut lookups) && (input.mentioned)(path);
            relative.absent.contains(path) && (relative.changed.contains(path) || is_known)
        };
        let lack = match file.action {
            Action::Read => return None,
            Action::Delete => there.then_some(Lack::StillThere),
            Action::Modify if !there && relative.absent.contains(path) => {
                idle.then_some(Lack::Untouched)
            }
            _ if !there && !is_elsewhere() => Some(Lack::NotThere),
            // A task that only runs the tests names their files.
            Action::Test if input.task.wording().may_change_nothing => None,
            _ => idle.then_some(Lack::Untouched),
        };
        Some(Missing { path: path.to_owned(), lack: lack? })
    });
    lacks.collect::<BTreeSet<_>>().into_iter().collect()
}

/// Each lookup goes through all files of the repository.
const LOOKUPS: usize = 256;

fn spend(left: &mut usize) -> bool {
    let before = *left;
    *left = before.saturating_sub(1);
    before > 0
}

/// A plan may name a path relative to the entry before it or to a subproject: `src/lib.rs` for `crates/a/src/lib.rs`.
///
/// Such a path is not there itself, so a changed file whose path ends with it counts as the one that is named.
struct Relative<'a> {
    /// Declared paths that do not exist and that the change does not remove.
    absent: HashSet<&'a str>,
    /// Those of them that a changed file, or a directory above it, ends with.
    changed: HashSet<&'a str>,
}

impl<'a> Relative<'a> {
    fn of(input: &Input<'a>) -> Self {
        let entries = || input.change.entries.iter();
        let touched: HashSet<&str> = entries().map(|entry| entry.path.as_str()).collect();
        let writes = input.task.files.iter().filter(|file| file.action.writes());
        let paths = writes.map(|file| plain(&file.path)).filter(|path| !path.is_empty());
        let is_absent = |path: &&str| !touched.contains(path) && !(input.exists)(path);
        let absent: HashSet<&str> = paths.filter(is_absent).collect();
        let mut changed = HashSet::new();
        if !absent.is_empty() {
            let kept = entries().filter(|entry| entry.mode.is_some());
            changed
                .extend(kept.flat_map(|entry| ends(&entry.path)).filter_map(|end| absent.get(end)));
        }
        Self { absent, changed }
    }

    /// Whether a changed file, or a directory above it, may be what the task declares.
    fn declares(&self, path: &str) -> bool {
        !self.absent.is_empty() && ends(path).any(|end| self.absent.contains(end))
    }
}

/// Directories of a path that are looked at.
const DEPTH: usize = 32;

/// The ends, behind a slash, of a path and of the directories above it.
fn ends(path: &str) -> impl Iterator<Item = &str> {
    let above = path.match_indices('/').take(DEPTH).map(|(slash, _)| &path[..slash]);
    let tails = |path| str::match_indices(path, '/').take(DEPTH).map(|(at, _)| &path[at + 1..]);
    above.chain([path]).flat_map(tails)
}

/// A task that declares nothing has nothing undeclared, but for what others declare.
pub(super) fn undeclared(input: &Input<'_>) -> Vec<Undeclared> {
    let own = Declared::of(&input.task.files);
    let relative = Relative::of(input);
    let others: Vec<(&TaskId, Declared<'_>)> =
        input.others.iter().map(|other| (&other.task, Declared::of(&other.files))).collect();
    let paths = input.change.entries.iter().map(|entry| entry.path.as_str());
    let hints = &input.task.hints;
    let hinted = |path: &str| hints.iter().any(|hint| fits_path(plain(&hint.0.path), path));
    let extra = paths.filter(|path| !own.holds(path) && !relative.declares(path));
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
