//! Builds what the commands need from what the person named.

mod agents;
pub(crate) mod config;
mod plan_file;
mod project;

pub(crate) use agents::Agents;
pub(crate) use config::Settings;
pub(crate) use plan_file::PlanFile;
pub(crate) use project::Project;
