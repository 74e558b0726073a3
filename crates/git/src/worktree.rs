//! A worktree in which a person edits the change of a task. No hook and no filter of the repository runs for it.

mod losses;

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use rustix::fs::{FlockOperation, flock};
use sequester_core::id::{CommitId, TreeId};
use sequester_core::path::RepoPath;
use sequester_core::repository::{Error, ErrorKind};
use sequester_core::secret::is_secret_name;

use crate::checkout::Checkout;
use crate::program::{Program, broken};
use crate::repo::Repo;
use crate::trees::{CHANGED_BYTES, Trees, working};

pub use losses::WorktreeLosses;

/// The file in git's own folder of the worktree that says what it was made for.
const NOTE: &str = "sequester-task";
const NOTE_BYTES: u64 = 64 << 10;
/// Why git holds a worktree that is not filled yet. One that a killed process left still has this reason.
const OPENING: &str = "sequester is opening it";

/// What lies in a worktree.
pub struct WorktreeContent {
    /// The base with all that lies there and git does not ignore.
    pub tree: TreeId,
    /// Untracked files that are secret by their names, which are in no tree.
    pub secrets: Vec<RepoPath>,
    /// Untracked files that are larger than a change may bring, which are in no tree.
    pub too_large: Vec<RepoPath>,
}

/// A worktree as git lists it.
struct ListedWorktree {
    at: PathBuf,
    lock_reason: Option<String>,
}

impl ListedWorktree {
    fn is_half_made(&self) -> bool {
        self.lock_reason.as_deref() == Some(OPENING)
    }
}

impl Repo {
    /// What this worktree was made for, if [`Trees::open_worktree`] made it.
    pub fn worktree_note(&self) -> Option<String> {
        let is_linked = self.root().join(".git").is_file();
        is_linked.then(|| read_note(&self.program)).flatten()
    }
}

impl Trees {
    /// Makes the worktree `at`, where nothing is yet: HEAD is `commit`, the files are those of `tree`. The note says what it is for.
    /// Worktrees that were left half made are removed first.
    pub fn open_worktree(
        &self,
        at: &Path,
        commit: &CommitId,
        tree: &TreeId,
        note: &str,
        now: SystemTime,
    ) -> Result<(), Error> {
        let folder = at.to_str().ok_or_else(|| broken("the worktree's path is not UTF-8."))?;
        let _lock = self.lock_worktrees()?;
        for half_made in self.listed_worktrees()?.iter().filter(|one| one.is_half_made()) {
            // One that cannot be removed is in the way of its own task alone.
            let _ = self.discard(&half_made.at);
        }
        if at.symlink_metadata().is_ok() {
            let message = format!("`{folder}` is there already.");
            return Err(Error::new(ErrorKind::Denied, message));
        }
        let program = &self.repo.program;
        // Locked from its first moment, so that it is known for half made. A directory that was deleted by hand is still registered:
        // `--force` takes its place.
        let options = ["--force", "--no-checkout", "--detach", "--lock", "--reason", OPENING];
        let words = [&["worktree", "add"][..], &options, &["--", folder, commit.as_str()]];
        program.ask(&words.concat())?;
        let filled = self.fill(at, commit, tree, note, now);
        let filled = filled.and_then(|()| program.ask(&["worktree", "unlock", "--", folder]));
        if filled.is_err() {
            // The first error counts.
            let _ = self.discard(at);
        }
        filled.map(drop)
    }

    fn fill(
        &self,
        at: &Path,
        commit: &CommitId,
        tree: &TreeId,
        note: &str,
        now: SystemTime,
    ) -> Result<(), Error> {
        let unwritable = |error: std::io::Error| {
            broken(format!("`{}` cannot be written: {error}.", at.display()))
        };
        let own = self.program_at(at)?;
        fs::write(git_folder(&own)?.join(NOTE), note).map_err(unwritable)?;
        own.ask(&["read-tree", "--no-sparse-checkout", commit.as_str()])?;
        // Inside the worktree: it goes with it, and lies on the same file system.
        let fresh = at.join(unique_name());
        self.tree(tree)?.without(|_| false).write_files(&fresh, now)?;
        let place = || {
            // A folder for a repository to be mounted on, which is there already.
            fs::remove_dir(fresh.join(".git"))?;
            for entry in fs::read_dir(&fresh)? {
                let entry = entry?;
                fs::rename(entry.path(), at.join(entry.file_name()))?;
            }
            fs::remove_dir(&fresh)
        };
        place().map_err(unwritable)
    }

    /// The worktrees that were made by [`Trees::open_worktree`] and are still there, with their notes.
    pub fn open_worktrees(&self) -> Result<Vec<(PathBuf, String)>, Error> {
        let listed = self.listed_worktrees()?.into_iter();
        let there = listed.filter(|one| !one.is_half_made() && one.at.join(".git").is_file());
        let noted = there.filter_map(|one| {
            let note = read_note(&self.program_at(&one.at).ok()?)?;
            Some((one.at, note))
        });
        Ok(noted.collect())
    }

    /// All that lies in a worktree, on top of the base. Files are read as they are, through no link. Untracked ones that `exclude`
    /// covers, lines as in a `.gitignore`, count as ignored.
    pub fn read_worktree(
        &self,
        at: &Path,
        base: &TreeId,
        exclude: &str,
    ) -> Result<WorktreeContent, Error> {
        let search_path = self.repo.program.search_path();
        let repo = Repo::discover(at, search_path)?
            .ok_or_else(|| broken(format!("`{}` is no worktree any more.", at.display())))?;
        let base = self.repo.objects.format().read(base.as_str())?;
        let mut excluded = untracked_in(&repo, exclude)?;
        let others = repo.program.ask(&["ls-files", "--others", "--exclude-standard", "-z"])?;
        let others_here = others.split('\0').filter_map(|path| RepoPath::parse(path).ok());
        let is_large = |path: &RepoPath| {
            let met = at.join(path.as_str()).symlink_metadata();
            met.is_ok_and(|met| met.is_file() && met.len() > CHANGED_BYTES)
        };
        let is_taken = |path: &RepoPath| !excluded.contains(path) && is_large(path);
        let too_large: Vec<RepoPath> = others_here.filter(is_taken).collect();
        excluded.extend(too_large.iter().cloned());
        let tree = working::write(&repo, &base, &excluded)?;
        let secrets = others.split('\0').filter(|path| is_secret_name(path).is_some());
        let secrets = secrets.filter_map(|path| RepoPath::parse(path).ok());
        let secrets = secrets.filter(|path| !excluded.contains(path)).collect();
        Ok(WorktreeContent { tree: tree.to_string().as_str().into(), secrets, too_large })
    }

    /// Takes a worktree away with all that lies in it.
    pub fn remove_worktree(&self, at: &Path) -> Result<(), Error> {
        let folder = at.to_str().ok_or_else(|| broken("the worktree's path is not UTF-8."))?;
        self.repo.program.ask(&["worktree", "remove", "--force", "--", folder]).map(drop)
    }

    /// The same for one that is half made. Git removes no folder that does not name this repository as its own.
    fn discard(&self, at: &Path) -> Result<(), Error> {
        let folder = at.to_str().ok_or_else(|| broken("the worktree's path is not UTF-8."))?;
        let words = ["worktree", "remove", "--force", "--force", "--", folder];
        self.repo.program.ask(&words).map(drop)
    }

    fn listed_worktrees(&self) -> Result<Vec<ListedWorktree>, Error> {
        let told = self.repo.program.ask(&["worktree", "list", "--porcelain", "-z"])?;
        let mut listed: Vec<ListedWorktree> = Vec::new();
        for line in told.split('\0') {
            if let Some(at) = line.strip_prefix("worktree ") {
                listed.push(ListedWorktree { at: PathBuf::from(at), lock_reason: None });
            } else if let (Some(reason), Some(last)) =
                (line.strip_prefix("locked "), listed.last_mut())
            {
                last.lock_reason = Some(reason.to_owned());
            }
        }
        Ok(listed)
    }

    /// One process at a time: another one's worktree would look like a leftover. The lock goes with the value.
    fn lock_worktrees(&self) -> Result<File, Error> {
        let program = &self.repo.program;
        let common = program.root().join(program.ask(&["rev-parse", "--git-common-dir"])?);
        let failed = |error: std::io::Error| {
            broken(format!("`{}` cannot be locked: {error}.", common.display()))
        };
        let folder = File::open(&common).map_err(failed)?;
        flock(&folder, FlockOperation::LockExclusive).map_err(|error| failed(error.into()))?;
        Ok(folder)
    }

    fn program_at(&self, at: &Path) -> Result<Program, Error> {
        Program::over(self.repo.program.search_path(), at.to_owned(), at.join(".git"))
    }
}

fn git_folder(own: &Program) -> Result<PathBuf, Error> {
    let told = own.ask(&["rev-parse", "--absolute-git-dir"])?;
    Ok(PathBuf::from(told))
}

/// Through no link, and from no pipe.
fn read_note(own: &Program) -> Option<String> {
    let held = Checkout::at(&git_folder(own).ok()?).read(NOTE, NOTE_BYTES)?;
    String::from_utf8(held.bytes).ok()
}

/// The untracked files that these lines cover.
fn untracked_in(repo: &Repo, exclude: &str) -> Result<BTreeSet<RepoPath>, Error> {
    let lines = exclude.lines().filter(|line| !line.is_empty());
    let patterns: Vec<String> = lines.map(|line| format!("--exclude={line}")).collect();
    if patterns.is_empty() {
        return Ok(BTreeSet::new());
    }
    let mut words = vec!["ls-files", "--others", "--ignored", "-z"];
    words.extend(patterns.iter().map(String::as_str));
    let listed = repo.program.ask(&words)?;
    Ok(listed.split('\0').filter_map(|path| RepoPath::parse(path).ok()).collect())
}

/// A name that no entry of a tree has but by intent: then it fails, and nothing is overwritten.
fn unique_name() -> String {
    format!(".sequester-{:016x}", RandomState::new().build_hasher().finish())
}
