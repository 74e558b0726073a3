//! The program's own parsers for the targets in `fuzz/`. Without the feature `fuzzing` there is nothing in it.
#![cfg(feature = "fuzzing")]
#![allow(dead_code, unused_imports)] // all of the program is compiled, and little of it is used

mod args;
mod commands;
mod disk_cache;
mod failure;
mod output;
mod render;
mod wire;

/// What a command ends with, as in `main.rs`.
pub(crate) type Outcome = Result<std::process::ExitCode, failure::Failure>;

pub use wire::config::fuzzing::{Configuration, read_configuration};
