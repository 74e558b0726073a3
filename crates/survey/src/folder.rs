//! A plain folder as a snapshot: without git, or with changes that no commit holds yet.

use std::collections::BTreeSet;
use std::fs::{self, DirEntry, File, FileType, Metadata};
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use ignore::gitignore::{Gitignore, GitignoreBuilder};
use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::io::Errno;
use sequester_core::path::RepoPath;
use sequester_core::repository::{Entry, EntryKind, Error, ErrorKind, Snapshot, Stamp};

/// A folder as it stood when it was listed. Nothing outside it is ever opened.
#[derive(Debug)]
pub struct Folder {
    label: String,
    root: OwnedFd,
    entries: Vec<Entry>,
    problems: Vec<String>,
}

/// How many entries that were left out are named.
const PROBLEMS: usize = 10;

/// Whether a folder is ignored: then only what git tracks counts in it, whatever its own rules say.
#[derive(Clone, Copy)]
enum Under {
    Open,
    Ignored,
}

/// Folders nested deeper than this are left out.
const DEEPEST: usize = 200;
/// A longer `.gitignore` does not count.
const IGNORE_BYTES: u64 = 1 << 20;

impl Folder {
    /// Lists `root`: what its `.gitignore` files leave, hidden files included, `.git` never. The user's own ignore rules
    /// do not count, so that everybody sees the same files.
    pub fn list(root: &Path) -> Result<Self, Error> {
        Self::list_with(root, &BTreeSet::new())
    }

    /// The same, with paths that no rule ignores: those that git tracks.
    pub fn list_with(root: &Path, tracked: &BTreeSet<String>) -> Result<Self, Error> {
        let mut folder = Self::unlisted(root)?;
        folder.descend(root, root, Under::Open, &mut Vec::new(), tracked);
        folder.entries.sort_unstable_by(|left, right| left.path.cmp(&right.path));
        folder.problems.sort_unstable();
        if let Some(more) = folder.problems.len().checked_sub(PROBLEMS).filter(|more| *more > 0) {
            folder.problems.truncate(PROBLEMS);
            folder.problems.push(format!("{more} more were left out."));
        }
        Ok(folder)
    }

    /// The same, as if these files did not lie there.
    #[must_use]
    pub fn without(mut self, files: &BTreeSet<RepoPath>) -> Self {
        self.entries.retain(|entry| !files.contains(&entry.path));
        self
    }

    /// Without a list: for reading what is known to be there.
    pub fn unlisted(root: &Path) -> Result<Self, Error> {
        let label = root.display().to_string();
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let root = openat(CWD, root, flags, Mode::empty())
            .map_err(|error| explain(&label, &io::Error::from(error)))?;
        Ok(Self { label, root, entries: Vec::new(), problems: Vec::new() })
    }

    fn descend(
        &mut self,
        root: &Path,
        here: &Path,
        under: Under,
        rules: &mut Vec<Gitignore>,
        tracked: &BTreeSet<String>,
    ) {
        let found: Vec<DirEntry> = match fs::read_dir(here) {
            Ok(found) if rules.len() < DEEPEST => found.flatten().collect(),
            refused => {
                let why =
                    refused.err().map_or("it lies too deep".to_owned(), |why| why.to_string());
                self.problems.push(format!("`{}`: {why}. It is left out.", here.display()));
                return;
            }
        };
        // Most folders have no rules: only those that list the file are asked for it.
        let ruled = found.iter().any(|entry| entry.file_name() == ".gitignore");
        rules.push(if ruled { self.rules_of(root, here) } else { Gitignore::empty() });
        for entry in found.into_iter().filter(|entry| entry.file_name() != ".git") {
            let path = entry.path();
            let Ok(kind) = entry.file_type() else { continue };
            let under = match under {
                Under::Open if !is_ignored(rules, &path, kind.is_dir()) => Under::Open,
                _ if holds(tracked, root, &path) => Under::Ignored,
                _ => continue,
            };
            if kind.is_dir() {
                self.descend(root, &path, under, rules, tracked);
            } else {
                self.admit(root, &entry, kind);
            }
        }
        rules.pop();
    }

    /// What the `.gitignore` of a folder says; read like any file, so that it can be no pipe and lead nowhere else.
    fn rules_of(&self, root: &Path, here: &Path) -> Gitignore {
        let path = here.join(".gitignore");
        let name = path.strip_prefix(root).ok().and_then(Path::to_str).map(RepoPath::parse);
        let mut content = Vec::new();
        let Some(Ok(name)) = name else { return Gitignore::empty() };
        if self.read_into(&name, IGNORE_BYTES, &mut content).is_err() {
            return Gitignore::empty();
        }
        let mut builder = GitignoreBuilder::new(here);
        for line in String::from_utf8_lossy(&content).lines() {
            // A line that is no pattern does not count, as with git.
            let _ = builder.add_line(None, line);
        }
        builder.build().unwrap_or_else(|_| Gitignore::empty())
    }

    /// What is left out and why, in sentences for a person.
    pub fn problems(&self) -> &[String] {
        &self.problems
    }

    fn admit(&mut self, root: &Path, found: &DirEntry, kind: FileType) {
        let whole = found.path();
        let path = whole.strip_prefix(root).unwrap_or(&whole);
        let shown = path.display();
        let kind = match kind {
            kind if kind.is_file() => EntryKind::File,
            kind if kind.is_symlink() => EntryKind::Symlink,
            _ => {
                self.problems.push(format!("`{shown}` is no regular file. It is left out."));
                return;
            }
        };
        let Some(text) = path.to_str() else {
            self.problems.push(format!("The name of `{shown}` is not UTF-8. It is left out."));
            return;
        };
        let path = match RepoPath::parse(text) {
            Ok(path) => path,
            Err(error) => {
                self.problems.push(format!("`{shown}` is left out: {error}."));
                return;
            }
        };
        match found.metadata() {
            Ok(metadata) => self.entries.push(Entry { path, kind, stamp: stamp(&metadata) }),
            Err(error) => self.problems.push(format!("`{shown}` is left out: {error}.")),
        }
    }

    fn read_into(&self, path: &RepoPath, limit: u64, into: &mut Vec<u8>) -> Result<(), Error> {
        into.clear();
        let name = path.as_str();
        let file = self.open(name).map_err(|error| explain(name, &io::Error::from(error)))?;
        let metadata = file.metadata().map_err(|error| explain(name, &error))?;
        if !metadata.is_file() {
            return Err(Error::new(ErrorKind::Denied, format!("`{name}` is no regular file.")));
        }
        if metadata.len() > limit {
            let message = format!("`{name}` is larger than {limit} bytes.");
            return Err(Error::new(ErrorKind::TooLarge, message));
        }
        into.reserve(metadata.len() as usize);
        // What it has grown by since is for the next look.
        let read = file.take(metadata.len()).read_to_end(into);
        read.map_err(|error| explain(name, &error))?;
        Ok(())
    }

    /// Follows no link, in whatever part of the path, and never waits for the other end of a pipe.
    fn open(&self, path: &str) -> Result<File, Errno> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        #[cfg(target_os = "linux")]
        {
            use rustix::fs::{ResolveFlags, openat2};
            let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
            match openat2(&self.root, path, flags, Mode::empty(), resolve) {
                Err(Errno::NOSYS) => {}
                opened => return opened.map(File::from),
            }
        }
        openat(&self.root, path, flags, Mode::empty()).map(File::from)
    }
}

impl Snapshot for Folder {
    fn label(&self) -> &str {
        &self.label
    }

    fn entries(&self) -> &[Entry] {
        &self.entries
    }

    fn read(&self, path: &RepoPath, limit: u64) -> Result<Vec<u8>, Error> {
        let mut content = Vec::new();
        self.read_into(path, limit, &mut content)?;
        Ok(content)
    }

    fn read_many(
        &self,
        wanted: &[usize],
        limit: u64,
        each: &mut dyn FnMut(usize, Result<&[u8], Error>),
    ) {
        let mut content = Vec::new();
        for &at in wanted {
            let read = match self.entries.get(at) {
                Some(entry) => self.read_into(&entry.path, limit, &mut content),
                None => Err(Error::new(ErrorKind::NotFound, format!("There is no entry {at}."))),
            };
            each(at, read.map(|()| content.as_slice()));
        }
    }
}

/// The nearest rule that speaks of a path decides.
fn is_ignored(rules: &[Gitignore], path: &Path, is_folder: bool) -> bool {
    let spoken = rules.iter().rev().map(|rules| rules.matched(path, is_folder));
    spoken.into_iter().find(|said| !said.is_none()).is_some_and(|said| said.is_ignore())
}

/// Whether a path is among the tracked ones, or above one of them.
fn holds(tracked: &BTreeSet<String>, root: &Path, path: &Path) -> bool {
    let Some(path) = path.strip_prefix(root).ok().and_then(Path::to_str) else { return false };
    let above = format!("{path}/");
    tracked.contains(path)
        || tracked.range(above.clone()..).next().is_some_and(|next| next.starts_with(&above))
}

fn stamp(metadata: &Metadata) -> Stamp {
    let instant = |seconds: i64, nanoseconds: i64| {
        i128::from(seconds) * 1_000_000_000 + i128::from(nanoseconds)
    };
    Stamp::Stat {
        size: metadata.size(),
        modified: instant(metadata.mtime(), metadata.mtime_nsec()),
        changed: instant(metadata.ctime(), metadata.ctime_nsec()),
        inode: metadata.ino(),
    }
}

fn explain(name: &str, error: &io::Error) -> Error {
    let is_link = error.raw_os_error() == Some(Errno::LOOP.raw_os_error());
    let kind = match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => ErrorKind::NotFound,
        io::ErrorKind::PermissionDenied => ErrorKind::Denied,
        _ if is_link => ErrorKind::Denied,
        _ => ErrorKind::Broken,
    };
    let reason = if is_link {
        "it is reached through a symbolic link".to_owned()
    } else {
        error.to_string()
    };
    Error::new(kind, format!("`{name}` could not be read: {reason}."))
}
