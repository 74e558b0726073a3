//! What covers a file in the person's own folder falls off when somebody outside replaces the file: the kernel takes a mount away with
//! the name that it stands on. So these names are watched, and the jail ends when one of them changes.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};
use rustix::io::Errno;

use crate::blueprint::{Access, Entry};
use crate::order::Trouble;

pub(crate) enum Guard {
    /// The kernel tells at once.
    Told {
        events: OwnedFd,
        /// By the number of a watched folder.
        names: BTreeMap<i32, BTreeSet<OsString>>,
    },
    /// A user has few lines to be told by, so that with many jails the others look for themselves, many times a second.
    Looking(Vec<(PathBuf, Seen)>),
}

/// Which file stands at a name.
type Seen = Option<(u64, u64)>;

/// How a name comes to stand for something else.
const CHANGES: WatchFlags = WatchFlags::CREATE
    .union(WatchFlags::DELETE)
    .union(WatchFlags::MOVED_FROM)
    .union(WatchFlags::MOVED_TO)
    .union(WatchFlags::ONLYDIR);

impl Guard {
    /// Over all that is covered in a folder that the jail may write; nothing where there is none.
    pub(crate) fn over(entries: &[Entry]) -> Result<Option<Self>, Trouble> {
        let covered: Vec<PathBuf> =
            entries.iter().filter_map(|entry| covered(entries, entry)).collect();
        if covered.is_empty() {
            return Ok(None);
        }
        let told = |error: Errno| Trouble::at("watch what is covered")(error.into());
        let events = match inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC) {
            Ok(events) => events,
            Err(Errno::MFILE) => {
                let seen = |path: PathBuf| {
                    let seen = look(&path);
                    (path, seen)
                };
                return Ok(Some(Self::Looking(covered.into_iter().map(seen).collect())));
            }
            Err(error) => return Err(told(error)),
        };
        let mut names: BTreeMap<i32, BTreeSet<OsString>> = BTreeMap::new();
        for path in covered {
            let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { continue };
            match inotify::add_watch(&events, folder, CHANGES) {
                Ok(number) => drop(names.entry(number).or_default().insert(name.to_owned())),
                // Then nothing is covered there either.
                Err(Errno::NOENT | Errno::NOTDIR) => {}
                Err(error) => return Err(told(error)),
            }
        }
        Ok(Some(Self::Told { events, names }))
    }

    /// Readable when there is something to look at.
    pub(crate) fn events(&self) -> Option<BorrowedFd<'_>> {
        match self {
            Self::Told { events, .. } => Some(events.as_fd()),
            Self::Looking(_) => None,
        }
    }

    /// Whether a covered name was touched since the last look.
    pub(crate) fn is_broken(&self) -> bool {
        let (events, names) = match self {
            Self::Told { events, names } => (events, names),
            Self::Looking(all) => return all.iter().any(|(path, seen)| look(path) != *seen),
        };
        let mut space = [MaybeUninit::uninit(); 4 << 10];
        let mut reader = Reader::new(events, &mut space);
        loop {
            let event = match reader.next() {
                Ok(event) => event,
                Err(Errno::INTR) => continue,
                Err(Errno::AGAIN) => return false,
                Err(_) => return true,
            };
            if event.events().contains(ReadFlags::QUEUE_OVERFLOW) {
                return true;
            }
            let name = event.file_name().map(|name| std::ffi::OsStr::from_bytes(name.to_bytes()));
            let names = names.get(&event.wd());
            if name.zip(names).is_some_and(|(name, names)| names.contains(name)) {
                return true;
            }
        }
    }
}

fn look(path: &Path) -> Seen {
    fs::symlink_metadata(path).ok().map(|about| (about.dev(), about.ino()))
}

/// The machine's name of what an entry covers, where the jail could change it otherwise.
fn covered(entries: &[Entry], entry: &Entry) -> Option<PathBuf> {
    let (Entry::Hidden { at } | Entry::Cover { at, .. } | Entry::Shut { at, .. }) = entry else {
        return None;
    };
    entries.iter().rev().find_map(|entry| match entry {
        Entry::Bind { from, at: bound, access } if at.starts_with(bound) => {
            let inner = at.strip_prefix(bound).ok().map(|inner| from.join(inner));
            Some(inner.filter(|_| *access == Access::Write))
        }
        Entry::Layered { at: bound, .. } if at.starts_with(bound) => Some(None),
        _ => None,
    })?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_covered_name_that_stands_for_something_else_is_seen_either_way() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at(".env"), "old").unwrap();
        let bind = Entry::Bind {
            from: folder.path().to_owned(),
            at: "/work".into(),
            access: Access::Write,
        };
        let entries = [bind, Entry::Hidden { at: "/work/.env".into() }];
        let told = Guard::over(&entries).unwrap().unwrap();
        let looking = Guard::Looking(vec![(at(".env"), look(&at(".env")))]);
        for other in ["a", "b"] {
            fs::write(at(other), "x").unwrap();
        }
        fs::write(at(".env"), "the same file").unwrap();
        assert!(!told.is_broken() && !looking.is_broken());
        fs::rename(at("a"), at(".env")).unwrap();
        assert!(told.is_broken() && looking.is_broken());
    }

    #[test]
    fn what_is_covered_in_a_layer_or_cannot_be_written_needs_no_watch() {
        let layer = Entry::Layered {
            at: "/work".into(),
            lower: vec!["/home/ada/shop".into()],
            store: "/state/1".into(),
        };
        let hidden = Entry::Hidden { at: "/work/.env".into() };
        assert!(Guard::over(&[layer, hidden]).unwrap().is_none());
    }
}
