//! A plain folder as a snapshot: without git, or with changes that no commit holds yet.

use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use ignore::{DirEntry, WalkBuilder};
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

impl Folder {
    /// Lists `root`: what its `.gitignore` files leave, hidden files included, `.git` never. The user's own ignore rules
    /// do not count, so that everybody sees the same files.
    pub fn list(root: &Path) -> Result<Self, Error> {
        let label = root.display().to_string();
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let handle = openat(CWD, root, flags, Mode::empty())
            .map_err(|error| explain(&label, &io::Error::from(error)))?;
        let mut folder = Self { label, root: handle, entries: Vec::new(), problems: Vec::new() };
        let walk = WalkBuilder::new(root)
            .standard_filters(false)
            .git_ignore(true)
            .require_git(false)
            .filter_entry(|entry| entry.file_name() != ".git")
            .build();
        for found in walk {
            match found {
                Ok(entry) if entry.depth() == 0 => {}
                Ok(entry) => folder.admit(root, &entry),
                Err(error) => folder.problems.push(format!("{error}. It is left out.")),
            }
        }
        folder.entries.sort_unstable_by(|left, right| left.path.cmp(&right.path));
        folder.problems.sort_unstable();
        Ok(folder)
    }

    /// What is left out and why, in sentences for a person.
    pub fn problems(&self) -> &[String] {
        &self.problems
    }

    fn admit(&mut self, root: &Path, found: &DirEntry) {
        let path = found.path().strip_prefix(root).unwrap_or(found.path());
        let shown = path.display();
        let kind = match found.file_type() {
            Some(kind) if kind.is_dir() => return,
            Some(kind) if kind.is_file() => EntryKind::File,
            Some(kind) if kind.is_symlink() => EntryKind::Symlink,
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
