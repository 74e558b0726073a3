//! The jail in which a change is computed: the workspace as it was left and what it started from, both unchangeable, and nothing else.

use std::collections::BTreeMap;
use std::path::Path;

use super::{caps, group, identity, rules};
use crate::blueprint::{Access, Blueprint, Entry, Isolation, Kind, Network};
use crate::capabilities::Capabilities;
use crate::harvest::{BASE, WORK};
use crate::limits::Limits;
use crate::policy::{Layers, Policy};
use crate::surroundings::Surroundings;

/// For the workspace of a policy that ran. It is mounted anew, without what was put over it then.
pub(super) fn blueprint(
    policy: &Policy,
    layers: &Layers,
    surroundings: &Surroundings,
    capabilities: &Capabilities,
) -> Blueprint {
    let limits = Limits::default();
    let mut root = layered(WORK, layers, &layers.store);
    let base = match layers.lower.as_slice() {
        [only] => {
            vec![Entry::Bind { from: only.clone(), at: BASE.into(), access: Access::Read }]
        }
        _ => layered(BASE, layers, &policy.store.join("base")),
    };
    root.extend(base);
    Blueprint {
        isolation: Isolation::Namespaces(identity::choose(surroundings)),
        paths: rules::rooted(&root),
        root,
        environment: BTreeMap::new(),
        folder: "/".into(),
        network: Network::None,
        caps: caps(&limits, Vec::new()),
        cgroup: group::settings(&limits, &capabilities.cgroups),
        state: policy.store.parent().map(Path::to_owned),
        discard: Some(policy.store.clone()),
        searched: None,
    }
}

fn layered(at: &str, layers: &Layers, store: &Path) -> Vec<Entry> {
    let lower = layers.lower.clone();
    vec![
        Entry::Layered { at: at.into(), lower, store: store.to_owned() },
        Entry::Shut { at: at.into(), kind: Kind::Folder },
    ]
}
