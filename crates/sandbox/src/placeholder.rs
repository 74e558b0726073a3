//! Names that must not be made, held by something empty while a jail lives.
//!
//! Several jails may work on one folder. What they put there is noted in one file for each folder, which every one of them holds by a
//! lock of the kernel: the last takes everything away, and what nobody holds is what the dead left.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::FlockOperation;

use crate::blueprint::{Access, Blueprint, Entry, Kind};
use crate::hold::{self, Turn};
use crate::order::Trouble;

/// What was put into the person's folder; taken away with the last of these.
#[derive(Default)]
pub(crate) struct Placeholders {
    journal: Option<Journal>,
}

struct Journal {
    path: PathBuf,
    file: File,
    state: PathBuf,
}

const PREFIX: &str = "placeholders-";

impl Placeholders {
    /// For each shut name that is not there, in a folder of the machine's that the jail may write.
    pub(crate) fn put(&mut self, blueprint: &Blueprint) -> Result<(), Trouble> {
        let shut: Vec<_> = shut(&blueprint.root).collect();
        let (Some(state), Some(folder)) = (&blueprint.state, written(&blueprint.root)) else {
            return Ok(());
        };
        if shut.is_empty() {
            return Ok(());
        }
        let told = |error| Trouble::at(format!("hold names in `{}`", folder.display()))(error);
        let _turn = Turn::take(state).map_err(told)?;
        let journal = self.journal.insert(Journal::open(state, folder).map_err(told)?);
        // Held before anything is put: the end of another jail then leaves it alone.
        hold::lock(&journal.file, FlockOperation::LockShared).map_err(told)?;
        let mut put = journal.read().map_err(told)?;
        let missing: Vec<_> =
            missing(shut).filter(|(path, _)| put.iter().all(|(known, _)| known != path)).collect();
        put.extend(missing.iter().cloned());
        journal.write(&put).map_err(told)?;
        for (path, kind) in missing {
            let made = match kind {
                Kind::Folder => fs::create_dir(&path),
                Kind::File => File::create_new(&path).map(drop),
            };
            match made {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                    return Err(Trouble::at(format!("hold the name `{}`", path.display()))(error));
                }
                _ => {}
            }
        }
        Ok(())
    }
}

impl Drop for Placeholders {
    fn drop(&mut self) {
        let Some(journal) = &mut self.journal else { return };
        // Without a turn another may be putting something right now: then it is left to the next start.
        if let Ok(_turn) = Turn::take(&journal.state) {
            journal.end();
        }
    }
}

impl Journal {
    /// By what the folder is, not by its name: it may be reached by several.
    fn open(state: &Path, folder: &Path) -> io::Result<Self> {
        let about = fs::metadata(folder)?;
        let path = state.join(format!("{PREFIX}{:x}-{:x}.json", about.dev(), about.ino()));
        let file = hold::open(&path)?;
        Ok(Self { path, file, state: state.to_owned() })
    }

    fn read(&mut self) -> io::Result<Vec<(PathBuf, Kind)>> {
        let mut text = Vec::new();
        self.file.rewind()?;
        self.file.read_to_end(&mut text)?;
        // Half of one was written by a jail that never began to put anything.
        Ok(serde_json::from_slice(&text).unwrap_or_default())
    }

    fn write(&mut self, put: &[(PathBuf, Kind)]) -> io::Result<()> {
        let text = serde_json::to_vec(put)?;
        self.file.set_len(0)?;
        self.file.rewind()?;
        self.file.write_all(&text)
    }

    /// Takes everything away if nobody else holds it.
    fn end(&mut self) {
        if hold::lock(&self.file, FlockOperation::NonBlockingLockExclusive).is_err() {
            return;
        }
        take(&self.read().unwrap_or_default());
        let _ = fs::remove_file(&self.path);
    }
}

/// Only what is still empty: something else was put there by somebody else.
fn take(put: &[(PathBuf, Kind)]) {
    for (path, kind) in put.iter().rev() {
        match kind {
            Kind::Folder => drop(fs::remove_dir(path)),
            Kind::File if is_empty(path) => drop(fs::remove_file(path)),
            Kind::File => {}
        }
    }
}

fn is_empty(file: &Path) -> bool {
    fs::symlink_metadata(file).is_ok_and(|about| about.is_file() && about.len() == 0)
}

/// Shut names in a folder that the jail may write, by the machine's names of them.
fn shut(entries: &[Entry]) -> impl Iterator<Item = (PathBuf, Kind)> {
    let shut = entries.iter().filter_map(|entry| match entry {
        Entry::Shut { at, kind } => Some((at, *kind)),
        _ => None,
    });
    shut.filter_map(|(at, kind)| Some((beneath(entries, at)?, kind)))
}

/// Those that are not there, with the folders above them.
fn missing(shut: Vec<(PathBuf, Kind)>) -> impl Iterator<Item = (PathBuf, Kind)> {
    let absent = |path: &Path| fs::symlink_metadata(path).is_err();
    shut.into_iter().flat_map(move |(path, kind)| {
        let above: Vec<_> = path.ancestors().skip(1).take_while(|above| absent(above)).collect();
        let above: Vec<_> =
            above.into_iter().rev().map(|above| (above.to_owned(), Kind::Folder)).collect();
        let own = absent(&path).then_some((path, kind));
        above.into_iter().chain(own)
    })
}

/// The highest folder of the machine's that the jail may write.
fn written(entries: &[Entry]) -> Option<&Path> {
    entries.iter().find_map(|entry| match entry {
        Entry::Bind { from, access: Access::Write, .. } => Some(from.as_path()),
        _ => None,
    })
}

/// Whether something that is mounted may be held by a placeholder, another jail's too: then it must be there before.
pub(crate) fn are_mounted(entries: &[Entry]) -> bool {
    let Some(folder) = written(entries) else { return false };
    entries.iter().any(|entry| match entry {
        Entry::Bind { from, .. } => from != folder && from.starts_with(folder),
        Entry::Layered { lower, .. } => lower.iter().any(|lower| lower.starts_with(folder)),
        _ => false,
    })
}

/// The machine's name of a path inside, if it lies in a folder that the jail may write.
fn beneath(entries: &[Entry], at: &Path) -> Option<PathBuf> {
    entries.iter().rev().find_map(|entry| match entry {
        Entry::Bind { from, at: bound, access: Access::Write } => {
            at.strip_prefix(bound).ok().map(|rest| from.join(rest))
        }
        _ => None,
    })
}

/// Takes away what the dead left. Needs a turn.
pub(crate) fn sweep(state: &Path) {
    journals(state).for_each(|mut journal| journal.end());
}

/// Files that jails of this state have put into the person's folders, and that are nobody's work.
pub fn placeholders(state: &Path) -> io::Result<BTreeSet<PathBuf>> {
    if !state.is_dir() {
        return Ok(BTreeSet::new());
    }
    let _turn = Turn::take(state)?;
    let mut all = BTreeSet::new();
    for mut journal in journals(state) {
        let files = journal.read()?.into_iter().filter(|(_, kind)| *kind == Kind::File);
        all.extend(files.map(|(path, _)| path).filter(|path| is_empty(path)));
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
