//! `sequester diff`: what a run or one of its tasks changed.

use std::fmt::Write as _;
use std::io::{IsTerminal as _, stdout};
use std::path::Path;
use std::process::ExitCode;

use sequester_core::change::Change;
use sequester_core::id::TreeId;
use sequester_core::repository::Repository as _;
use sequester_core::run::{Event, RunState, RunView, TaskRun};
use sequester_git::Trees;
use serde_json::json;

use crate::Outcome;
use crate::args::{Args, DiffArgs};
use crate::failure::Failure;
use crate::output;
use crate::render::run::off_branches;
use crate::render::terminal::{clean_marked, plural};
use crate::wire::runs::{self, Runs};
use crate::wire::{Changed, ReviewNotice, find_root};

pub(crate) fn run(args: &Args, given: &DiffArgs) -> Outcome {
    let root = find_root(args)?;
    let (runs, state, task) = Runs::seek_task(&root, given.run.as_deref(), given.task.as_deref())?;
    let run = &state.run;
    let trees = runs::trees_at(&root)?;
    let change = if let Some(id) = task {
        let task = state.task(&id);
        task.map_or_else(|| Ok(Change::default()), |task| of_task(&runs, &trees, &state, task))?
    } else {
        if let Some((told, _)) = off_branches(&RunView::of(&state, runs.is_held(run)?)) {
            output::tell(&format!("{told} `sequester diff {run} TASK` shows a task's own."));
        }
        of_run(&runs, &trees, &state)?
    };
    show(args, given, &root, change)?;
    Ok(ExitCode::SUCCESS)
}

/// From where the run started to where its branch was left.
pub(super) fn of_run(runs: &Runs, trees: &Trees, state: &RunState) -> Result<Change, Failure> {
    let base = &state.started.base.tree;
    let tip = state.tip.as_ref().map_or(base, |(_, tree)| tree);
    between(runs, trees, base, tip)
}

/// What the task leads to; where it has not ended, what its last attempt has so far.
fn of_task(
    runs: &Runs,
    trees: &Trees,
    state: &RunState,
    task: &TaskRun,
) -> Result<Change, Failure> {
    let base = task.base.as_ref();
    let result = task.ended.as_ref().and_then(|ended| ended.tree.as_ref());
    if let (Some(base), Some(result)) = (base, result) {
        return between(runs, trees, base, result);
    }
    let running = task.running.values().next();
    let so_far = running.and_then(|running| {
        running.turns.iter().rev().find_map(|turn| match turn {
            Event::CallsEnded { change, .. } => change.clone(),
            _ => None,
        })
    });
    if let Some(change) = so_far {
        return runs.change(&state.run, &change);
    }
    let from = running.and_then(|running| running.started.from.clone());
    let last = || task.tried().rfind(|tried| tried.phase.changes_files());
    match (base, from.or_else(|| last()?.tree.clone())) {
        (Some(base), Some(tree)) => between(runs, trees, base, &tree),
        _ => match last().and_then(|tried| tried.change.as_ref()) {
            Some(change) => runs.change(&state.run, change),
            None => Ok(Change::default()),
        },
    }
}

fn between(runs: &Runs, trees: &Trees, from: &TreeId, to: &TreeId) -> Result<Change, Failure> {
    if from == to {
        return Ok(Change::default());
    }
    trees.between(from, to).map_err(|error| runs::git_failed(&runs.root, &error))
}

/// A change that never became a tree.
fn show(args: &Args, given: &DiffArgs, root: &Path, change: Change) -> Result<(), Failure> {
    let notices = ReviewNotice::find(root, &change);
    let patch = change.patch;
    let files: Vec<Changed> = change.entries.into_iter().map(Changed::from).collect();
    if args.json {
        let whole = json!({ "files": files, "patch": patch, "to_read": notices });
        return output::print_json(&whole);
    }
    for notice in &notices {
        output::tell(&notice.sentence());
    }
    if files.is_empty() {
        output::tell("Nothing is changed.");
        return Ok(());
    }
    let mut out = String::new();
    if given.stat {
        for file in &files {
            let _ = write!(out, "{:<7}{}", file.action, clean_marked(&file.path));
            if let (Some(added), Some(removed)) = (file.added, file.removed) {
                let _ = write!(out, " (+{added} -{removed})");
            }
            out.push('\n');
        }
        let _ = writeln!(out, "{} changed", plural(files.len(), "file"));
    } else if stdout().is_terminal() {
        out = clean_marked(&patch);
    } else {
        // As it is: a pipe may lead to `git apply`.
        out = patch;
        for file in files.iter().filter(|file| !file.in_patch) {
            output::tell(&format!("`{}` is too large for the patch.", file.path));
        }
    }
    output::print(&out)
}
