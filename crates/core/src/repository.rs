//! The port to the repository: what a base holds, and its bytes.

mod trees;

pub use trees::{Draft, Merge, Repository, Start};

use std::fmt;

use crate::path::RepoPath;
use crate::secret;

/// One state of the repository: a commit, or a folder as it stood when it was listed.
pub trait Snapshot: Send + Sync {
    /// What a person calls this base: a commit, or the folder.
    fn label(&self) -> &str;

    /// Everything in it, sorted by path bytes. Ignored files and `.git` are not in it.
    fn entries(&self) -> &[Entry];

    /// The bytes of one file; [`ErrorKind::TooLarge`] past `limit`.
    fn read(&self, path: &RepoPath, limit: u64) -> Result<Vec<u8>, Error>;

    /// Reads the entries at `wanted` (ascending indexes into [`Snapshot::entries`]) in one go, in any number of
    /// batches, calling `each` once per index in that order. Files past `limit` come as an error.
    fn read_many(&self, wanted: &[usize], limit: u64, each: Each<'_>);
}

/// Takes an index and what was read there.
pub type Each<'a> = &'a mut dyn FnMut(usize, Result<&[u8], Error>);

/// Finds an entry by its path.
pub fn find<'a>(snapshot: &'a dyn Snapshot, path: &str) -> Option<&'a Entry> {
    let entries = snapshot.entries();
    let at = entries.binary_search_by(|entry| entry.path.as_str().cmp(path)).ok()?;
    entries.get(at)
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub path: RepoPath,
    pub kind: EntryKind,
    pub stamp: Stamp,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    File,
    /// Never followed.
    Symlink,
    /// Another repository's commit.
    Submodule,
}

/// What tells without reading whether content is the same as before.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Stamp {
    /// A hash of the content: equal stamps are equal content.
    Content(String),
    /// What the file system says: equal stamps are equal content, unless the file is as young as the look at it.
    Stat { size: u64, modified: i128, changed: i128, inode: u64 },
}

/// An earlier commit, as ranking sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commit {
    pub message: String,
    pub paths: Vec<String>,
}

#[derive(Debug)]
pub struct Error {
    pub kind: ErrorKind,
    pub message: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    NotFound,
    TooLarge,
    Denied,
    /// The repository or its tool does not work.
    Broken,
}

impl Error {
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

/// What happened before a base.
pub trait History: Send + Sync {
    /// Names the newest commit; equal ids are equal histories.
    fn id(&self) -> &str;

    /// The newest `most` commits that are no merges, newest first; not the very first one, which brings everything at once and
    /// tells nothing about what belongs together.
    fn commits(&self, most: usize) -> Result<Vec<Commit>, Error>;
}

/// A snapshot without some of its files: for everyone who holds it they do not exist.
pub struct Filtered<'a> {
    inner: &'a dyn Snapshot,
    entries: Vec<Entry>,
    /// Where each entry stands in the inner snapshot.
    places: Vec<usize>,
}

impl<'a> Filtered<'a> {
    pub fn new(inner: &'a dyn Snapshot, mut hidden: impl FnMut(&Entry) -> bool) -> Self {
        let (places, entries) = (inner.entries().iter().enumerate())
            .filter(|(_, entry)| !hidden(entry))
            .map(|(place, entry)| (place, entry.clone()))
            .unzip();
        Self { inner, entries, places }
    }

    /// What subagents may know of a base: not this program's own folder, no file whose name says that it holds secrets, and
    /// nothing that is `hidden` besides.
    pub fn visible(inner: &'a dyn Snapshot, mut hidden: impl FnMut(&Entry) -> bool) -> Self {
        Self::new(inner, |entry| {
            let path = entry.path.as_str();
            path.starts_with(".sequester/")
                || secret::is_secret_name(path).is_some()
                || hidden(entry)
        })
    }
}

impl Snapshot for Filtered<'_> {
    fn label(&self) -> &str {
        self.inner.label()
    }

    fn entries(&self) -> &[Entry] {
        &self.entries
    }

    fn read(&self, path: &RepoPath, limit: u64) -> Result<Vec<u8>, Error> {
        match find(self, path.as_str()) {
            Some(_) => self.inner.read(path, limit),
            None => Err(Error::new(ErrorKind::NotFound, format!("`{path}` is not there."))),
        }
    }

    fn read_many(&self, wanted: &[usize], limit: u64, each: Each<'_>) {
        let places: Vec<usize> =
            wanted.iter().filter_map(|&at| self.places.get(at).copied()).collect();
        let mut given = wanted.iter().copied();
        self.inner.read_many(&places, limit, &mut |_, bytes| {
            if let Some(at) = given.next() {
                each(at, bytes);
            }
        });
    }
}

/// A snapshot whose texts hold no secrets: whoever takes lines out of a file cannot take half of one.
pub struct Redacted<'a> {
    inner: &'a dyn Snapshot,
}

impl<'a> Redacted<'a> {
    pub fn new(inner: &'a dyn Snapshot) -> Self {
        Self { inner }
    }

    fn clean(bytes: &[u8]) -> Vec<u8> {
        // Text in another encoding can hold a secret too: what is no UTF-8 is replaced, not passed on.
        secret::redact(&String::from_utf8_lossy(bytes)).text.into_owned().into_bytes()
    }
}

impl Snapshot for Redacted<'_> {
    fn label(&self) -> &str {
        self.inner.label()
    }

    fn entries(&self) -> &[Entry] {
        self.inner.entries()
    }

    fn read(&self, path: &RepoPath, limit: u64) -> Result<Vec<u8>, Error> {
        self.inner.read(path, limit).map(|bytes| Self::clean(&bytes))
    }

    fn read_many(&self, wanted: &[usize], limit: u64, each: Each<'_>) {
        self.inner.read_many(wanted, limit, &mut |at, read| match read {
            Ok(bytes) => each(at, Ok(&Self::clean(bytes))),
            Err(error) => each(at, Err(error)),
        });
    }
}
