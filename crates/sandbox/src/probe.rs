//! What this kernel can do. `assume` asks only what an answer costs nothing; `probe` tries every step in a jail of its own.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::blueprint::{Access, Blueprint, Caps, Entry, Identity, Isolation, Network, PathRule};
use crate::capabilities::{Capabilities, Cgroups, Swap};
use crate::launch::{Error, Jail};
use crate::sys;

/// As on a machine where all is well. A jail is made as it was compiled or not at all, so an assumption that is wrong
/// is found by the start itself; then `probe` says what there is.
pub fn assume() -> Capabilities {
    Capabilities {
        landlock: sys::landlock_version(),
        pidfd: has_pidfd(),
        contained_cores: has_contained_cores(),
        cgroups: find_groups(),
        ..Capabilities::all()
    }
}

/// Really tries each step, with a scratch folder of the machine's to try it on.
pub fn probe(identity: Identity, scratch: &Path) -> Capabilities {
    let trial = Trial { identity, scratch };
    let bare = trial.run(Vec::new());
    let apart = !matches!(&bare, Err(error) if stopped_at(error, &FIRST_STEPS));
    let stands = is_mounted(&bare);
    let mounts = |entry: Entry| stands && is_mounted(&trial.run(vec![entry]));
    let (lower, store) = (scratch.join("lower"), scratch.join("store"));
    let bound = Entry::Bind { from: lower.clone(), at: "/work".into(), access: Access::Write };
    let layered = Entry::Layered { at: "/work".into(), lower: vec![lower.clone()], store };
    let there = fs::create_dir_all(&lower).is_ok();
    let capabilities = Capabilities {
        user_namespaces: apart,
        mount_api: stands,
        proc_mount: mounts(Entry::Processes),
        overlay: there && mounts(layered),
        idmapped_mounts: there && mounts(bound),
        landlock: sys::landlock_version(),
        seccomp: bare.is_ok() || is_filtered(&trial.run_in(Isolation::Fallback, Vec::new())),
        pidfd: has_pidfd(),
        contained_cores: has_contained_cores(),
        cgroups: find_groups(),
        broken: BTreeSet::new(),
    };
    // Left behind, it is taken away at the next start.
    let _ = crate::discard::discard(scratch);
    capabilities
}

struct Trial<'a> {
    identity: Identity,
    scratch: &'a Path,
}

impl Trial<'_> {
    fn run(&self, root: Vec<Entry>) -> Result<(), Error> {
        self.run_in(Isolation::Namespaces(self.identity), root)
    }

    /// A jail that runs nothing: that it stands is all that is asked.
    fn run_in(&self, isolation: Isolation, root: Vec<Entry>) -> Result<(), Error> {
        let blueprint = Blueprint {
            isolation,
            root,
            paths: vec![PathRule { path: "/".into(), access: Access::Read }],
            environment: BTreeMap::new(),
            folder: "/".into(),
            network: Network::None,
            caps: Caps {
                memory: 1 << 30,
                pids: 16,
                cpu: None,
                wall: Some(Duration::from_secs(10)),
                output: None,
                disk: 1 << 20,
                counted: Vec::new(),
            },
            cgroup: None,
            state: Some(self.scratch.to_owned()),
            discard: None,
            searched: None,
        };
        let null = fs::OpenOptions::new().read(true).write(true).open("/dev/null")?;
        let null = null.as_fd();
        let streams = crate::launch::Streams { stdin: null, stdout: null, stderr: null };
        Jail::run(&blueprint, Vec::new(), streams)?.wait(drop).map(drop)
    }
}

/// Where not even the namespaces can be made.
const FIRST_STEPS: [&str; 3] =
    [crate::ready::APART_STEP, crate::ready::MAP_STEP, crate::ready::OWNERS_STEP];

fn has_pidfd() -> bool {
    use rustix::process::{PidfdFlags, getpid, pidfd_open};
    pidfd_open(getpid(), PidfdFlags::empty()).is_ok()
}

/// A limit of one byte keeps cores from files and from programs that the kernel starts, not from a socket.
fn has_contained_cores() -> bool {
    // Without the file the kernel writes no cores.
    fs::read_to_string("/proc/sys/kernel/core_pattern")
        .map_or(true, |pattern| !is_socket_pattern(&pattern))
}

/// Whether the kernel sends cores to a socket by this `core_pattern`, as Linux 6.16 and later do for `@` at its start.
fn is_socket_pattern(pattern: &str) -> bool {
    pattern.starts_with('@')
}

/// Whether a jail stood; where it came to an end before its filter, whether the kernel says that it has any.
fn is_filtered(tried: &Result<(), Error>) -> bool {
    let refused = |error: &Error| stopped_at(error, &[crate::inside::FILTER_STEP]);
    match tried {
        Ok(()) => true,
        Err(error) => !refused(error) && sys::has_filters(),
    }
}

fn stopped_at(error: &Error, steps: &[&str]) -> bool {
    matches!(error, Error::Jail(trouble) if steps.contains(&trouble.step.as_str()))
}

/// Whether a jail stood, or came as far as its last step.
fn is_mounted(tried: &Result<(), Error>) -> bool {
    tried.as_ref().err().is_none_or(|error| stopped_at(error, &[crate::inside::FILTER_STEP]))
}

/// Controllers that a jail's group is made in.
const CONTROLLERS: [&str; 3] = ["cpuacct", "memory", "pids"];

/// The groups below which this process may make others, each tried.
fn find_groups() -> Cgroups {
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let own = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let parents = first_version(&mounts, &own);
    if !parents.is_empty() {
        let swap = parents.get("memory").map_or(Swap::Uncounted, |parent| {
            swap_counted(&parent.join("memory.memsw.limit_in_bytes"))
        });
        return Cgroups::V1 { parents, swap };
    }
    second_version(&mounts, &own).unwrap_or_default()
}

/// Where groups of jails are made.
pub(crate) fn group_parents() -> Vec<PathBuf> {
    match find_groups() {
        Cgroups::None => Vec::new(),
        Cgroups::V1 { parents, .. } => parents.into_values().collect(),
        Cgroups::V2 { parent, .. } => vec![parent],
    }
}

fn swap_counted(file: &Path) -> Swap {
    if file.exists() { Swap::Counted } else { Swap::Uncounted }
}

fn first_version(mounts: &str, own: &str) -> BTreeMap<String, PathBuf> {
    let found = CONTROLLERS.into_iter().filter_map(|controller| {
        let mount = mounted(mounts, |kind, options| {
            kind == "cgroup" && options.split(',').any(|option| option == controller)
        })?;
        let path = own.lines().find_map(|line| {
            let (_, rest) = line.split_once(':')?;
            let (controllers, path) = rest.split_once(':')?;
            controllers.split(',').any(|one| one == controller).then_some(path)
        })?;
        let parent = mount.join(path.trim_start_matches('/'));
        is_writable(&parent).then_some((controller.to_owned(), parent))
    });
    found.collect()
}

/// Processes are only in the leaves: a group that holds this process can hold others only if it has no controllers to
/// give. So the one above is taken, where it is ours.
fn second_version(mounts: &str, own: &str) -> Option<Cgroups> {
    let mount = mounted(mounts, |kind, _| kind == "cgroup2")?;
    let path = own.lines().find_map(|line| line.strip_prefix("0::/"))?;
    let parent = mount.join(path).parent().filter(|parent| parent.starts_with(&mount))?.to_owned();
    let given = fs::read_to_string(parent.join("cgroup.subtree_control")).ok()?;
    let controllers: BTreeSet<String> = given
        .split_whitespace()
        .filter(|one| ["cpu", "memory", "pids"].contains(one))
        .map(str::to_owned)
        .collect();
    if controllers.is_empty() || !is_writable(&parent) {
        return None;
    }
    let swap = swap_counted(&mount.join(path).join("memory.swap.max"));
    Some(Cgroups::V2 { parent, controllers, swap })
}

fn mounted(mounts: &str, wanted: impl Fn(&str, &str) -> bool) -> Option<PathBuf> {
    mounts.lines().find_map(|line| {
        let (before, after) = line.split_once(" - ")?;
        let mut after = after.split(' ');
        let (kind, options) = (after.next()?, after.nth(1)?);
        let point = before.split(' ').nth(4)?;
        wanted(kind, options).then(|| PathBuf::from(point))
    })
}

fn is_writable(folder: &Path) -> bool {
    use rustix::fs::{Access, access};
    access(folder, Access::WRITE_OK).is_ok()
        && access(folder.join("cgroup.procs"), Access::WRITE_OK).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_core_pattern_is_a_socket_by_its_first_letter() {
        for (pattern, wanted) in [
            ("@/run/coredump.socket\n", true),
            ("@@/run/coredump.socket\n", true),
            ("core\n", false),
            ("|/usr/lib/systemd/systemd-coredump %P\n", false),
            ("/var/cores/%e@%h\n", false),
            ("", false),
        ] {
            assert_eq!(is_socket_pattern(pattern), wanted, "{pattern}");
        }
    }
}
