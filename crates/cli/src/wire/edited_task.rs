//! The worktree in which a person edits the change of a task.

use std::path::{Path, PathBuf};

use sequester_core::change::{Change, Refused};
use sequester_core::id::{RunId, TaskId, TreeId};
use sequester_core::path::RepoPath;
use sequester_core::repository::{Error as GitError, Repository as _};
use sequester_core::run::{RunState, TaskRun};
use sequester_engine::{admit, base_of};
use sequester_git::Trees;
use sequester_sandbox::harvest::{self, Rules};
use serde::{Deserialize, Serialize};

use super::Project;
use super::runs::{self, FOLDER};
use super::workspace::repositories;
use crate::failure::Failure;

/// What a worktree was made for.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct EditNote {
    run: RunId,
    task: TaskId,
    /// What the edit is compared with.
    pub(crate) base: TreeId,
}

/// A worktree that is there.
pub(crate) struct EditPlace {
    pub(crate) at: PathBuf,
    pub(crate) note: EditNote,
}

/// What a person left in a worktree, as far as a commit may hold it.
pub(crate) struct Harvest {
    pub(crate) tree: TreeId,
    pub(crate) left_out: Vec<Refused>,
    pub(crate) files: usize,
}

impl EditNote {
    pub(crate) fn new(run: &RunId, task: &TaskId, base: &TreeId) -> Self {
        Self { run: run.clone(), task: task.clone(), base: base.clone() }
    }

    pub(crate) fn text(&self) -> String {
        // Three texts: there is nothing that could not be written.
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// The worktree of a task, if there is one.
pub(crate) fn find(
    trees: &Trees,
    run: &RunId,
    task: &TaskId,
) -> Result<Option<EditPlace>, GitError> {
    let all = trees.open_worktrees()?;
    let mut all = all.into_iter().filter_map(|(at, note)| {
        let note: EditNote = serde_json::from_str(&note).ok()?;
        Some(EditPlace { at, note })
    });
    Ok(all.find(|place| place.note.run == *run && place.note.task == *task))
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
    trees: &Trees,
    state: &RunState,
    task: &TaskRun,
    place: &EditPlace,
) -> Result<Harvest, Failure> {
    let failed = |error: GitError| runs::git_failed(&place.at, &error);
    let base = &place.note.base;
    let content = trees.read_worktree(&place.at, base).map_err(failed)?;
    let mut change = trees.between(base, &content.tree).map_err(failed)?;
    let rules = rules(project, trees, state, task, base)?;
    let mut left_out: Vec<Refused> = Vec::new();
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
    let tree = with(trees, base, &change).map_err(failed)?;
    let admitted = admit(trees, base, &tree, &mut left_out).map_err(failed)?;
    let tree = admitted.unwrap_or_else(|| base.clone());
    let files = trees.between(base, &tree).map_err(failed)?.entries.len();
    Ok(Harvest { tree, left_out, files })
}

fn with(trees: &Trees, base: &TreeId, change: &Change) -> Result<TreeId, GitError> {
    if change.entries.is_empty() { Ok(base.clone()) } else { trees.with_change(base, change) }
}

/// As for a subagent of the task.
fn rules(
    project: &Project,
    trees: &Trees,
    state: &RunState,
    task: &TaskRun,
    base: &TreeId,
) -> Result<Rules, Failure> {
    let failed = |error: GitError| runs::git_failed(&project.root, &error);
    let named = task.spec.files.iter().filter(|file| file.action.writes());
    let named: Vec<RepoPath> = named.filter_map(|file| RepoPath::parse(&file.path).ok()).collect();
    let grants = project.settings.grants().with_named(&named);
    let run_paths = match project.base.repo() {
        Some(repo) => repo.run_paths().map_err(failed)?,
        None => Vec::new(),
    };
    let run_paths = run_paths.into_iter().filter(|run| !grants.reach(&run.path));
    let hides = state.started.plan.hides.iter().map(ToString::to_string);
    let snapshot = trees.snapshot(base).map_err(failed)?;
    Ok(Rules {
        protected: run_paths.map(|run| (run.path, run.reason)).collect(),
        withheld: hides.chain([FOLDER.to_owned()]).collect(),
        repositories: repositories(snapshot.as_ref()),
        grants,
        ..Rules::default()
    })
}
