//! Whole invocations of the built program, against real folders and real git repositories.
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "what is not there fails the test"
)]

mod agents;
mod artifacts;
mod audit;
mod bad_input;
mod base;
mod brought_links;
mod command;
mod companions;
mod config;
mod context;
mod crash;
mod delegate;
mod doctor;
mod draft;
mod escape;
mod example;
mod files;
mod foreign_store;
mod grants;
mod guarantees;
mod init;
mod interference;
mod jail_bad_input;
mod ledger;
mod literal;
mod machine;
mod masks;
mod newcomer;
mod notes;
mod output;
mod plan;
mod plan_copies;
mod plan_shapes;
mod real_model;
mod recall;
mod records;
mod requests;
mod resume;
mod rows;
mod run;
mod run_details;
mod run_words;
mod runs;
mod same;
mod scripted;
mod seeds;
mod single;
mod storm;
mod streams;
mod subagent_bad_input;
mod subagent_endings;
mod terminal;
mod told;
mod trust;
mod waves;
mod wires;
mod workspace;
