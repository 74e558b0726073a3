//! What must be hidden in a folder, and what must not be written, found without following links.

use std::fs::{self, DirEntry, FileType};
use std::os::unix::fs::DirEntryExt as _;
use std::path::{Path, PathBuf};

use sequester_core::protected;
use sequester_core::secret::is_secret_name;

use super::{Covered, Walked};
use crate::blueprint::Kind;

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

/// What was found, sorted.
pub(super) struct Found {
    pub(super) hidden: Vec<PathBuf>,
    pub(super) covered: Vec<Covered>,
    pub(super) walked: Walked,
}

pub(super) fn look(root: &Path, most: usize) -> Found {
    let (mut hidden, mut covered) = (Vec::new(), Vec::new());
    let (mut left, mut walked) = (most, Walked::Whole);
    let mut open = vec![root.to_owned()];
    'walk: while let Some(folder) = open.pop() {
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        for entry in entries.flatten() {
            if left == 0 {
                walked = Walked::Part;
                break 'walk;
            }
            left -= 1;
            let Ok(kind) = entry.file_type() else { continue };
            let name = entry.file_name();
            if kind.is_dir() && name == ".sequester" {
                hidden.push(entry.path());
                continue;
            }
            covered.extend(Covered::of(&entry, kind));
            if !kind.is_dir() {
                hidden.extend(secret(root, &entry, kind));
            } else if SKIPPED.iter().any(|skipped| name == *skipped) {
                hidden.extend(services(&entry.path()));
            } else {
                open.push(entry.path());
            }
        }
    }
    hidden.sort();
    hidden.dedup();
    covered.sort();
    Found { hidden, covered, walked }
}

impl Covered {
    fn of(entry: &DirEntry, kind: FileType) -> Option<Self> {
        let name = protected::covering(entry.file_name().to_str()?)?;
        let holds = match kind {
            kind if kind.is_dir() => Some(Kind::Folder),
            kind if kind.is_file() => Some(Kind::File),
            _ => None,
        };
        Some(Self { path: entry.path(), name, holds, inode: entry.ino() })
    }
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
