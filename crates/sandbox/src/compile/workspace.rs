//! Where a program starts: the workspace, as far as the profile lets it be written.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use sequester_core::profile::Confinement;
use sequester_core::protected::{self, ProtectedName};

use super::refusal::Refusal;
use crate::blueprint::{Access, Entry, Kind};
use crate::capabilities::{Capabilities, Capability};
use crate::folder::{Covered, Folder, Git};
use crate::policy::{Layer, Layers, Policy, Workspace};
use crate::surroundings::Surroundings;

/// Where an empty workspace stands.
const EMPTY: &str = "/tmp/workspace";

/// What every jail has of its own; a workspace cannot stand above it.
const OWN: [&str; 11] =
    ["/bin", "/dev", "/etc", "/lib", "/proc", "/run", "/sbin", "/sys", "/tmp", "/usr", "/var"];

/// Where no workspace stands.
const NOWHERE: [&str; 3] = ["/dev", "/proc", "/sys"];

pub(super) fn folder(policy: &Policy) -> PathBuf {
    match &policy.workspace {
        Workspace::Folder(folder) => folder.path.clone(),
        Workspace::Layers(layers) => layers.at.clone(),
        Workspace::None => PathBuf::from(EMPTY),
    }
}

/// Whether a workspace may stand at a path, whatever is in it.
pub fn check_place(workspace: &Path, surroundings: &Surroundings) -> Result<(), Refusal> {
    let own = OWN.iter().map(Path::new).chain([surroundings.home.as_path()]);
    let above = own.into_iter().any(|own| own.starts_with(workspace));
    if above || NOWHERE.iter().any(|nowhere| workspace.starts_with(nowhere)) {
        return Err(Refusal::Around { workspace: workspace.to_owned() });
    }
    Ok(())
}

pub(super) fn check(policy: &Policy, surroundings: &Surroundings) -> Result<(), Refusal> {
    check_place(&folder(policy), surroundings)?;
    let Workspace::Folder(folder) = &policy.workspace else { return Ok(()) };
    let held = |path: &&PathBuf| {
        let within = folder.within(path);
        !policy.is_granted(&within) && !policy.grants.reach(&within)
    };
    match folder.links.iter().find(held).filter(|_| policy.is_keeping()) {
        Some(path) => Err(Refusal::Link { path: path.clone() }),
        None => Ok(()),
    }
}

/// What is looked through once more in the end; attempts work on what was looked through when it was written.
pub(super) fn searched(policy: &Policy) -> Option<PathBuf> {
    match &policy.workspace {
        Workspace::Folder(folder) => Some(folder.path.clone()),
        Workspace::Layers(_) | Workspace::None => None,
    }
}

pub(super) fn entries(policy: &Policy, capabilities: &Capabilities) -> Vec<Entry> {
    match &policy.workspace {
        Workspace::Folder(folder) => of_folder(policy, folder, capabilities),
        Workspace::Layers(layers) => of_layers(policy, layers, capabilities),
        Workspace::None => {
            let bytes = policy.limits.disk.min(policy.limits.memory / 2);
            vec![Entry::Scratch { at: EMPTY.into(), bytes, mode: 0o755 }]
        }
    }
}

fn bind(path: &Path, access: Access) -> Entry {
    Entry::Bind { from: path.to_owned(), at: path.to_owned(), access }
}

/// By a layer of its own.
fn shown(from: &Path, at: &Path) -> Entry {
    Entry::Shown { from: from.to_owned(), at: at.to_owned(), top: from.to_owned(), as_owner: true }
}

fn of_folder(policy: &Policy, folder: &Folder, capabilities: &Capabilities) -> Vec<Entry> {
    let mut entries = Vec::new();
    let is_layered = capabilities.has(Capability::Overlay) && !policy.is_keeping();
    let layer = |at: &Path, name: &str| Entry::Layered {
        at: at.to_owned(),
        lower: vec![at.to_owned()],
        store: policy.store.join(name),
    };
    let mirror = |at: &Path| Entry::Mirror { from: at.to_owned(), at: at.to_owned() };
    match &folder.git {
        Git::Elsewhere(git) if is_layered && policy.is_writing() => {
            entries.push(layer(git, "git"));
            entries.push(Entry::Shut { at: git.clone(), kind: Kind::Folder });
        }
        Git::Elsewhere(git) if is_layered => entries.push(mirror(git)),
        Git::Elsewhere(git) => entries.push(shown(git, git)),
        Git::Here | Git::Within(_) | Git::None => {}
    }
    let at = folder.path.clone();
    match policy.confinement {
        // What is mounted on a file of the person's falls off when they replace the file, and a socket of theirs is one, however
        // read-only. A layer has files of its own.
        Confinement::ReadOnly | Confinement::Research if is_layered => entries.push(mirror(&at)),
        Confinement::ReadOnly | Confinement::Research => entries.push(bind(&at, Access::Read)),
        Confinement::Validate => {
            entries.push(layer(&at, "workspace"));
            let kind = match folder.git {
                Git::None => None,
                Git::Here => Some(Kind::Folder),
                Git::Elsewhere(_) | Git::Within(_) => Some(Kind::File),
            };
            let git = kind.map(|kind| Entry::Shut { at: at.join(".git"), kind });
            let run = folder.run_paths.iter().filter(|(path, _)| path.exists());
            let run = run.map(|(at, kind)| Entry::Shut { at: at.clone(), kind: *kind });
            entries.extend(git.into_iter().chain(run));
        }
        Confinement::Writer | Confinement::FullAccess => {
            entries.push(bind(&at, Access::Write));
            entries.extend(shut(policy, folder));
        }
    }
    let cover = |(at, content): &(PathBuf, String)| Entry::Cover {
        at: at.clone(),
        content: content.clone(),
    };
    entries.extend(folder.covers.iter().map(cover));
    entries.extend(folder.hidden.iter().map(|at| Entry::Hidden { at: at.clone() }));
    entries
}

/// Protected names of the person's folder. A folder above one, or above what is hidden, is mounted on itself: what is no mount could be
/// moved away with all that is mounted in it, and another made in its place.
fn shut(policy: &Policy, folder: &Folder) -> Vec<Entry> {
    let mut entries = Vec::new();
    let mut above: BTreeSet<&Path> = folder.parents.iter().map(PathBuf::as_path).collect();
    let mut done: BTreeSet<PathBuf> = folder.hidden.iter().cloned().collect();
    for ProtectedName { name, kind, .. } in protected::NAMES.iter().filter(|known| known.is_held) {
        if policy.is_granted(name) {
            continue;
        }
        let is_file = matches!(folder.git, Git::Elsewhere(_) | Git::Within(_));
        let kind = if *name == ".git" && is_file { Kind::File } else { *kind };
        let (at, kind) = match absent_parent(policy, folder, name) {
            Some(parent) => (parent, Kind::Folder),
            None => (folder.path.join(name), kind),
        };
        if done.insert(at.clone()) {
            entries.push(Entry::Shut { at, kind });
        }
    }
    // With `objects` and `refs` beside it, it makes a repository of the folder.
    if folder.git == Git::None {
        entries.push(Entry::Shut { at: folder.path.join("HEAD"), kind: Kind::File });
    }
    for (path, kind) in &folder.run_paths {
        let is_done = path.ancestors().any(|above| done.contains(above));
        if !is_done && !policy.grants.reach(&folder.within(path)) {
            done.insert(path.clone());
            entries.push(Entry::Shut { at: path.clone(), kind: *kind });
        }
    }
    let shut: Vec<PathBuf> = entries.iter().map(|entry| entry.at().to_owned()).collect();
    let ancestors = |at: &'_ PathBuf| -> Vec<PathBuf> {
        let above = at.ancestors().skip(1).take_while(|above| *above != folder.path);
        above.map(Path::to_owned).collect()
    };
    let of_shut: Vec<PathBuf> = shut.iter().flat_map(ancestors).collect();
    above.extend(of_shut.iter().map(PathBuf::as_path).chain(folder.above_hidden()));
    above.retain(|above| !shut.iter().any(|shut| above.starts_with(shut)));
    // Sorted: what lies in another comes after it.
    for Covered { path, name, holds, .. } in &folder.covered {
        let Some(kind) = *holds else { continue };
        let is_granted = policy.grants.lift(name, &folder.within(path));
        if !is_granted && !path.ancestors().any(|above| done.contains(above)) {
            done.insert(path.clone());
            entries.push(Entry::Shut { at: path.clone(), kind });
        }
    }
    above.into_iter().map(|above| bind(above, Access::Write)).chain(entries).collect()
}

/// Protected names that nothing has yet and that are held while a writer lives, for git in the jail: they are nobody's work. It reads
/// them where a person has what is to be ignored everywhere.
pub(super) fn ignored(policy: &Policy, home: &Path) -> Option<Entry> {
    let Workspace::Folder(folder) = &policy.workspace else { return None };
    if !policy.is_keeping() {
        return None;
    }
    let is_there = |at: &Path| folder.covered.iter().any(|one| one.path.starts_with(at));
    let shut = shut(policy, folder);
    let held = shut.iter().filter(|entry| matches!(entry, Entry::Shut { .. }));
    let held = held.filter(|entry| !is_there(entry.at()));
    let names = held.filter_map(|entry| entry.at().strip_prefix(&folder.path).ok()?.to_str());
    let lines: Vec<String> = names.map(|name| format!("/{name}\n")).collect();
    Some(Entry::Text { at: home.join(".config/git/ignore"), content: lines.concat() })
}

/// The folder above a protected name that is not there, so that it is shut whole, unless something in it is granted.
fn absent_parent(policy: &Policy, folder: &Folder, name: &str) -> Option<PathBuf> {
    let parent = Path::new(name).parent().filter(|parent| !parent.as_os_str().is_empty())?;
    let mut beside = protected::names().filter(|name| Path::new(name).starts_with(parent));
    let at = folder.path.join(parent);
    let whole = !folder.parents.contains(&at) && !beside.any(|name| policy.is_granted(name));
    whole.then_some(at)
}

fn of_layers(policy: &Policy, layers: &Layers, capabilities: &Capabilities) -> Vec<Entry> {
    let at = &layers.at;
    let is_layered = capabilities.has(Capability::Overlay);
    let mut entries = match layers.lower.as_slice() {
        // Enough for a reader, who then does without the build folders: there is no place to show them at.
        [only] if !is_layered => {
            vec![Entry::Bind { from: only.clone(), at: at.clone(), access: Access::Read }]
        }
        lower => {
            let store = layers.store.clone();
            vec![Entry::Layered { at: at.clone(), lower: lower.to_vec(), store }]
        }
    };
    if is_layered && !policy.is_writing() {
        entries.push(Entry::Shut { at: at.clone(), kind: Kind::Folder });
    }
    let git = layers.git.iter().cloned();
    entries.extend(git.map(|from| shown(&from, &at.join(".git"))));
    if policy.is_keeping() {
        let held =
            layers.protected.iter().filter(|name| !policy.is_granted(&name.to_string_lossy()));
        entries.extend(held.map(|name| {
            let known = protected::NAMES.iter().find(|known| name == Path::new(known.name));
            let kind = known.map_or(Kind::Folder, |known| known.kind);
            Entry::Shut { at: at.join(name), kind }
        }));
    }
    if is_layered {
        entries.extend(layers.caches.iter().flat_map(|cache| of_cache(policy, cache)));
        entries.extend(layers.hidden.iter().map(|at| Entry::Hidden { at: at.clone() }));
    }
    entries
}

/// A layer for readers too: what is mounted on a file of the person's falls off when they replace the file.
fn of_cache(policy: &Policy, cache: &Layer) -> Vec<Entry> {
    let Layer { at, lower, store } = cache.clone();
    let shut = Entry::Shut { at: at.clone(), kind: Kind::Folder };
    let mut entries = vec![Entry::Layered { at, lower: vec![lower], store }];
    entries.extend(Some(shut).filter(|_| !policy.is_writing()));
    entries
}
