//! A folder's git folder, which may stand elsewhere, and the credentials in its configuration.

use std::fs;
use std::path::{Path, PathBuf};

use crate::surroundings::credential;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Git {
    None,
    /// `.git` in the folder.
    Here,
    /// `.git` is a file that leads to this folder: the folder is a worktree or a submodule.
    Elsewhere(PathBuf),
    /// `.git` is a file that leads to this folder, which lies in the folder itself.
    Within(PathBuf),
}

/// Submodules whose configuration is looked at.
const MODULES: usize = 1_000;

pub(super) fn look(root: &Path) -> (Git, Vec<(PathBuf, String)>) {
    let at = root.join(".git");
    let git = match fs::symlink_metadata(&at) {
        Ok(found) if found.is_dir() => Git::Here,
        Ok(found) if found.is_file() => {
            let within = || within(root).map_or(Git::None, Git::Within);
            elsewhere(root).map_or_else(within, Git::Elsewhere)
        }
        _ => Git::None,
    };
    let covers = match &git {
        Git::None => Vec::new(),
        Git::Here => covers(&at),
        Git::Elsewhere(folder) | Git::Within(folder) => covers(folder),
    };
    (git, covers)
}

/// The repository is not trusted: what its `.git` names counts only if that folder says that it belongs here.
fn elsewhere(root: &Path) -> Option<PathBuf> {
    let pointer = short(&root.join(".git"))?;
    let folder = fs::canonicalize(root.join(pointer.strip_prefix("gitdir:")?.trim())).ok()?;
    let shared = match folder.parent() {
        Some(parent) if parent.ends_with("worktrees") => {
            let back = fs::canonicalize(short(&folder.join("gitdir"))?.trim()).ok()?;
            (back == root.join(".git")).then(|| parent.parent().map(Path::to_owned))??
        }
        _ => {
            let config = short(&folder.join("config"))?;
            let back = config.lines().find_map(|line| {
                let (key, value) = line.split_once('=')?;
                (key.trim() == "worktree").then(|| folder.join(value.trim()))
            })?;
            (fs::canonicalize(back).ok()? == root).then_some(folder)?
        }
    };
    let is_git = shared.join("HEAD").is_file() && shared.join("objects").is_dir();
    (is_git && !root.starts_with(&shared)).then_some(shared)
}

/// Whatever the folder says of itself: git takes it for the repository's.
fn within(root: &Path) -> Option<PathBuf> {
    let pointer = short(&root.join(".git"))?;
    let folder = fs::canonicalize(root.join(pointer.strip_prefix("gitdir:")?.trim())).ok()?;
    // Of a worktree the repository is above.
    let common = short(&folder.join("commondir"));
    let common = common.and_then(|common| fs::canonicalize(folder.join(common.trim())).ok());
    let folder = common.unwrap_or(folder);
    let is_git = folder.join("HEAD").is_file() && folder.join("objects").is_dir();
    (is_git && folder != root && folder.starts_with(root)).then_some(folder)
}

fn short(path: &Path) -> Option<String> {
    let found = fs::symlink_metadata(path).ok()?;
    if !found.is_file() || found.len() > 64 << 10 {
        return None;
    }
    fs::read_to_string(path).ok()
}

/// Every configuration in the git folder that would give credentials away.
fn covers(git: &Path) -> Vec<(PathBuf, String)> {
    let mut files = vec![git.join("config"), git.join("config.worktree")];
    for folder in folders(&git.join("worktrees")) {
        files.push(folder.join("config.worktree"));
    }
    let mut open = folders(&git.join("modules"));
    let mut left = MODULES;
    while let Some(folder) = open.pop().filter(|_| left > 0) {
        left -= 1;
        files.push(folder.join("config"));
        open.extend(folders(&folder.join("modules")));
        // A submodule's name may have slashes.
        if !folder.join("HEAD").is_file() {
            open.extend(folders(&folder));
        }
    }
    files.sort();
    files.into_iter().filter_map(|file| credential::cover(&file).map(|text| (file, text))).collect()
}

fn folders(path: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    let mut folders: Vec<PathBuf> = entries
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
        .map(|entry| entry.path())
        .take(MODULES)
        .collect();
    folders.sort();
    folders
}
