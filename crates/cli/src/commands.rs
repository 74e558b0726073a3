//! One file per command.

pub(crate) mod agents;
pub(crate) mod context;
pub(crate) mod files;
pub(crate) mod plan;
pub(crate) mod profiles;
pub(crate) mod schema;
pub(crate) mod task;

use std::io::{self, Read, Write};

use sequester_core::fault::Code;

use crate::failure::Failure;
use crate::render::terminal;

/// Notes go to standard error: standard output holds the answer and nothing else.
pub(crate) fn tell(note: &str) -> Result<(), Failure> {
    writeln!(io::stderr().lock(), "note: {}", terminal::clean(note))?;
    Ok(())
}

/// A text that was given, or standard input.
pub(crate) fn read_text(text: &str) -> Result<String, Failure> {
    const MOST: u64 = 1 << 20;
    let mut given = String::new();
    if text == "-" {
        io::stdin().lock().take(MOST).read_to_string(&mut given).map_err(|error| {
            let message = format!("The text cannot be read: {error}.");
            Failure::input(Code::Unreadable, "standard input", message, "Give UTF-8 text.")
        })?;
    } else {
        text.clone_into(&mut given);
    }
    if given.trim().is_empty() {
        let message = "The text is empty, so nothing can be about it.";
        return Err(Failure::input(
            Code::Unreadable,
            "",
            message,
            "Say in words what the task is about.",
        ));
    }
    Ok(given)
}
