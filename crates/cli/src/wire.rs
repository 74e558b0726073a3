//! Builds what the commands need from what the person named.

mod agents;
mod aside;
mod asked;
mod base;
pub(crate) mod checkup;
mod command;
pub(crate) mod config;
mod crew;
pub(crate) mod doubts;
mod evidence;
pub(crate) mod jail;
mod jailed;
pub(crate) mod jails;
pub(crate) mod ladder;
mod last;
mod model;
pub(crate) mod outlines;
mod outside;
pub(crate) mod owner;
pub(crate) mod placed;
mod plan_file;
mod project;
pub(crate) mod run;
pub(crate) mod runs;
pub(crate) mod trust;
pub(crate) mod workspace;

pub(crate) use agents::Agents;
pub(crate) use config::Settings;
pub(crate) use crew::{Staff, refuse_trouble};
pub(crate) use evidence::{Changed, Evidence};
pub(crate) use jailed::serve;
pub(crate) use jails::Cells;
pub(crate) use last::Last;
pub(crate) use model::{Connections, misspelt};
pub(crate) use plan_file::PlanFile;
pub(crate) use project::{Project, find_root};
