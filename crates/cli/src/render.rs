//! What people see.

pub(crate) mod context;
pub(crate) mod faults;
pub(crate) mod plan;
pub(crate) mod terminal;
