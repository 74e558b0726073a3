//! Builds what the commands need from what the person named.

mod plan_file;
mod project;

pub(crate) use plan_file::PlanFile;
pub(crate) use project::Project;
