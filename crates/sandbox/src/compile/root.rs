//! The jail's file system, from nothing.

use std::path::{Path, PathBuf};

use super::{people, workspace};
use crate::blueprint::{Entry, Identity};
use crate::capabilities::{Capabilities, Capability};
use crate::limits::Limits;
use crate::policy::Policy;
use crate::surroundings::{MountPoint, Place, Surroundings, What};

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
fn shown(from: &Path, at: &Path, mounts: &[MountPoint], as_owner: bool) -> Vec<Entry> {
    let show = |from: &Path, at: PathBuf| Entry::Shown {
        from: from.to_owned(),
        at,
        top: top(from, mounts),
        as_owner,
    };
    let within = mounts.iter().filter(|mount| mount.has_files).filter_map(|mount| {
        let rest = mount.at.strip_prefix(from).ok().filter(|rest| !rest.as_os_str().is_empty())?;
        Some(show(&mount.at, at.join(rest)))
    });
    let whole = show(from, at.to_owned());
    std::iter::once(whole).chain(within).collect()
}

/// The highest folder above a place, or the place itself, that nothing else is mounted in: over others the kernel lets only root
/// lay a layer.
fn top(from: &Path, mounts: &[MountPoint]) -> PathBuf {
    let is_plain = |folder: &&Path| {
        let holds = |mount: &MountPoint| mount.at != **folder && mount.at.starts_with(folder);
        !mounts.iter().any(holds)
    };
    let is_mounted = |folder: &&Path| mounts.iter().any(|mount| mount.at == **folder);
    // No higher than where its own file system is mounted.
    let mut above: Vec<&Path> = Vec::new();
    for folder in from.ancestors().take_while(is_plain) {
        above.push(folder);
        if is_mounted(&folder) {
            break;
        }
    }
    above.pop().unwrap_or(from).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_layer_stands_as_high_as_nothing_else_is_mounted() {
        let mounts = ["/", "/etc/hosts", "/home", "/home/dev/disk", "/proc"];
        let mounts = mounts.map(|at| MountPoint { at: at.into(), has_files: true });
        for (from, wanted) in [
            ("/usr/share/zoneinfo", "/usr"),
            ("/etc/fonts", "/etc/fonts"),
            ("/etc/ssl/certs", "/etc/ssl"),
            ("/etc/services", "/etc/services"),
            ("/home/dev/.cargo/bin", "/home/dev/.cargo"),
            ("/home/dev/disk/npm", "/home/dev/disk"),
            ("/home/dev", "/home/dev"),
        ] {
            assert_eq!(top(Path::new(from), &mounts), Path::new(wanted), "{from}");
        }
    }
}
