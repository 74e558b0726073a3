//! What people see.

pub(crate) mod agents;
pub(crate) mod attempts;
pub(crate) mod audit;
pub(crate) mod calls;
mod check_output;
pub(crate) mod context;
pub(crate) mod doctor;
pub(crate) mod faults;
mod header;
pub(crate) mod inbox;
pub(crate) mod init;
pub(crate) mod notes;
pub(crate) mod onlooker;
pub(crate) mod plan;
pub(crate) mod profiles;
pub(crate) mod progress;
pub(crate) mod records;
pub(crate) mod report;
pub(crate) mod run;
pub(crate) mod table;
pub(crate) mod terminal;
pub(crate) mod todo;
pub(crate) mod trust;
pub(crate) mod workflows;
