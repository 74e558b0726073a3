//! Whether the files that tasks name are there when a task begins.

use std::cell::OnceCell;
use std::collections::HashMap;

use super::{Action, FileRef, Plan, Task};
use crate::fault::{Code, Fault};
use crate::graph::TaskGraph;
use crate::path::RepoPath;
use crate::spelling::distance;

/// How far all searches of one plan may go; past it a creating task counts as needed.
const SEARCH: usize = 20_000_000;

/// So many missing files get a hint which file may be meant: looking for it is work, and nobody reads more.
const HINTS: usize = 50;

/// What the base has at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    File,
    Folder,
    /// The path is or passes through a symbolic link.
    Symlink,
    Absent,
}

/// Warnings about files to modify, delete or read that neither the base has nor a needed task creates.
///
/// `paths` are all paths of the base, for hints; empty if they are not at hand. Done tasks are not looked at.
pub fn check(
    plan: &Plan,
    graph: &TaskGraph,
    exists: &dyn Fn(&RepoPath) -> Presence,
    paths: &[RepoPath],
) -> Vec<Fault> {
    let creators = creators(plan);
    let near = OnceCell::new();
    let mut hints = HINTS;
    let mut steps = SEARCH;
    let mut faults = Vec::new();
    for (index, task) in plan.tasks.iter().enumerate().filter(|(_, task)| !task.done) {
        for file in &task.files {
            let presence = exists(&file.path);
            if presence == Presence::Symlink {
                faults.push(symlink(file));
            }
            let must_exist = matches!(file.action, Action::Modify | Action::Delete | Action::Read);
            if presence == Presence::Folder && must_exist {
                faults.push(folder(file));
            }
            if presence != Presence::Absent || !must_exist {
                continue;
            }
            let creators: Vec<usize> = of_path(&creators, &file.path).collect();
            let mut needed = creators.iter().map(|creator| {
                *creator == index || graph.reaches(index, *creator, &mut steps).unwrap_or(true)
            });
            if needed.any(|needed| needed) {
                continue;
            }
            if let Some(creator) = creators.first() {
                faults.push(missing_need(task, file, &plan.tasks[*creator]));
            } else {
                let near = || near.get_or_init(|| Near::new(paths)).to(&file.path);
                let meant = if hints > 0 { near() } else { None };
                hints = hints.saturating_sub(1);
                faults.push(missing_file(task, file, meant));
            }
        }
    }
    faults.sort_by(|one, two| {
        (one.place, one.code, &one.message).cmp(&(two.place, two.code, &two.message))
    });
    faults
}

/// The open tasks that bring a path into being.
fn creators(plan: &Plan) -> HashMap<&str, Vec<usize>> {
    let mut creators: HashMap<&str, Vec<usize>> = HashMap::new();
    for (index, task) in plan.tasks.iter().enumerate().filter(|(_, task)| !task.done) {
        for file in task.files.iter().chain(task.hints.iter().map(|hint| &hint.0)) {
            if matches!(file.action, Action::Create | Action::Change | Action::Test) {
                creators.entry(file.path.as_str()).or_default().push(index);
            }
        }
    }
    creators
}

/// Those that create a path, or a directory above it.
fn of_path<'c>(
    creators: &'c HashMap<&str, Vec<usize>>,
    path: &'c RepoPath,
) -> impl Iterator<Item = usize> + 'c {
    let path = path.as_str();
    let above = path.rmatch_indices('/').map(|(slash, _)| &path[..slash]);
    let known = std::iter::once(path).chain(above).filter_map(|path| creators.get(path));
    known.flatten().copied()
}

fn missing_need(task: &Task, file: &FileRef, creator: &Task) -> Fault {
    Fault::new(
        Code::MissingNeed,
        file.place,
        format!(
            "Task `{}` names `{}`, which only task `{}` creates, and it does not need that task. \
             It may start without the file.",
            task.id, file.path, creator.id
        ),
        format!("Let `{}` need `{}`.", task.id, creator.id),
    )
}

fn missing_file(task: &Task, file: &FileRef, meant: Option<&RepoPath>) -> Fault {
    let hint = match meant {
        Some(near) => {
            format!("Did you mean `{near}`? Otherwise list it under the files to create.")
        }
        None => "List it under the files to create, or correct the path.".to_owned(),
    };
    Fault::new(
        Code::MissingFile,
        file.place,
        format!(
            "Task `{}` names `{}`, which does not exist and which no task creates. \
             The task starts without it.",
            task.id, file.path
        ),
        hint,
    )
}

fn symlink(file: &FileRef) -> Fault {
    Fault::new(
        Code::BadPath,
        file.place,
        format!(
            "`{}` is a symbolic link or lies behind one. Its content is not shown to the task.",
            file.path
        ),
        "Name the file itself: links may lead out of the repository.",
    )
}

fn folder(file: &FileRef) -> Fault {
    Fault::new(
        Code::BadPath,
        file.place,
        format!("`{}` is a directory. Its files are not shown to the task.", file.path),
        "Name a file in it.",
    )
}

/// The paths of the base by their names and by their folders.
struct Near<'a> {
    by_name: HashMap<&'a str, Vec<&'a RepoPath>>,
    by_folder: HashMap<&'a str, Vec<&'a RepoPath>>,
}

impl<'a> Near<'a> {
    fn new(paths: &'a [RepoPath]) -> Self {
        let (mut by_name, mut by_folder) = (HashMap::new(), HashMap::new());
        for path in paths {
            by_name.entry(path.name()).or_insert_with(Vec::new).push(path);
            by_folder.entry(path.folder()).or_insert_with(Vec::new).push(path);
        }
        Self { by_name, by_folder }
    }

    /// The path that shares its name or differs by few letters; ties go to the first in the order of paths.
    fn to(&self, wanted: &RepoPath) -> Option<&'a RepoPath> {
        let shared = |path: &RepoPath| {
            let ends = path.as_str().bytes().rev().zip(wanted.as_str().bytes().rev());
            ends.take_while(|(one, two)| one == two).count()
        };
        let same_name = self.by_name.get(wanted.name()).into_iter().flatten().copied();
        let by_name = same_name.min_by_key(|path| (usize::MAX - shared(path), path.as_str()));
        by_name.or_else(|| {
            let limit = wanted.name().len() / 3;
            let folder = self.by_folder.get(wanted.folder()).into_iter().flatten().copied();
            folder
                .map(|path| (distance(path.name(), wanted.name()), path))
                .filter(|(far, _)| *far <= limit)
                .min_by_key(|(far, path)| (*far, path.as_str()))
                .map(|(_, path)| path)
        })
    }
}
