//! `sequester`: parse arguments, wire, render.

mod args;
mod commands;
mod disk_cache;
mod failure;
mod render;
mod wire;

use std::process::ExitCode;

use clap::Parser;

use crate::args::{Args, Command};
use crate::failure::Failure;

fn main() -> ExitCode {
    let args = Args::parse();
    let result = match &args.command {
        Command::Plan(plan) => commands::plan::run(&args, plan),
        Command::Context(context) => commands::context::run(&args, context),
        Command::Files(files) => commands::files::run(&args, files),
    };
    match result {
        Ok(code) => code,
        Err(failure) => failure.report(args.json),
    }
}

/// What a command ends with.
type Outcome = Result<ExitCode, Failure>;
