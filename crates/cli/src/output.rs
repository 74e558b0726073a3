//! Where answers and notes go.

use std::io::{self, ErrorKind, IsTerminal as _, Write};

use sequester_core::fault::{Code, Fault};
use serde::Serialize;

use crate::failure::Failure;
use crate::render::terminal;

/// An answer on standard output.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    check(out.write_all(text.as_bytes()).and_then(|()| out.flush()))
}

/// One JSON value on one line.
pub(crate) fn print_json(value: &impl Serialize) -> Result<(), Failure> {
    let mut line = String::new();
    check(serde_json::to_string(value).map(|text| line = text + "\n").map_err(io::Error::from))?;
    print(&line)
}

/// JSON that people read.
pub(crate) fn print_indented_json(value: &impl Serialize) -> Result<(), Failure> {
    let mut lines = String::new();
    let written = serde_json::to_string_pretty(value).map(|text| lines = text + "\n");
    check(written.map_err(io::Error::from))?;
    // A text within may hold what a terminal obeys.
    if io::stdout().is_terminal() { print(&terminal::clean(&lines)) } else { print(&lines) }
}

/// Whether what was written is out. Whoever closed the pipe has seen enough.
pub(crate) fn check(written: io::Result<()>) -> Result<(), Failure> {
    let Err(error) = written else { return Ok(()) };
    if error.kind() == ErrorKind::BrokenPipe {
        return Ok(());
    }
    let message = format!("The answer could not be written: {error}.");
    let hint = "Check that the terminal, pipe or file takes what is written.";
    Err(Failure::work(Code::Unwritable, "standard output", message, hint))
}

/// Notes go to standard error: standard output holds the answer and nothing else. Whoever closed it does not want to know.
pub(crate) fn tell(note: &str) {
    warn(&format!("note: {}\n", terminal::clean(note)));
}

/// A doubt about a plan, with the line it is about.
pub(crate) fn warn_of(plan: &str, warning: &Fault) {
    let Fault { message, hint, place, .. } = warning;
    let text = format!("warning: {plan}:{}: {message} {hint}", place.line);
    warn(&format!("{}\n", terminal::clean(&text)));
}

/// Lines on standard error.
pub(crate) fn warn(text: &str) {
    let text = terminal::fold(text, terminal::note_width());
    let _ = io::stderr().lock().write_all(text.as_bytes());
}
