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

impl Surroundings {
    /// Looks at files and folders, never for long; what cannot be looked at is not there.
    pub fn look(environment: &BTreeMap<String, String>) -> Self {
        let home =
            environment.get("HOME").map(PathBuf::from).filter(|home| admission::is_home(home));
        let home = home.unwrap_or_else(|| PathBuf::from(NO_HOME));
        let mut gathering = Gathering::new(environment, Admission::new(&home));
        gathering.take_system();
        gathering.take_tools();
        let path = gathering.take_path();
        gathering.take_configuration();
        let shells = ["/bin/bash", "/bin/sh"].map(Path::new);
        let shell = shells.into_iter().find(|shell| shell.exists()).unwrap_or(shells[1]);
        let (owner, stranger) = identity::look();
        let settings = tools::settings(environment);
        let (places, leads) = gathering.finish();
        let (shell, mounts) = (shell.to_owned(), mounts::look());
        Self { owner, stranger, home, shell, places, path, leads, settings, mounts }
    }

    /// Whether a path lies in a place that is shown as it is.
    pub(crate) fn reads(&self, path: &Path) -> bool {
        let read = |place: &Place| {
            let is_read = matches!(place.what, What::Read(_) | What::System(_));
            is_read && path.starts_with(&place.at)
        };
        self.places.iter().any(read)
    }
}
