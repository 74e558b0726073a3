//! Control groups: what is written where, so that the kernel itself limits the tree.

#[cfg(test)]
mod tests;

use crate::blueprint::{Cgroup, Group};
use crate::capabilities::{Cgroups, Swap};
use crate::limits::Limits;

pub(super) fn settings(limits: &Limits, cgroups: &Cgroups) -> Option<Cgroup> {
    match cgroups {
        Cgroups::None => None,
        Cgroups::V1 { parents, swap } => {
            let groups = parents.iter().map(|(controller, parent)| Group {
                parent: parent.clone(),
                settings: first(limits, controller, *swap),
            });
            Some(Cgroup::V1(groups.collect()))
        }
        Cgroups::V2 { parent, controllers, swap } => {
            let settings = controllers.iter().flat_map(|one| second(limits, one, *swap)).collect();
            Some(Cgroup::V2(Group { parent: parent.clone(), settings }))
        }
    }
}

type Settings = Vec<(String, String)>;

/// A hierarchy that limits nothing is joined to count or to freeze.
fn first(limits: &Limits, controller: &str, swap: Swap) -> Settings {
    let memory = limits.memory.to_string();
    match (controller, swap) {
        ("memory", Swap::Uncounted) => listed(&[("memory.limit_in_bytes", &memory)]),
        // Memory and swap together cannot be less than memory, so that one comes first.
        ("memory", Swap::Counted) => {
            listed(&[("memory.limit_in_bytes", &memory), ("memory.memsw.limit_in_bytes", &memory)])
        }
        ("pids", _) => listed(&[("pids.max", &limits.pids.to_string())]),
        _ => Vec::new(),
    }
}

/// Not tried on a machine yet: those at hand have the first version only.
fn second(limits: &Limits, controller: &str, swap: Swap) -> Settings {
    let memory = limits.memory.to_string();
    match (controller, swap) {
        ("memory", Swap::Uncounted) => {
            listed(&[("memory.max", &memory), ("memory.oom.group", "1")])
        }
        ("memory", Swap::Counted) => {
            listed(&[("memory.max", &memory), ("memory.swap.max", "0"), ("memory.oom.group", "1")])
        }
        ("pids", _) => listed(&[("pids.max", &limits.pids.to_string())]),
        _ => Vec::new(),
    }
}

fn listed(settings: &[(&str, &str)]) -> Settings {
    settings.iter().map(|(file, value)| ((*file).to_owned(), (*value).to_owned())).collect()
}
