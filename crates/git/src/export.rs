//! A base as files and a repository of its own, for those who may see this state and nothing before it.

mod index;
mod repository;
mod times;
mod tree;

pub(crate) use repository::prepare;

use std::path::Path;
use std::time::SystemTime;

use rustix::fs::Timespec;
use sequester_core::path::RepoPath;
use sequester_core::repository::{Entry, EntryKind, Error, Snapshot, Stamp};
use sha2::{Digest, Sha256};

use crate::base::Tree;
use crate::checkout::{Checkout, system_time, timespec};
use crate::name::hex;
use crate::program::broken;
use crate::share::share;

/// A larger file is no part of a source tree.
const FILE_BYTES: u64 = 1 << 30;

/// What of a base is to be written, and from where.
pub struct Export<'a> {
    tree: &'a Tree,
    items: Vec<Item>,
}

struct Item {
    path: RepoPath,
    kind: Kind,
    /// Its object.
    name: String,
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    File,
    Program,
    Link,
    Submodule,
}

impl Kind {
    /// As git writes it in trees and in the index.
    fn mode(self) -> u32 {
        match self {
            Self::File => 0o100_644,
            Self::Program => 0o100_755,
            Self::Link => 0o120_000,
            Self::Submodule => 0o160_000,
        }
    }
}

/// A file whose time in a written base is no longer that of the person's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Touched {
    pub path: RepoPath,
    /// The time it should have.
    pub modified: SystemTime,
}

impl<'a> Export<'a> {
    pub(crate) fn new(tree: &'a Tree, hidden: impl Fn(&Entry) -> bool) -> Self {
        let kept = tree.entries().iter().filter(|entry| !hidden(entry));
        let items = kept.map(|entry| Item {
            path: entry.path.clone(),
            kind: match entry.kind {
                EntryKind::Symlink => Kind::Link,
                EntryKind::Submodule => Kind::Submodule,
                EntryKind::File if tree.is_executable(&entry.path) => Kind::Program,
                EntryKind::File => Kind::File,
            },
            name: match &entry.stamp {
                Stamp::Content(name) => name.clone(),
                // A tree has nothing of the kind.
                Stamp::Stat { .. } => String::new(),
            },
        });
        Self { tree, items: items.collect() }
    }

    /// Names what will be written: equal names are equal files.
    pub fn digest(&self) -> String {
        let mut hash = Sha256::new_with_prefix("sequester base 1\n");
        for Item { path, kind, name } in &self.items {
            hash.update(format!("{:o} {} {path}\0", kind.mode(), name));
        }
        hex(&hash.finalize())
    }

    /// The files alone, in the folder `to`, which is not there yet.
    pub fn write_files(&self, to: &Path, now: SystemTime) -> Result<(), Error> {
        tree::write(self, to, timespec(now)).map(drop)
    }

    /// Makes `tree` and `git` in the empty folder `to`: the files, and a repository with one commit of them and nothing
    /// else. Beside them `times` notes which time each file has.
    ///
    /// A file that the working tree holds unchanged gets the time it has there, so that build outputs which were made
    /// from it still count as fresh. Any other gets `now`: outputs were made from something else.
    pub fn write(&self, to: &Path, now: SystemTime) -> Result<(), Error> {
        let stored = tree::write(self, &to.join("tree"), timespec(now))?;
        repository::make(self, &stored, to)?;
        times::write(&stored, to)
    }

    /// The files of the base `written` whose time is not right any more, because the person changed or touched theirs. Fails if one of the
    /// base's own is not as it was written, by its time and size; what it holds is not read.
    pub fn touched(&self, written: &Path, now: SystemTime) -> Result<Vec<Touched>, Error> {
        let noted = times::read(written, self.items.len())?;
        let own = Checkout::at(&written.join("tree"));
        share(self.items.len(), |at| {
            let (item, noted) = (&self.items[at], &noted[at]);
            if item.kind == Kind::Submodule {
                return Ok(None);
            }
            if !own.look(item.path.as_str()).is_some_and(|seen| is_as_noted(seen, *noted)) {
                return Err(broken(format!("`{}` of the base is damaged.", item.path)));
            }
            if item.kind == Kind::Link {
                return Ok(None);
            }
            let (path, checkout) = (item.path.as_str(), &self.tree.checkout);
            let theirs = checkout.look(path);
            if theirs.as_ref() == Some(noted) {
                return Ok(None);
            }
            let same = theirs.and_then(|_| checkout.find_same(path, &item.name, FILE_BYTES));
            match same {
                Some(same) if same.modified == noted.0 => Ok(None),
                Some(same) => Ok(Some(system_time(same.modified))),
                None => Ok(Some(now)),
            }
        })
        .map(|times| {
            let both = self.items.iter().zip(times);
            let touched = |(item, time): (&Item, Option<SystemTime>)| {
                time.map(|modified| Touched { path: item.path.clone(), modified })
            };
            both.filter_map(touched).collect()
        })
    }
}

/// Some file systems keep no parts of a second.
fn is_as_noted((time, size): (Timespec, u64), noted: (Timespec, u64)) -> bool {
    let nanos = time.tv_nsec == 0 || time.tv_nsec == noted.0.tv_nsec;
    size == noted.1 && time.tv_sec == noted.0.tv_sec && nanos
}
