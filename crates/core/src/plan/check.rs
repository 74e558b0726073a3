//! Whether the files that tasks name are there when a task begins.

use std::collections::HashMap;

use super::{Action, FileRef, Plan, Task};
use crate::fault::{Code, Fault};
use crate::graph::TaskGraph;
use crate::path::RepoPath;

/// How far all searches of one plan may go; past it a creating task counts as needed.
const SEARCH: usize = 20_000_000;

/// What the base has at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    File,
    Folder,
    /// The path is or passes through a symbolic link.
    Symlink,
    Absent,
}

/// Every file to modify, delete or read must be in the base or be created by a task that is needed, near or far.
///
/// `paths` are all paths of the base, for hints; empty if they are not at hand. Done tasks are not looked at.
pub fn check(
    plan: &Plan,
    graph: &TaskGraph,
    exists: &dyn Fn(&RepoPath) -> Presence,
    paths: &[RepoPath],
) -> Vec<Fault> {
    let creators = creators(plan);
    let mut steps = SEARCH;
    let mut faults = Vec::new();
    for (index, task) in plan.tasks.iter().enumerate().filter(|(_, task)| !task.done) {
        for file in &task.files {
            let presence = exists(&file.path);
            if presence == Presence::Symlink {
                faults.push(symlink(file));
            }
            let must_exist = matches!(file.action, Action::Modify | Action::Delete | Action::Read);
            if presence == Presence::Folder && (must_exist || file.action == Action::Create) {
                faults.push(folder(file));
            }
            if presence != Presence::Absent || !must_exist {
                continue;
            }
            let creators = creators.get(&file.path).map_or(&[][..], Vec::as_slice);
            let mut needed = creators.iter().map(|creator| {
                *creator == index || graph.reaches(index, *creator, &mut steps).unwrap_or(true)
            });
            if needed.any(|needed| needed) {
                continue;
            }
            faults.push(match creators.first() {
                Some(creator) => missing_need(task, file, &plan.tasks[*creator]),
                None => missing_file(task, file, paths),
            });
        }
    }
    faults.sort_by(|one, two| {
        (one.place, one.code, &one.message).cmp(&(two.place, two.code, &two.message))
    });
    faults
}

/// The open tasks that bring a path into being.
fn creators(plan: &Plan) -> HashMap<&RepoPath, Vec<usize>> {
    let mut creators: HashMap<&RepoPath, Vec<usize>> = HashMap::new();
    for (index, task) in plan.tasks.iter().enumerate().filter(|(_, task)| !task.done) {
        for file in &task.files {
            if matches!(file.action, Action::Create | Action::Change | Action::Test) {
                creators.entry(&file.path).or_default().push(index);
            }
        }
    }
    creators
}

fn missing_need(task: &Task, file: &FileRef, creator: &Task) -> Fault {
    Fault::new(
        Code::MissingNeed,
        file.place,
        format!(
            "Task `{}` names `{}`, which only task `{}` creates, and it does not need that task.",
            task.id, file.path, creator.id
        ),
        format!("Let `{}` need `{}`.", task.id, creator.id),
    )
}

fn missing_file(task: &Task, file: &FileRef, paths: &[RepoPath]) -> Fault {
    let hint = match nearest(&file.path, paths) {
        Some(near) => {
            format!("Did you mean `{near}`? Otherwise list it under the files to create.")
        }
        None => "List it under the files to create, or correct the path.".to_owned(),
    };
    Fault::new(
        Code::MissingFile,
        file.place,
        format!(
            "Task `{}` names `{}`, which is not there and which no task creates.",
            task.id, file.path
        ),
        hint,
    )
}

fn symlink(file: &FileRef) -> Fault {
    Fault::new(
        Code::BadPath,
        file.place,
        format!("`{}` is a symbolic link or lies behind one.", file.path),
        "Name the file itself: links may lead out of the repository.",
    )
}

fn folder(file: &FileRef) -> Fault {
    Fault::new(
        Code::BadPath,
        file.place,
        format!("`{}` is a folder.", file.path),
        "Name a file in it.",
    )
}

/// The path that shares its name or differs by few letters; ties go to the first in the order of paths.
fn nearest<'a>(wanted: &RepoPath, paths: &'a [RepoPath]) -> Option<&'a RepoPath> {
    let same_name = paths.iter().filter(|path| path.name() == wanted.name());
    let shared = |path: &&RepoPath| {
        let ends = path.as_str().bytes().rev().zip(wanted.as_str().bytes().rev());
        ends.take_while(|(one, two)| one == two).count()
    };
    let by_name = same_name.min_by_key(|path| (usize::MAX - shared(path), path.as_str()));
    by_name.or_else(|| {
        let folder = paths.iter().filter(|path| path.folder() == wanted.folder());
        let close = folder.map(|path| (distance(path.name(), wanted.name()), path));
        let limit = wanted.name().len() / 3;
        close
            .filter(|(far, _)| *far <= limit)
            .min_by_key(|(far, path)| (*far, path.as_str()))
            .map(|(_, path)| path)
    })
}

/// How many letters differ.
fn distance(one: &str, two: &str) -> usize {
    let two: Vec<char> = two.chars().take(64).collect();
    let mut row: Vec<usize> = (0..=two.len()).collect();
    for (i, a) in one.chars().take(64).enumerate() {
        let mut left = i + 1;
        let mut corner = std::mem::replace(&mut row[0], left);
        for (j, b) in two.iter().enumerate() {
            let above = row[j + 1];
            left = (corner + usize::from(a != *b)).min(above + 1).min(left + 1);
            corner = above;
            row[j + 1] = left;
        }
    }
    row[two.len()]
}
