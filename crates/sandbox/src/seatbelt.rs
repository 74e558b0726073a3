//! The same policy as a profile for macOS's Seatbelt. Unverified: made from what is written about it, tried on no machine.
//!
//! There are no layers and no root of its own there, so a writable workspace that is thrown away must be a copy in the
//! policy's store, and everything stands at the machine's own paths. Of rules that fit, the last one counts.

#[cfg(test)]
mod tests;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use sequester_core::profile::Confinement;

use crate::folder::Git;
use crate::policy::{Policy, Workspace};
use crate::surroundings::{Surroundings, What};
use sequester_core::protected;

/// What a program needs of the system before it does anything.
const BASE: &str = "\
;; Unverified: generated, and tried on no machine.
(version 1)
(deny default)
(allow process-fork)
(allow signal (target same-sandbox))
(allow sysctl-read)
(allow file-read-metadata)
(allow mach-lookup (global-name \"com.apple.system.opendirectoryd.libinfo\"))
(allow file-read* file-write-data (literal \"/dev/null\") (literal \"/dev/zero\"))
(allow file-read* (literal \"/\") (literal \"/dev/random\") (literal \"/dev/urandom\"))
";

const SYSTEM: [&str; 11] = [
    "/Applications/Xcode.app",
    "/Library/Apple",
    "/Library/Developer/CommandLineTools",
    "/System",
    "/bin",
    "/opt/homebrew",
    "/private/etc/ssl",
    "/private/var/db/dyld",
    "/private/var/db/timezone",
    "/sbin",
    "/usr",
];

/// The profile's text. The proxy listens on `port` of the machine's own loopback.
pub fn profile(policy: &Policy, surroundings: &Surroundings, port: u16) -> String {
    let mut text = BASE.to_owned();
    let shown = surroundings.places.iter().filter_map(|place| match &place.what {
        What::Read(from) | What::System(from) | What::Layered(from) => Some(from.as_path()),
        _ => None,
    });
    let system = SYSTEM.iter().map(Path::new);
    let tree = tree(policy);
    let own = [policy.store.as_path()].into_iter().chain(tree.as_deref());
    let git = match &policy.workspace {
        Workspace::Folder(folder) => match &folder.git {
            Git::Elsewhere(git) => Some(git.as_path()),
            Git::Here | Git::Within(_) | Git::None => None,
        },
        Workspace::Layers(layers) => layers.git.as_deref(),
        Workspace::None => None,
    };
    let mut readable: Vec<&Path> = system.chain(shown).chain(own).chain(git).collect();
    readable.sort();
    readable.dedup();
    rule(&mut text, "allow file-read* process-exec", "subpath", readable);
    let writable = [policy.store.as_path()].into_iter();
    let writable = writable.chain(tree.as_deref().filter(|_| policy.is_writing()));
    rule(&mut text, "allow file-write*", "subpath", writable.collect());
    let (shut, hidden) = (shut(policy), hidden(policy, surroundings));
    let held = || shut.iter().map(PathBuf::as_path).chain(hidden.iter().copied());
    let above = held().filter_map(Path::parent).flat_map(Path::ancestors);
    let mut above: Vec<&Path> = above
        .filter(|above| {
            policy.is_writing() && tree.as_ref().is_some_and(|tree| above.starts_with(tree))
        })
        .collect();
    above.sort();
    above.dedup();
    // A folder that is moved away takes what is in it out of the rules.
    rule(&mut text, "deny file-write-unlink", "literal", above);
    rule(&mut text, "deny file-write*", "subpath", shut.iter().map(PathBuf::as_path).collect());
    rule(&mut text, "deny file-read* file-write* process-exec", "subpath", hidden);
    if !policy.hosts.is_empty() {
        let _ = writeln!(text, "(allow network-outbound (remote ip \"localhost:{port}\"))");
    }
    text
}

/// The workspace as it stands on the machine.
fn tree(policy: &Policy) -> Option<PathBuf> {
    match &policy.workspace {
        Workspace::Folder(_) if policy.confinement == Confinement::Validate => None,
        Workspace::Folder(folder) => Some(folder.path.clone()),
        Workspace::Layers(layers) if policy.is_writing() => Some(layers.store.clone()),
        Workspace::Layers(layers) => layers.lower.first().cloned(),
        Workspace::None => None,
    }
}

fn shut(policy: &Policy) -> Vec<PathBuf> {
    let Some(tree) = tree(policy).filter(|_| policy.is_writing()) else {
        return Vec::new();
    };
    let held = |name: &&str| policy.is_keeping() && !policy.is_granted(name) || *name == ".git";
    let named = protected::names()
        .filter(|name| !name.contains('*'))
        .filter(held)
        .map(|name| tree.join(name));
    named.chain(run_paths(policy)).collect()
}

fn run_paths(policy: &Policy) -> Vec<PathBuf> {
    let Workspace::Folder(folder) = &policy.workspace else { return Vec::new() };
    let is_held = |path: &&PathBuf| !policy.grants.reach(&folder.within(path));
    folder.run_paths.iter().map(|(path, _)| path).filter(is_held).cloned().collect()
}

/// Also what has credentials among other things: a text cannot stand in for it here.
fn hidden<'p>(policy: &'p Policy, surroundings: &'p Surroundings) -> Vec<&'p Path> {
    let mut hidden: Vec<&Path> = surroundings
        .places
        .iter()
        .filter(|place| matches!(place.what, What::Hidden | What::Text(_)))
        .map(|place| place.at.as_path())
        .collect();
    if let Workspace::Folder(folder) = &policy.workspace {
        let covered = folder.covers.iter().map(|(path, _)| path);
        hidden.extend(folder.hidden.iter().chain(covered).map(PathBuf::as_path));
    }
    hidden
}

fn rule(text: &mut String, operation: &str, filter: &str, paths: Vec<&Path>) {
    if paths.is_empty() {
        return;
    }
    let _ = write!(text, "({operation}");
    for path in paths {
        let path = path.to_string_lossy().replace('\\', "\\\\").replace('"', "\\\"");
        let _ = write!(text, "\n  ({filter} \"{path}\")");
    }
    text.push_str(")\n");
}
