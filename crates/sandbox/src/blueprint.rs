//! What one jail is made of, decided before anything is done: `compile` makes it, `launch` carries it out.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

pub use sequester_core::protected::Kind;
use serde::{Deserialize, Serialize};

/// Everything that the supervisor and the jailed side need to know. It reaches them by descriptor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Blueprint {
    pub isolation: Isolation,
    /// What the file system of the jail is made of, in this order, over nothing.
    pub root: Vec<Entry>,
    /// Rules of the kernel on top of it, by the paths inside. A path that no rule covers cannot be opened at all.
    pub paths: Vec<PathRule>,
    /// All that a program finds in its environment.
    pub environment: BTreeMap<String, String>,
    /// Where a program starts.
    pub folder: PathBuf,
    pub network: Network,
    pub caps: Caps,
    pub cgroup: Option<Cgroup>,
    /// Where a supervisor notes what must be taken away if it cannot do so itself.
    pub state: Option<PathBuf>,
    /// What the supervisor removes at the end, this jail's own.
    pub discard: Option<PathBuf>,
    /// The person's folder that was looked through for what must not be seen: once more when all is mounted, since somebody may have moved
    /// something meanwhile.
    pub searched: Option<PathBuf>,
}

/// How the jail is kept apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Isolation {
    /// Namespaces and a root of its own.
    Namespaces(Identity),
    /// Landlock and seccomp alone, in the machine's own root and under the ids of whoever started it. The filter then also
    /// refuses what Landlock does not see: modes, owners, times and attributes of files, limits and priorities of others.
    Fallback,
}

/// Who the jailed program is, inside and for the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    pub inside: Ids,
    /// Nobody of the machine's where it was started by root; else the person's own.
    pub outside: Ids,
    /// The person's, who owns the files. Where it differs from `outside`, mounts are mapped from one to the other.
    pub owner: Ids,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ids {
    pub user: u32,
    pub group: u32,
}

/// One thing in the jail's root. `at` is a path inside, `from` one of the machine's. Folders above `at` are made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Entry {
    Folder {
        at: PathBuf,
        mode: u32,
    },
    /// A file that is written for the jail.
    Text {
        at: PathBuf,
        content: String,
    },
    /// The same over a file of the machine's, which stays as it is: mounted, never written through.
    Cover {
        at: PathBuf,
        content: String,
    },
    Link {
        at: PathBuf,
        to: PathBuf,
    },
    /// A file or folder of the machine's.
    Bind {
        from: PathBuf,
        at: PathBuf,
        access: Access,
    },
    /// A memory file system.
    Scratch {
        at: PathBuf,
        bytes: u64,
        mode: u32,
    },
    /// Writes go to `store`, what is beneath is never changed. The first of `lower` is the highest.
    Layered {
        at: PathBuf,
        lower: Vec<PathBuf>,
        /// An empty folder on a disk, for the layer and what the kernel needs beside it.
        store: PathBuf,
    },
    /// A folder of the machine's to be read, through a layer: its names are the jail's own, and no socket of the machine's answers there.
    Mirror {
        from: PathBuf,
        at: PathBuf,
    },
    /// A file or folder of the machine's to be read, by names of the jail's own: no socket, pipe or lock of the machine's answers there. One
    /// layer serves all that have `top` in common; where there can be none, they are bound, and sockets and pipes in them covered.
    Shown {
        from: PathBuf,
        at: PathBuf,
        /// `from`, or a folder above it on the same file system that nothing else is mounted in.
        top: PathBuf,
        /// Whether the jail's user reads it as the person does, and not as anybody.
        as_owner: bool,
    },
    /// `/proc` of the jail's own processes.
    Processes,
    /// `/dev` with what programs expect and nothing else.
    Devices,
    /// Hides what is there behind something empty that cannot be changed.
    Hidden {
        at: PathBuf,
    },
    /// What is there, unchangeable. If nothing is there, nothing can be made there: a placeholder holds the name, in the
    /// machine's folder too while the jail lives, and `kind` says what it is.
    Shut {
        at: PathBuf,
        kind: Kind,
    },
}

impl Entry {
    /// Where it stands inside.
    pub fn at(&self) -> &Path {
        match self {
            Self::Folder { at, .. }
            | Self::Text { at, .. }
            | Self::Cover { at, .. }
            | Self::Link { at, .. }
            | Self::Bind { at, .. }
            | Self::Scratch { at, .. }
            | Self::Layered { at, .. }
            | Self::Mirror { at, .. }
            | Self::Shown { at, .. }
            | Self::Hidden { at }
            | Self::Shut { at, .. } => at,
            Self::Processes => Path::new("/proc"),
            Self::Devices => Path::new("/dev"),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Access {
    Read,
    Write,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PathRule {
    pub path: PathBuf,
    pub access: Access,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Network {
    /// Only the loopback of the jail's own.
    None,
    /// These hosts, through a proxy that listens on this port of the jail's loopback.
    Hosts { hosts: Vec<String>, port: u16 },
}

/// What the supervisor ends a jail for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Caps {
    /// Bytes of memory of all processes together.
    pub memory: u64,
    pub pids: u32,
    /// Time on a processor, of all processes together.
    pub cpu: Option<Duration>,
    pub wall: Option<Duration>,
    /// Bytes on standard output and standard error together.
    pub output: Option<u64>,
    /// Bytes in all layers and writable folders together.
    pub disk: u64,
    /// Of the machine: what counts against `disk`.
    pub counted: Vec<PathBuf>,
}

/// Where the kernel itself limits the tree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cgroup {
    /// Folders to be made, one in each hierarchy, with what is written to which file in them.
    V1(Vec<Group>),
    V2(Group),
}

impl Cgroup {
    /// Whether one of the groups limits memory.
    pub(crate) fn limit_memory(&self) -> bool {
        self.set(&["memory.limit_in_bytes", "memory.max"])
    }

    /// Whether one of the groups limits the number of processes.
    pub(crate) fn limit_pids(&self) -> bool {
        self.set(&["pids.max"])
    }

    fn set(&self, files: &[&str]) -> bool {
        let groups = match self {
            Self::V1(groups) => &groups[..],
            Self::V2(group) => std::slice::from_ref(group),
        };
        let mut settings = groups.iter().flat_map(|group| &group.settings);
        settings.any(|(file, _)| files.contains(&file.as_str()))
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Group {
    /// The folder that is made for one jail is made in here.
    pub parent: PathBuf,
    pub settings: Vec<(String, String)>,
}
