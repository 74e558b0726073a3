//! What must be hidden in a folder, found without following links.

use std::fs::{self, DirEntry, FileType};
use std::path::{Path, PathBuf};

use sequester_core::secret::is_secret_name;

use super::Walked;

/// Entries that are looked at.
pub(super) const MOST: usize = 1_000_000;

/// Folders that tools fill with what they fetched or built; large, and not where people keep secrets.
const SKIPPED: [&str; 14] = [
    ".git",
    "node_modules",
    "target",
    ".venv",
    "venv",
    "vendor",
    "__pycache__",
    ".tox",
    ".nox",
    ".mypy_cache",
    ".pytest_cache",
    ".gradle",
    ".next",
    "bower_components",
];

/// Sorted; and whether everything was seen.
pub(super) fn hidden(root: &Path, most: usize) -> (Vec<PathBuf>, Walked) {
    let mut hidden = Vec::new();
    let mut left = most;
    let mut open = vec![root.to_owned()];
    while let Some(folder) = open.pop() {
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        for entry in entries.flatten() {
            if left == 0 {
                hidden.sort();
                return (hidden, Walked::Part);
            }
            left -= 1;
            let Ok(kind) = entry.file_type() else { continue };
            let name = entry.file_name();
            if !kind.is_dir() {
                hidden.extend(secret(root, &entry, kind));
            } else if name == ".sequester" {
                hidden.push(entry.path());
            } else if SKIPPED.iter().any(|skipped| name == *skipped) {
                hidden.extend(services(&entry.path()));
            } else {
                open.push(entry.path());
            }
        }
    }
    hidden.sort();
    hidden.dedup();
    (hidden, Walked::Whole)
}

/// Sockets and pipes right in a folder: git's own service has one in `.git`.
fn services(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let leading = entries.filter(|entry| entry.file_type().is_ok_and(leads_out));
    leading.map(|entry| entry.path()).collect()
}

/// A socket or a pipe has somebody of the machine's at its other end, and no mount is too read-only for it.
fn leads_out(kind: FileType) -> bool {
    !kind.is_file() && !kind.is_dir() && !kind.is_symlink()
}

/// The entry if it must not be seen; for a link, the file it leads to.
fn secret(root: &Path, entry: &DirEntry, kind: FileType) -> Option<PathBuf> {
    let path = entry.path();
    if leads_out(kind) {
        return Some(path);
    }
    is_secret_name(&path.strip_prefix(root).ok()?.to_string_lossy())?;
    if kind.is_file() {
        return Some(path);
    }
    fs::canonicalize(&path).ok().filter(|target| target.starts_with(root) && target.is_file())
}
