//! Failures as a person and a program read them.

use std::fmt;
use std::io::{self, Write};
use std::process::ExitCode;

use sequester_core::fault::Code;
use serde::Serialize;

use crate::render::terminal;

/// What went wrong, where, and what to do.
#[derive(Debug)]
pub(crate) struct Failure {
    exit: u8,
    error: Told,
}

#[derive(Debug, Serialize)]
struct Told {
    code: Code,
    message: String,
    place: String,
    hint: String,
}

impl Failure {
    /// Bad input or configuration.
    pub(crate) fn input(
        code: Code,
        place: impl fmt::Display,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) -> Self {
        let place = place.to_string();
        Self { exit: 2, error: Told { code, message: message.into(), place, hint: hint.into() } }
    }

    pub(crate) fn report(self, json: bool) -> ExitCode {
        // Whoever closed the pipe has seen enough.
        if self.exit == 0 {
            return ExitCode::SUCCESS;
        }
        let _ = if json { self.write_json() } else { self.write_text() };
        ExitCode::from(self.exit)
    }

    fn write_json(&self) -> io::Result<()> {
        let value = serde_json::json!({ "error": &self.error });
        writeln!(io::stdout().lock(), "{value}")
    }

    fn write_text(&self) -> io::Result<()> {
        let mut out = io::stderr().lock();
        let Told { code, message, place, hint } = &self.error;
        writeln!(out, "error[{code}]: {}", terminal::clean(message))?;
        if !place.is_empty() {
            writeln!(out, "  --> {}", terminal::clean(place))?;
        }
        writeln!(out, "  = help: {}", terminal::clean(hint))
    }
}

impl From<io::Error> for Failure {
    /// Only standard output is written without its own error.
    fn from(error: io::Error) -> Self {
        let exit = u8::from(error.kind() != io::ErrorKind::BrokenPipe);
        Self {
            exit,
            error: Told {
                code: Code::Unwritable,
                message: format!("The answer could not be written: {error}."),
                place: "standard output".to_owned(),
                hint: "Check that the terminal, pipe or file takes what is written.".to_owned(),
            },
        }
    }
}
