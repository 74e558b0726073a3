//! What the operating system must keep to before a subagent starts.

use serde::{Serialize, Serializer};

use super::Profile;

/// Whose jail a profile has: the five built-in profiles differ in nothing else but their tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Confinement {
    ReadOnly,
    Research,
    Validate,
    Writer,
    FullAccess,
}

impl Confinement {
    pub const ALL: [Self; 5] =
        [Self::ReadOnly, Self::Research, Self::Validate, Self::Writer, Self::FullAccess];

    /// The name of the built-in profile.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ReadOnly => "read-only",
            Self::Research => "research",
            Self::Validate => "validate",
            Self::Writer => "writer",
            Self::FullAccess => "full-access",
        }
    }

    pub(super) fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.as_str() == name)
    }

    /// Whether nothing can be done here that cannot be done there.
    pub(super) fn is_within(self, other: Self) -> bool {
        match self {
            Self::ReadOnly => true,
            Self::Validate => matches!(other, Self::Validate | Self::Writer | Self::FullAccess),
            Self::Research | Self::Writer | Self::FullAccess => {
                other == self || other == Self::FullAccess
            }
        }
    }

    /// The jail in which nothing can be done that cannot be done in both.
    pub(super) fn under(self, other: Self) -> Self {
        if self.is_within(other) {
            self
        } else if other.is_within(self) {
            other
        } else {
            Self::ReadOnly
        }
    }

    pub fn is_networked(self) -> bool {
        matches!(self, Self::Research | Self::FullAccess)
    }

    /// What must hold before anything starts in it with these hosts.
    pub fn guarantees<H>(self, hosts: &[H]) -> Vec<Guarantee> {
        let mut all = vec![
            Guarantee::NoWriteOutlives,
            Guarantee::ReadsConfined,
            Guarantee::SecretsHidden,
            Guarantee::CleanEnvironment,
            Guarantee::DescriptorsClosed,
            Guarantee::TreeKill,
            Guarantee::NoNewPrivileges,
            Guarantee::Limits,
            Guarantee::MemoryLimit,
        ];
        let named = self.is_networked() || !hosts.is_empty();
        all.push(if named { Guarantee::NamedHosts } else { Guarantee::NoNetwork });
        match self {
            Self::ReadOnly | Self::Research => {}
            Self::Validate => all.extend([Guarantee::CopyOnWrite, Guarantee::DiskLimit]),
            Self::Writer | Self::FullAccess => all.extend([
                Guarantee::PrivateWorkspace,
                Guarantee::ProtectedNames,
                Guarantee::DiskLimit,
            ]),
        }
        all
    }
}

/// One thing the jail keeps to. Where a machine cannot give it, an attempt that needs it does not start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Guarantee {
    NoWriteOutlives,
    ReadsConfined,
    SecretsHidden,
    CleanEnvironment,
    DescriptorsClosed,
    TreeKill,
    NoNewPrivileges,
    Limits,
    MemoryLimit,
    NoNetwork,
    NamedHosts,
    PrivateWorkspace,
    ProtectedNames,
    CopyOnWrite,
    DiskLimit,
}

impl Guarantee {
    pub const ALL: [Self; 15] = [
        Self::NoWriteOutlives,
        Self::ReadsConfined,
        Self::SecretsHidden,
        Self::CleanEnvironment,
        Self::DescriptorsClosed,
        Self::TreeKill,
        Self::NoNewPrivileges,
        Self::Limits,
        Self::MemoryLimit,
        Self::NoNetwork,
        Self::NamedHosts,
        Self::PrivateWorkspace,
        Self::ProtectedNames,
        Self::CopyOnWrite,
        Self::DiskLimit,
    ];

    /// What it means, as a sentence.
    pub fn sentence(self) -> &'static str {
        match self {
            Self::NoWriteOutlives => {
                "Nothing it writes outlives the attempt but a change that is harvested."
            }
            Self::ReadsConfined => "It reads the workspace and the tool chains, and nothing else.",
            Self::SecretsHidden => "Secret files are not there.",
            Self::CleanEnvironment => "It inherits no environment.",
            Self::DescriptorsClosed => "It inherits no open file.",
            Self::TreeKill => "All its processes end with it.",
            Self::NoNewPrivileges => "It gains no privileges.",
            Self::Limits => "Its wall time, output and number of processes are limited.",
            Self::MemoryLimit => "Its memory is limited.",
            Self::NoNetwork => "It has no network.",
            Self::NamedHosts => "It reaches the hosts that are named, and no other.",
            Self::PrivateWorkspace => "It writes in a workspace of its own.",
            Self::ProtectedNames => "It does not write protected names.",
            Self::CopyOnWrite => "Its writes go to a layer that is thrown away.",
            Self::DiskLimit => "Its disk space is limited.",
        }
    }

    pub fn as_str(self) -> &'static str {
        match self {
            Self::NoWriteOutlives => "no_write_outlives",
            Self::ReadsConfined => "reads_confined",
            Self::SecretsHidden => "secrets_hidden",
            Self::CleanEnvironment => "clean_environment",
            Self::DescriptorsClosed => "descriptors_closed",
            Self::TreeKill => "tree_kill",
            Self::NoNewPrivileges => "no_new_privileges",
            Self::Limits => "limits",
            Self::MemoryLimit => "memory_limit",
            Self::NoNetwork => "no_network",
            Self::NamedHosts => "named_hosts",
            Self::PrivateWorkspace => "private_workspace",
            Self::ProtectedNames => "protected_names",
            Self::CopyOnWrite => "copy_on_write",
            Self::DiskLimit => "disk_limit",
        }
    }
}

impl Serialize for Guarantee {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl Profile {
    /// What must hold before it is used.
    pub fn guarantees(&self) -> Vec<Guarantee> {
        self.confinement.guarantees(&self.hosts)
    }
}
