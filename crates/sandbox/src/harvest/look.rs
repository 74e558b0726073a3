//! The change so far, seen from outside while somebody still works: only what the highest layer holds is walked, and what was read before
//! is not read again.
//!
//! It is what an attempt that is cut off goes on from, so it refuses nothing: the harvest does. What it cannot hold is left out: files
//! that are too large, and what is secret by its name, which nobody should keep.

use std::collections::BTreeMap;
use std::io;
use std::mem;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use ignore::gitignore::Gitignore;
use rustix::fs::FileType::{self, CharacterDevice, Directory, RegularFile, Symlink};
use rustix::fs::Stat;
use sequester_core::change::{Action, Change, Entry};
use sequester_core::secret::is_secret_name;

use super::Rules;
use super::change::{ALL_BYTES, ENTRIES};
use super::compare::join;
use super::rules::is_git;
use super::side::{Side, action, mode};
use crate::workspace::{Folder, ignored};

/// Folders deeper than this are left out.
const DEEPEST: usize = 200;
/// Names that are looked at.
const NAMES: usize = 200_000;
/// A file that was written this shortly before it was read may be written again without its times telling.
const TICK: Duration = Duration::from_millis(100);

/// Looks at one workspace again and again.
#[derive(Debug)]
pub struct Look {
    upper: PathBuf,
    base: PathBuf,
    exclude: String,
    known: BTreeMap<String, Known>,
    /// Whether anybody was told what is known.
    told: bool,
}

/// What a path was found to stand for.
#[derive(Debug)]
struct Known {
    /// Nothing for what is gone, and for what has to be read again.
    stamp: Option<Stamp>,
    /// Nothing where it is what the base has, or cannot be held.
    entry: Option<Entry>,
}

/// Tells whether a file is still the one that was read.
#[derive(Debug, PartialEq, Eq)]
struct Stamp {
    mode: u32,
    size: i64,
    inode: u64,
    modified: (i64, u64),
    changed: (i64, u64),
}

impl Look {
    /// At what was written to the layer in `store` over the tree `base`. It holds nothing yet, or what the caller knows.
    pub fn new(store: &Path, base: &Path, rules: &Rules) -> Self {
        let exclude = rules.exclude.clone();
        let (upper, base) = (store.join("upper"), base.to_owned());
        Self { upper, base, exclude, known: BTreeMap::new(), told: true }
    }

    /// The change by now; nothing if it is what this said last.
    pub fn take(&mut self, now: SystemTime) -> io::Result<Option<Change>> {
        let differs = self.refresh(now)?;
        if !differs && self.told {
            return Ok(None);
        }
        self.told = true;
        let entries = self.known.values().filter_map(|known| known.entry.clone()).collect();
        Ok(Some(Change { entries, ..Change::default() }))
    }

    /// Gets to know what is there already, so that the next look is quick. Nobody is told.
    pub fn prepare(&mut self, now: SystemTime) -> io::Result<()> {
        if self.refresh(now)? {
            self.told = false;
        }
        Ok(())
    }

    /// Whether it is another change than before.
    fn refresh(&mut self, now: SystemTime) -> io::Result<bool> {
        let (upper, base) = (Folder::open(&self.upper)?, Folder::open(&self.base)?);
        let mut reader = ignored::Reader::new();
        let exclude = reader.parse("", self.exclude.as_bytes());
        let mut walk = Walk {
            base,
            reader,
            before: mem::take(&mut self.known),
            found: BTreeMap::new(),
            differs: false,
            bytes: 0,
            entries: 0,
            names: 0,
            settled: seconds(now.checked_sub(TICK).unwrap_or(SystemTime::UNIX_EPOCH)),
        };
        let mut rules = vec![exclude.unwrap_or_else(Gitignore::empty)];
        walk.descend(&upper, "", Within { based: true, opaque: false, ignored: false }, &mut rules);
        let is_gone = walk.before.values().any(|known| known.entry.is_some());
        self.known = walk.found;
        Ok(walk.differs || is_gone)
    }
}

/// What is known of a folder.
#[derive(Clone, Copy)]
struct Within {
    /// The base has a folder there.
    based: bool,
    /// It or one above hides what the base has in it.
    opaque: bool,
    /// As in a comparison of both.
    ignored: bool,
}

struct Walk {
    base: Folder,
    reader: ignored::Reader,
    before: BTreeMap<String, Known>,
    found: BTreeMap<String, Known>,
    differs: bool,
    bytes: u64,
    entries: usize,
    names: usize,
    /// Files that were changed before this are at rest.
    settled: (i64, u64),
}

impl Walk {
    /// `folder` is one of the layer, at `path`.
    fn descend(&mut self, folder: &Folder, path: &str, within: Within, rules: &mut Vec<Gitignore>) {
        // What goes away meanwhile is not there.
        let Ok(list) = folder.list("") else { return };
        self.names += list.len();
        if rules.len() > DEEPEST || self.names > NAMES {
            return;
        }
        let read = within.based.then(|| self.reader.read(&self.base, path));
        rules.push(read.unwrap_or_else(Gitignore::empty));
        let within = Within { opaque: within.opaque || folder.is_opaque(), ..within };
        if within.based && within.opaque {
            for below in self.base.list(path).unwrap_or_default() {
                let is_here = list.binary_search_by(|seen| seen.name.cmp(&below.name)).is_ok();
                if let Some(name) = below.name.to_str().filter(|_| !is_here) {
                    self.remove(&join(path, name), below.kind);
                }
            }
        }
        for seen in list {
            // What is no text is no path of a repository.
            let Some(name) = seen.name.to_str().filter(|name| !is_git(name)) else { continue };
            self.settle(folder, path, (name, seen.kind), within, rules);
        }
        rules.pop();
    }

    /// Decides about one name in a folder of the layer.
    fn settle(
        &mut self,
        folder: &Folder,
        above: &str,
        (name, kind): (&str, FileType),
        within: Within,
        rules: &mut Vec<Gitignore>,
    ) {
        let path = join(above, name);
        let was = if within.based { self.base.look(&path).ok() } else { None };
        let was_kind = was.as_ref().map(|was| FileType::from_raw_mode(was.st_mode));
        let ignored = within.ignored || ignored::is_ignored(rules, &path, kind == Directory);
        if was.is_none() && (ignored || is_secret_name(&path).is_some()) {
            return;
        }
        match kind {
            Directory => {
                if let Some(kind) = was_kind.filter(|kind| *kind != Directory) {
                    self.remove(&path, kind);
                }
                if let Ok(inner) = folder.enter(name) {
                    let based = was_kind == Some(Directory);
                    self.descend(&inner, &path, Within { based, ignored, ..within }, rules);
                }
            }
            RegularFile | Symlink => {
                let was = if was_kind == Some(Directory) {
                    self.remove(&path, Directory);
                    None
                } else {
                    was
                };
                self.compare(folder, name, path, was);
            }
            CharacterDevice if is_whiteout(folder, name) => {
                if let Some(kind) = was_kind {
                    self.remove(&path, kind);
                }
            }
            _ => {}
        }
    }

    /// What the base has at a path is not there any more.
    fn remove(&mut self, path: &str, kind: FileType) {
        if kind == Directory {
            for below in self.base.list(path).unwrap_or_default() {
                if let Some(name) = below.name.to_str().filter(|name| !is_git(name)) {
                    self.remove(&join(path, name), below.kind);
                }
            }
            return;
        }
        let Ok(was) = self.base.look(path) else { return };
        let entry = Entry {
            path: path.to_owned(),
            action: Action::Delete,
            was: Some(mode(&was)),
            mode: None,
            added: None,
            removed: None,
            in_patch: false,
            size: 0,
            content: Vec::new(),
        };
        let known = Known { stamp: None, entry: Some(entry) };
        let before = self.before.remove(path);
        self.keep(path.to_owned(), known, before);
    }

    /// A file or link of the layer with what the base has there.
    fn compare(&mut self, folder: &Folder, name: &str, path: String, was: Option<Stat>) {
        let Ok(seen) = folder.look(name) else { return };
        let stamp = Stamp::of(&seen);
        let before = self.before.remove(&path);
        let is_same = |known: &&Known| known.stamp.as_ref() == Some(&stamp);
        if let Some(known) = before.as_ref().filter(is_same)
            && self.has_room(known.entry.as_ref())
        {
            self.count(known.entry.as_ref());
            self.found.extend(before.map(|known| (path, known)));
            return;
        }
        let entry = self.read(folder, name, &path, (was, &seen));
        let stamp = Some(stamp).filter(|stamp| stamp.changed < self.settled);
        self.keep(path, Known { stamp, entry }, before);
    }

    /// What is there now, if it is not what was; nothing either where it cannot be read or held.
    fn read(
        &self,
        folder: &Folder,
        name: &str,
        path: &str,
        (was, seen): (Option<Stat>, &Stat),
    ) -> Option<Entry> {
        let old = was.map(|was| Side::read(&self.base, path, &was)).transpose().ok()?;
        let new = Side::read(folder, name, seen).ok()?;
        if old.as_ref() == Some(&new) {
            return None;
        }
        let action = action(old.as_ref(), Some(&new));
        let content = new.bytes?;
        Some(Entry {
            path: path.to_owned(),
            action,
            was: old.map(|old| old.mode),
            mode: Some(new.mode),
            added: None,
            removed: None,
            in_patch: false,
            size: content.len() as u64,
            content,
        })
    }

    fn keep(&mut self, path: String, mut known: Known, before: Option<Known>) {
        if !self.has_room(known.entry.as_ref()) {
            known = Known { stamp: None, entry: None };
        }
        self.differs |= before.and_then(|before| before.entry) != known.entry;
        self.count(known.entry.as_ref());
        self.found.insert(path, known);
    }

    fn has_room(&self, entry: Option<&Entry>) -> bool {
        entry.is_none_or(|entry| self.entries < ENTRIES && self.bytes + entry.size <= ALL_BYTES)
    }

    fn count(&mut self, entry: Option<&Entry>) {
        self.entries += usize::from(entry.is_some());
        self.bytes += entry.map_or(0, |entry| entry.size);
    }
}

impl Stamp {
    fn of(seen: &Stat) -> Self {
        Self {
            mode: seen.st_mode,
            size: seen.st_size,
            inode: seen.st_ino,
            modified: (seen.st_mtime, seen.st_mtime_nsec),
            changed: (seen.st_ctime, seen.st_ctime_nsec),
        }
    }
}

/// How the kernel marks that what is beneath is gone.
fn is_whiteout(folder: &Folder, name: &str) -> bool {
    folder.look(name).is_ok_and(|seen| seen.st_rdev == 0)
}

fn seconds(time: SystemTime) -> (i64, u64) {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    (i64::try_from(since.as_secs()).unwrap_or(i64::MAX), u64::from(since.subsec_nanos()))
}
