//! `sequester apply`: what a run made comes into the person's checkout. The one command that writes there.

mod boxes;

use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;

use sequester_core::fault::Code;
use sequester_core::id::CommitId;
use sequester_core::repository::{Repository as _, Start};
use sequester_core::run::{Base, RunState, RunView, State, TaskState, TaskView};
use sequester_git::{Application, Applied, Apply, Refusal, Trees, Unclean};
use serde_json::json;

use crate::Outcome;
use crate::args::{ApplyArgs, Args};
use crate::failure::Failure;
use crate::output;
use crate::render::run::off_branches;
use crate::render::terminal::plural;
use crate::wire::runs::{self, Runs};
use crate::wire::{ReviewNotice, find_root};
use boxes::Boxes;

pub(crate) fn run(args: &Args, given: &ApplyArgs) -> Outcome {
    let root = find_root(args)?;
    let (runs, run) = Runs::seek_with_branch(&root, given.run.as_deref())?;
    runs.refuse_foreign()?;
    let state = runs.state(&run)?;
    let trees = runs::trees_at(&root)?;
    if trees.is_own() {
        let message = "This folder is no git repository, so nothing can be brought in by git.";
        let hint = format!("Apply it as a patch: `sequester diff {run} | patch -p1`.");
        return Err(Failure::work(Code::NotApplied, root.display(), message, hint));
    }
    let view = RunView::of(&state, runs.is_held(&run)?);
    // Whatever speaks against ticking is said before anything changes.
    let boxes = if given.tick { Some(Boxes::find(&runs, &state)?) } else { None };
    let commit = tip(&root, &trees, &state, &view)?;
    warn(&view);
    let change = super::diff::of_run(&runs, &trees, &state)?;
    let notices = ReviewNotice::find(&root, &change);
    let applied = bring(&root, &trees, given, &state, &commit)?;
    let ticked = boxes.map(|boxes| boxes.tick()).transpose()?;
    if args.json {
        let (word, files) = match &applied {
            Applied::Moved(_) => ("moved", None),
            Applied::Changed(files) => ("changed", Some(*files)),
            _ => ("nothing", None),
        };
        let head = if let Applied::Moved(head) = &applied { Some(head) } else { None };
        output::print_json(&json!({
            "run": run,
            "applied": word,
            "commit": commit,
            "head": head,
            "files": files,
            "ticked": ticked.as_ref().map(|ticked| ticked.boxes),
            "without_box": ticked.as_ref().map(|ticked| &ticked.without),
            "to_read": notices,
        }))?;
        return Ok(ExitCode::SUCCESS);
    }
    output::print(&tell(&state, &applied))?;
    for notice in &notices {
        output::tell(&notice.sentence());
    }
    if let Some(ticked) = ticked {
        let boxes = if ticked.boxes == 1 { "box" } else { "boxes" };
        let mut text = format!("{} {boxes} ticked in the plan.", ticked.boxes);
        for task in &ticked.without {
            let _ = write!(text, " Task `{task}` has no box: set its status in the plan by hand.");
        }
        output::print(&(text + "\n"))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// What a person should know who takes a run that is not whole.
fn warn(view: &RunView) {
    // What was no part of the run is missed by nobody.
    let asked = view.tasks.iter().filter(|task| task.state != TaskState::Skipped);
    let is_there = |task: &&TaskView| task.state == TaskState::Done && !task.off_branch;
    let (all, there) = (asked.clone().count(), asked.filter(is_there).count());
    if view.live {
        output::tell("The run still goes on; what is on its branch so far is applied.");
    } else if there < all {
        let tasks = plural(all, "task");
        output::tell(&format!("Only what is done is applied: {there} of {tasks}."));
    }
    if let Some((told, hint)) = off_branches(view) {
        output::tell(&format!("{told} {hint}"));
    }
}

/// Where the branch stands: a person may have amended it.
fn tip(root: &Path, trees: &Trees, state: &RunState, view: &RunView) -> Result<CommitId, Failure> {
    let branch = &state.started.branch;
    let found = trees.branch(branch).map_err(|error| runs::git_failed(root, &error))?;
    found.or_else(|| state.tip.as_ref().map(|(commit, _)| commit.clone())).ok_or_else(|| {
        let run = &state.run;
        let status = || format!("See how it stands with `sequester status {run}`.");
        let (message, hint) = off_branches(view).unwrap_or_else(|| match view.state {
            State::Done => (format!("Run `{run}` changed nothing."), status()),
            _ => (format!("Run `{run}` has brought nothing to a branch yet."), status()),
        });
        Failure::work(Code::NotApplied, format!("run {run}"), message, hint)
    })
}

fn bring(
    root: &Path,
    trees: &Trees,
    given: &ApplyArgs,
    state: &RunState,
    commit: &CommitId,
) -> Result<Applied, Failure> {
    let (run, branch) = (&state.run, &state.started.branch);
    let base = state.started.base.clone();
    let Base { commit: first, tree, uncommitted } = base;
    let may_hold = uncommitted.unwrap_or(true);
    let start = Start { commit: first, tree, uncommitted: may_hold, left_out: false };
    let began = may_hold.then_some(start);
    let mut application = Application {
        commit,
        began: began.as_ref(),
        apply: match (given.how.merge, given.how.patch) {
            (true, _) => Apply::Merge,
            (_, true) => Apply::Patch,
            _ => Apply::FastForward,
        },
        unclean: if given.allow_dirty { Unclean::Keep } else { Unclean::Refuse },
        message: &format!("Merge branch '{branch}'\n\nSequester-Run: {run}\n"),
        at: runs::now(),
    };
    let apply = |application: &Application<'_>| {
        trees.apply(application).map_err(|error| runs::git_failed(root, &error))
    };
    let mut applied = apply(&application)?;
    // People tick and edit the plan while a run goes on.
    if let Applied::Refused(Refusal::Unclean(paths)) = &applied
        && !given.allow_dirty
        && boxes::is_only_plan(root, &state.started.plan.path, paths)
    {
        application.unclean = Unclean::Keep;
        applied = apply(&application)?;
    }
    match applied {
        Applied::Refused(refusal) => Err(refused(root, &refusal, state, given)),
        applied => Ok(applied),
    }
}

fn refused(root: &Path, refusal: &Refusal, state: &RunState, given: &ApplyArgs) -> Failure {
    let listed = |paths: &[String]| listed(root, paths);
    let branch = &state.started.branch;
    let (message, hint) = match refusal {
        Refusal::Unclean(paths) if given.allow_dirty => (
            format!("Changes of yours that are not committed would be lost in {}.", listed(paths)),
            "Commit or stash these files first.".to_owned(),
        ),
        Refusal::Unclean(paths) => (
            format!("There are changes that are not committed: {}.", listed(paths)),
            "Commit or stash them; `--allow-dirty` keeps them where no file has both.".to_owned(),
        ),
        Refusal::Conflict(paths) => (
            format!("You and the run changed the same places of {}.", listed(paths)),
            format!("Merge by hand: `git merge {branch}`."),
        ),
        Refusal::Diverged => (
            "There are commits since the run began, so HEAD cannot just move to its branch."
                .to_owned(),
            "`--merge` joins both; `--patch` puts the changes into the working tree.".to_owned(),
        ),
        Refusal::Unrelated => (
            "HEAD and the run's branch have no commit in common.".to_owned(),
            format!("Check out the branch that the run started from, or look at `{branch}`."),
        ),
        Refusal::Busy(what) => {
            (format!("Git is in the middle of {what}."), "Finish or abort that first.".to_owned())
        }
        Refusal::Foreign(paths) => (
            format!("Submodules or odd paths cannot be put in place: {}.", listed(paths)),
            format!("Merge by hand: `git merge {branch}`."),
        ),
    };
    Failure::work(Code::NotApplied, branch, format!("{message} Everything is as it was."), hint)
}

fn listed(root: &Path, paths: &[String]) -> String {
    const MOST: usize = 8;
    let mut names: Vec<String> =
        paths.iter().take(MOST).map(|path| described(root, path)).collect();
    if paths.len() > MOST {
        names.push(format!("{} more", paths.len() - MOST));
    }
    names.join(", ")
}

/// A path, and whether it is a link or lies below one.
fn described(root: &Path, path: &str) -> String {
    let is_link =
        |at: &Path| root.join(at).symlink_metadata().is_ok_and(|about| about.is_symlink());
    let mut above: Vec<&Path> = Path::new(path).ancestors().collect();
    above.reverse();
    match above.into_iter().filter(|at| !at.as_os_str().is_empty()).find(|at| is_link(at)) {
        Some(at) if at == Path::new(path) => format!("`{path}` (a link)"),
        Some(at) => format!("`{path}` (below the link `{}`)", at.display()),
        None => format!("`{path}`"),
    }
}

fn tell(state: &RunState, applied: &Applied) -> String {
    let branch = &state.started.branch;
    match applied {
        Applied::Moved(commit) => {
            let commit = commit.as_str().get(..12).unwrap_or(commit.as_str());
            format!("`{branch}` is applied; HEAD is at `{commit}` now.\n")
        }
        Applied::Changed(files) => {
            format!(
                "`{branch}` is in the index and the working tree: {}.\n",
                plural(*files, "file")
            )
        }
        Applied::Nothing | Applied::Refused(_) => {
            format!("All of `{branch}` was there already.\n")
        }
    }
}
