//! Names that must not be made, held by something empty while a jail lives.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use crate::blueprint::{Access, Blueprint, Entry, Kind};
use crate::order::Trouble;

/// What was put into the person's folder; taken away with this value.
#[derive(Default)]
pub(crate) struct Placeholders {
    put: Vec<(PathBuf, Kind)>,
    /// Written before anything is put, for whoever comes after a crash.
    journal: Option<PathBuf>,
}

impl Placeholders {
    /// For each shut name that is not there, in a folder of the machine's that the jail may write.
    pub(crate) fn put(blueprint: &Blueprint) -> Result<Self, Trouble> {
        let mut placeholders = Self::default();
        let missing: Vec<_> = missing(&blueprint.root).collect();
        if missing.is_empty() {
            return Ok(placeholders);
        }
        placeholders.write_journal(blueprint, &missing)?;
        for (path, kind) in missing {
            let made = match kind {
                Kind::Folder => fs::create_dir(&path),
                Kind::File => fs::File::create_new(&path).map(drop),
            };
            match made {
                Ok(()) => placeholders.put.push((path, kind)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => {
                    return Err(Trouble::at(format!("hold the name `{}`", path.display()))(error));
                }
            }
        }
        Ok(placeholders)
    }

    fn write_journal(
        &mut self,
        blueprint: &Blueprint,
        missing: &[(PathBuf, Kind)],
    ) -> Result<(), Trouble> {
        let Some(state) = &blueprint.state else { return Ok(()) };
        let journal = journal(state, std::process::id());
        let told = |error| Trouble::at(format!("write `{}`", journal.display()))(error);
        fs::create_dir_all(state).map_err(told)?;
        let mut file = fs::File::create_new(&journal).map_err(told)?;
        self.journal = Some(journal.clone());
        let text = serde_json::to_vec(missing).map_err(io::Error::from).map_err(told)?;
        file.write_all(&text).map_err(told)
    }
}

impl Drop for Placeholders {
    fn drop(&mut self) {
        take(&self.put);
        if let Some(journal) = &self.journal {
            let _ = fs::remove_file(journal);
        }
    }
}

/// Only what is still empty: something else was put there by somebody else.
fn take(put: &[(PathBuf, Kind)]) {
    for (path, kind) in put.iter().rev() {
        match kind {
            Kind::Folder => drop(fs::remove_dir(path)),
            Kind::File
                if fs::symlink_metadata(path)
                    .is_ok_and(|about| about.is_file() && about.len() == 0) =>
            {
                drop(fs::remove_file(path));
            }
            Kind::File => {}
        }
    }
}

fn missing(entries: &[Entry]) -> impl Iterator<Item = (PathBuf, Kind)> {
    let shut = entries.iter().filter_map(|entry| match entry {
        Entry::Shut { at, kind } => Some((at, *kind)),
        _ => None,
    });
    let found = shut.filter_map(|(at, kind)| Some((beneath(entries, at)?, kind)));
    let absent = |path: &Path| fs::symlink_metadata(path).is_err();
    found.flat_map(move |(path, kind)| {
        let above: Vec<_> = path.ancestors().skip(1).take_while(|above| absent(above)).collect();
        let above: Vec<_> =
            above.into_iter().rev().map(|above| (above.to_owned(), Kind::Folder)).collect();
        let own = absent(&path).then_some((path, kind));
        above.into_iter().chain(own)
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

fn journal(state: &Path, pid: u32) -> PathBuf {
    state.join(format!("placeholders-{pid}.json"))
}

/// Takes away what supervisors left that are gone.
pub(crate) fn sweep(state: &Path) {
    let Ok(entries) = fs::read_dir(state) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let pid = name
            .to_str()
            .and_then(|name| name.strip_prefix("placeholders-")?.strip_suffix(".json"));
        let Some(pid) = pid.and_then(|pid| pid.parse::<u32>().ok()) else { continue };
        if Path::new(&format!("/proc/{pid}")).exists() {
            continue;
        }
        let put = fs::read(entry.path())
            .ok()
            .and_then(|text| serde_json::from_slice::<Vec<(PathBuf, Kind)>>(&text).ok());
        take(&put.unwrap_or_default());
        let _ = fs::remove_file(entry.path());
    }
}
