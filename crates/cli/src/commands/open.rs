//! `sequester open`: the change of a task in a worktree of the person's repository, to be edited.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use sequester_core::fault::Code;
use sequester_core::id::{CommitId, TaskId, TreeId};
use sequester_core::repository::{Draft, Error as GitError, Merge, Repository as _};
use sequester_core::run::{RunState, TaskRun};
use sequester_git::Trees;
use serde_json::json;

use crate::Outcome;
use crate::args::{Args, OpenArgs};
use crate::failure::Failure;
use crate::output;
use crate::wire::edited_task::{self, EditNote, EditPlace};
use crate::wire::find_root;
use crate::wire::runs::{self, FOLDER, Runs};

/// What the worktree shows: its files, on a base.
struct EditStart {
    base: TreeId,
    tree: TreeId,
    /// Files that the task and others changed differently: the worktree has them as the others left them.
    conflicts: Vec<String>,
}

pub(crate) fn run(args: &Args, given: &OpenArgs) -> Outcome {
    let root = find_root(args)?;
    let (runs, id) = Runs::seek_writing(&root, Some(&given.run))?;
    let state = runs.state(&id)?;
    let id_of_task = runs::task_of(&state, &given.task)?;
    let Some(task) = state.task(&id_of_task) else { return Ok(ExitCode::FAILURE) };
    refuse(&state, task, runs.is_held(&id)?)?;
    let trees = runs::trees_at(&root)?;
    refuse_own(&trees, &root)?;
    let failed = |error: GitError| runs::git_failed(&root, &error);
    let found = edited_task::find(&trees, &id, &id_of_task).map_err(failed)?;
    found.map_or(Ok(()), |place| Err(open_already(&place)))?;
    let at = place(given, &root, &state, task)?;
    let start = start(&root, &trees, &state, task)?;
    let commit = commit(&trees, &state, &start.base, &id_of_task).map_err(failed)?;
    let note = EditNote {
        run: id.clone(),
        task: id_of_task.clone(),
        base: start.base.clone(),
        commit: commit.clone(),
        root: root.to_string_lossy().into_owned(),
    };
    let now = std::time::SystemTime::now();
    trees.open_worktree(&at, &commit, &start.tree, &note.text(), now).map_err(|error| {
        let hint = "Name another directory: `sequester open RUN TASK DIR`.";
        Failure::work(Code::Unwritable, at.display(), error.to_string(), hint)
    })?;
    for path in &start.conflicts {
        output::tell(&format!(
            "`{path}` conflicts with what other tasks changed: the worktree has their version. `sequester diff {id} {id_of_task}` shows the task's."
        ));
    }
    if args.json {
        output::print_json(&json!({
            "run": id,
            "task": id_of_task,
            "directory": at,
            "base": start.base,
            "conflicts": start.conflicts,
        }))?;
    } else {
        print_opened(&at, &note)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn open_already(place: &EditPlace) -> Failure {
    let EditPlace { at, note: EditNote { run, task, .. } } = place;
    let at = at.display();
    let message = format!("`{task}` is open already.");
    let hint = format!(
        "Edit it there, then `sequester hand-back {run} {task}`; `git worktree remove --force {at}` discards it."
    );
    Failure::input(Code::BadArguments, at, message, hint)
}

const ONLY_HAND_BACK: &str =
    "Only `hand-back` takes the edit: the answer \"Accept as it is\" takes the change without it.";

fn print_opened(at: &Path, note: &EditNote) -> Result<(), Failure> {
    let (EditNote { run, task, .. }, at) = (note, at.display());
    output::print(&format!(
        "{at}\n`{task}` of run `{run}` is there to edit. `sequester hand-back {run} {task}` takes it back.\n{ONLY_HAND_BACK}\n"
    ))
}

/// What is done stands, and nobody edits what a subagent works on.
pub(super) fn refuse(state: &RunState, task: &TaskRun, live: bool) -> Result<(), Failure> {
    let (run, id) = (&state.run, &task.spec.id);
    let (message, hint) = if task.is_done() {
        let hint = format!(
            "`sequester resume {run} --redo {id}` does it again; `sequester apply {run}` takes it as it is."
        );
        (format!("`{id}` is done."), hint)
    } else if state.is_cancelled {
        let hint = "Start its plan again with `sequester run`.".to_owned();
        (format!("Run `{run}` was cancelled."), hint)
    } else if !task.running.is_empty() {
        let hint = if live {
            format!("Wait until it ends; `sequester status {run} {id}` shows how it stands.")
        } else {
            format!("It was stopped on the way; `sequester resume {run}` brings it to its end.")
        };
        (format!("A subagent works on `{id}`."), hint)
    } else if !state.is_founded(task) {
        let needs: Vec<&str> = task.spec.needs.iter().map(TaskId::as_str).collect();
        let hint = format!("Finish `{}` first.", needs.join("`, `"));
        (format!("What `{id}` builds on is not done."), hint)
    } else {
        return Ok(());
    };
    Err(Failure::input(Code::BadArguments, format!("task {id}"), message, hint))
}

pub(super) fn refuse_own(trees: &Trees, root: &Path) -> Result<(), Failure> {
    if !trees.is_own() {
        return Ok(());
    }
    let message = "A worktree needs a git repository, and this folder is none.";
    let hint = "Make it one with `git init`.";
    Err(Failure::input(Code::NoRepository, root.display(), message, hint))
}

fn place(
    given: &OpenArgs,
    root: &Path,
    state: &RunState,
    task: &TaskRun,
) -> Result<PathBuf, Failure> {
    let at = if let Some(named) = &given.directory {
        std::path::absolute(named).map_err(|error| {
            let hint = "Name a directory that is not there yet.";
            Failure::input(Code::BadArguments, named.display(), format!("{error}."), hint)
        })?
    } else {
        refuse_links(root)?;
        edited_task::default_place(root, &state.run, &task.spec.id)
    };
    if let Some(above) = at.parent() {
        std::fs::create_dir_all(above).map_err(|error| {
            let message = format!("`{}` cannot be made: {error}.", above.display());
            let hint = "Name another directory: `sequester open RUN TASK DIR`.";
            Failure::work(Code::Unwritable, at.display(), message, hint)
        })?;
    }
    Ok(at)
}

/// A repository may bring links in the place of our folders.
fn refuse_links(root: &Path) -> Result<(), Failure> {
    let ours = root.join(FOLDER);
    let folders = [ours.clone(), ours.join("open")];
    let Some(link) = folders.iter().find(|folder| folder.is_symlink()) else { return Ok(()) };
    let message = "A link is in the place of the folder for worktrees.";
    let hint = "Remove it, or name another directory: `sequester open RUN TASK DIR`.";
    Err(Failure::input(Code::BadArguments, link.display(), message, hint))
}

/// The task's change on what it builds on now.
fn start(
    root: &Path,
    trees: &Trees,
    state: &RunState,
    task: &TaskRun,
) -> Result<EditStart, Failure> {
    let failed = |error: GitError| runs::git_failed(root, &error);
    let now = edited_task::base_now(trees, state, task).map_err(failed)?;
    let now = now.ok_or_else(|| {
        let message = format!("What `{}` builds on does not fit together.", task.spec.id);
        let hint = format!("`sequester resume {}` settles the conflict.", state.run);
        Failure::work(Code::NoRepository, format!("run {}", state.run), message, hint)
    })?;
    let Some(parked) = task.parked() else {
        return Ok(EditStart { tree: now.clone(), base: now, conflicts: Vec::new() });
    };
    if *parked.base == now {
        let tree = parked.tree.clone();
        return Ok(EditStart { base: now, tree, conflicts: Vec::new() });
    }
    let merged = trees.merge(parked.base, &now, parked.tree);
    Ok(match merged.map_err(failed)? {
        Merge::Clean(tree) => EditStart { base: now, tree, conflicts: Vec::new() },
        Merge::Conflict(conflicts) => EditStart { tree: now.clone(), base: now, conflicts },
    })
}

/// HEAD of the worktree: the run's start itself, or a commit of the base on it.
fn commit(
    trees: &Trees,
    state: &RunState,
    base: &TreeId,
    task: &TaskId,
) -> Result<CommitId, GitError> {
    let start = &state.started.base;
    if let Some(commit) = start.commit.as_ref().filter(|_| start.tree == *base) {
        return Ok(commit.clone());
    }
    trees.commit(&Draft {
        tree: base.clone(),
        parent: start.commit.clone(),
        message: format!("What the task {task} builds on\n\nSequester-Run: {}\n", state.run),
        author: None,
        at: runs::now(),
    })
}
