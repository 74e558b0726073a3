//! From what is asked for, what is there and what can be done to the one jail that keeps to it, or to a refusal. Pure.

mod environment;
mod group;
mod guarantee;
mod harvest;
mod identity;
mod people;
mod refusal;
mod root;
mod rules;
#[cfg(test)]
mod tests;
mod workspace;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use sequester_core::profile::Guarantee;
use serde::Serialize;

use crate::blueprint::{Blueprint, Caps, Entry, Isolation, Network};
use crate::capabilities::{Capabilities, Cgroups};
use crate::limits::Limits;
use crate::policy::{Policy, Workspace};
use crate::surroundings::{Place, Surroundings, What};

pub use guarantee::is_rooted;
pub use identity::choose as identity;
pub use people::HOSTNAME;
pub use refusal::{Missing, Reason, Refusal};
pub use workspace::check_place;

/// Where the proxy listens, on the jail's own loopback.
pub(crate) const PROXY_PORT: u16 = 3128;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compiled {
    pub blueprint: Blueprint,
    /// All that hold, also those that the policy does not need.
    pub guarantees: BTreeSet<Guarantee>,
    /// Who keeps each limit.
    pub keepers: Keepers,
}

/// Who keeps a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Keeper {
    /// Control groups.
    Kernel,
    /// Limits of each process or user, which the kernel keeps too.
    Rlimit,
    /// The supervisor, many times a second.
    Watched,
}

/// By the name of the limit.
pub type Keepers = BTreeMap<&'static str, Keeper>;

/// The jail for this policy on this machine. Refuses unless every guarantee that the policy needs holds.
pub fn compile(
    policy: &Policy,
    surroundings: &Surroundings,
    capabilities: &Capabilities,
) -> Result<Compiled, Refusal> {
    workspace::check(policy, surroundings)?;
    let held = guarantees(policy, surroundings, capabilities);
    let missing = guarantee::missing(policy, surroundings, capabilities, &held);
    if !missing.is_empty() {
        return Err(Refusal::Missing { profile: policy.confinement, missing });
    }
    let blueprint = if is_rooted(surroundings, capabilities) {
        rooted(policy, surroundings, capabilities)
    } else {
        fallback(policy, surroundings, capabilities)
    };
    let keepers = keepers(surroundings, capabilities);
    Ok(Compiled { blueprint, guarantees: held, keepers })
}

/// Who keeps which limit of a jail here.
pub fn keepers(surroundings: &Surroundings, capabilities: &Capabilities) -> Keepers {
    let controls = |controller: &str| match &capabilities.cgroups {
        Cgroups::None => false,
        Cgroups::V1 { parents, .. } => parents.contains_key(controller),
        Cgroups::V2 { controllers, .. } => controllers.contains(controller),
    };
    let or = |controller, other| if controls(controller) { Keeper::Kernel } else { other };
    // Elsewhere the kernel would count all processes of the person's.
    let own = is_rooted(surroundings, capabilities);
    let user = if own { Keeper::Rlimit } else { Keeper::Watched };
    let watched = ["cpu", "disk", "output", "wall"].map(|limit| (limit, Keeper::Watched));
    let grouped = [("memory", or("memory", Keeper::Watched)), ("pids", or("pids", user))];
    watched.into_iter().chain(grouped).collect()
}

/// The jail in which the change is computed that a jail for this policy left. None where nothing is kept.
pub fn compile_harvest(
    policy: &Policy,
    surroundings: &Surroundings,
    capabilities: &Capabilities,
) -> Option<Blueprint> {
    match &policy.workspace {
        Workspace::Layers(layers) if policy.is_keeping() => {
            Some(harvest::blueprint(policy, layers, surroundings, capabilities))
        }
        _ => None,
    }
}

/// Every guarantee that a jail for this policy would keep here.
pub fn guarantees(
    policy: &Policy,
    surroundings: &Surroundings,
    capabilities: &Capabilities,
) -> BTreeSet<Guarantee> {
    guarantee::held(policy, surroundings, capabilities)
}

fn rooted(policy: &Policy, surroundings: &Surroundings, capabilities: &Capabilities) -> Blueprint {
    let identity = identity::choose(surroundings);
    let root = root::build(policy, surroundings, identity, capabilities);
    let home = (surroundings.home.clone(), PathBuf::from("/tmp"));
    Blueprint {
        isolation: Isolation::Namespaces(identity),
        paths: rules::rooted(&root),
        environment: environment::build(policy, surroundings, &home, &|path| shows(&root, path)),
        folder: workspace::folder(policy),
        network: network(policy),
        caps: caps(&policy.limits, counted(policy, &root)),
        cgroup: group::settings(&policy.limits, &capabilities.cgroups),
        state: policy.store.parent().map(Path::to_owned),
        discard: Some(policy.store.clone()),
        searched: workspace::searched(policy),
        root,
    }
}

/// In the machine's own root nothing can be put elsewhere: a home and a place for temporary files are made in the store.
fn fallback(
    policy: &Policy,
    surroundings: &Surroundings,
    capabilities: &Capabilities,
) -> Blueprint {
    let paths = rules::fallback(policy, surroundings);
    let is_link = |place: &Place| matches!(place.what, What::Link(_));
    let links = surroundings.places.iter().filter(|place| is_link(place)).map(|place| &place.at);
    let open: Vec<&PathBuf> = paths.iter().map(|rule| &rule.path).chain(links).collect();
    let shows =
        |path: &Path| open.iter().any(|open| path.starts_with(open) || open.starts_with(path));
    let home = (policy.store.join("home"), policy.store.join("tmp"));
    let mut environment = environment::build(policy, surroundings, &home, &shows);
    let mut folder = workspace::folder(policy);
    match &policy.workspace {
        Workspace::Layers(layers) => {
            folder = layers.lower.first().cloned().unwrap_or(folder);
            if let Some(git) = &layers.git {
                environment.insert("GIT_DIR".to_owned(), git.display().to_string());
                environment.insert("GIT_WORK_TREE".to_owned(), folder.display().to_string());
            }
        }
        Workspace::None => folder.clone_from(&home.0),
        Workspace::Folder(_) => {}
    }
    Blueprint {
        isolation: Isolation::Fallback,
        root: Vec::new(),
        environment,
        folder,
        network: Network::None,
        caps: caps(&policy.limits, vec![policy.store.clone()]),
        cgroup: group::settings(&policy.limits, &capabilities.cgroups),
        state: policy.store.parent().map(Path::to_owned),
        discard: Some(policy.store.clone()),
        searched: workspace::searched(policy),
        paths,
    }
}

/// Whether something of the machine's stands at a path inside, or below it.
fn shows(root: &[Entry], path: &Path) -> bool {
    root.iter().any(|entry| match entry {
        Entry::Bind { at, .. }
        | Entry::Layered { at, .. }
        | Entry::Mirror { at, .. }
        | Entry::Shown { at, .. }
        | Entry::Link { at, .. } => path.starts_with(at) || at.starts_with(path),
        _ => false,
    })
}

fn network(policy: &Policy) -> Network {
    if policy.hosts.is_empty() {
        return Network::None;
    }
    let mut hosts: Vec<String> = policy.hosts.iter().map(ToString::to_string).collect();
    hosts.sort();
    hosts.dedup();
    Network::Hosts { hosts, port: PROXY_PORT }
}

fn caps(limits: &Limits, counted: Vec<PathBuf>) -> Caps {
    Caps {
        memory: limits.memory,
        pids: limits.pids,
        cpu: limits.cpu,
        wall: Some(limits.wall),
        output: Some(limits.output),
        disk: limits.disk,
        counted,
    }
}

/// Folders of the machine's that take what the jail writes; what is in memory counts as memory.
fn counted(policy: &Policy, root: &[Entry]) -> Vec<PathBuf> {
    let mut counted: Vec<PathBuf> = root
        .iter()
        .filter_map(|entry| match entry {
            Entry::Layered { store, .. } => Some(store.join("upper")),
            _ => None,
        })
        .collect();
    if let (Workspace::Folder(folder), true) = (&policy.workspace, policy.is_keeping()) {
        counted.push(folder.path.clone());
    }
    counted
}
