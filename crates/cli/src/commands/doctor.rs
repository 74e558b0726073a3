//! `sequester doctor`: what this machine gives, each thing really tried.

use std::process::ExitCode;

use crate::Outcome;
use crate::args::{Args, DoctorArgs};
use crate::output;
use crate::render::{doctor as view, terminal};
use crate::wire::checkup::{Checkup, Wanted};
use crate::wire::find_root;

pub(crate) fn run(args: &Args, given: &DoctorArgs) -> Outcome {
    let wanted = if given.no_checks { Wanted::NoChecks } else { Wanted::All };
    let checkup = Checkup::make(&find_root(args)?, wanted)?;
    if args.json {
        output::print_json(&checkup)?;
    } else {
        output::print(&view::render(&checkup, terminal::width()))?;
    }
    Ok(ExitCode::SUCCESS)
}
