//! `sequester schema`: the shapes that other programs rely on.

use std::io::{self, Write};
use std::process::ExitCode;

use sequester_core::fault::Code;
use sequester_core::schema;

use crate::Outcome;
use crate::args::{Args, NameArgs};
use crate::failure::Failure;

pub(crate) fn run(args: &Args, given: &NameArgs) -> Outcome {
    let value = match &given.name {
        None => schema::all(),
        Some(name) => schema::find(name).ok_or_else(|| {
            let hint = format!("Known schemas are {}.", schema::NAMES.join(", "));
            let message = format!("There is no schema `{name}`.");
            Failure::input(Code::BadArguments, "", message, hint)
        })?,
    };
    let mut out = io::stdout().lock();
    let written = if args.json {
        serde_json::to_writer(&mut out, &value)
    } else {
        serde_json::to_writer_pretty(&mut out, &value)
    };
    written.map_err(io::Error::from)?;
    writeln!(out)?;
    Ok(ExitCode::SUCCESS)
}
