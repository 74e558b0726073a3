//! Dependencies and their versions, by manifest.

mod cargo;
mod go;
mod jvm;
mod node;
mod others;
mod python;

use std::collections::{BTreeMap, BTreeSet};

use sequester_core::architecture::Stated;

use super::line::clean;
use super::scan::Scan;

/// Characters shown of a version.
const MOST_VERSION: usize = 40;
/// Dependencies on one line.
const PER_LINE: usize = 8;
/// Dependencies shown of one manifest.
const MOST_OF_ONE: usize = 64;
/// Dependencies kept of one manifest and role; the rest is only counted.
const MOST_KEPT: usize = 500;
/// A name locked in as many versions tells nothing, and no more are kept.
const MOST_VERSIONS: usize = 64;
/// Manifests shown one by one.
const MOST_MANIFESTS: usize = 40;

/// What one manifest declares.
pub(super) struct Manifest {
    pub(super) path: String,
    /// The file that fixes the versions, if it was used.
    pub(super) lock: Option<String>,
    /// Each name once, sorted by role.
    pub(super) dependencies: Vec<Dependency>,
    /// How many the manifest has, kept or not.
    counts: BTreeMap<Role, usize>,
}

impl Manifest {
    fn new(path: &str, lock: Option<&str>, mut dependencies: Vec<Dependency>) -> Self {
        let mut seen = BTreeSet::new();
        let mut counts: BTreeMap<Role, usize> = BTreeMap::new();
        dependencies.retain(|dependency| {
            if !seen.insert(dependency.name.clone()) {
                return false;
            }
            let count = counts.entry(dependency.role).or_default();
            *count += 1;
            *count <= MOST_KEPT
        });
        dependencies.sort_by_key(|dependency| dependency.role);
        Self { path: path.to_owned(), lock: lock.map(str::to_owned), dependencies, counts }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Dependency {
    pub(super) name: String,
    /// As locked, or as demanded; empty if the manifest names none.
    pub(super) version: String,
    pub(super) role: Role,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Role {
    Normal,
    /// Demanded of whoever uses the package.
    Peer,
    Optional,
    Build,
    Development,
}

impl Role {
    const ALL: [Self; 5] =
        [Self::Normal, Self::Peer, Self::Optional, Self::Build, Self::Development];

    fn label(self) -> &'static str {
        match self {
            Self::Normal => "",
            Self::Peer => "peer: ",
            Self::Optional => "optional: ",
            Self::Build => "build: ",
            Self::Development => "dev: ",
        }
    }
}

impl Dependency {
    fn new(name: &str, version: &str, role: Role) -> Self {
        Self { name: clean(name, 80), version: clean(version, MOST_VERSION), role }
    }
}

/// Versions by name from a lock file; a name locked in several versions keeps all of them.
#[derive(Default)]
struct Locked(BTreeMap<String, BTreeSet<String>>);

impl Locked {
    fn add(&mut self, name: &str, version: &str) {
        let versions = self.0.entry(name.to_owned()).or_default();
        if !version.is_empty() && versions.len() < MOST_VERSIONS {
            // One lock is asked by many manifests: a long version must not be copied for each.
            versions.insert(clean(version, MOST_VERSION));
        }
    }

    fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// What the lock says of a name; the demanded version otherwise.
    fn version(&self, name: &str, demanded: &str) -> String {
        let known = self.0.get(name).filter(|versions| versions.len() < MOST_VERSIONS);
        let versions = known.into_iter().flatten();
        // Several are locked: the one that starts like the demand, if only one does.
        let wish = demanded.trim_start_matches(['^', '~', '=', '>', '<', 'v', ' ']);
        let several = versions.clone().nth(1).is_some();
        let mut fitting =
            versions.filter(|version| !several || (!wish.is_empty() && version.starts_with(wish)));
        match (fitting.next(), fitting.next()) {
            (Some(version), None) => version.clone(),
            _ => demanded.to_owned(),
        }
    }
}

/// All manifests that declare something, nearest to the root first.
pub(super) fn read(scan: &Scan<'_>) -> Vec<Manifest> {
    let mut manifests = Vec::new();
    manifests.extend(cargo::read(scan));
    manifests.extend(node::read(scan));
    manifests.extend(python::read(scan));
    manifests.extend(go::read(scan));
    manifests.extend(jvm::read(scan));
    manifests.extend(others::read(scan));
    manifests.retain(|manifest| !manifest.dependencies.is_empty());
    manifests.sort_by(|one, next| {
        let depth = |manifest: &Manifest| manifest.path.matches('/').count();
        depth(one).cmp(&depth(next)).then_with(|| one.path.cmp(&next.path))
    });
    manifests
}

pub(super) fn state(manifests: &[Manifest]) -> Vec<Stated> {
    let mut lines = Vec::new();
    for manifest in manifests.iter().take(MOST_MANIFESTS) {
        let source = match &manifest.lock {
            Some(lock) => format!("{}, versions from {lock}", manifest.path),
            None => manifest.path.clone(),
        };
        for role in Role::ALL {
            let words: Vec<String> = manifest
                .dependencies
                .iter()
                .filter(|dependency| dependency.role == role)
                .take(MOST_OF_ONE)
                .map(|dependency| {
                    format!("{} {}", dependency.name, dependency.version).trim_end().to_owned()
                })
                .collect();
            let label = role.label();
            for some in words.chunks(PER_LINE) {
                lines.push(Stated::new(format!("{label}{}", some.join(", ")), &source));
            }
            let rest = manifest.counts.get(&role).map_or(0, |count| count - words.len());
            if rest > 0 {
                lines.push(Stated::new(
                    format!("{label}and {rest} more in {}", manifest.path),
                    &source,
                ));
            }
        }
    }
    if let Some(rest) = manifests.get(MOST_MANIFESTS..).filter(|rest| !rest.is_empty()) {
        let text = format!("and {} more manifests, {} being the first", rest.len(), rest[0].path);
        lines.push(Stated::new(text, &rest[0].path));
    }
    lines
}
