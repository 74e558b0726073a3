//! A repository, a machine with a state of its own, and the jails between them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use sequester_core::change::Change;
use sequester_core::id::TreeId;
use sequester_core::jail::{Cell, Jail, Jails as _};
use sequester_core::message::Call;
use sequester_core::path::RepoPath;
use sequester_core::profile::Profiles;
use sequester_core::protected::Grants;
use sequester_core::repository::Repository as _;
use sequester_core::tool::{Invocation, Outcome, Toolbox};
use sequester_git::{Home, Repo, Trees};
use sequester_tools::Settings;
use serde_json::Value;
use tempfile::TempDir;

use crate::wire::jail::Machine;
use crate::wire::jails::{Cells, HiddenPlan};

pub(crate) struct Bench {
    folder: TempDir,
    pub(crate) machine: Arc<Machine>,
    pub(crate) cells: Cells,
    pub(crate) trees: Arc<Trees>,
}

impl Bench {
    /// HEAD holds some files, a plan and secrets among them.
    pub(crate) fn new() -> Self {
        Self::with(0)
    }

    /// With so many files more.
    pub(crate) fn with(more: usize) -> Self {
        let folder = tempfile::Builder::new().prefix("jails-").tempdir_in("/var/tmp").unwrap();
        let repo = folder.path().join("repo");
        for (path, text) in [
            ("a.txt", "a\n"),
            ("lib/b.txt", "b\n"),
            ("lib/c.txt", "c\n"),
            ("plan.md", "# Plan\n"),
            (".env", "TOKEN=1\n"),
            (".sequester/own.md", "own\n"),
        ] {
            let path = repo.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        for file in 0..more {
            let folder = repo.join(format!("d{}", file / 100));
            fs::create_dir_all(&folder).unwrap();
            let text = format!("line {file}\n").repeat(200);
            fs::write(folder.join(format!("f{}", file % 100)), text).unwrap();
        }
        git(&repo, &["init", "--quiet"]);
        git(&repo, &["add", "--all", "--force"]);
        git(
            &repo,
            &["-c", "user.name=A", "-c", "user.email=a@example.org", "commit", "-qm", "first"],
        );
        let path = std::env::var("PATH").unwrap();
        let state = folder.path().join("state").display().to_string();
        let environment: BTreeMap<_, _> = [("PATH", path.clone()), ("XDG_STATE_HOME", state)]
            .map(|(name, value)| (name.to_owned(), value))
            .into();
        let machine = Arc::new(Machine::of(&environment));
        let repo = Repo::discover(&repo, path.as_ref()).unwrap().unwrap();
        let trees = Arc::new(Trees::of(&repo, Home::default()));
        let paths = BTreeSet::from([RepoPath::parse("plan.md").unwrap()]);
        let plan = HiddenPlan { paths, ..HiddenPlan::default() };
        let (settings, limits) = (Settings::default(), BTreeMap::new());
        let cells =
            Cells::new(Arc::clone(&machine), repo, Arc::clone(&trees), plan, settings, limits);
        Self { folder, machine, cells, trees }
    }

    pub(crate) fn head(&self) -> TreeId {
        self.trees.start(false).unwrap().tree
    }

    pub(crate) fn cell(profile: &str, base: TreeId, change: Option<Change>) -> Cell {
        Cell {
            profile: Profiles::built_in().get(profile).unwrap().clone(),
            base,
            change,
            named: BTreeSet::new(),
            grants: Grants::default(),
            wall: Duration::from_mins(5),
        }
    }

    pub(crate) async fn open(&self, profile: &str, change: Option<Change>) -> Box<dyn Jail> {
        self.cells.open(&Self::cell(profile, self.head(), change)).await.unwrap()
    }

    /// The names in a folder of the state.
    pub(crate) fn state(&self, name: &str) -> Vec<PathBuf> {
        let folder = self.folder.path().join("state/sequester").join(name);
        let list = fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path());
        list.collect()
    }

    /// What there is of attempts and jails.
    pub(crate) fn left(&self) -> Vec<PathBuf> {
        ["workspaces/attempts", "jails"].iter().flat_map(|name| self.state(name)).collect()
    }

    /// Nothing of any jail is there any more, or will not be in a moment.
    pub(crate) fn assert_clean(&self) {
        let end = Instant::now() + Duration::from_secs(5);
        loop {
            let left = self.left();
            let running = running(self.folder.path());
            if left.is_empty() && running.is_empty() {
                return;
            }
            assert!(Instant::now() < end, "{left:?} {running:?}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

/// Processes that have something open beneath a folder, or work there.
fn running(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for process in fs::read_dir("/proc").unwrap().flatten() {
        let is_own = process.file_name().to_str() == Some(&std::process::id().to_string());
        let command = fs::read(process.path().join("cmdline")).unwrap_or_default();
        let command = String::from_utf8_lossy(&command).replace('\0', " ");
        let place = fs::read_link(process.path().join("cwd")).unwrap_or_default();
        if !is_own && (place.starts_with(folder) || command.contains(folder.to_str().unwrap())) {
            found.push(command);
        }
    }
    found
}

fn git(repo: &Path, arguments: &[&str]) {
    let mut command = Command::new("git");
    command.args(arguments).current_dir(repo).env("GIT_CONFIG_GLOBAL", "/dev/null");
    assert!(command.status().unwrap().success(), "{arguments:?}");
}

/// What a tool says.
pub(crate) async fn call(tools: &dyn Toolbox, name: &str, arguments: Value) -> String {
    let call = Call { id: "1".to_owned(), name: name.to_owned(), arguments };
    let returned = tools.call(&Invocation { call, seen: BTreeMap::new() }).await;
    match returned.outcome {
        Outcome::Output(text) => text,
        other => panic!("{other:?}"),
    }
}

/// Drives to its end.
pub(crate) fn wait<T>(future: impl Future<Output = T>) -> T {
    sequester_engine::block_on(future).unwrap()
}
