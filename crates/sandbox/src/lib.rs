//! The jail: what a profile says is what the kernel does.

mod blueprint;
mod capabilities;
mod credential;
pub mod folder;
pub mod host;
pub mod limits;
mod policy;
pub mod protected;
mod surroundings;

pub use blueprint::{
    Access, Blueprint, Caps, Cgroup, Entry, Group, Identity, Ids, Isolation, Kind, Network,
    PathRule,
};
pub use capabilities::{Capabilities, Capability, Cgroups, LANDLOCK_SCOPES, Swap};
pub use folder::Folder;
pub use host::Host;
pub use limits::Limits;
pub use policy::{Layer, Layers, Policy, Workspace};
pub use surroundings::{Place, Surroundings, What};
