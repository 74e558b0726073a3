//! `sequester hand-back`: what a person left in a task's worktree becomes the task's change, to be verified like any other.

use std::process::ExitCode;

use sequester_core::change::Refused;
use sequester_core::fault::Code;
use sequester_core::id::{RunId, TaskId, TreeId};
use sequester_core::repository::{Error as GitError, Repository as _};
use sequester_core::run::{Entry, Event, RunState, Scope, TaskRun};
use sequester_core::store::{ErrorKind, Letter, RunStore as _};
use serde_json::json;

use super::open::{refuse, refuse_own};
use crate::Outcome;
use crate::args::{Args, HandBackArgs};
use crate::failure::Failure;
use crate::output;
use crate::render::terminal::{clean, plural};
use crate::wire::Project;
use crate::wire::edited_task::{self, EditPlace, Harvest};
use crate::wire::owner::{self, Heard};
use crate::wire::runs::{self, Runs, failed_run};

pub(crate) fn run(args: &Args, given: &HandBackArgs) -> Outcome {
    let project = Project::open(args)?;
    let root = &project.root;
    let (runs, id) = Runs::seek_writing(root, Some(&given.run))?;
    let state = runs.state(&id)?;
    let task_id = runs::task_of(&state, &given.task)?;
    let Some(task) = state.task(&task_id) else { return Ok(ExitCode::FAILURE) };
    refuse(&state, task, runs.is_held(&id)?)?;
    let trees = runs::trees_at(root)?;
    refuse_own(&trees, root)?;
    let failed = |error: GitError| runs::git_failed(root, &error);
    let place = edited_task::find(&trees, &id, &task_id).map_err(failed)?;
    let place = place.ok_or_else(|| not_open(&id, &task_id))?;
    let now = edited_task::base_now(&trees, &state, task).map_err(failed)?;
    if now.as_ref() != Some(&place.note.base) {
        return Err(moved(&id, &task_id, &place));
    }
    let Harvest { tree, left_out, files } =
        edited_task::harvest(&project, &trees, &state, task, &place)?;
    for one in &left_out {
        output::tell(&format!("`{}` is left out: {}.", one.path, one.why.trim_end_matches('.')));
    }
    if files == 0 && !left_out.is_empty() {
        let message = "The edit consists of what no commit may hold.";
        let hint = "Take those files out, or `sequester answer` the task's question.";
        return Err(Failure::input(Code::BadArguments, place.at.display(), message, hint));
    }
    trees.hold(&id, std::slice::from_ref(&tree), &[]).map_err(failed)?;
    let by = runs::person(root);
    let back = HandedBack {
        task: task_id.clone(),
        base: place.note.base.clone(),
        tree,
        left_out: left_out.clone(),
        by: by.clone(),
    };
    let heard = deliver(&runs, &id, back)?;
    // What was left out is nowhere else.
    let removed =
        left_out.is_empty() && heard != Heard::Left && trees.remove_worktree(&place.at).is_ok();
    if args.json {
        output::print_json(&json!({
            "run": id,
            "task": task_id,
            "by": by,
            "files": files,
            "left_out": left_out,
            "directory": place.at,
            "removed": removed,
            "delivered": heard,
        }))?;
    } else {
        let files = plural(files, "changed file");
        let gone = if removed {
            "The worktree is removed.".to_owned()
        } else {
            format!(
                "The worktree stays: `git worktree remove --force {}` removes it.",
                place.at.display()
            )
        };
        let next = match heard {
            Heard::Recorded => format!("`sequester resume {id}` verifies it and goes on."),
            Heard::Taken => "The run verifies it and goes on.".to_owned(),
            Heard::Left => format!(
                "It was left for the process that carries run `{id}` out, which has not taken it yet."
            ),
        };
        output::print(&format!(
            "`{task_id}` is handed back by {} with {files}. {gone}\n{next}\n",
            clean(&by)
        ))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// What is told to the run.
struct HandedBack {
    task: TaskId,
    base: TreeId,
    tree: TreeId,
    left_out: Vec<Refused>,
    by: String,
}

/// Into its log, or to the process that carries it out.
fn deliver(runs: &Runs, id: &RunId, back: HandedBack) -> Result<Heard, Failure> {
    let HandedBack { task, base, tree, left_out, by } = back;
    match runs.store.lease(id) {
        Ok(lease) => {
            let scope = Scope { task: Some(task), ..Scope::default() };
            let event = Event::TaskHandedBack { base, tree, by, left_out };
            owner::append(lease.as_ref(), vec![Entry { scope, event }])?;
            Ok(Heard::Recorded)
        }
        Err(error) if error.kind == ErrorKind::Held => {
            let (wanted, known) = (tree.clone(), task.clone());
            let is_taken = move |state: &RunState| {
                state.task(&known).and_then(TaskRun::handed_back) == Some(&wanted)
            };
            let letter = Letter::HandBack { task, base, tree, left_out, by };
            owner::post(runs, id, &letter, is_taken)
        }
        Err(error) => Err(failed_run(&error, id)),
    }
}

fn not_open(run: &RunId, task: &TaskId) -> Failure {
    let message = format!("There is no worktree of `{task}`.");
    let hint = format!("`sequester open {run} {task}` makes one.");
    Failure::input(Code::BadArguments, format!("task {task}"), message, hint)
}

/// The edit would undo what others did since.
fn moved(run: &RunId, task: &TaskId, place: &EditPlace) -> Failure {
    let message = format!("What `{task}` builds on has changed since it was opened.");
    let hint = format!(
        "Move `{}` aside with `git worktree move`, open it again with `sequester open {run} {task}`, and bring your edit over.",
        place.at.display()
    );
    Failure::input(Code::BadArguments, place.at.display(), message, hint)
}
