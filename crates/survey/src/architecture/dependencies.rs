//! Dependencies and their versions, by manifest.

mod cargo;
mod go;
mod jvm;
mod node;
mod others;
mod python;

use std::collections::BTreeMap;

use sequester_core::architecture::Stated;

use super::line::clean;
use super::scan::Scan;

/// Dependencies on one line.
const PER_LINE: usize = 8;
/// Dependencies shown of one manifest.
const MOST_OF_ONE: usize = 64;
/// Manifests shown one by one.
const MOST_MANIFESTS: usize = 40;

/// What one manifest declares.
pub(super) struct Manifest {
    pub(super) path: String,
    /// The file that fixes the versions, if it was used.
    pub(super) lock: Option<String>,
    pub(super) dependencies: Vec<Dependency>,
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
        Self { name: clean(name, 80), version: clean(version, 40), role }
    }
}

/// Versions by name from a lock file; a name locked in several versions keeps all of them.
type Locked = BTreeMap<String, Vec<String>>;

/// All manifests that declare something, nearest to the root first.
pub(super) fn read(scan: &Scan<'_>) -> Vec<Manifest> {
    let mut manifests = Vec::new();
    manifests.extend(cargo::read(scan));
    manifests.extend(node::read(scan));
    manifests.extend(python::read(scan));
    manifests.extend(go::read(scan));
    manifests.extend(jvm::read(scan));
    manifests.extend(others::read(scan));
    for manifest in &mut manifests {
        let mut seen = std::collections::BTreeSet::new();
        manifest.dependencies.retain(|dependency| seen.insert(dependency.name.clone()));
        manifest.dependencies.sort_by_key(|dependency| dependency.role);
    }
    manifests.retain(|manifest| !manifest.dependencies.is_empty());
    manifests.sort_by(|one, next| {
        let depth = |manifest: &Manifest| manifest.path.matches('/').count();
        depth(one).cmp(&depth(next)).then_with(|| one.path.cmp(&next.path))
    });
    manifests
}

/// What the lock says of a name; the demanded version otherwise.
fn locked(lock: &Locked, name: &str, demanded: &str) -> String {
    match lock.get(name).map(Vec::as_slice) {
        Some([version]) => version.clone(),
        // Several are locked: the one that starts like the demand, if only one does.
        Some(versions) => {
            let wish = demanded.trim_start_matches(['^', '~', '=', '>', '<', 'v', ' ']);
            let mut fitting =
                versions.iter().filter(|version| !wish.is_empty() && version.starts_with(wish));
            match (fitting.next(), fitting.next()) {
                (Some(version), None) => version.clone(),
                _ => demanded.to_owned(),
            }
        }
        None => demanded.to_owned(),
    }
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
                .map(|dependency| {
                    format!("{} {}", dependency.name, dependency.version).trim_end().to_owned()
                })
                .collect();
            let label = role.label();
            for some in words[..words.len().min(MOST_OF_ONE)].chunks(PER_LINE) {
                lines.push(Stated::new(format!("{label}{}", some.join(", ")), &source));
            }
            if words.len() > MOST_OF_ONE {
                let rest = words.len() - MOST_OF_ONE;
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
