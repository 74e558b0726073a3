//! `sequester schema`: the shapes that other programs rely on.

use std::process::ExitCode;

use sequester_core::fault::Code;
use sequester_core::schema;

use crate::Outcome;
use crate::args::{Args, NameArgs};
use crate::failure::Failure;
use crate::output;

pub(crate) fn run(args: &Args, given: &NameArgs) -> Outcome {
    let value = match &given.name {
        None => schema::all(),
        Some(name) => schema::find(name).ok_or_else(|| {
            let hint = format!("Known schemas are {}.", schema::NAMES.join(", "));
            let message = format!("There is no schema `{name}`.");
            Failure::input(Code::BadArguments, "", message, hint)
        })?,
    };
    if args.json { output::print_json(&value) } else { output::print(&format!("{value:#}\n")) }?;
    Ok(ExitCode::SUCCESS)
}
