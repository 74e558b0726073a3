//! `sequester hand-back`: what a person left in a task's worktree becomes the task's change, to be verified like any other.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use sequester_core::fault::Code;
use sequester_core::id::{RunId, TaskId};
use sequester_core::repository::{Error as GitError, Repository as _};
use sequester_core::run::{Entry, Event, RunState, Scope, TaskRun};
use sequester_core::store::{ErrorKind, Letter, RunStore as _};
use sequester_git::{Trees, WorktreeLosses};
use serde_json::json;

use super::open::{refuse, refuse_own};
use crate::Outcome;
use crate::args::{Args, HandBackArgs};
use crate::failure::Failure;
use crate::output;
use crate::render::terminal::{clean, plural};
use crate::wire::edited_task::{self, EditPlace, Harvest};
use crate::wire::owner::{self, Heard};
use crate::wire::runs::{self, Runs, failed_run};
use crate::wire::{Project, find_folder};

pub(crate) fn run(args: &Args, given: &HandBackArgs) -> Outcome {
    let folder = find_folder(args)?;
    let around = edited_task::around(&folder);
    let root = around.as_ref().map_or(folder, |place| PathBuf::from(&place.note.root));
    let named = TaskAddress::of(given, around.as_ref())?;
    let project = Project::open_at(root, args)?;
    let root = &project.root;
    let (runs, id) = Runs::seek_writing(root, Some(&named.run))?;
    let trees = runs::trees_at(root)?;
    refuse_own(&trees, root)?;
    let task = runs::task_of(&runs.state(&id)?, &named.task)?;
    let edit = EditedTask { runs: &runs, trees: &trees, run: &id, task: &task };
    let failed = |error: GitError| runs::git_failed(root, &error);
    let place = edited_task::find(&trees, &id, &task).map_err(failed)?;
    let state = edit.look(place.as_ref(), runs.is_held(&id)?)?;
    let place = place.ok_or_else(|| not_open(&id, &task))?;
    let Some(known) = state.task(&task) else { return Ok(ExitCode::FAILURE) };
    let harvest = edited_task::harvest(&project, &runs, &trees, &state, known, &place)?;
    tell_left_out(&harvest, &place)?;
    trees.hold(&id, std::slice::from_ref(&harvest.tree), &[]).map_err(failed)?;
    let by = runs::person(root);
    let heard = edit.deliver(&place, &harvest, &by)?;
    let removal = WorktreeRemoval::of(&trees, &place, &harvest, heard);
    let done = HandBackResult { edit, place, harvest, by, heard, removal };
    if args.json {
        output::print_json(&done.json())?;
    } else {
        output::print(&done.text(around.is_some()))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The run and the task that are meant.
struct TaskAddress {
    run: String,
    task: String,
}

impl TaskAddress {
    /// As they were named, or those of the worktree that the person stands in.
    fn of(given: &HandBackArgs, around: Option<&EditPlace>) -> Result<Self, Failure> {
        match (&given.run, &given.task, around) {
            (Some(run), Some(task), _) => Ok(Self { run: run.clone(), task: task.clone() }),
            (_, _, Some(EditPlace { note, .. })) => {
                Ok(Self { run: note.run.to_string(), task: note.task.to_string() })
            }
            _ => {
                let message = "This is not the worktree of a task, so the task must be named.";
                let hint =
                    "Write `sequester hand-back RUN TASK`; `sequester inbox` lists what waits.";
                Err(Failure::input(Code::BadArguments, "hand-back", message, hint))
            }
        }
    }
}

/// A task of a run that a person edits.
#[derive(Clone, Copy)]
struct EditedTask<'a> {
    runs: &'a Runs,
    trees: &'a Trees,
    run: &'a RunId,
    task: &'a TaskId,
}

impl EditedTask<'_> {
    /// The run as it stands now, if the edit can still become the task's change: the task is not done, and builds on what the
    /// worktree was made with.
    fn look(&self, place: Option<&EditPlace>, live: bool) -> Result<RunState, Failure> {
        let state = self.runs.state(self.run)?;
        // A task that another plan left out has no worktree that counts.
        let task = state.task(self.task).ok_or_else(|| not_open(self.run, self.task))?;
        refuse(&state, task, live)?;
        let place = place.ok_or_else(|| not_open(self.run, self.task))?;
        let now = edited_task::base_now(self.trees, &state, task);
        let now = now.map_err(|error| runs::git_failed(&self.runs.root, &error))?;
        if now.as_ref() == Some(&place.note.base) {
            Ok(state)
        } else {
            Err(moved(self.run, self.task, place))
        }
    }

    /// Into the run's log, or to the process that carries the run out. Reading the worktree may take long: the run may have gone on
    /// meanwhile.
    fn deliver(&self, place: &EditPlace, harvest: &Harvest, by: &str) -> Result<Heard, Failure> {
        let (runs, run, task) = (self.runs, self.run, self.task);
        let (base, tree) = (place.note.base.clone(), harvest.tree.clone());
        let (left_out, by) = (harvest.left_out.clone(), by.to_owned());
        match runs.store.lease(run) {
            Ok(lease) => {
                self.look(Some(place), false)?;
                let scope = Scope { task: Some(task.clone()), ..Scope::default() };
                let event = Event::TaskHandedBack { base, tree, by, left_out };
                owner::append(lease.as_ref(), vec![Entry { scope, event }])?;
                Ok(Heard::Recorded)
            }
            Err(error) if error.kind == ErrorKind::Held => {
                let seen = self.look(Some(place), true)?.seq;
                let (wanted, known) = (tree.clone(), task.clone());
                let is_taken = move |state: &RunState| {
                    state.task(&known).and_then(TaskRun::handed_back) == Some(&wanted)
                };
                let task = task.clone();
                let letter = Letter::HandBack { task, base, tree, left_out, by, seen };
                let heard = owner::post(runs, run, &letter, is_taken)?;
                if heard == Heard::Left {
                    // The run may have gone on instead of taking it.
                    self.look(Some(place), true)?;
                }
                Ok(heard)
            }
            Err(error) => Err(failed_run(&error, run)),
        }
    }
}

fn tell_left_out(harvest: &Harvest, place: &EditPlace) -> Result<(), Failure> {
    for one in &harvest.left_out {
        output::tell(&format!("`{}` is left out: {}.", one.path, one.why.trim_end_matches('.')));
    }
    if harvest.files == 0 && !harvest.left_out.is_empty() {
        let message = "The edit consists of what no commit may hold.";
        let hint = "Take those files out, or `sequester answer` the task's question.";
        return Err(Failure::input(Code::BadArguments, place.at.display(), message, hint));
    }
    Ok(())
}

/// Whether the worktree is removed, or why it stays.
enum WorktreeRemoval {
    Removed,
    /// Files that were left out are nowhere else.
    LeftOut,
    Losses(WorktreeLosses),
    /// The run has not taken the edit yet, or git could not remove it.
    Other,
}

impl WorktreeRemoval {
    /// Removes the worktree if all that lies in it is somewhere else.
    fn of(trees: &Trees, place: &EditPlace, harvest: &Harvest, heard: Heard) -> Self {
        // A worktree that cannot be looked at is kept.
        let Ok(losses) = trees.worktree_losses(&place.at, &harvest.read, &place.note.commit) else {
            return Self::Other;
        };
        if !losses.is_empty() {
            Self::Losses(losses)
        } else if !harvest.left_out.is_empty() {
            Self::LeftOut
        } else if heard != Heard::Left && trees.remove_worktree(&place.at).is_ok() {
            Self::Removed
        } else {
            Self::Other
        }
    }

    fn losses(&self) -> WorktreeLosses {
        if let Self::Losses(losses) = self { losses.clone() } else { WorktreeLosses::default() }
    }

    fn text(&self, at: &Path) -> String {
        let at = at.display();
        if matches!(self, Self::Removed) {
            return "The worktree is removed.".to_owned();
        }
        let WorktreeLosses { paths, has_commits } = self.losses();
        let mut text = "The worktree stays".to_owned();
        if matches!(self, Self::LeftOut) {
            text += ": the files that are left out are nowhere else";
        }
        if !paths.is_empty() {
            let named = paths.iter().take(NAMED).map(|path| format!("`{}`", clean(path)));
            let named = named.collect::<Vec<_>>().join(", ");
            let more = if paths.len() > NAMED { " and more" } else { "" };
            let _ = write!(text, ": the change does not include {named}{more}");
        }
        text.push('.');
        if has_commits {
            let _ = write!(
                text,
                " Its commits are on no branch: `git -C {at} branch NAME HEAD` keeps them."
            );
        }
        text + &format!(" `git worktree remove --force {at}` removes it.")
    }
}

/// Paths in one message.
const NAMED: usize = 10;

/// What is told of it.
struct HandBackResult<'a> {
    edit: EditedTask<'a>,
    place: EditPlace,
    harvest: Harvest,
    by: String,
    heard: Heard,
    removal: WorktreeRemoval,
}

impl HandBackResult<'_> {
    fn json(&self) -> serde_json::Value {
        let WorktreeLosses { paths, has_commits } = self.removal.losses();
        json!({
            "run": self.edit.run,
            "task": self.edit.task,
            "by": self.by,
            "files": self.harvest.files,
            "left_out": self.harvest.left_out,
            "directory": self.place.at,
            "removed": matches!(self.removal, WorktreeRemoval::Removed),
            "not_taken": paths,
            "own_commits": has_commits,
            "delivered": self.heard,
        })
    }

    fn text(&self, inside: bool) -> String {
        let EditedTask { run, task, runs, .. } = self.edit;
        let (files, by) = (plural(self.harvest.files, "changed file"), clean(&self.by));
        let mut gone = self.removal.text(&self.place.at);
        if inside && matches!(self.removal, WorktreeRemoval::Removed) {
            let _ = write!(gone, " Go on in `{}`.", runs.root.display());
        }
        let next = match self.heard {
            Heard::Recorded => format!("`sequester resume {run}` verifies it and goes on."),
            Heard::Taken => "The run verifies it and goes on.".to_owned(),
            Heard::Left => format!(
                "It was left for the process that carries run `{run}` out, which has not taken it yet."
            ),
        };
        format!("`{task}` is handed back by {by} with {files}. {gone}\n{next}\n")
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
