//! Whole invocations of the built program, against real folders and real git repositories.

mod bad_input;
mod base;
mod command;
mod context;
mod files;
mod plan;
