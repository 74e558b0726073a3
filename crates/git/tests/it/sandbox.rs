//! A repository to try things on.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use sequester_core::path::RepoPath;
use sequester_core::repository::{Error, Snapshot};
use sequester_git::Repo;
use tempfile::TempDir;

pub(crate) const LIMIT: u64 = 1 << 20;

pub(crate) struct Sandbox {
    folder: TempDir,
}

impl Sandbox {
    pub(crate) fn new() -> Self {
        Self::with(&[])
    }

    pub(crate) fn with(init: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let sandbox = Self { folder };
        std::fs::create_dir(sandbox.root()).unwrap();
        sandbox.git(&[&["init", "--quiet", "--initial-branch=main"], init].concat());
        sandbox
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.outside("repo")
    }

    /// A place beside the repository.
    pub(crate) fn outside(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.root().join(path)
    }

    pub(crate) fn write(&self, path: &str, bytes: impl AsRef<[u8]>) {
        let path = self.path(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }

    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        let output = git(&self.root(), arguments);
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
    }

    /// Everything that is there becomes a commit.
    pub(crate) fn commit(&self, message: &str) {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--allow-empty", "-m", message]);
    }

    pub(crate) fn repo(&self) -> Repo {
        discover(&self.root()).unwrap().unwrap()
    }

    /// What the base holds of a file.
    pub(crate) fn read(&self, path: &str) -> Result<Vec<u8>, Error> {
        self.repo().base()?.read(&RepoPath::parse(path).unwrap(), LIMIT)
    }
}

pub(crate) fn discover(dir: &Path) -> Result<Option<Repo>, Error> {
    Repo::discover(dir, &search_path())
}

pub(crate) fn search_path() -> OsString {
    std::env::var_os("PATH").unwrap()
}

/// Runs git as a person would, but for the person's own configuration.
pub(crate) fn git(dir: &Path, arguments: &[&str]) -> Output {
    Command::new("git")
        .args(arguments)
        .current_dir(dir)
        .env_clear()
        .env("PATH", search_path())
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .envs([("GIT_AUTHOR_NAME", "A"), ("GIT_AUTHOR_EMAIL", "a@example.org")])
        .envs([("GIT_COMMITTER_NAME", "A"), ("GIT_COMMITTER_EMAIL", "a@example.org")])
        .output()
        .unwrap()
}

pub(crate) fn paths(tree: &impl Snapshot) -> Vec<&str> {
    tree.entries().iter().map(|entry| entry.path.as_str()).collect()
}

/// Everything in one go: per entry its path and its content, or the kind of the error.
pub(crate) fn read_all(tree: &impl Snapshot) -> Vec<(String, Result<Vec<u8>, String>)> {
    let wanted: Vec<usize> = (0..tree.entries().len()).collect();
    let mut all = Vec::new();
    tree.read_many(&wanted, LIMIT, &mut |at, result| {
        let result = result.map(<[u8]>::to_vec).map_err(|error| format!("{:?}", error.kind));
        all.push((tree.entries()[at].path.to_string(), result));
    });
    all
}
