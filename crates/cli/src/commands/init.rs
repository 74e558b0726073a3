//! `sequester init`: a commented configuration, with the checks that were found.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write as _};
use std::path::Path;
use std::process::ExitCode;

use sequester_core::fault::Code;
use serde_json::json;

use crate::Outcome;
use crate::args::Args;
use crate::failure::Failure;
use crate::output;
use crate::render::init as view;
use crate::wire::Project;
use crate::wire::checkup::{Checkup, Wanted};

const FILE: &str = "sequester.toml";

pub(crate) fn run(args: &Args) -> Outcome {
    let project = Project::open(args)?;
    let path = project.root.join(FILE);
    // Before a look at the machine that takes seconds.
    if path.symlink_metadata().is_ok() {
        return Err(there_already(&path));
    }
    let checks = project.found_checks(&project.visible(None));
    let checkup = Checkup::make(&project.root, Wanted::NoChecks)?;
    write(&path, &view::file(&checks))?;
    if args.json {
        let (models, guarantees, problems) =
            (&checkup.models, &checkup.guarantees, &checkup.problems);
        output::print_json(&json!({
            "path": path, "checks": checks, "models": models, "guarantees": guarantees,
            "problems": problems,
        }))?;
    } else {
        output::print(&view::found(&checks, &checkup))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    // Never over somebody's file, and never through a link.
    let mut file = match OpenOptions::new().write(true).create_new(true).open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::AlreadyExists => return Err(there_already(path)),
        Err(error) => return Err(unwritten(path, &error)),
    };
    file.write_all(text.as_bytes()).map_err(|error| unwritten(path, &error))
}

fn there_already(path: &Path) -> Failure {
    let message = "There is a configuration already.";
    let hint = "Edit it; or move it away, and `sequester init` writes a new one.";
    Failure::input(Code::BadArguments, path.display(), message, hint)
}

fn unwritten(path: &Path, error: &std::io::Error) -> Failure {
    let message = format!("The configuration cannot be written: {error}.");
    Failure::work(Code::Unreadable, path.display(), message, "Look at who may write there.")
}
