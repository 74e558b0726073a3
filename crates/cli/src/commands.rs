//! One file per command.

pub(crate) mod agents;
pub(crate) mod answer;
pub(crate) mod apply;
pub(crate) mod audit;
pub(crate) mod cancel;
pub(crate) mod context;
pub(crate) mod diff;
pub(crate) mod doctor;
pub(crate) mod draft;
pub(crate) mod export;
pub(crate) mod files;
pub(crate) mod gc;
pub(crate) mod hand_back;
pub(crate) mod inbox;
pub(crate) mod init;
pub(crate) mod log;
pub(crate) mod notes;
pub(crate) mod open;
pub(crate) mod plan;
pub(crate) mod profiles;
pub(crate) mod recall;
pub(crate) mod records;
pub(crate) mod resume;
pub(crate) mod run;
pub(crate) mod sandbox;
pub(crate) mod schema;
pub(crate) mod show;
pub(crate) mod status;
pub(crate) mod task;
pub(crate) mod trust;
pub(crate) mod verify;
pub(crate) mod workflows;

use std::io::{self, Read};

use sequester_core::fault::Code;

use crate::failure::Failure;

/// A text that was given, or standard input.
pub(crate) fn read_text(text: &str) -> Result<String, Failure> {
    let given = if text == "-" { read_input(io::stdin().lock())? } else { text.to_owned() };
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

/// A text that is cut would be another task: one that is too large is refused.
fn read_input(input: impl Read) -> Result<String, Failure> {
    const MOST: u64 = 1 << 20;
    let refuse = |message: String, hint: &str| {
        Failure::input(Code::Unreadable, "standard input", message, hint)
    };
    let mut bytes = Vec::new();
    let read = input.take(MOST + 1).read_to_end(&mut bytes);
    read.map_err(|error| refuse(format!("The text cannot be read: {error}."), "Give it again."))?;
    if bytes.len() as u64 > MOST {
        let message = format!("The text is larger than {MOST} bytes.");
        return Err(refuse(message, "Shorten it to what the task is about."));
    }
    String::from_utf8(bytes)
        .map_err(|_| refuse("The text is not UTF-8.".to_owned(), "Give UTF-8 text."))
}
