//! What a jail may use, and who said so: what a person needs to know when a limit is met.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use sequester_core::fault::Code;
use sequester_core::limits::Limit;
use sequester_core::profile::Profile;
use sequester_sandbox::{Cause, Limits};

use crate::failure::Failure;
use crate::render::terminal::size;
use crate::wire::jail;

pub(crate) struct Bounds {
    pub(crate) limits: Limits,
    /// Named by `--limit`.
    flags: BTreeSet<String>,
    profile: String,
    /// As far as the profile's own is the lowest.
    by_profile: BTreeSet<Limit>,
    configured: BTreeSet<Limit>,
}

impl Bounds {
    /// What is named on the command line is the person's own word, whatever the profile and configuration say.
    pub(crate) fn of(
        profile: &Profile,
        set: &BTreeMap<Limit, u64>,
        flags: &[String],
    ) -> Result<Self, Failure> {
        let mut limits = jail::limits(profile, set);
        for flag in flags {
            limits.set(flag).map_err(|error| {
                let hint = error.hint();
                let place = format!("--limit {flag}");
                Failure::input(Code::BadArguments, place, error.to_string(), hint)
            })?;
        }
        let is_lowest =
            |(limit, most): &(&Limit, &u64)| set.get(limit).is_none_or(|set| set >= most);
        let by_profile = profile.limits.iter().filter(is_lowest).map(|(limit, _)| *limit).collect();
        let named = flags.iter().filter_map(|flag| flag.split_once('='));
        Ok(Self {
            limits,
            flags: named.map(|(key, _)| key.to_owned()).collect(),
            profile: profile.name.clone(),
            by_profile,
            configured: set.keys().copied().collect(),
        })
    }

    /// What is said of a command that the kernel ended by a signal, if a limit may be why. Others may send the same.
    pub(crate) fn at_signal(&self, signal: i32) -> Option<(Cause, String)> {
        const KILL: i32 = 9;
        const CPU: i32 = 24;
        const FILE: i32 = 25;
        let (what, cause) = match signal {
            KILL => ("used more memory than it may", Cause::Memory),
            CPU => ("used more processor time than it may", Cause::Cpu),
            FILE => ("wrote a larger file than it may", Cause::Disk),
            _ => return None,
        };
        let met = self.told(cause)?;
        let told = format!(
            "So the kernel ends a program that {what}. If this is why, the limit was {met}."
        );
        Some((cause, told))
    }

    /// What is said of a jail that was ended.
    pub(crate) fn ended(&self, cause: Cause) -> String {
        let met = self.told(cause).map(|met| format!(" The limit was {met}."));
        cause.sentence().to_owned() + &met.unwrap_or_default()
    }

    /// `pids (64, set by --limit)`; nothing for what is no limit.
    pub(crate) fn told(&self, cause: Cause) -> Option<String> {
        let Limits { memory, pids, cpu, wall, output, disk } = &self.limits;
        let (key, limit, value) = match cause {
            Cause::Wall => ("wall", Some(Limit::Wall), time(*wall)),
            Cause::Output => ("output", None, size(*output)),
            Cause::Memory => ("memory", Some(Limit::Memory), size(*memory)),
            Cause::Disk => ("disk", Some(Limit::Disk), size(*disk)),
            Cause::Cpu => ("cpu", Some(Limit::Cpu), time((*cpu)?)),
            Cause::Pids => ("pids", Some(Limit::Pids), pids.to_string()),
            Cause::Pipes | Cause::Exposed | Cause::Asked => return None,
        };
        let is_in = |list: &BTreeSet<Limit>| limit.is_some_and(|limit| list.contains(&limit));
        let by = if self.flags.contains(key) {
            "set by --limit".to_owned()
        } else if is_in(&self.by_profile) {
            format!("set by the profile `{}`", self.profile)
        } else if is_in(&self.configured) {
            "set in the configuration".to_owned()
        } else {
            "the default".to_owned()
        };
        Some(format!("{key} ({value}, {by})"))
    }
}

fn time(time: Duration) -> String {
    let (seconds, rest) = (time.as_secs(), time.subsec_millis());
    match (seconds, rest) {
        (_, 1..) => format!("{} ms", time.as_millis()),
        (60.., _) if seconds.is_multiple_of(60) => format!("{} min", seconds / 60),
        _ => format!("{seconds} s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_told_with_its_value_and_who_set_it() {
        let (profiles, _) = sequester_core::profile::Profiles::read(&[]);
        let mut profile = profiles.get("writer").unwrap().clone();
        profile.limits = BTreeMap::from([(Limit::Memory, 1 << 30), (Limit::Disk, 2 << 30)]);
        let set = BTreeMap::from([(Limit::Disk, 512 << 20), (Limit::Wall, 90)]);
        let flags = ["pids=64".to_owned()];
        let bounds = Bounds::of(&profile, &set, &flags).unwrap();
        let told = [Cause::Pids, Cause::Memory, Cause::Disk, Cause::Wall, Cause::Output];
        let told = told.map(|cause| bounds.told(cause).unwrap());
        assert_eq!(
            told,
            [
                "pids (64, set by --limit)",
                "memory (1 GiB, set by the profile `writer`)",
                "disk (512 MiB, set in the configuration)",
                "wall (90 s, set in the configuration)",
                "output (64 MiB, the default)",
            ]
        );
        assert_eq!((bounds.told(Cause::Cpu), bounds.told(Cause::Asked)), (None, None));
        let ended = "It used more memory than it may, so it was ended. The limit was memory (1 GiB, set by the profile `writer`).";
        assert_eq!(bounds.ended(Cause::Memory), ended);
        let (cause, killed) = bounds.at_signal(9).unwrap();
        assert!(
            cause == Cause::Memory && killed.ends_with("(1 GiB, set by the profile `writer`).")
        );
        assert_eq!((bounds.at_signal(15), bounds.at_signal(-127)), (None, None));
    }
}
