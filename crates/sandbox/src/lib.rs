//! The jail: what a profile says is what the kernel does.

mod blueprint;
mod proxy;

pub use blueprint::{
    Access, Blueprint, Caps, Cgroup, Entry, Group, Identity, Ids, Isolation, Kind, Network,
    PathRule,
};
pub use proxy::{Allowance, BadHost, Decision, Hosts, NameService, Proxy, Resolve};
