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
use crate::render::terminal::{clean_marked, plural, takes_colours};
use crate::wire::runs::{self, Runs};
use crate::wire::{Changed, ReviewNotice, find_root};

pub(crate) fn run(args: &Args, given: &DiffArgs) -> Outcome {
    let root = find_root(args)?;
    let (runs, state, task) =
        Runs::seek_task_with_branch(&root, given.run.as_deref(), given.task.as_deref())?;
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
    if let Some(parked) = task.parked().filter(|_| task.handed_back().is_some()) {
        return between(runs, trees, parked.base, parked.tree);
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
        if takes_colours() {
            out = coloured(&out);
        }
    } else {
        // As it is: a pipe may lead to `git apply`.
        out = patch;
        for file in files.iter().filter(|file| !file.in_patch) {
            output::tell(&format!("`{}` is too large for the patch.", file.path));
        }
    }
    output::print(&out)
}

/// As git colours a patch.
fn coloured(patch: &str) -> String {
    // Lines of a hunk that are left: what looks like a heading within one is text.
    let mut left = (0_u32, 0_u32);
    let mut out = String::with_capacity(patch.len() + patch.len() / 8);
    for line in patch.split_inclusive('\n') {
        let (text, end) = line.strip_suffix('\n').map_or((line, ""), |text| (text, "\n"));
        let is_in_hunk = left != (0, 0);
        let colour = match text.as_bytes().first() {
            Some(b'-') if is_in_hunk => {
                left.0 = left.0.saturating_sub(1);
                RED
            }
            Some(b'+') if is_in_hunk => {
                left.1 = left.1.saturating_sub(1);
                GREEN
            }
            Some(b'\\') => "",
            _ if is_in_hunk => {
                left = (left.0.saturating_sub(1), left.1.saturating_sub(1));
                ""
            }
            Some(b'@') => {
                left = hunk_lines(text).unwrap_or_default();
                CYAN
            }
            Some(_) => BOLD,
            None => "",
        };
        let reset = if colour.is_empty() { "" } else { "\x1b[0m" };
        out.extend([colour, text, reset, end]);
    }
    out
}

const BOLD: &str = "\x1b[1m";
const RED: &str = "\x1b[31m";
const GREEN: &str = "\x1b[32m";
const CYAN: &str = "\x1b[36m";

/// How many lines a hunk takes away from and gives to the file, context included: `@@ -1,2 +1,3 @@`.
fn hunk_lines(heading: &str) -> Option<(u32, u32)> {
    let mut sides = heading.strip_prefix("@@ -")?.split(" @@").next()?.split(" +");
    let lines = |side: &str| match side.split_once(',') {
        Some((_, count)) => count.parse().ok(),
        None => Some(1),
    };
    Some((lines(sides.next()?)?, lines(sides.next()?)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_patch_is_coloured_by_what_its_lines_are_not_by_how_they_look() {
        let patch = "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1,3 +1,2 @@\n same\n--- gone\n-x\n+++ new\n\
            diff --git a/b b/b\n";
        let wanted = "\x1b[1mdiff --git a/a b/a\x1b[0m\n\x1b[1m--- a/a\x1b[0m\n\x1b[1m+++ b/a\x1b[0m\n\
            \x1b[36m@@ -1,3 +1,2 @@\x1b[0m\n same\n\x1b[31m--- gone\x1b[0m\n\x1b[31m-x\x1b[0m\n\
            \x1b[32m+++ new\x1b[0m\n\x1b[1mdiff --git a/b b/b\x1b[0m\n";
        assert_eq!(coloured(patch), wanted);
    }
}
