//! The jail: what a profile says is what the kernel does.

mod blueprint;
mod groups;
mod inside;
mod launch;
mod link;
mod order;
mod placeholder;
mod pump;
mod root;
mod rules;
mod seccomp;
mod sources;
mod supervise;
mod sys;
mod tree;
mod watch;

pub use blueprint::{
    Access, Blueprint, Caps, Cgroup, Entry, Group, Identity, Ids, Isolation, Kind, Network,
    PathRule,
};
pub use launch::{Error, Jail, Stopper, Streams};
pub use order::{Ending, Reason, Said, Trouble};
pub use supervise::enter_if_jailed;
