//! The worktree in which a person edits the change of a task.

use std::collections::BTreeSet;
use std::env;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sequester_core::change::{Change, Refused, refuse_covering};
use sequester_core::fault::Code;
use sequester_core::id::{CommitId, RunId, TaskId, TreeId};
use sequester_core::path::RepoPath;
use sequester_core::plan::Action;
use sequester_core::protected::Grants;
use sequester_core::repository::{Error as GitError, Repository as _};
use sequester_core::run::{RunState, TaskRun};
use sequester_engine::{admit, base_of};
use sequester_git::{CHANGED_BYTES, Repo, Trees};
use sequester_sandbox::harvest::{self, Rules};
use serde::{Deserialize, Serialize};

use super::Project;
use super::jail::Machine;
use super::runs::{self, FOLDER, Runs};
use super::workspace::Ground;
use crate::failure::Failure;

/// What a worktree was made for.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct EditNote {
    pub(crate) run: RunId,
    pub(crate) task: TaskId,
    /// What the edit is compared with.
    pub(crate) base: TreeId,
    /// HEAD of the worktree as it was made.
    pub(crate) commit: CommitId,
    /// The folder whose runs the task belongs to.
    pub(crate) root: String,
}

/// A worktree that is there.
pub(crate) struct EditPlace {
    pub(crate) at: PathBuf,
    pub(crate) note: EditNote,
}

/// What a person left in a worktree, as far as a commit may hold it.
pub(crate) struct Harvest {
    pub(crate) tree: TreeId,
    /// The same with what no commit may hold: all that was read.
    pub(crate) read: TreeId,
    pub(crate) left_out: Vec<Refused>,
    pub(crate) files: usize,
}

impl EditNote {
    pub(crate) fn text(&self) -> String {
        // Texts alone: there is nothing that could not be written.
        serde_json::to_string(self).unwrap_or_default()
    }
}

fn places(trees: &Trees) -> Result<impl Iterator<Item = EditPlace> + use<>, GitError> {
    let all = trees.open_worktrees()?.into_iter();
    Ok(all.filter_map(|(at, note)| {
        let note = serde_json::from_str(&note).ok()?;
        Some(EditPlace { at, note })
    }))
}

/// The worktree of a task, if there is one.
pub(crate) fn find(
    trees: &Trees,
    run: &RunId,
    task: &TaskId,
) -> Result<Option<EditPlace>, GitError> {
    Ok(places(trees)?.find(|place| place.note.run == *run && place.note.task == *task))
}

/// The worktree of a task that a folder lies in. Such a folder may come from anywhere: it counts only if the repository that
/// its note names lists it.
pub(crate) fn around(folder: &Path) -> Option<EditPlace> {
    let search = env::var_os("PATH").unwrap_or_default();
    let repo = Repo::discover(folder, &search).ok().flatten()?;
    let note: EditNote = serde_json::from_str(&repo.worktree_note()?).ok()?;
    let trees = runs::trees(Path::new(&note.root)).ok().flatten()?;
    let is_here = |place: &EditPlace| {
        place.note == note && place.at.canonicalize().is_ok_and(|at| at == repo.root())
    };
    places(&trees).ok()?.find(is_here)
}

/// Where a worktree is made unless the person names a place.
pub(crate) fn default_place(root: &Path, run: &RunId, task: &TaskId) -> PathBuf {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '-' };
    let name: String = task.as_str().chars().map(plain).collect();
    root.join(FOLDER).join("open").join(format!("{run}-{}", name.trim_start_matches('.')))
}

/// What a task would start from now; as its change has it where that does not fit together.
pub(crate) fn base_now(
    trees: &Trees,
    state: &RunState,
    task: &TaskRun,
) -> Result<Option<TreeId>, GitError> {
    let made = base_of(state, trees, &task.spec.id)?;
    Ok(made.ok().or_else(|| task.parked().map(|parked| parked.base.clone())))
}

/// All that lies in a worktree, by the rules that hold for the change of a subagent.
pub(crate) fn harvest(
    project: &Project,
    runs: &Runs,
    trees: &Trees,
    state: &RunState,
    task: &TaskRun,
    place: &EditPlace,
) -> Result<Harvest, Failure> {
    let failed = |error: GitError| runs::git_failed(&place.at, &error);
    let base = &place.note.base;
    let rules = rules(project, runs, trees, state, task, base)?;
    let content = trees.read_worktree(&place.at, base, &rules.exclude).map_err(failed)?;
    let mut change = trees.between(base, &content.tree).map_err(failed)?;
    let mut left_out: Vec<Refused> = Vec::new();
    for path in content.too_large {
        let why = format!("it is larger than {} MiB", CHANGED_BYTES >> 20);
        left_out.push(Refused { path: path.to_string(), why });
    }
    for path in content.secrets {
        let why = "it is secret by its name".to_owned();
        left_out.push(Refused { path: path.to_string(), why });
    }
    change.entries.retain(|entry| match harvest::refuse(entry, &rules) {
        Some(why) => {
            left_out.push(Refused { path: entry.path.clone(), why });
            false
        }
        None => true,
    });
    let before = trees.tree(base).map_err(failed)?;
    left_out.extend(refuse_covering(&mut change, &before));
    let tree = with(trees, base, &change).map_err(failed)?;
    let admitted = admit(trees, base, &tree, &mut left_out).map_err(failed)?;
    let tree = admitted.unwrap_or_else(|| base.clone());
    let files = trees.between(base, &tree).map_err(failed)?.entries.len();
    Ok(Harvest { tree, read: content.tree, left_out, files })
}

fn with(trees: &Trees, base: &TreeId, change: &Change) -> Result<TreeId, GitError> {
    if change.entries.is_empty() { Ok(base.clone()) } else { trees.with_change(base, change) }
}

/// As for an attempt at the task in this run.
fn rules(
    project: &Project,
    runs: &Runs,
    trees: &Trees,
    state: &RunState,
    task: &TaskRun,
    base: &TreeId,
) -> Result<Rules, Failure> {
    let failed = |error: GitError| runs::git_failed(&project.root, &error);
    let plan = &state.started.plan;
    let text = runs.blob(&state.run, &plan.text)?;
    let (plan_blobs, run_paths) = match project.base.repo() {
        Some(repo) => (
            repo.file_versions(&plan.hides, &[&text]).map_err(failed)?,
            repo.run_paths().map_err(failed)?,
        ),
        None => (BTreeSet::new(), Vec::new()),
    };
    let ground = Ground {
        root: project.root.clone(),
        tree: Arc::new(trees.tree(base).map_err(failed)?),
        has_git: true,
        plan: Arc::new(plan.hides.clone()),
        plan_blobs: Arc::new(plan_blobs),
        run_paths,
    };
    let named = named(task, Action::writes);
    let grants = grants(project, state, task);
    ground.rules(&Machine::look(), &named, &grants).map_err(|error| {
        let message = format!("The rules for the change cannot be worked out: {error}.");
        let hint = "`sequester doctor` shows what this machine lacks.";
        Failure::work(Code::NoWorkspace, project.root.display(), message, hint)
    })
}

/// Files that the task names, by its lists or its prose.
fn named(task: &TaskRun, fits: impl Fn(Action) -> bool) -> BTreeSet<RepoPath> {
    let hints = task.spec.hints.iter().map(|hint| &hint.0);
    let files = task.spec.files.iter().chain(hints).filter(|file| fits(file.action));
    files.filter_map(|file| RepoPath::parse(&file.path).ok()).collect()
}

/// What the configuration, the run's flags and the task let a change hold.
fn grants(project: &Project, state: &RunState, task: &TaskRun) -> Grants {
    let deleted = named(task, |action| action == Action::Delete);
    let mut grants = project.settings.grants().with_named(&named(task, Action::writes));
    grants = grants.with_deleted(&deleted);
    grants.extend(&state.started.settings.grants);
    // The files of a single task stand on the command line: the person named them.
    let is_single = state.started.plan.path.is_empty();
    let files = state.tasks.iter().filter(|_| is_single).flat_map(|task| &task.spec.files);
    let files: Vec<RepoPath> = files.filter_map(|file| RepoPath::parse(&file.path).ok()).collect();
    grants.with_named(&files)
}
