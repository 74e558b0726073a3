//! `sequester schema`: the shapes that other programs rely on.

use std::io::{self, IsTerminal};
use std::process::ExitCode;

use sequester_core::fault::Code;
use sequester_core::schema;
use serde_json::Value;

use crate::Outcome;
use crate::args::{Args, NameArgs};
use crate::failure::Failure;
use crate::output;
use crate::render::{table, terminal};

pub(crate) fn run(args: &Args, given: &NameArgs) -> Outcome {
    let value = match &given.name {
        None => schema::all(),
        Some(name) => schema::find(name).ok_or_else(|| {
            let hint = format!("Known schemas are {}.", schema::NAMES.join(", "));
            let message = format!("There is no schema `{name}`.");
            Failure::input(Code::BadArguments, "", message, hint)
        })?,
    };
    if args.json {
        output::print_json(&value)?;
    } else if given.name.is_none() && io::stdout().is_terminal() {
        output::print(&list(&value, terminal::width()))?;
    } else {
        output::print(&format!("{value:#}\n"))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// All of them are thousands of lines, which nobody reads in a terminal.
fn list(all: &Value, width: usize) -> String {
    let about = |name: &str| all[name]["description"].as_str().unwrap_or_default().to_owned();
    let rows = schema::NAMES.map(|name| [name.to_owned(), about(name)]);
    let told = "`sequester schema NAME` prints one, `sequester schema --json` all of them.";
    table::render(["name", "description"], &rows, width) + "\n" + &terminal::fold(told, width)
}
