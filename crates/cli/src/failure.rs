//! Failures as a person and a program read them.

use std::fmt::{self, Write as _};
use std::io;
use std::process::ExitCode;

use sequester_core::fault::{Code, Fault, FileFault};
use serde::Serialize;

use crate::output;
use crate::render::terminal;

/// What went wrong, where, and what to do.
#[derive(Debug)]
pub(crate) struct Failure {
    exit: u8,
    error: Told,
    /// What else is wrong in the same place.
    more: Vec<Told>,
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
        let error = Told { code, message: message.into(), place, hint: hint.into() };
        Self { exit: 2, error, more: Vec::new() }
    }

    /// What would need trust that nobody gave.
    pub(crate) fn trust(
        code: Code,
        place: impl fmt::Display,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) -> Self {
        Self { exit: 5, ..Self::input(code, place, message, hint) }
    }

    /// A guarantee that cannot be given.
    pub(crate) fn guarantee(
        code: Code,
        place: impl fmt::Display,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) -> Self {
        Self::trust(code, place, message, hint)
    }

    /// Work that did not succeed.
    pub(crate) fn work(
        code: Code,
        place: impl fmt::Display,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) -> Self {
        Self { exit: 1, ..Self::input(code, place, message, hint) }
    }

    /// What the engine runs on could not be had.
    pub(crate) fn no_runtime(error: &io::Error) -> Self {
        let hint = "Check the limits on threads and open files.";
        Self::work(Code::NoWorkspace, "", format!("No runtime: {error}."), hint)
    }

    /// How a subagent ended without a report.
    pub(crate) fn ending(exit: u8, code: Code, message: String, hint: &str) -> Self {
        Self { exit, ..Self::input(code, "", message, hint) }
    }

    #[cfg(test)]
    pub(crate) fn exit(&self) -> u8 {
        self.exit
    }

    pub(crate) fn code(&self) -> Code {
        self.error.code
    }

    pub(crate) fn message(&self) -> &str {
        &self.error.message
    }

    pub(crate) fn place(&self) -> &str {
        &self.error.place
    }

    pub(crate) fn hint(&self) -> &str {
        &self.error.hint
    }

    /// The same at a place, where it has none of its own.
    pub(crate) fn at(mut self, place: String) -> Self {
        if self.error.place.is_empty() {
            self.error.place = place;
        }
        self
    }

    pub(crate) fn to_json(&self) -> serde_json::Value {
        serde_json::json!(&self.error)
    }

    /// What is wrong at a place.
    pub(crate) fn of_fault(fault: &Fault, place: impl fmt::Display) -> Self {
        let told = Self::input(fault.code, place, fault.message.clone(), fault.hint.clone());
        Self { exit: fault.code.exit(), ..told }
    }

    /// What is wrong with a file of agents, profiles or configuration.
    pub(crate) fn of_file(FileFault { file, fault }: &FileFault) -> Self {
        let place = format!("{file}:{}:{}", fault.place.line, fault.place.column);
        Self::of_fault(fault, place)
    }

    /// The first fault, or the first that would need trust, with the number of others; nothing of none.
    pub(crate) fn of_files(faults: &[FileFault]) -> Option<Self> {
        let first = faults.iter().find(|one| one.fault.code.is_trust()).or(faults.first())?;
        let mut failure = Self::of_file(first);
        if let Some(others) = faults.len().checked_sub(1).filter(|others| *others > 0) {
            let others = terminal::plural(others, "more fault");
            failure.error.hint.extend([" The file has ", &others, "."]);
        }
        let others = faults.iter().filter(|one| !std::ptr::eq(*one, first));
        failure.more = others.map(|one| Self::of_file(one).error).collect();
        Some(failure)
    }

    /// Each fault as a failure of its own.
    pub(crate) fn each(self) -> impl Iterator<Item = Self> {
        let Self { exit, error, more } = self;
        let all = std::iter::once(error).chain(more);
        all.map(move |error| Self { exit, error, more: Vec::new() })
    }

    /// What a command ends with that showed these faults itself.
    pub(crate) fn code_of<'a>(faults: impl IntoIterator<Item = &'a FileFault>) -> ExitCode {
        let exits = faults.into_iter().map(|one| one.fault.code.exit());
        ExitCode::from(exits.max().unwrap_or(0))
    }

    pub(crate) fn report(self, json: bool) -> ExitCode {
        let value = || match self.more[..] {
            [] => serde_json::json!({ "error": &self.error }),
            _ => serde_json::json!({ "error": &self.error, "more": &self.more }),
        };
        // Standard output that takes no answer takes no error either.
        let takes = json && self.error.code != Code::Unwritable;
        if !takes || output::print_json(&value()).is_err() {
            self.warn();
        }
        ExitCode::from(self.exit)
    }

    fn warn(&self) {
        for Told { code, message, place, hint } in std::iter::once(&self.error).chain(&self.more) {
            let mut text = format!("error[{code}]: {}\n", terminal::clean(message));
            if !place.is_empty() {
                let _ = writeln!(text, "  --> {}", terminal::clean(place));
            }
            let _ = writeln!(text, "  = help: {}", terminal::clean(hint));
            output::warn(&text);
        }
    }
}
