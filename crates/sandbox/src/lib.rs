//! The jail: what a profile says is what the kernel does.

mod blueprint;
pub mod harvest;
pub mod workspace;

pub use blueprint::{
    Access, Blueprint, Caps, Cgroup, Entry, Group, Identity, Ids, Isolation, Kind, Network,
    PathRule,
};
