//! The calls that no library wraps. All unsafe code of the product is here, each block with its reason.
#![allow(unsafe_code, reason = "the one place where the kernel is called by hand")]

mod branch;
mod process;
mod raw;
mod spawn;

pub(crate) use branch::Alone;
pub(crate) use process::{
    Cloned, adopt, clone_apart, close_others, fork, fork_handled, identify, leave,
    makes_namespaces, share_files,
};
pub(crate) use raw::{
    Attributes, Depth, filter, has_filters, hold_back, is_ignored, landlock_version, leave_groups,
    let_come, loopback_up, set_attributes, terminal_number,
};
pub(crate) use spawn::{Given, spawn};
