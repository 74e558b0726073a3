//! Names that must not be made, held by something empty while a jail lives.
//!
//! Several jails may work on one folder. What they put there is noted in one file for each folder, which every one of them holds by a
//! lock of the kernel: the last takes everything away, and what nobody holds is what the dead left. A jail that covers what another has put
//! into a folder within its own holds that one's file too.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{
    AtFlags, CWD, FileType, FlockOperation, Mode, OFlags, ResolveFlags, Stat, fstat, mkdirat,
    openat, openat2, statat, unlinkat,
};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use crate::blueprint::{Access, Entry, Kind};
use crate::hold::{self, Turn};
use crate::order::Trouble;

/// What was put into the person's folder; taken away with the last of these.
#[derive(Default)]
pub(crate) struct Placeholders {
    own: Option<Journal>,
    /// Of jails in folders within this one's.
    others: Vec<Journal>,
}

struct Journal {
    path: PathBuf,
    file: File,
    state: PathBuf,
}

/// What stands in a journal.
#[derive(Default, Serialize, Deserialize)]
struct Put {
    /// By its name when it was written: it may have moved since.
    folder: PathBuf,
    /// As seen from there.
    names: Vec<(PathBuf, Kind)>,
}

impl Put {
    fn paths(&self) -> impl Iterator<Item = PathBuf> {
        self.names.iter().map(|(name, _)| self.folder.join(name))
    }
}

const PREFIX: &str = "placeholders-";

impl Placeholders {
    /// For each shut name that is not there, in a folder of the machine's that the jail may write.
    pub(crate) fn put(&mut self, state: Option<&Path>, root: &[Entry]) -> Result<(), Trouble> {
        let shut: Vec<_> = shut(root).collect();
        let (Some(state), Some(folder)) = (state, written(root)) else {
            return Ok(());
        };
        if shut.is_empty() {
            return Ok(());
        }
        let told = |error| Trouble::at(format!("hold names in `{}`", folder.display()))(error);
        let _turn = Turn::take(state).map_err(told)?;
        let journal =
            self.own.insert(Journal::open(state, folder).and_then(Journal::held).map_err(told)?);
        let shut_paths: BTreeSet<&Path> = shut.iter().map(|(path, _)| path.as_path()).collect();
        for mut other in journals(state).filter(|other| other.path != journal.path) {
            let put = other.read().map_err(told)?;
            if put.paths().any(|path| shut_paths.contains(path.as_path())) {
                self.others.push(other.held().map_err(told)?);
            }
        }
        let inside = Inside::open(folder).map_err(told)?;
        let mut put = journal.read().map_err(told)?.names;
        let within = shut
            .iter()
            .filter_map(|(path, kind)| Some((path.strip_prefix(folder).ok()?.to_owned(), *kind)));
        let missing: Vec<_> = within.flat_map(|one| inside.missing(one)).collect();
        let known: BTreeSet<PathBuf> = put.iter().map(|(path, _)| path.clone()).collect();
        put.extend(missing.iter().filter(|(path, _)| !known.contains(path)).cloned());
        journal.write(&Put { folder: folder.to_owned(), names: put }).map_err(told)?;
        for (path, kind) in missing {
            match inside.make(&path, kind) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(error) => {
                    let step = format!("hold the name `{}`", folder.join(path).display());
                    return Err(Trouble::at(step)(error.into()));
                }
            }
        }
        Ok(())
    }
}

impl Drop for Placeholders {
    fn drop(&mut self) {
        let Some(own) = &mut self.own else { return };
        // Without a turn another may be putting something right now: then it is left to the next start.
        if let Ok(_turn) = Turn::take(&own.state) {
            own.end();
            self.others.iter_mut().for_each(Journal::end);
        }
    }
}

impl Journal {
    /// By what the folder is, not by its name: it may be reached by several.
    fn open(state: &Path, folder: &Path) -> io::Result<Self> {
        let about = fs::metadata(folder)?;
        let path = state.join(name(about.dev(), about.ino()));
        let file = hold::open(&path)?;
        Ok(Self { path, file, state: state.to_owned() })
    }

    /// Before anything is put or covered: the end of another jail then leaves it alone.
    fn held(self) -> io::Result<Self> {
        hold::lock(&self.file, FlockOperation::LockShared)?;
        Ok(self)
    }

    fn read(&mut self) -> io::Result<Put> {
        let mut text = Vec::new();
        self.file.rewind()?;
        self.file.read_to_end(&mut text)?;
        // Half of a line was written by a jail that never began to put what it names; what stands before holds.
        let mut lines = text.split(|byte| *byte == b'\n').rev();
        Ok(lines.find_map(|line| serde_json::from_slice(line).ok()).unwrap_or_default())
    }

    fn write(&mut self, put: &Put) -> io::Result<()> {
        let mut text = vec![b'\n'];
        serde_json::to_writer(&mut text, put)?;
        self.file.seek(io::SeekFrom::End(0))?;
        self.file.write_all(&text)
    }

    /// Takes everything away if nobody else holds it.
    fn end(&mut self) {
        if hold::lock(&self.file, FlockOperation::NonBlockingLockExclusive).is_err() {
            return;
        }
        let Put { folder, names } = self.read().unwrap_or_default();
        // Another folder that has its name by now holds nothing of ours.
        if let Ok(inside) = Inside::open(&folder)
            && inside.about().is_ok_and(|(device, inode)| *name(device, inode) == *self.name())
        {
            names.iter().rev().for_each(|(path, kind)| inside.take(path, *kind));
        }
        let _ = fs::remove_file(&self.path);
    }

    fn name(&self) -> &OsStr {
        self.path.file_name().unwrap_or_default()
    }
}

fn name(device: u64, inode: u64) -> String {
    format!("{PREFIX}{device:x}-{inode:x}.json")
}

/// The person's folder. Whoever works in it may put links anywhere: nothing is made or taken away through one.
struct Inside(OwnedFd);

impl Inside {
    fn open(folder: &Path) -> io::Result<Self> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(Self(openat2(CWD, folder, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS)?))
    }

    fn about(&self) -> io::Result<(u64, u64)> {
        let about = fstat(&self.0)?;
        Ok((about.st_dev, about.st_ino))
    }

    /// The folder that a path lies in, and its name there.
    fn at<'p>(&self, path: &'p Path) -> Result<(OwnedFd, &'p OsStr), Errno> {
        let above = path.parent().filter(|above| !above.as_os_str().is_empty());
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
        let folder =
            openat2(&self.0, above.unwrap_or(Path::new(".")), flags, Mode::empty(), resolve)?;
        Ok((folder, path.file_name().ok_or(Errno::INVAL)?))
    }

    fn look(&self, path: &Path) -> Result<Stat, Errno> {
        let (folder, name) = self.at(path)?;
        statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW)
    }

    /// What is not there, with the folders above it.
    fn missing(&self, (path, kind): (PathBuf, Kind)) -> Vec<(PathBuf, Kind)> {
        let above = path.ancestors().skip(1).filter(|above| !above.as_os_str().is_empty());
        let mut all: Vec<_> = above.map(|above| (above.to_owned(), Kind::Folder)).collect();
        all.reverse();
        all.push((path, kind));
        all.retain(|(path, _)| self.look(path).err() == Some(Errno::NOENT));
        all
    }

    fn make(&self, path: &Path, kind: Kind) -> Result<(), Errno> {
        let (folder, name) = self.at(path)?;
        match kind {
            Kind::Folder => mkdirat(&folder, name, Mode::from_raw_mode(0o777)),
            Kind::File => {
                let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
                openat(&folder, name, flags, Mode::from_raw_mode(0o666)).map(drop)
            }
        }
    }

    /// Only what is still empty: something else was put there by somebody else.
    fn take(&self, path: &Path, kind: Kind) {
        let Ok((folder, name)) = self.at(path) else { return };
        let is_empty = |about: Stat| {
            FileType::from_raw_mode(about.st_mode) == FileType::RegularFile && about.st_size == 0
        };
        let _ = match kind {
            Kind::Folder => unlinkat(&folder, name, AtFlags::REMOVEDIR),
            Kind::File if statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW).is_ok_and(is_empty) => {
                unlinkat(&folder, name, AtFlags::empty())
            }
            Kind::File => Ok(()),
        };
    }
}

fn is_empty(path: &Path, kind: Kind) -> bool {
    fs::symlink_metadata(path).is_ok_and(|about| match kind {
        Kind::File => about.is_file() && about.len() == 0,
        Kind::Folder => {
            about.is_dir() && fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none())
        }
    })
}

/// Shut names in a folder that the jail may write, by the machine's names of them.
fn shut(entries: &[Entry]) -> impl Iterator<Item = (PathBuf, Kind)> {
    let shut = entries.iter().filter_map(|entry| match entry {
        Entry::Shut { at, kind } => Some((at, *kind)),
        _ => None,
    });
    let writable: Vec<_> = entries.iter().filter_map(writable_bind).collect();
    shut.filter_map(move |(at, kind)| Some((beneath(&writable, at)?, kind)))
}

/// The highest folder of the machine's that the jail may write.
fn written(entries: &[Entry]) -> Option<&Path> {
    entries.iter().find_map(writable_bind).map(|(from, _)| from)
}

/// Whether something that is mounted may be held by a placeholder, another jail's too: then it must be there before.
pub(crate) fn are_mounted(entries: &[Entry]) -> bool {
    let Some(folder) = written(entries) else { return false };
    entries.iter().any(|entry| match entry {
        Entry::Bind { from, .. } | Entry::Mirror { from, .. } | Entry::Shown { from, .. } => {
            from != folder && from.starts_with(folder)
        }
        Entry::Layered { lower, .. } => lower.iter().any(|lower| lower.starts_with(folder)),
        _ => false,
    })
}

/// The machine's folder and the jail's, of one that the jail may write.
fn writable_bind(entry: &Entry) -> Option<(&Path, &Path)> {
    match entry {
        Entry::Bind { from, at, access: Access::Write } => Some((from, at)),
        _ => None,
    }
}

/// The machine's name of a path inside, if it lies in a folder that the jail may write.
fn beneath(writable: &[(&Path, &Path)], at: &Path) -> Option<PathBuf> {
    let mut binds = writable.iter().rev();
    binds.find_map(|(from, bound)| at.strip_prefix(bound).ok().map(|rest| from.join(rest)))
}

/// Takes away what the dead left. Needs a turn.
pub(crate) fn sweep(state: &Path) {
    journals(state).for_each(|mut journal| journal.end());
}

/// What jails of this state have put into the person's folders, and that is nobody's work.
pub fn placeholders(state: &Path) -> io::Result<BTreeSet<PathBuf>> {
    if !state.is_dir() {
        return Ok(BTreeSet::new());
    }
    let _turn = Turn::take(state)?;
    let mut all = BTreeSet::new();
    for mut journal in journals(state) {
        let Put { folder, names } = journal.read()?;
        let paths = names.into_iter().map(|(path, kind)| (folder.join(path), kind));
        all.extend(paths.filter(|(path, kind)| is_empty(path, *kind)).map(|(path, _)| path));
    }
    Ok(all)
}

fn journals(state: &Path) -> impl Iterator<Item = Journal> {
    let entries = fs::read_dir(state).into_iter().flatten().flatten();
    let named = |name: &OsStr| name.to_str().is_some_and(|name| name.starts_with(PREFIX));
    entries.filter(move |entry| named(&entry.file_name())).filter_map(|entry| {
        let (path, state) = (entry.path(), state.to_owned());
        hold::open(&path).ok().map(|file| Journal { path, file, state })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_jail_that_died_while_writing_left_does_not_hide_what_stood_before() {
        let state = tempfile::tempdir().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let mut journal = Journal::open(state.path(), folder.path()).unwrap();
        let put = |name: &str| Put {
            folder: folder.path().to_owned(),
            names: vec![(PathBuf::from(name), Kind::File)],
        };
        journal.write(&put("a")).unwrap();
        journal.write(&put("b")).unwrap();
        assert_eq!(journal.read().unwrap().names, put("b").names);
        let half = serde_json::to_vec(&put("c")).unwrap();
        journal.file.write_all(&[b"\n", &half[..half.len() / 2]].concat()).unwrap();
        assert_eq!(journal.read().unwrap().names, put("b").names);
    }

    /// For a jail of `folder`, in which these names are shut.
    fn put(state: &Path, folder: &Path, names: &[&str]) -> Placeholders {
        let own = |path: &Path| path.to_owned();
        let whole = Entry::Bind { from: own(folder), at: own(folder), access: Access::Write };
        let shut = names.iter().map(|name| Entry::Shut { at: folder.join(name), kind: Kind::File });
        let root: Vec<_> = [whole].into_iter().chain(shut).collect();
        let mut placeholders = Placeholders::default();
        placeholders.put(Some(state), &root).unwrap();
        placeholders
    }

    #[test]
    fn what_a_jail_covers_in_a_folder_within_its_own_goes_with_the_last_of_both() {
        for inner_ends_first in [true, false] {
            let state = tempfile::tempdir().unwrap();
            let outer = tempfile::tempdir().unwrap();
            let inner = outer.path().join("inner");
            fs::create_dir(&inner).unwrap();
            let held = inner.join(".mcp.json");
            let within = put(state.path(), &inner, &[".mcp.json"]);
            // As it is seen by whoever looks at the outer folder now.
            let around = put(state.path(), outer.path(), &["inner/.mcp.json", ".git"]);
            let (first, last) = if inner_ends_first { (within, around) } else { (around, within) };
            drop(first);
            assert!(held.exists());
            drop(last);
            assert!(!held.exists());
            assert_eq!(fs::read_dir(state.path()).unwrap().count(), 0);
            assert_eq!(fs::read_dir(outer.path()).unwrap().count(), 1);
        }
    }
}
