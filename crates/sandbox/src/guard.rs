//! What covers a file in the person's own folder falls off when somebody outside replaces the file: the kernel takes a mount away with
//! the name that it stands on. So these names are watched, and the jail ends when one of them changes.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};
use rustix::io::Errno;

use crate::blueprint::{Access, Entry};
use crate::order::Trouble;

pub(crate) struct Guard {
    events: OwnedFd,
    /// By the number of a watched folder.
    names: BTreeMap<i32, BTreeSet<OsString>>,
}

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
        let events = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC).map_err(told)?;
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
        Ok(Some(Self { events, names }))
    }

    /// Whether a covered name was touched since the last look.
    pub(crate) fn is_broken(&self) -> bool {
        let mut space = [MaybeUninit::uninit(); 4 << 10];
        let mut reader = Reader::new(&self.events, &mut space);
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
            let names = self.names.get(&event.wd());
            if name.zip(names).is_some_and(|(name, names)| names.contains(name)) {
                return true;
            }
        }
    }
}

impl AsFd for Guard {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.events.as_fd()
    }
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
