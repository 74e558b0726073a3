//! Which guarantee stands on which capabilities.

use std::collections::BTreeSet;

use sequester_core::profile::Guarantee;

use super::identity;
use super::refusal::{Missing, Reason};
use crate::capabilities::{
    Capabilities,
    Capability::{
        self, ContainedCores, IdmappedMounts, Landlock, MountApi, Overlay, Pidfd, ProcMount,
        Seccomp, UserNamespaces,
    },
};
use crate::folder::Walked;
use crate::policy::{Policy, Workspace};
use crate::surroundings::{Surroundings, What};

type Row = (Guarantee, &'static [Capability]);

/// With a root of its own. What needs nothing is done by the supervisor, on any machine.
#[rustfmt::skip]
const ROOTED: [Row; 15] = [
    (Guarantee::NoWriteOutlives,   &[UserNamespaces, MountApi, ContainedCores]),
    (Guarantee::ReadsConfined,     &[UserNamespaces, MountApi, ProcMount]),
    (Guarantee::SecretsHidden,     &[UserNamespaces, MountApi]),
    (Guarantee::CleanEnvironment,  &[]),
    (Guarantee::DescriptorsClosed, &[]),
    (Guarantee::TreeKill,          &[UserNamespaces]),
    (Guarantee::NoNewPrivileges,   &[Seccomp]),
    (Guarantee::Limits,            &[Pidfd]),
    (Guarantee::MemoryLimit,       &[]),
    (Guarantee::NoNetwork,         &[UserNamespaces]),
    (Guarantee::NamedHosts,        &[UserNamespaces]),
    (Guarantee::PrivateWorkspace,  &[UserNamespaces, MountApi]),
    (Guarantee::ProtectedNames,    &[UserNamespaces, MountApi]),
    (Guarantee::CopyOnWrite,       &[UserNamespaces, MountApi, Overlay]),
    (Guarantee::DiskLimit,         &[]),
];

/// In the machine's own root. What is not listed cannot be had there.
#[rustfmt::skip]
const FALLBACK: [Row; 11] = [
    (Guarantee::NoWriteOutlives,   &[Landlock, Seccomp, ContainedCores]),
    (Guarantee::ReadsConfined,     &[Landlock]),
    (Guarantee::SecretsHidden,     &[Landlock]),
    (Guarantee::CleanEnvironment,  &[]),
    (Guarantee::DescriptorsClosed, &[]),
    (Guarantee::TreeKill,          &[Pidfd]),
    (Guarantee::NoNewPrivileges,   &[Seccomp]),
    (Guarantee::Limits,            &[Pidfd]),
    (Guarantee::MemoryLimit,       &[]),
    (Guarantee::NoNetwork,         &[Landlock, Seccomp]),
    (Guarantee::DiskLimit,         &[]),
];

/// What a root of its own takes; root's jails must also see the owner's files under other ids.
fn foundation(surroundings: &Surroundings) -> Vec<Capability> {
    let identity = identity::choose(surroundings);
    let mut all = vec![UserNamespaces, MountApi, ProcMount];
    if identity.outside != identity.owner {
        all.push(IdmappedMounts);
    }
    all
}

/// Whether jails have namespaces and a root of their own here.
pub fn is_rooted(surroundings: &Surroundings, capabilities: &Capabilities) -> bool {
    foundation(surroundings).iter().all(|one| capabilities.has(*one))
}

/// What a guarantee takes with a root of its own, in this workspace.
fn required(guarantee: Guarantee, policy: &Policy, surroundings: &Surroundings) -> Vec<Capability> {
    let row = ROOTED.iter().find(|(known, _)| *known == guarantee);
    let mut all = row.map(|(_, capabilities)| capabilities.to_vec()).unwrap_or_default();
    if all.contains(&UserNamespaces) {
        all.extend(foundation(surroundings));
    }
    if guarantee == Guarantee::PrivateWorkspace && matches!(policy.workspace, Workspace::Layers(_))
    {
        all.push(Overlay);
    }
    all.sort();
    all.dedup();
    all
}

pub(super) fn held(
    policy: &Policy,
    surroundings: &Surroundings,
    capabilities: &Capabilities,
) -> BTreeSet<Guarantee> {
    let has = |all: &[Capability]| all.iter().all(|one| capabilities.has(*one));
    let mut held: BTreeSet<Guarantee> = if is_rooted(surroundings, capabilities) {
        let all = Guarantee::ALL.into_iter();
        all.filter(|one| has(&required(*one, policy, surroundings))).collect()
    } else {
        let hides = hides_by_rules(policy, surroundings);
        let rows = FALLBACK.iter().filter(|(_, all)| has(all)).map(|(guarantee, _)| *guarantee);
        rows.filter(|one| hides || *one != Guarantee::SecretsHidden).collect()
    };
    if is_unsearched(policy) {
        held.remove(&Guarantee::SecretsHidden);
    }
    held.difference(&capabilities.broken).copied().collect()
}

/// Rules open whole folders: where a secret lies in one that must be open, they cannot hide it.
fn hides_by_rules(policy: &Policy, surroundings: &Surroundings) -> bool {
    let clean = match &policy.workspace {
        Workspace::Folder(folder) => folder.hidden.is_empty() && folder.covers.is_empty(),
        Workspace::Layers(_) | Workspace::None => true,
    };
    let covered = |what: &What| matches!(what, What::Hidden | What::Text(_));
    let mut hidden = surroundings.places.iter().filter(|place| covered(&place.what));
    clean && !hidden.any(|hidden| surroundings.reads(&hidden.at))
}

fn is_unsearched(policy: &Policy) -> bool {
    matches!(&policy.workspace, Workspace::Folder(folder) if folder.walked == Walked::Part)
}

/// What the policy needs and does not have, in the order of need, each with the reason.
pub(super) fn missing(
    policy: &Policy,
    surroundings: &Surroundings,
    capabilities: &Capabilities,
    held: &BTreeSet<Guarantee>,
) -> Vec<Missing> {
    let needed = policy.guarantees().into_iter().filter(|one| !held.contains(one));
    needed
        .map(|guarantee| {
            let mut lacking = required(guarantee, policy, surroundings);
            lacking.retain(|one| !capabilities.has(*one));
            let reason = if capabilities.broken.contains(&guarantee) {
                Reason::Broken
            } else if lacking.is_empty() {
                Reason::Unsearched
            } else {
                Reason::Lacking(lacking)
            };
            Missing { guarantee, reason }
        })
        .collect()
}
