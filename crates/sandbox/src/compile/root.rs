//! The jail's file system, from nothing.

use std::path::{Path, PathBuf};

use super::{people, workspace};
use crate::blueprint::{Entry, Identity};
use crate::capabilities::{Capabilities, Capability};
use crate::limits::Limits;
use crate::policy::Policy;
use crate::surroundings::{Place, Surroundings, What};

/// Shared memory that programs expect.
const SHARED: u64 = 256 << 20;

pub(super) fn build(
    policy: &Policy,
    surroundings: &Surroundings,
    identity: Identity,
    capabilities: &Capabilities,
) -> Vec<Entry> {
    let scratch = scratch(&policy.limits);
    let mut root = skeleton(&surroundings.home, scratch);
    root.extend(people::entries(surroundings, identity));
    root.extend(workspace::ignored(policy, &surroundings.home));
    let layers = policy.is_writing() && capabilities.has(Capability::Overlay);
    let at = workspace::folder(policy);
    let places = surroundings.places.iter().filter(|place| !place.at.starts_with(&at));
    let mut stores = (0..).map(|number: usize| policy.store.join(format!("layer-{number}")));
    root.extend(places.flat_map(|place| {
        let store = || stores.next().filter(|_| layers);
        entries(place, surroundings, scratch, store)
    }));
    // What lies in another comes after it.
    root.sort_by(|one, other| one.at().cmp(other.at()));
    // A workspace or a home in `/var/tmp` stands in a folder, not behind a link of the jail's.
    let stands = [at, surroundings.home.clone()];
    let above = |link: &Path| stands.iter().any(|at| at.starts_with(link));
    root.retain(|entry| !matches!(entry, Entry::Link { at: link, .. } if above(link)));
    root.extend(workspace::entries(policy, capabilities));
    root
}

/// What is in memory is counted as memory too.
fn scratch(limits: &Limits) -> u64 {
    limits.disk.min(limits.memory / 2)
}

/// What every root has, with room for this many bytes where anything may be written.
fn skeleton(home: &Path, bytes: u64) -> Vec<Entry> {
    let folder = |at: &str| Entry::Folder { at: at.into(), mode: 0o755 };
    let link = |at: &str, to: &str| Entry::Link { at: at.into(), to: to.into() };
    let scratch = |at: &Path, bytes, mode| Entry::Scratch { at: at.to_owned(), bytes, mode };
    vec![
        folder("/etc"),
        folder("/run"),
        folder("/var"),
        link("/var/run", "/run"),
        link("/var/tmp", "/tmp"),
        Entry::Processes,
        Entry::Devices,
        scratch(Path::new("/dev/shm"), bytes.min(SHARED), 0o1777),
        scratch(Path::new("/tmp"), bytes, 0o1777),
        scratch(home, bytes, 0o700),
    ]
}

fn entries(
    place: &Place,
    surroundings: &Surroundings,
    bytes: u64,
    store: impl FnOnce() -> Option<PathBuf>,
) -> Vec<Entry> {
    let at = place.at.clone();
    let is_shown = |path: &Path| {
        let mut places = surroundings.places.iter();
        places.any(|place| {
            let real = matches!(place.what, What::Read(_) | What::System(_) | What::Layered(_));
            real && path.starts_with(&place.at)
        })
    };
    let one = match &place.what {
        What::Read(from) => return shown(from, &at, &surroundings.mounts, true),
        What::System(from) => return shown(from, &at, &surroundings.mounts, false),
        What::Layered(from) => match store() {
            Some(store) => Entry::Layered { at, lower: vec![from.clone()], store },
            None => return shown(from, &at, &surroundings.mounts, true),
        },
        What::Link(to) => Entry::Link { at, to: to.clone() },
        What::Text(content) if is_shown(&at) => Entry::Cover { at, content: content.clone() },
        What::Text(content) => Entry::Text { at, content: content.clone() },
        What::Hidden => Entry::Hidden { at },
        What::Scratch => Entry::Scratch { at, bytes, mode: 0o755 },
    };
    vec![one]
}

/// A file or folder as a jail reads it, and what is mounted in it: a layer stands on one file system.
fn shown(from: &Path, at: &Path, mounts: &[PathBuf], as_owner: bool) -> Vec<Entry> {
    let above = mounts.iter().filter(|mount| from.starts_with(mount));
    let top = above.max_by_key(|mount| mount.as_os_str().len());
    let top = top.cloned().unwrap_or_else(|| from.to_owned());
    let whole = Entry::Shown { from: from.to_owned(), at: at.to_owned(), top, as_owner };
    let within = mounts.iter().filter_map(|mount| {
        let rest = mount.strip_prefix(from).ok().filter(|rest| !rest.as_os_str().is_empty())?;
        let (from, top) = (mount.clone(), mount.clone());
        Some(Entry::Shown { from, at: at.join(rest), top, as_owner })
    });
    std::iter::once(whole).chain(within).collect()
}
