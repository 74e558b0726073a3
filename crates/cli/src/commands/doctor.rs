//! `sequester doctor`: what this machine gives, each thing really tried.

use std::process::ExitCode;

use crate::Outcome;
use crate::args::{Args, DoctorArgs};
use crate::output;
use crate::render::{doctor as view, terminal};
use crate::wire::checkup::{Checkup, Wanted};

pub(crate) fn run(args: &Args, given: &DoctorArgs) -> Outcome {
    let wanted = if given.no_checks { Wanted::NoChecks } else { Wanted::All };
    let checkup = Checkup::make(args.repo.as_deref(), wanted)?;
    if args.json {
        output::print_json(&checkup)?;
    } else {
        output::print(&view::render(&checkup, terminal::width()))?;
    }
    Ok(ExitCode::SUCCESS)
}
