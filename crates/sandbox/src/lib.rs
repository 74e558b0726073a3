//! The jail: what a profile says is what the kernel does.

mod blueprint;
mod capabilities;
mod compile;
mod credential;
pub mod folder;
#[cfg(test)]
mod golden;
pub mod host;
pub mod limits;
#[cfg(test)]
mod machine;
mod policy;
pub mod protected;
pub mod seatbelt;
mod surroundings;

pub use blueprint::{
    Access, Blueprint, Caps, Cgroup, Entry, Group, Identity, Ids, Isolation, Kind, Network,
    PathRule,
};
pub use capabilities::{Capabilities, Capability, Cgroups, LANDLOCK_SCOPES, Swap};
pub use compile::{Compiled, HOSTNAME, Memory, Missing, Reason, Refusal, compile, guarantees};
pub use folder::Folder;
pub use host::Host;
pub use limits::Limits;
pub use policy::{Layer, Layers, Policy, Workspace};
pub use surroundings::{Place, Surroundings, What};
