//! Builds what the commands need from what the person named.

mod agents;
mod asked;
mod base;
pub(crate) mod checkup;
pub(crate) mod config;
mod evidence;
pub(crate) mod jail;
mod jailed;
mod model;
pub(crate) mod owner;
mod plan_file;
mod project;
pub(crate) mod runs;
mod subagent;
pub(crate) mod trust;
mod workspace;

pub(crate) use agents::Agents;
pub(crate) use config::Settings;
pub(crate) use evidence::{Changed, Evidence};
pub(crate) use jailed::serve;
pub(crate) use model::{Connections, misspelt};
pub(crate) use plan_file::PlanFile;
pub(crate) use project::{Project, find_root};
pub(crate) use subagent::{Subagent, refuse as refuse_profile};
