//! What this machine has that a jail may show: looked at once, then plain data.

mod admission;
pub(crate) mod credential;
mod etc;
mod gathering;
pub(crate) mod identity;
mod installation;
mod mounts;
#[cfg(test)]
mod tests;
mod tools;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{fs, panic, thread};

use crate::blueprint::Ids;
use admission::Admission;
use gathering::Gathering;

pub use mounts::MountPoint;

/// Nothing in it is secret, and nothing that is not in it is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Surroundings {
    /// The person's ids.
    pub owner: Ids,
    /// Whom root's jails run as; nobody where it was not root who started this, or where no other id can be had.
    pub stranger: Option<Ids>,
    /// Where an empty home is made.
    pub home: PathBuf,
    pub shell: PathBuf,
    /// Sorted by path: what lies in another place comes after it.
    pub places: Vec<Place>,
    /// The search path, in its order; what is not there inside is left out then.
    pub path: Vec<PathBuf>,
    /// Variables that name a file or folder, for as far as that is there inside.
    pub leads: BTreeMap<String, PathBuf>,
    /// Variables that builds depend on.
    pub settings: BTreeMap<String, String>,
    /// Sorted by path.
    pub mounts: Vec<MountPoint>,
    /// For places of the system with something hidden in them: all that lies around it. Rules alone can open that.
    pub around: BTreeMap<PathBuf, Vec<PathBuf>>,
}

/// Something that stands at the same path inside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    pub at: PathBuf,
    pub what: What,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum What {
    /// This file or folder, read-only.
    Read(PathBuf),
    /// The same of the system itself: as anybody may read it, whoever starts the jail.
    System(PathBuf),
    /// This folder, which tools write to: beside it where writing is granted, else read-only.
    Layered(PathBuf),
    Link(PathBuf),
    /// Configuration without its credentials.
    Text(String),
    /// Credentials in a folder that is shown.
    Hidden,
    /// An empty folder of the jail's own, around what is shown of the machine's.
    Scratch,
}

/// Where nobody has a home.
const NO_HOME: &str = "/home/agent";

/// What a jail reads of the machine.
fn shown(places: &[Place]) -> Vec<&Path> {
    let shown = places.iter().filter_map(|place| match &place.what {
        What::Read(from) | What::System(from) | What::Layered(from) => Some(from.as_path()),
        _ => None,
    });
    shown.collect()
}

impl Surroundings {
    /// Looks at files and folders, never for long; what cannot be looked at is not there.
    pub fn look(environment: &BTreeMap<String, String>) -> Self {
        let home =
            environment.get("HOME").map(PathBuf::from).filter(|home| admission::is_home(home));
        let home = home.unwrap_or_else(|| PathBuf::from(NO_HOME));
        // Thousands of names may lie there: they are looked at meanwhile.
        let private_files = thread::Builder::new().spawn(etc::private_files);
        let mut gathering = Gathering::new(environment, Admission::new(&home));
        gathering.take_system();
        gathering.take_tools();
        let path = gathering.take_path();
        gathering.take_configuration();
        let shells = ["/bin/bash", "/bin/sh"].map(Path::new);
        let shell = shells.into_iter().find(|shell| shell.exists()).unwrap_or(shells[1]);
        let (owner, stranger) = identity::look();
        let settings = tools::settings(environment);
        let private_files = match private_files {
            Ok(thread) => thread.join().unwrap_or_else(|panic| panic::resume_unwind(panic)),
            Err(_) => etc::private_files(),
        };
        for path in private_files {
            gathering.hide(path);
        }
        let (places, leads) = gathering.finish();
        let (shell, around) = (shell.to_owned(), around(&places));
        let mounts = mounts::look();
        let mounts =
            if owner.user == 0 { mounts } else { mounts::with_siblings(mounts, &shown(&places)) };
        Self { owner, stranger, home, shell, places, path, leads, settings, mounts, around }
    }

    /// Whether a path lies in a place that is shown as it is.
    pub(crate) fn reads(&self, path: &Path) -> bool {
        let read = |place: &Place| {
            let is_read = matches!(place.what, What::Read(_) | What::System(_));
            let is_around = match self.around.get(&place.at) {
                Some(around) => around.iter().any(|open| path.starts_with(open)),
                None => true,
            };
            is_read && is_around && path.starts_with(&place.at)
        };
        self.places.iter().any(read)
    }
}

/// Folders that are opened one by one around what is hidden.
const MOST_AROUND: usize = 4_000;

fn around(places: &[Place]) -> BTreeMap<PathBuf, Vec<PathBuf>> {
    let is_hidden = |place: &&Place| matches!(place.what, What::Hidden | What::Text(_));
    let hidden: Vec<&Path> = places.iter().filter(is_hidden).map(|place| &*place.at).collect();
    let mut around = BTreeMap::new();
    for Place { at, what } in places {
        if matches!(what, What::System(_)) && hidden.iter().any(|hidden| hidden.starts_with(at)) {
            around.insert(at.clone(), open_around(at, &hidden));
        }
    }
    around
}

fn open_around(place: &Path, hidden: &[&Path]) -> Vec<PathBuf> {
    let (mut open, mut waiting) = (Vec::new(), vec![place.to_owned()]);
    while let Some(folder) = waiting.pop().filter(|_| open.len() < MOST_AROUND) {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if !hidden.iter().any(|hidden| hidden.starts_with(&path)) {
                open.push(path);
            } else if entry.file_type().is_ok_and(|kind| kind.is_dir()) && !hidden.contains(&&*path)
            {
                waiting.push(path);
            }
        }
    }
    open.sort();
    open
}
