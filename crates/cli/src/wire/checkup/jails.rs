//! The jails of all profiles, each started and tried.

use std::collections::BTreeMap;
use std::thread;

use sequester_core::fault::Code;
use sequester_core::profile::{Confinement, Guarantee};
use sequester_sandbox::trial::{self, Tried};
use sequester_sandbox::{
    Capabilities, Capability, Cgroups, Keeper, Keepers, Limits, Reason, is_rooted, keepers,
};

use super::Problem;
use super::kernel::Kernel;
use crate::failure::Failure;
use crate::wire::jail::Machine;

pub(super) struct Jails {
    capabilities: Capabilities,
    /// Who keeps each limit.
    pub(super) keepers: Keepers,
    pub(super) guarantees: BTreeMap<&'static str, BTreeMap<Guarantee, bool>>,
    /// By profile, whether a jail of it starts, whatever it keeps.
    pub(super) starts: BTreeMap<&'static str, bool>,
    renames: Option<bool>,
    /// Whether jails have namespaces and a root of their own.
    rooted: bool,
}

impl Jails {
    pub(super) fn try_out(
        machine: &Machine,
        kernel: &Kernel,
        problems: &mut Vec<Problem>,
    ) -> Result<Self, Failure> {
        machine.make_state()?;
        let capabilities = machine.probe();
        let tried = try_all(machine, &capabilities)?;
        tell_missing(kernel, &capabilities, &tried, problems);
        let keepers = keepers(&machine.surroundings, &capabilities);
        tell_watched(&keepers, problems);
        let rooted = is_rooted(&machine.surroundings, &capabilities);
        let renames = tried.iter().find_map(|(_, tried)| tried.renames);
        let starts = tried.iter().map(|(profile, tried)| {
            (profile.as_str(), tried.missing.is_empty() && tried.trouble.is_none())
        });
        let starts = starts.collect();
        let guarantees =
            tried.into_iter().map(|(profile, tried)| (profile.as_str(), tried.guarantees));
        let guarantees = guarantees.collect();
        Ok(Self { capabilities, keepers, guarantees, starts, renames, rooted })
    }

    pub(super) fn capabilities(&self) -> BTreeMap<String, bool> {
        let all = Capability::ALL.into_iter();
        all.map(|one| (plain(one), self.capabilities.has(one))).collect()
    }

    /// Of the loop that is built in. The others differ: what an agent program asks its model is its own affair.
    pub(super) fn promises(&self) -> BTreeMap<&'static str, bool> {
        let kept = |wanted: &[Guarantee]| {
            let mut all = self.guarantees.values().flatten();
            all.all(|(guarantee, kept)| *kept || !wanted.contains(guarantee))
        };
        BTreeMap::from([
            ("exact_context", true),
            ("structure", kept(&Guarantee::ALL)),
            ("reads_confined", kept(&[Guarantee::ReadsConfined, Guarantee::SecretsHidden])),
            ("bounded", kept(&[Guarantee::Limits, Guarantee::MemoryLimit, Guarantee::DiskLimit])),
        ])
    }

    pub(super) fn facts(&self) -> Vec<String> {
        let renames = self.renames == Some(false);
        let shown = !self.rooted;
        let facts = [renames.then_some(EXDEV), shown.then_some(SHOWN)];
        facts.into_iter().flatten().map(str::to_owned).collect()
    }

    pub(super) fn cgroups(&self) -> String {
        match &self.capabilities.cgroups {
            Cgroups::None => "none".to_owned(),
            Cgroups::V1 { parents, .. } => {
                let names: Vec<&str> = parents.keys().map(String::as_str).collect();
                format!("v1 ({})", names.join(", "))
            }
            Cgroups::V2 { controllers, .. } => {
                let names: Vec<&str> = controllers.iter().map(String::as_str).collect();
                format!("v2 ({})", names.join(", "))
            }
        }
    }
}

const EXDEV: &str = "Where a workspace lies in layers, renaming a folder that was there before gives EXDEV (\"Invalid \
    cross-device link\"); `mv` and git copy it instead, programs that call `rename` alone fail.";

const SHOWN: &str = "Without namespaces a jail has the machine's own root: that files are there, their sizes, times and owners, and \
    where links lead, can be seen of all of them, though nothing in them can be read; it runs under your own user, and the machine's name \
    is seen.";

/// Each with its defaults, in bytes, seconds or times.
pub(super) fn limits() -> BTreeMap<&'static str, u64> {
    let Limits { memory, pids, wall, output, disk, cpu: _ } = Limits::default();
    BTreeMap::from([
        ("memory", memory),
        ("pids", pids.into()),
        ("wall", wall.as_secs()),
        ("output", output),
        ("disk", disk),
    ])
}

/// All at once: most of the time is waiting for limits to be reached.
fn try_all(
    machine: &Machine,
    capabilities: &Capabilities,
) -> Result<Vec<(Confinement, Tried)>, Failure> {
    thread::scope(|scope| {
        let started: Vec<_> = Confinement::ALL
            .into_iter()
            .map(|profile| {
                let place = machine.store();
                let surroundings = &machine.surroundings;
                let attempt = move || trial::try_out(profile, surroundings, capabilities, &place);
                (profile, scope.spawn(attempt))
            })
            .collect();
        started
            .into_iter()
            .map(|(profile, thread)| {
                let tried =
                    thread.join().unwrap_or_else(|_| Err(std::io::Error::other("it broke off")));
                let told = |error: std::io::Error| {
                    let message = format!("The jails could not be tried: {error}.");
                    let hint =
                        "Check the disk, and the folder that `XDG_STATE_HOME` or `HOME` names.";
                    Failure::work(Code::NoWorkspace, machine.state.display(), message, hint)
                };
                tried.map(|tried| (profile, tried)).map_err(told)
            })
            .collect()
    })
}

/// One problem for each capability that somebody misses, and for each thing that was seen.
fn tell_missing(
    kernel: &Kernel,
    capabilities: &Capabilities,
    tried: &[(Confinement, Tried)],
    problems: &mut Vec<Problem>,
) {
    let lacks = |tried: &Tried, capability: Capability| {
        tried.missing.iter().any(
            |one| matches!(&one.reason, Reason::Lacking(lacking) if lacking.contains(&capability)),
        )
    };
    let lacking = Capability::ALL.into_iter().filter(|one| !capabilities.has(*one));
    for capability in lacking.filter(|one| rests_on(*one).is_none_or(|one| capabilities.has(one))) {
        let without: Vec<&str> = tried
            .iter()
            .filter(|(_, tried)| lacks(tried, capability))
            .map(|(profile, _)| profile.as_str())
            .collect();
        let message = match without.as_slice() {
            [] if capability == Capability::Landlock => {
                format!("This machine lacks {capability}: the jails hold, by one wall less.")
            }
            [] => continue,
            names => format!(
                "This machine lacks {capability}, so there is no jail for `{}`.",
                names.join("`, `")
            ),
        };
        problems.push(Problem { message, hint: kernel.advise(capability).to_owned() });
    }
    tell_seen(tried, problems);
}

/// What jails were seen to do, each thing once with the profiles that it concerns.
fn tell_seen(tried: &[(Confinement, Tried)], problems: &mut Vec<Problem>) {
    let mut seen: BTreeMap<(String, &str), Vec<&str>> = BTreeMap::new();
    for (profile, tried) in tried {
        let trouble = tried.trouble.iter().map(|trouble| {
            let hint = "Mend what the step in brackets met; nothing runs without the jail.";
            (format!("There is no jail: {trouble}"), hint)
        });
        let broken = tried.broken.iter().map(|(guarantee, seen)| {
            let hint = "Do not use it here, and report it.";
            (format!("`{}` was not kept: {seen}.", guarantee.as_str()), hint)
        });
        let untried = tried.untried.iter().map(|(guarantee, why)| {
            let hint = "Try it again when the machine is less busy; report it if that stays.";
            (format!("Nobody knows whether `{}` is kept: {why}.", guarantee.as_str()), hint)
        });
        for told in trouble.chain(broken).chain(untried) {
            seen.entry(told).or_default().push(profile.as_str());
        }
    }
    problems.extend(seen.into_iter().map(|((told, hint), profiles)| Problem {
        message: format!("In the jail of `{}`: {told}", profiles.join("`, `")),
        hint: hint.to_owned(),
    }));
}

/// What a capability cannot be tried without.
fn rests_on(capability: Capability) -> Option<Capability> {
    match capability {
        Capability::MountApi => Some(Capability::UserNamespaces),
        Capability::ProcMount | Capability::Overlay | Capability::IdmappedMounts => {
            Some(Capability::MountApi)
        }
        _ => None,
    }
}

/// Limits that control groups would keep.
fn tell_watched(keepers: &Keepers, problems: &mut Vec<Problem>) {
    let watched = ["memory", "pids"].into_iter();
    let watched = watched.filter(|limit| keepers.get(limit) == Some(&Keeper::Watched));
    let watched = watched.collect::<Vec<_>>().join("`, `");
    if !watched.is_empty() {
        let message = format!(
            "There is no control group to be had for `{watched}`: watched many times a second, and not limited by the kernel."
        );
        problems.push(Problem { message, hint: Kernel::advise_groups().to_owned() });
    }
}

/// As a key.
fn plain(capability: Capability) -> String {
    let value = serde_json::to_value(capability).unwrap_or_default();
    value.as_str().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_several_profiles_meet_is_told_once() {
        let broken = BTreeMap::from([(Guarantee::Limits, "it printed more than it may")]);
        let tried = |broken: &BTreeMap<_, _>| Tried {
            guarantees: BTreeMap::new(),
            missing: Vec::new(),
            broken: broken.clone(),
            untried: BTreeMap::new(),
            trouble: None,
            renames: None,
        };
        let (one, two) = (tried(&broken), tried(&broken));
        let all = [
            (Confinement::ReadOnly, one),
            (Confinement::Research, tried(&BTreeMap::new())),
            (Confinement::Writer, two),
        ];
        let mut problems = Vec::new();
        tell_seen(&all, &mut problems);
        let told: Vec<&str> = problems.iter().map(|one| one.message.as_str()).collect();
        assert_eq!(
            told,
            [
                "In the jail of `read-only`, `writer`: `limits` was not kept: it printed more than it may."
            ]
        );
    }
}
