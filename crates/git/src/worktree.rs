//! A worktree in which a person edits the change of a task. No hook and no filter of the repository runs for it.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use sequester_core::id::{CommitId, TreeId};
use sequester_core::path::RepoPath;
use sequester_core::repository::{Error, ErrorKind};
use sequester_core::secret::is_secret_name;

use crate::program::{Program, broken};
use crate::repo::Repo;
use crate::trees::{Trees, working};

/// The file in git's own folder of the worktree that says what it was made for.
const NOTE: &str = "sequester-task";

/// What lies in a worktree.
pub struct WorktreeContent {
    /// The base with all that lies there and git does not ignore.
    pub tree: TreeId,
    /// Untracked files that are secret by their names, which are in no tree.
    pub secrets: Vec<RepoPath>,
}

impl Trees {
    /// Makes the worktree `at`, where nothing is yet: HEAD is `commit`, the files are those of `tree`. The note says what it is for.
    pub fn open_worktree(
        &self,
        at: &Path,
        commit: &CommitId,
        tree: &TreeId,
        note: &str,
        now: SystemTime,
    ) -> Result<(), Error> {
        let folder = at.to_str().ok_or_else(|| broken("the worktree's path is not UTF-8."))?;
        if at.symlink_metadata().is_ok() {
            let message = format!("`{folder}` is there already.");
            return Err(Error::new(ErrorKind::Denied, message));
        }
        let program = &self.repo.program;
        program.ask(&[
            "worktree",
            "add",
            "--no-checkout",
            "--detach",
            "--",
            folder,
            commit.as_str(),
        ])?;
        let filled = self.fill(at, commit, tree, note, now);
        if filled.is_err() {
            // What is half made is of no use; the first error counts.
            let _ = self.remove_worktree(at);
        }
        filled
    }

    fn fill(
        &self,
        at: &Path,
        commit: &CommitId,
        tree: &TreeId,
        note: &str,
        now: SystemTime,
    ) -> Result<(), Error> {
        let own = self.program_at(at)?;
        own.ask(&["read-tree", "--no-sparse-checkout", commit.as_str()])?;
        let tree = self.tree(tree)?;
        let fresh = at.with_added_extension("new");
        tree.without(|_| false).write_files(&fresh, now)?;
        let unwritable = |error: std::io::Error| {
            broken(format!("`{}` cannot be written: {error}.", at.display()))
        };
        let place = || {
            // A folder for a repository to be mounted on, which is there already.
            fs::remove_dir(fresh.join(".git"))?;
            for entry in fs::read_dir(&fresh)? {
                let entry = entry?;
                fs::rename(entry.path(), at.join(entry.file_name()))?;
            }
            fs::remove_dir(&fresh)
        };
        place().map_err(unwritable)?;
        fs::write(git_folder(&own)?.join(NOTE), note).map_err(unwritable)
    }

    /// The worktrees that were made by [`Trees::open_worktree`] and are still there, with their notes.
    pub fn open_worktrees(&self) -> Result<Vec<(PathBuf, String)>, Error> {
        let listed = self.repo.program.ask(&["worktree", "list", "--porcelain", "-z"])?;
        let places = listed.split('\0').filter_map(|line| line.strip_prefix("worktree "));
        let mut found = Vec::new();
        for place in places.map(PathBuf::from).filter(|place| place.join(".git").is_file()) {
            let Ok(own) = self.program_at(&place) else { continue };
            let note =
                git_folder(&own).ok().and_then(|git| fs::read_to_string(git.join(NOTE)).ok());
            found.extend(note.map(|note| (place, note)));
        }
        Ok(found)
    }

    /// All that lies in a worktree, on top of the base. Files are read as they are, through no link.
    pub fn read_worktree(&self, at: &Path, base: &TreeId) -> Result<WorktreeContent, Error> {
        let search_path = self.repo.program.search_path();
        let repo = Repo::discover(at, search_path)?
            .ok_or_else(|| broken(format!("`{}` is no worktree any more.", at.display())))?;
        let base = self.repo.objects.format().read(base.as_str())?;
        let tree = working::write(&repo, &base, &BTreeSet::new())?;
        let others = repo.program.ask(&["ls-files", "--others", "--exclude-standard", "-z"])?;
        let secrets = others.split('\0').filter(|path| is_secret_name(path).is_some());
        let secrets = secrets.filter_map(|path| RepoPath::parse(path).ok()).collect();
        Ok(WorktreeContent { tree: tree.to_string().as_str().into(), secrets })
    }

    /// Takes a worktree away with all that lies in it.
    pub fn remove_worktree(&self, at: &Path) -> Result<(), Error> {
        let folder = at.to_str().ok_or_else(|| broken("the worktree's path is not UTF-8."))?;
        self.repo.program.ask(&["worktree", "remove", "--force", "--", folder]).map(drop)
    }

    fn program_at(&self, at: &Path) -> Result<Program, Error> {
        Program::over(self.repo.program.search_path(), at.to_owned(), at.join(".git"))
    }
}

fn git_folder(own: &Program) -> Result<PathBuf, Error> {
    let told = own.ask(&["rev-parse", "--absolute-git-dir"])?;
    Ok(PathBuf::from(told))
}
