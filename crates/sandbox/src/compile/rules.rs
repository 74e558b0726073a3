//! Landlock's rules. With a root of its own they are a second wall; without, the only one.

use std::path::{Path, PathBuf};

use crate::blueprint::{Access, Entry, PathRule};
use crate::folder::Git;
use crate::policy::{Policy, Workspace};
use crate::surroundings::{Surroundings, What};

/// Everything can be read, as nothing is there that may not be. Mounts say what in a writable folder is not writable.
pub(super) fn rooted(root: &[Entry]) -> Vec<PathRule> {
    let is_shut = |at: &Path| {
        root.iter().any(|entry| matches!(entry, Entry::Shut { .. }) && entry.at() == at)
    };
    let writable = root.iter().filter(|entry| match entry {
        Entry::Scratch { .. } | Entry::Devices => true,
        Entry::Layered { at, .. } => !is_shut(at),
        Entry::Bind { access, .. } => *access == Access::Write,
        _ => false,
    });
    let write = writable.map(|entry| rule(entry.at().to_owned(), Access::Write));
    [rule(PathBuf::from("/"), Access::Read)].into_iter().chain(write).collect()
}

/// Devices of the machine's that anybody may use, and what it says of itself.
const DEVICES: [(&str, Access); 7] = [
    ("/dev/full", Access::Write),
    ("/dev/null", Access::Write),
    ("/dev/random", Access::Read),
    ("/dev/urandom", Access::Read),
    ("/dev/zero", Access::Write),
    ("/proc/cpuinfo", Access::Read),
    ("/proc/meminfo", Access::Read),
];

/// Only what is shown as it is. A cache with something to hide in it stays closed.
pub(super) fn fallback(policy: &Policy, surroundings: &Surroundings) -> Vec<PathRule> {
    let hidden = |at: &PathBuf| {
        surroundings.places.iter().any(|place| {
            matches!(place.what, What::Hidden | What::Text(_)) && place.at.starts_with(at)
        })
    };
    let places = surroundings.places.iter().flat_map(|place| match &place.what {
        What::System(_) if surroundings.around.contains_key(&place.at) => {
            surroundings.around[&place.at].iter().collect()
        }
        What::Read(from) | What::System(from) => vec![from],
        What::Layered(from) if !hidden(&place.at) => vec![from],
        _ => Vec::new(),
    });
    let mut rules: Vec<PathRule> = places.map(|from| rule(from.clone(), Access::Read)).collect();
    rules.extend(DEVICES.map(|(path, access)| rule(path.into(), access)));
    rules.push(rule(policy.store.clone(), Access::Write));
    let workspace = match &policy.workspace {
        Workspace::Folder(folder) => match &folder.git {
            Git::Elsewhere(git) => vec![&folder.path, git],
            Git::Here | Git::Within(_) | Git::None => vec![&folder.path],
        },
        Workspace::Layers(layers) => layers.lower.iter().chain(&layers.git).collect(),
        Workspace::None => Vec::new(),
    };
    rules.extend(workspace.into_iter().map(|path| rule(path.clone(), Access::Read)));
    rules.sort_by(|one, other| one.path.cmp(&other.path));
    rules
}

fn rule(path: PathBuf, access: Access) -> PathRule {
    PathRule { path, access }
}
