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

/// Also covers what gives credentials away in the `repositories` within the folder.
pub(super) fn look(root: &Path, repositories: &[PathBuf]) -> (Git, Vec<(PathBuf, String)>) {
    let (git, mut all) = look_at(root);
    let own = root.join(".git");
    for folder in repositories.iter().filter(|folder| **folder != own).take(MODULES) {
        all.extend(covers(folder).into_iter().filter(|(path, _)| path.starts_with(root)));
    }
    all.sort();
    all.dedup_by(|later, earlier| later.0 == earlier.0);
    (git, all)
}

fn look_at(root: &Path) -> (Git, Vec<(PathBuf, String)>) {
    let at = root.join(".git");
    let git = match fs::symlink_metadata(&at) {
        Ok(found) if found.is_dir() => Git::Here,
        Ok(found) if found.is_file() => {
            let within = || within(root).map_or(Git::None, Git::Within);
            elsewhere(root).map_or_else(within, Git::Elsewhere)
        }
        _ => Git::None,
    };
    let folder = match &git {
        Git::None => return (git, Vec::new()),
        Git::Here => &at,
        Git::Elsewhere(folder) | Git::Within(folder) => folder,
    };
    let mut covers = covers(folder);
    // Included files may lie anywhere; what is not shown needs no cover.
    covers.retain(|(path, _)| path.starts_with(root) || path.starts_with(folder));
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

/// Every file in the git folder that would give credentials away, and those that its configuration keeps them in.
fn covers(git: &Path) -> Vec<(PathBuf, String)> {
    // Of copies too, such as `config.bak`.
    let is_config = |path: &PathBuf| {
        path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("config"))
    };
    let mut files: Vec<PathBuf> = plain_files(git).into_iter().filter(is_config).collect();
    let mut repositories = vec![git.to_owned()];
    for folder in folders(&git.join("worktrees")) {
        files.push(folder.join("config.worktree"));
        repositories.push(folder);
    }
    let mut open = folders(&git.join("modules"));
    let mut left = MODULES;
    while let Some(folder) = open.pop().filter(|_| left > 0) {
        left -= 1;
        files.push(folder.join("config"));
        open.extend(folders(&folder.join("modules")));
        // A submodule's name may have slashes.
        if folder.join("HEAD").is_file() {
            repositories.push(folder);
        } else {
            open.extend(folders(&folder));
        }
    }
    files.extend(included(&files));
    files.extend(["remotes", "branches"].iter().flat_map(|name| plain_files(&git.join(name))));
    let logs = repositories.iter().flat_map(|repository| logs(repository)).take(MODULES);
    let kept = files.iter().flat_map(|file| kept_beside(git, file)).collect::<Vec<_>>();
    let covered = files.into_iter().map(|file| (credential::cover(&file), file));
    let logged = logs.map(|file| (credential::cover_log(&file), file));
    let kept = kept.into_iter().map(|file| (Some(String::new()), file));
    let all = covered.chain(logged).chain(kept);
    let mut covers: Vec<_> = all.filter_map(|(text, file)| Some((file, text?))).collect();
    covers.sort();
    covers.dedup();
    covers
}

/// What git fetched, and what it noted of every branch: both name where from.
fn logs(repository: &Path) -> Vec<PathBuf> {
    let mut logs = vec![repository.join("FETCH_HEAD"), repository.join("logs/HEAD")];
    let mut open = vec![repository.join("logs/refs")];
    while let Some(folder) = open.pop().filter(|_| logs.len() < MODULES) {
        logs.extend(plain_files(&folder));
        open.extend(folders(&folder));
    }
    logs
}

/// Files of cookies and passwords that a configuration names.
fn kept_beside(git: &Path, config: &Path) -> Vec<PathBuf> {
    let text = short(config).unwrap_or_default();
    let root = git.parent().unwrap_or(git);
    let named = text.lines().filter_map(|line| {
        let (key, value) = line.split_once('=')?;
        let file = match key.trim().to_ascii_lowercase().as_str() {
            "cookiefile" => value,
            "helper" => value.split_once("--file")?.1.trim_start_matches(['=', ' ']),
            _ => return None,
        };
        let file = file.split_whitespace().next()?.trim_matches(['"', '\'']);
        fs::canonicalize(root.join(file)).ok().filter(|file| file.is_file())
    });
    named.collect()
}

/// Files that a configuration includes, and those that they include.
fn included(files: &[PathBuf]) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = Vec::new();
    let mut waiting: Vec<PathBuf> = files.to_vec();
    while let Some(file) = waiting.pop().filter(|_| found.len() < MODULES) {
        let text = short(&file).unwrap_or_default();
        let mut includes = false;
        for line in text.lines().map(str::trim) {
            if line.starts_with('[') {
                includes = line.to_ascii_lowercase().starts_with("[include");
            }
            let (key, value) = line.split_once('=').unwrap_or_default();
            if !includes || !key.trim().eq_ignore_ascii_case("path") {
                continue;
            }
            let above = file.parent().unwrap_or(Path::new("/"));
            let path = above.join(value.trim().trim_matches('"'));
            if let Ok(path) = fs::canonicalize(path)
                && !found.contains(&path)
            {
                found.push(path.clone());
                waiting.push(path);
            }
        }
    }
    found
}

fn plain_files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let files = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()));
    files.map(|entry| entry.path()).take(MODULES).collect()
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
