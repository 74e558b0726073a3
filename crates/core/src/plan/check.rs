//! Whether the files that tasks name are there when a task begins.

use std::cell::{Cell, OnceCell};
use std::collections::HashMap;

use super::locate::{self, Located};
use super::{Action, FileRef, Plan, Task, fits_path};
use crate::fault::{Code, Fault};
use crate::graph::TaskGraph;
use crate::path::RepoPath;
use crate::spelling::distance;

/// How far all searches of one plan may go; past it a creating task counts as needed.
const SEARCH: usize = 20_000_000;

/// So many missing files get a hint which file may be meant: looking for it is work, and nobody reads more.
const HINTS: usize = 50;

/// Missing files for which the texts of earlier tasks are searched.
const TEXTS: usize = 50;

/// How many paths of one name are compared in all; past it a name means no other file.
const COMPARED: usize = 4_000_000;

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
    let mut checker = Checker {
        plan,
        graph,
        exists,
        creators: Creators::of(plan),
        paths,
        near: OnceCell::new(),
        hints: HINTS,
        texts: TEXTS,
        steps: SEARCH,
        faults: Vec::new(),
    };
    for (index, task) in plan.tasks.iter().enumerate().filter(|(_, task)| !task.done) {
        for file in &task.files {
            checker.look(index, file);
        }
    }
    let mut faults = checker.faults;
    faults.sort_by(|one, two| {
        (one.place, one.code, &one.message).cmp(&(two.place, two.code, &two.message))
    });
    faults
}

struct Checker<'a> {
    plan: &'a Plan,
    graph: &'a TaskGraph,
    exists: &'a dyn Fn(&RepoPath) -> Presence,
    creators: Creators<'a>,
    paths: &'a [RepoPath],
    near: OnceCell<Near<'a>>,
    hints: usize,
    /// How often the texts of all earlier tasks are still searched.
    texts: usize,
    steps: usize,
    faults: Vec<Fault>,
}

impl<'a> Checker<'a> {
    fn look(&mut self, index: usize, file: &'a FileRef) {
        let presence = (self.exists)(&file.path);
        if presence == Presence::Symlink {
            self.faults.push(symlink(file));
        }
        let must_exist = matches!(file.action, Action::Modify | Action::Delete | Action::Read);
        if presence == Presence::Folder && must_exist {
            self.faults.push(folder(file));
        }
        if presence != Presence::Absent || !must_exist {
            return;
        }
        let path = file.path.as_str();
        let creators: Vec<usize> = above(path, &self.creators.exact).collect();
        if creators.iter().any(|creator| self.is_needed(index, *creator)) {
            return;
        }
        let task = &self.plan.tasks[index];
        if let Some(creator) = creators.first() {
            self.faults.push(missing_need(task, file, &self.plan.tasks[*creator]));
            return;
        }
        match self.locate(task, file) {
            Located::At(meant) => self.faults.push(relative_file(task, file, &meant)),
            _ if self.is_made_before(index, file) => {}
            Located::Several => self.faults.push(ambiguous_file(task, file)),
            Located::Nowhere => {
                let near = self.near.get_or_init(|| Near::new(self.paths));
                let meant = if self.hints > 0 { near.to(&file.path) } else { None };
                self.hints = self.hints.saturating_sub(1);
                self.faults.push(missing_file(task, file, meant));
            }
        }
    }

    fn is_needed(&mut self, index: usize, creator: usize) -> bool {
        creator == index || self.graph.reaches(index, creator, &mut self.steps).unwrap_or(true)
    }

    fn locate(&self, task: &Task, file: &FileRef) -> Located {
        let near = self.near.get_or_init(|| Near::new(self.paths));
        let is_file = |path: &RepoPath| (self.exists)(path) == Presence::File;
        locate::locate(&task.files, file, &is_file, &mut |path| near.ending_with(path))
    }

    /// Whether a needed task creates a file whose path ends with this one, or an earlier task's text says that it makes the file.
    fn is_made_before(&mut self, index: usize, file: &FileRef) -> bool {
        let path = file.path.as_str();
        let creators: Vec<usize> = above(path, &self.creators.tails).collect();
        if creators.iter().any(|creator| self.is_needed(index, *creator)) {
            return true;
        }
        let may_search = self.texts > 0;
        self.texts = self.texts.saturating_sub(1);
        let earlier = self.plan.tasks[..index].iter().filter(|task| !task.done);
        may_search && earlier.into_iter().any(|task| says_it_makes(&task.text, file.path.name()))
    }
}

/// Whether a line of a text names a file together with a word for making it.
fn says_it_makes(text: &str, name: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    text.lines().filter(|line| line.contains(name)).any(|line| {
        let is_whole = line.match_indices(name).any(|(at, _)| {
            !line[..at].ends_with(is_part) && !line[at + name.len()..].starts_with(is_part)
        });
        let lower = line.to_lowercase();
        is_whole && MAKES.iter().any(|word| lower.contains(word))
    })
}

const MAKES: [&str; 16] = [
    "creat", "add ", "write", "new ", "(new", "generat", "scaffold", "touch ", "> ", "emit",
    "produc", "init", "move", "rename", "copy", "erstell",
];

/// The open tasks that bring a path into being, by the path and by its ends behind a slash.
struct Creators<'a> {
    exact: HashMap<&'a str, Vec<usize>>,
    tails: HashMap<&'a str, Vec<usize>>,
}

impl<'a> Creators<'a> {
    fn of(plan: &'a Plan) -> Self {
        let (mut exact, mut tails) = (HashMap::new(), HashMap::new());
        let add = |map: &mut HashMap<&'a str, Vec<usize>>, path, index| {
            let known = map.entry(path).or_default();
            if known.last() != Some(&index) {
                known.push(index);
            }
        };
        for (index, task) in plan.tasks.iter().enumerate().filter(|(_, task)| !task.done) {
            for file in task.files.iter().chain(task.hints.iter().map(|hint| &hint.0)) {
                if matches!(file.action, Action::Create | Action::Change | Action::Test) {
                    let path = file.path.as_str();
                    add(&mut exact, path, index);
                    for (slash, _) in path.match_indices('/').take(DEPTH) {
                        add(&mut tails, &path[slash + 1..], index);
                    }
                }
            }
        }
        Self { exact, tails }
    }
}

/// Directories of a created path from which another may be relative.
const DEPTH: usize = 16;

/// Those that create a path, or a directory above it.
fn above<'c>(
    path: &'c str,
    creators: &'c HashMap<&str, Vec<usize>>,
) -> impl Iterator<Item = usize> + 'c {
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

fn relative_file(task: &Task, file: &FileRef, meant: &RepoPath) -> Fault {
    Fault::new(
        Code::MissingFile,
        file.place,
        format!(
            "Task `{}` names `{}`, which does not exist. `{meant}` is taken for it.",
            task.id, file.path
        ),
        "Write the path from the repository's root if another file is meant.",
    )
}

fn ambiguous_file(task: &Task, file: &FileRef) -> Fault {
    Fault::new(
        Code::MissingFile,
        file.place,
        format!(
            "Task `{}` names `{}`, which does not exist, and several files end with it. It is taken as a hint.",
            task.id, file.path
        ),
        "Write the path from the repository's root.",
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
    left: Cell<usize>,
}

impl<'a> Near<'a> {
    fn new(paths: &'a [RepoPath]) -> Self {
        let (mut by_name, mut by_folder) = (HashMap::new(), HashMap::new());
        for path in paths {
            by_name.entry(path.name()).or_insert_with(Vec::new).push(path);
            by_folder.entry(path.folder()).or_insert_with(Vec::new).push(path);
        }
        Self { by_name, by_folder, left: Cell::new(COMPARED) }
    }

    /// Files whose paths end with this one, two at most.
    fn ending_with(&self, wanted: &RepoPath) -> Vec<RepoPath> {
        let same_name = self.by_name.get(wanted.name()).map_or(&[][..], Vec::as_slice);
        let Some(left) = self.left.get().checked_sub(same_name.len()) else { return Vec::new() };
        self.left.set(left);
        let ends = |path: &&&RepoPath| fits_path(wanted.as_str(), path.as_str());
        same_name.iter().filter(ends).take(2).map(|path| (*path).clone()).collect()
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
