//! Jails for the attempts and checks of a run: each over a tree of the repository.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use sequester_core::fault::Code;
use sequester_core::future::BoxFuture;
use sequester_core::id::TreeId;
use sequester_core::jail::{Cell, Error, ErrorKind, Jail, Jails};
use sequester_core::limits::Limit;
use sequester_core::path::RepoPath;
use sequester_core::profile::Profile;
use sequester_core::tool::Spec;
use sequester_git::{Repo, RunPath, Tree, Trees};
use sequester_tools::Settings;

use super::aside::aside;
use super::bounds::Bounds;
use super::jail::Machine;
use super::jailed::{Confines, Jailed};
use super::workspace::Ground;
use crate::failure::Failure;

/// What all jails of a run have in common.
#[derive(Clone)]
pub(crate) struct Cells {
    machine: Arc<Machine>,
    grounds: Arc<Grounds>,
    settings: Settings,
    /// What configuration sets.
    limits: BTreeMap<Limit, u64>,
}

impl Cells {
    /// Over trees of `repo`, without the files of the `plan`.
    pub(crate) fn new(
        machine: Arc<Machine>,
        repo: Repo,
        trees: Arc<Trees>,
        plan: HiddenPlan,
        settings: Settings,
        limits: BTreeMap<Limit, u64>,
    ) -> Self {
        let root = repo.root().to_owned();
        let HiddenPlan { paths, blobs } = plan;
        let (plan, plan_blobs) = (Arc::new(paths), Arc::new(blobs));
        let grounds = Grounds { root, repo, trees, plan, plan_blobs, last: Mutex::default() };
        Self { machine, grounds: Arc::new(grounds), settings, limits }
    }

    fn open(self, cell: Cell) -> Result<Jailed, Failure> {
        let Cell { profile, base, change, named, grants, wall } = cell;
        let settings = settings(self.settings, &profile);
        let mut bounds = Bounds::of(&profile, &self.limits, &[])?;
        bounds.limits.wall = wall;
        let confines = Confines { profile, change, named, grants, bounds };
        let (root, grounds) = (self.grounds.root.clone(), self.grounds);
        let ground = move || grounds.find(&base);
        Jailed::open(self.machine, &root, ground, confines, settings)
    }
}

impl Jails for Cells {
    fn specs(&self) -> Vec<Spec> {
        sequester_tools::specs()
    }

    fn open<'a>(&'a self, cell: &'a Cell) -> BoxFuture<'a, Result<Box<dyn Jail>, Error>> {
        let (cells, cell) = (self.clone(), cell.clone());
        aside(ErrorKind::Guarantee, move || Ok(Box::new(cells.open(cell)?) as Box<dyn Jail>))
    }
}

/// As far as the profile sets lower limits.
fn settings(set: Settings, profile: &Profile) -> Settings {
    let of = |limit| profile.limits.get(&limit).copied();
    let output =
        of(Limit::Output).map_or(usize::MAX, |most| usize::try_from(most).unwrap_or(usize::MAX));
    let bash = of(Limit::Bash).map_or(Duration::MAX, Duration::from_secs);
    Settings {
        output_bytes: set.output_bytes.min(output),
        bash_time: set.bash_time.min(bash),
        ..set
    }
}

/// What no workspace holds: the plan, wherever it lies, and whatever it is called.
#[derive(Default)]
pub(crate) struct HiddenPlan {
    pub(crate) paths: BTreeSet<RepoPath>,
    /// Names of blobs.
    pub(crate) blobs: BTreeSet<String>,
}

/// The trees of a repository, as workspaces need them.
struct Grounds {
    root: PathBuf,
    repo: Repo,
    trees: Arc<Trees>,
    plan: Arc<BTreeSet<RepoPath>>,
    plan_blobs: Arc<BTreeSet<String>>,
    /// Attempts over one base mostly come together: it is listed once for all of them.
    last: Mutex<Option<(TreeId, Arc<Tree>)>>,
}

impl Grounds {
    fn find(&self, tree: &TreeId) -> Result<Ground, Failure> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let tree = match &*last {
            Some((id, known)) if id == tree => Arc::clone(known),
            _ => {
                let found = self.trees.tree(tree).map_err(|error| {
                    let hint = "Check that `git fsck` finds nothing, then resume the run.";
                    Failure::work(Code::NoWorkspace, self.root.display(), error.to_string(), hint)
                })?;
                let found = Arc::new(found);
                *last = Some((tree.clone(), Arc::clone(&found)));
                found
            }
        };
        let (root, plan) = (self.root.clone(), Arc::clone(&self.plan));
        let has_git = !self.repo.is_own();
        let run_paths = if has_git { self.run_paths()? } else { Vec::new() };
        let plan_blobs = Arc::clone(&self.plan_blobs);
        Ok(Ground { root, tree, has_git, plan, plan_blobs, run_paths })
    }

    /// What the person's git takes hooks, configuration or programs from, as it is now.
    fn run_paths(&self) -> Result<Vec<RunPath>, Failure> {
        self.repo.run_paths().map_err(|error| {
            let hint = "Check that `git config --list` works there, then resume the run.";
            Failure::work(Code::NoWorkspace, self.root.display(), error.to_string(), hint)
        })
    }
}
