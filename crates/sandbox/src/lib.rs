//! The jail: what a profile says is what the kernel does.

mod blueprint;
mod capabilities;
mod compile;
mod discard;
mod disk;
mod first;
pub mod folder;
#[cfg(test)]
mod golden;
mod groups;
mod guard;
mod handover;
pub mod harvest;
mod hold;
mod inside;
mod launch;
pub mod limits;
mod link;
#[cfg(test)]
mod machine;
mod mapping;
mod order;
mod placeholder;
mod policy;
mod probe;
mod proxy;
mod pump;
mod ready;
mod root;
mod rules;
pub mod seatbelt;
mod seccomp;
mod signals;
mod sources;
mod supervise;
mod surroundings;
mod sweep;
mod sys;
mod terminal;
mod tree;
pub mod trial;
mod watch;
mod ways;
pub mod workspace;

pub use blueprint::{
    Access, Blueprint, Caps, Cgroup, Entry, Group, Identity, Ids, Isolation, Kind, Network,
    PathRule,
};
pub use capabilities::{Capabilities, Capability, Cgroups, LANDLOCK_SCOPES, Swap};
pub use compile::{
    Compiled, HOSTNAME, Keeper, Keepers, Missing, Reason, Refusal, check_place, compile,
    compile_harvest, guarantees, identity, is_rooted, keepers,
};
pub use folder::Folder;
pub use launch::{Error, Handle, Jail, Streams, Supervisor};
pub use limits::Limits;
pub use order::{Cause, Ending, Said, Trouble};
pub use placeholder::placeholders;
pub use policy::{Layer, Layers, Policy, Workspace};
pub use probe::{assume, probe};
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub use proxy::fuzzing;
pub use proxy::host::{self, Host};
pub use signals::HeldBack;
pub use supervise::enter_if_jailed;
pub use surroundings::{MountPoint, Place, Surroundings, What};
pub use sweep::sweep;
