//! One file per command.

pub(crate) mod agents;
pub(crate) mod context;
pub(crate) mod files;
pub(crate) mod plan;
pub(crate) mod profiles;
