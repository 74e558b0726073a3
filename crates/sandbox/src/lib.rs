//! The jail: what a profile says is what the kernel does.

mod blueprint;
pub mod host;
pub mod limits;

pub use blueprint::{
    Access, Blueprint, Caps, Cgroup, Entry, Group, Identity, Ids, Isolation, Kind, Network,
    PathRule,
};
pub use host::Host;
pub use limits::Limits;
