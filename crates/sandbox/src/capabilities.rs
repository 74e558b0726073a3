//! What this kernel can do, each thing really tried before it is believed.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::PathBuf;

use sequester_core::profile::Guarantee;
use serde::Serialize;

/// What was tried, and with which result. The probe fills it; `compile` reads nothing else about the kernel.
#[expect(clippy::struct_excessive_bools, reason = "each is one thing that was tried")]
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Capabilities {
    /// All of user, mount, pid, ipc, uts, net and cgroup namespaces, by one `clone3`, with ids mapped.
    pub user_namespaces: bool,
    /// Detached mounts moved into a new root, and `pivot_root` into it.
    pub mount_api: bool,
    /// A `/proc` of the jail's own processes.
    pub proc_mount: bool,
    /// A layer over a folder, under the ids that a jail has here.
    pub overlay: bool,
    /// The owner's files under other ids; only root's jails need it.
    pub idmapped_mounts: bool,
    /// The version of Landlock; 0 where there is none.
    pub landlock: u32,
    pub seccomp: bool,
    /// A process that cannot be mistaken for another.
    pub pidfd: bool,
    /// The core of a crashed program goes to no socket of the machine's (`kernel.core_pattern`).
    pub contained_cores: bool,
    pub cgroups: Cgroups,
    /// Guarantees that a jail started here was seen not to keep.
    pub broken: BTreeSet<Guarantee>,
}

/// The control groups that a jail's can be made in.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Cgroups {
    #[default]
    None,
    /// Controllers with the folder, one in each hierarchy.
    V1 {
        parents: BTreeMap<String, PathBuf>,
        swap: Swap,
    },
    V2 {
        parent: PathBuf,
        controllers: BTreeSet<String>,
        swap: Swap,
    },
}

/// Whether the kernel counts what was moved out of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Swap {
    Counted,
    Uncounted,
}

/// One capability by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Capability {
    UserNamespaces,
    MountApi,
    ProcMount,
    Overlay,
    IdmappedMounts,
    Landlock,
    Seccomp,
    Pidfd,
    ContainedCores,
}

/// From this version on it keeps signals and abstract sockets in, which a jail without namespaces depends on.
pub const LANDLOCK_SCOPES: u32 = 6;

impl Capability {
    pub const ALL: [Self; 9] = [
        Self::UserNamespaces,
        Self::MountApi,
        Self::ProcMount,
        Self::Overlay,
        Self::IdmappedMounts,
        Self::Landlock,
        Self::Seccomp,
        Self::Pidfd,
        Self::ContainedCores,
    ];
}

impl fmt::Display for Capability {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::UserNamespaces => "user namespaces",
            Self::MountApi => "the mount API of Linux 5.12",
            Self::ProcMount => "a `/proc` of its own",
            Self::Overlay => "overlay mounts",
            Self::IdmappedMounts => "idmapped mounts",
            Self::Landlock => "Landlock ABI 6",
            Self::Seccomp => "seccomp filters",
            Self::Pidfd => "pidfds",
            Self::ContainedCores => {
                "a `kernel.core_pattern` that names no socket, as after `sysctl kernel.core_pattern=core`"
            }
        })
    }
}

impl Capabilities {
    pub fn has(&self, capability: Capability) -> bool {
        match capability {
            Capability::UserNamespaces => self.user_namespaces,
            Capability::MountApi => self.mount_api,
            Capability::ProcMount => self.proc_mount,
            Capability::Overlay => self.overlay,
            Capability::IdmappedMounts => self.idmapped_mounts,
            Capability::Landlock => self.landlock >= LANDLOCK_SCOPES,
            Capability::Seccomp => self.seccomp,
            Capability::Pidfd => self.pidfd,
            Capability::ContainedCores => self.contained_cores,
        }
    }

    /// Everything but control groups, which most machines keep from their users.
    pub fn all() -> Self {
        Self::of(&Capability::ALL)
    }

    pub fn none() -> Self {
        Self::of(&[])
    }

    /// These and no others.
    pub fn of(capabilities: &[Capability]) -> Self {
        let has = |capability| capabilities.contains(&capability);
        Self {
            user_namespaces: has(Capability::UserNamespaces),
            mount_api: has(Capability::MountApi),
            proc_mount: has(Capability::ProcMount),
            overlay: has(Capability::Overlay),
            idmapped_mounts: has(Capability::IdmappedMounts),
            landlock: if has(Capability::Landlock) { LANDLOCK_SCOPES } else { 0 },
            seccomp: has(Capability::Seccomp),
            pidfd: has(Capability::Pidfd),
            contained_cores: has(Capability::ContainedCores),
            cgroups: Cgroups::None,
            broken: BTreeSet::new(),
        }
    }

    /// As on a machine whose jails do not keep to this.
    #[must_use]
    pub fn without(mut self, guarantee: Guarantee) -> Self {
        self.broken.insert(guarantee);
        self
    }
}
