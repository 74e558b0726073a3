//! A private copy of the base, and what became of it.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use sequester_core::path::RepoPath;
use sequester_core::repository::{EntryKind, Error, ErrorKind, Snapshot};
use sequester_survey::Folder;
use serde::Serialize;
use similar::{ChangeTag, TextDiff};
use tempfile::TempDir;

use crate::render::terminal::plural;

/// The copy, gone when this is dropped.
pub(crate) struct Workspace {
    folder: TempDir,
    /// Digests of the base's files that are too large to be read again.
    large: BTreeMap<RepoPath, blake3::Hash>,
}

/// What the runtime itself saw of the work.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Evidence {
    pub(crate) files_changed: Vec<Changed>,
    pub(crate) patch: String,
}

#[derive(Debug, Serialize)]
pub(crate) struct Changed {
    pub(crate) path: String,
    pub(crate) action: &'static str,
    /// Lines; nothing where they were not compared.
    pub(crate) added: Option<usize>,
    pub(crate) removed: Option<usize>,
}

/// Files beyond this are compared by their digests.
const FILE_BYTES: u64 = 16 << 20;
/// Files beyond either are not compared line by line.
const DIFF_BYTES: usize = 1 << 20;
const DIFF_LINES: usize = 50_000;
/// Past this time what differs in a file is shown as one block: the work is done, and nobody waits for a nicer patch.
const DIFF_TIME: Duration = Duration::from_secs(5);
const PATCH_BYTES: usize = 1 << 20;

impl Workspace {
    pub(crate) fn copy(base: &dyn Snapshot) -> io::Result<Self> {
        let folder = tempfile::Builder::new().prefix("sequester-").tempdir()?;
        let mut workspace = Self { folder, large: BTreeMap::new() };
        fs::create_dir(workspace.root())?;
        fs::create_dir(workspace.home())?;
        let entries = base.entries();
        let is_file = |at: &usize| entries[*at].kind == EntryKind::File;
        let files: Vec<usize> = (0..entries.len()).filter(is_file).collect();
        let (root, mut result) = (workspace.root(), Ok(()));
        base.read_many(&files, u64::MAX, &mut |at, bytes| {
            let path = &entries[at].path;
            let written = match bytes {
                Ok(bytes) => {
                    if bytes.len() as u64 > FILE_BYTES {
                        workspace.large.insert(path.clone(), blake3::hash(bytes));
                    }
                    write(&root.join(path.as_str()), bytes)
                }
                Err(error) => Err(io::Error::other(error)),
            };
            if result.is_ok() {
                result = written;
            }
        });
        result.map(|()| workspace)
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
        let paths = |snapshot: &dyn Snapshot| -> BTreeSet<RepoPath> {
            let files = snapshot.entries().iter().filter(|entry| entry.kind == EntryKind::File);
            files.map(|entry| entry.path.clone()).collect()
        };
        let (before, after) = (paths(base), paths(&now));
        let mut comparison = Comparison::new();
        for path in before.union(&after) {
            let old = match self.large.get(path) {
                Some(digest) => Side::Large(*digest),
                None if before.contains(path) => Side::of(base.read(path, FILE_BYTES)),
                None => Side::Absent,
            };
            let new = if after.contains(path) { self.look(path, &now) } else { Side::Absent };
            if old != new {
                comparison.add(path, &old, &new);
            }
        }
        Ok(comparison.finish(now.problems(), &self.root()))
    }

    fn look(&self, path: &RepoPath, now: &Folder) -> Side {
        let digest = || -> io::Result<blake3::Hash> {
            let mut hasher = blake3::Hasher::new();
            io::copy(&mut File::open(self.root().join(path.as_str()))?, &mut hasher)?;
            Ok(hasher.finalize())
        };
        match now.read(path, FILE_BYTES) {
            Err(Error { kind: ErrorKind::TooLarge, .. }) => match digest() {
                Ok(digest) => Side::Large(digest),
                Err(error) => Side::Unreadable(format!("`{path}` could not be read: {error}.")),
            },
            read => Side::of(read),
        }
    }
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

/// A file before or after the work.
#[derive(PartialEq)]
enum Side {
    Absent,
    Held(Vec<u8>),
    Large(blake3::Hash),
    Unreadable(String),
}

impl Side {
    fn of(read: Result<Vec<u8>, Error>) -> Self {
        read.map_or_else(|error| Self::Unreadable(error.message), Self::Held)
    }

    /// Its text, if it can be shown; else why not.
    fn text(&self) -> Result<&str, String> {
        let bytes = match self {
            Self::Absent => return Ok(""),
            Self::Held(bytes) => bytes,
            Self::Large(_) => return Err("is too large to show.".to_owned()),
            Self::Unreadable(why) => return Err(format!("cannot be shown: {why}")),
        };
        let text = std::str::from_utf8(bytes).map_err(|_| "is binary and differs.".to_owned())?;
        let lines = || text.matches('\n').count();
        if bytes.len() > DIFF_BYTES || lines() > DIFF_LINES {
            return Err("is too large to show.".to_owned());
        }
        Ok(text)
    }
}

struct Comparison {
    evidence: Evidence,
    deadline: Instant,
    /// Files whose part of the patch had no room.
    left_out: usize,
}

impl Comparison {
    fn new() -> Self {
        let deadline = Instant::now() + DIFF_TIME;
        Self { evidence: Evidence::default(), deadline, left_out: 0 }
    }

    fn add(&mut self, path: &RepoPath, old: &Side, new: &Side) {
        let action = match (old, new) {
            (Side::Absent, _) => "create",
            (_, Side::Absent) => "delete",
            _ => "modify",
        };
        let (mut added, mut removed) = (None, None);
        let part = match old.text().and_then(|old| Ok((old, new.text()?))) {
            Ok((old_text, new_text)) => {
                let name = |side: &str, absent: bool| {
                    if absent { "/dev/null".to_owned() } else { format!("{side}/{path}") }
                };
                let (from, to) = (name("a", action == "create"), name("b", action == "delete"));
                let mut config = TextDiff::configure();
                let diff = config.deadline(self.deadline).diff_lines(old_text, new_text);
                let count =
                    |tag| Some(diff.iter_all_changes().filter(|one| one.tag() == tag).count());
                (added, removed) = (count(ChangeTag::Insert), count(ChangeTag::Delete));
                diff.unified_diff().header(&from, &to).to_string()
            }
            Err(why) => format!("File {path} {why}\n"),
        };
        if self.evidence.patch.len() + part.len() <= PATCH_BYTES {
            self.evidence.patch += &part;
        } else {
            self.left_out += 1;
        }
        let path = path.to_string();
        self.evidence.files_changed.push(Changed { path, action, added, removed });
    }

    /// With what could not be looked at, and what had no room.
    fn finish(self, problems: &[String], root: &Path) -> Evidence {
        let mut evidence = self.evidence;
        let root = root.display().to_string();
        for problem in problems.iter().take(PROBLEMS) {
            let _ = writeln!(evidence.patch, "{}", problem.replace(&root, "."));
        }
        if problems.len() > PROBLEMS {
            let more = plural(problems.len() - PROBLEMS, "more problem");
            let _ = writeln!(evidence.patch, "There are {more}.");
        }
        if self.left_out > 0 {
            let files = plural(self.left_out, "file");
            let _ = writeln!(evidence.patch, "The patch is cut: {files} had no room in it.");
        }
        evidence
    }
}

/// Problems of looking that are told.
const PROBLEMS: usize = 20;

fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(path, bytes)?;
    if bytes.starts_with(b"#!") {
        fs::set_permissions(path, fs::Permissions::from_mode(0o755))?;
    }
    Ok(())
}
