//! The project's own chores: `cargo xtask ci` and its parts.
#![allow(clippy::print_stdout, clippy::print_stderr)] // it talks to whoever runs it

mod ci;
mod deny;
mod layers;
mod measure;
mod quality;
mod reference;
mod secrets;
mod shell;
mod size;
mod strays;

use std::process::ExitCode;

/// A chore: its name, what it does, and how.
struct Chore(&'static str, &'static str, fn() -> anyhow::Result<()>);

const CHORES: &[Chore] = &[
    Chore("ci", "everything a change must pass, the cheap checks first", ci::run),
    Chore("size", "lines per file, crate and test", size::run),
    Chore("strays", "source files that no module declares", strays::run),
    Chore("layers", "which crate may use which", layers::run),
    Chore("deny", "licences, doubled and foreign dependencies", deny::run),
    Chore("advisories", "known weaknesses of dependencies; needs a network", deny::advisories),
    Chore("reference", "write docs/reference from the code", reference::write),
    Chore("secrets", "the rules of secrets beside secretlint's; needs npm", secrets::run),
    Chore("measure", "whole invocations beside a floor, in a release build", measure::run),
    Chore("quality", "file ranking on cases from real histories; needs clones", quality::run),
];

fn main() -> ExitCode {
    let names: Vec<String> = std::env::args().skip(1).collect();
    let chosen: Vec<_> =
        names.iter().map(|name| CHORES.iter().find(|chore| chore.0 == name)).collect();
    if names.is_empty() || chosen.contains(&None) {
        eprintln!("Usage: cargo xtask CHORE...\n");
        for Chore(name, about, _) in CHORES {
            eprintln!("  {name:<12}{about}");
        }
        return ExitCode::from(2);
    }
    for Chore(name, _, run) in chosen.into_iter().flatten() {
        if let Err(error) = run() {
            eprintln!("\n{name} failed: {error:#}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

impl PartialEq for Chore {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}
