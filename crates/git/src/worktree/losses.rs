//! What would be lost with a worktree: entries that are in no tree, and commits on no branch.

use std::fs;
use std::path::Path;

use sequester_core::id::{CommitId, TreeId};
use sequester_core::repository::{EntryKind, Error, Snapshot as _, Stamp, find};

use crate::base::Tree;
use crate::checkout::Checkout;
use crate::program::broken;
use crate::trees::Trees;

/// More are not named.
const MOST_PATHS: usize = 1_000;

/// What removing a worktree would lose.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorktreeLosses {
    /// Entries that a tree does not hold as they lie there: ignored files, other repositories, later edits. A directory that holds
    /// nothing of the tree is named alone, with a slash after it.
    pub paths: Vec<String>,
    /// HEAD is a commit on no branch and under no tag.
    pub has_commits: bool,
}

impl WorktreeLosses {
    pub fn is_empty(&self) -> bool {
        self.paths.is_empty() && !self.has_commits
    }
}

impl Trees {
    /// What a worktree has beside `tree`, and beside the `commit` that it was made with. No link is followed.
    pub fn worktree_losses(
        &self,
        at: &Path,
        tree: &TreeId,
        commit: &CommitId,
    ) -> Result<WorktreeLosses, Error> {
        let tree = self.tree(tree)?;
        let mut search =
            LossSearch { at, checkout: Checkout::at(at), tree: &tree, paths: Vec::new() };
        search
            .descend("")
            .map_err(|error| broken(format!("`{}` cannot be listed: {error}.", at.display())))?;
        let words = ["rev-list", "--max-count=1", "HEAD", "--not", commit.as_str()];
        let words = [&words[..], &["--branches", "--tags", "--remotes"]].concat();
        let told = self.program_at(at)?.run(&words)?;
        // In doubt the worktree is worth keeping.
        let has_commits = !told.success || !told.text.is_empty();
        Ok(WorktreeLosses { paths: search.paths, has_commits })
    }
}

struct LossSearch<'a> {
    at: &'a Path,
    checkout: Checkout,
    tree: &'a Tree,
    paths: Vec<String>,
}

impl LossSearch<'_> {
    /// No deeper than the tree itself.
    fn descend(&mut self, folder: &str) -> std::io::Result<()> {
        let mut entries = fs::read_dir(self.at.join(folder))?.collect::<Result<Vec<_>, _>>()?;
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let name = entry.file_name();
            let is_text = name.to_str().is_some();
            let name = name.to_string_lossy();
            if self.paths.len() >= MOST_PATHS {
                return Ok(());
            }
            // The worktree's own link to its repository.
            if folder.is_empty() && name == ".git" {
                continue;
            }
            let path =
                if folder.is_empty() { name.into_owned() } else { format!("{folder}/{name}") };
            if entry.file_type()?.is_dir() {
                if is_text && self.holds_below(&path) {
                    self.descend(&path)?;
                } else if holds_entries(&entry.path())? {
                    self.paths.push(path + "/");
                }
            } else if !is_text || !self.holds(&path) {
                self.paths.push(path);
            }
        }
        Ok(())
    }

    fn holds_below(&self, folder: &str) -> bool {
        let (entries, inside) = (self.tree.entries(), format!("{folder}/"));
        let at = entries.partition_point(|entry| entry.path.as_str() < inside.as_str());
        entries.get(at).is_some_and(|entry| entry.path.as_str().starts_with(&inside))
    }

    /// As it lies there now.
    fn holds(&self, path: &str) -> bool {
        let entry = find(self.tree, path).filter(|entry| entry.kind != EntryKind::Submodule);
        entry.is_some_and(|entry| match &entry.stamp {
            Stamp::Content(name) => self.checkout.is_same(path, name),
            Stamp::Stat { .. } => false,
        })
    }
}

/// Whether there is anything but empty directories.
fn holds_entries(folder: &Path) -> std::io::Result<bool> {
    let mut waiting = vec![folder.to_owned()];
    while let Some(folder) = waiting.pop() {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            if !entry.file_type()?.is_dir() {
                return Ok(true);
            }
            waiting.push(entry.path());
        }
    }
    Ok(false)
}
