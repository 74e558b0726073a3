//! A private copy of the base, and what became of it.

mod evidence;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use sequester_core::path::RepoPath;
use sequester_core::repository::{self, EntryKind, Error, ErrorKind, Snapshot};
use sequester_survey::Folder;
use tempfile::TempDir;

use crate::render::terminal::plural;
use evidence::{Comparison, Content, Mode, Side};

pub(crate) use evidence::{Changed, Evidence};

/// The copy, gone when this is dropped.
pub(crate) struct Workspace {
    folder: TempDir,
    /// Digests of the base's files that are too large to be read again.
    large: BTreeMap<RepoPath, blake3::Hash>,
    /// Files that may be run. The base does not say which; those that begin as scripts do.
    executable: BTreeSet<RepoPath>,
}

/// Files beyond this are compared by their digests.
const FILE_BYTES: u64 = 16 << 20;
/// For whoever started it, and nobody else on this machine.
const PRIVATE: u32 = 0o700;

impl Workspace {
    pub(crate) fn copy(base: &dyn Snapshot) -> io::Result<Self> {
        let private = Permissions::from_mode(PRIVATE);
        let folder =
            tempfile::Builder::new().prefix("sequester-").permissions(private).tempdir()?;
        let (large, executable) = (BTreeMap::new(), BTreeSet::new());
        let mut workspace = Self { folder, large, executable };
        fs::create_dir(workspace.root())?;
        fs::create_dir(workspace.home())?;
        let entries = base.entries();
        let is_file = |at: &usize| entries[*at].kind == EntryKind::File;
        let files: Vec<usize> = (0..entries.len()).filter(is_file).collect();
        let mut result = Ok(());
        base.read_many(&files, u64::MAX, &mut |at, bytes| {
            let written = match bytes {
                Ok(bytes) => workspace.write(&entries[at].path, bytes),
                Err(error) => Err(io::Error::other(error)),
            };
            if result.is_ok() {
                result = written;
            }
        });
        result.map(|()| workspace)
    }

    fn write(&mut self, path: &RepoPath, bytes: &[u8]) -> io::Result<()> {
        let place = self.root().join(path.as_str());
        if let Some(folder) = place.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::write(&place, bytes)?;
        if bytes.len() as u64 > FILE_BYTES {
            self.large.insert(path.clone(), blake3::hash(bytes));
        }
        if bytes.starts_with(b"#!") {
            self.executable.insert(path.clone());
            fs::set_permissions(place, Permissions::from_mode(0o755))?;
        }
        Ok(())
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.folder.path().join("work")
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    /// Compares with the base. What git would ignore is no change.
    pub(crate) fn compare(&self, base: &dyn Snapshot) -> io::Result<Evidence> {
        let tracked: BTreeSet<String> =
            base.entries().iter().map(|entry| entry.path.as_str().to_owned()).collect();
        let now = Folder::list_with(&self.root(), &tracked).map_err(io::Error::other)?;
        let entries = || base.entries().iter().chain(now.entries());
        let paths: BTreeSet<&RepoPath> = entries().map(|entry| &entry.path).collect();
        let mut comparison = Comparison::new();
        for path in paths {
            let (old, new) = (self.before(path, base), self.after(path, &now));
            // What the copy never had cannot have been taken away.
            let left_out = new.is_none() && old.as_ref().is_some_and(|old| old.mode == Mode::Link);
            if old != new && !left_out {
                comparison.add(path, old.as_ref(), new.as_ref());
            }
        }
        Ok(comparison.finish(now.problems(), &self.root()))
    }

    fn before(&self, path: &RepoPath, base: &dyn Snapshot) -> Option<Side> {
        let (mode, content) = match repository::find(base, path.as_str())?.kind {
            EntryKind::Submodule => return None,
            EntryKind::Symlink => {
                let why = "the base's link is not in the copy.".to_owned();
                (Mode::Link, Content::Unreadable(why))
            }
            EntryKind::File => {
                let content = match self.large.get(path) {
                    Some(digest) => Content::Large(*digest),
                    None => Content::of(base.read(path, FILE_BYTES)),
                };
                (Mode::of_file(self.executable.contains(path)), content)
            }
        };
        Some(Side { mode, content })
    }

    fn after(&self, path: &RepoPath, now: &Folder) -> Option<Side> {
        let place = self.root().join(path.as_str());
        if repository::find(now, path.as_str())?.kind == EntryKind::Symlink {
            return Some(Side { mode: Mode::Link, content: Content::of_link(&place) });
        }
        let content = match now.read(path, FILE_BYTES) {
            Err(Error { kind: ErrorKind::TooLarge, .. }) => match digest(&place) {
                Ok(digest) => Content::Large(digest),
                Err(error) => Content::Unreadable(format!("{error}.")),
            },
            read => Content::of(read),
        };
        let found = fs::symlink_metadata(&place);
        let executable = found.is_ok_and(|found| found.permissions().mode() & 0o100 != 0);
        Some(Side { mode: Mode::of_file(executable), content })
    }
}

fn digest(place: &Path) -> io::Result<blake3::Hash> {
    let mut hasher = blake3::Hasher::new();
    io::copy(&mut File::open(place)?, &mut hasher)?;
    Ok(hasher.finalize())
}

/// What the copy lacks of the base, in sentences for a person.
pub(crate) fn left_out(base: &dyn Snapshot) -> Vec<String> {
    let kinds = [(EntryKind::Symlink, "symbolic link"), (EntryKind::Submodule, "submodule")];
    let told = kinds.into_iter().filter_map(|(kind, name)| {
        let count = base.entries().iter().filter(|entry| entry.kind == kind).count();
        let are = if count == 1 { "is" } else { "are" };
        (count > 0).then(|| format!("{} of the base {are} not in the copy.", plural(count, name)))
    });
    told.collect()
}
