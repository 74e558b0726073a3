//! The project's own chores: `cargo xtask ci` and its parts.
#![allow(clippy::print_stdout, clippy::print_stderr)] // it talks to whoever runs it

mod ci;
mod crash;
mod deny;
mod layers;
mod measure;
mod quality;
mod recall;
mod reference;
mod same;
mod secrets;
mod shell;
mod size;
mod strays;

use std::process::ExitCode;

/// A chore: its name, what it does, and how.
struct Chore(&'static str, &'static str, Act);

enum Act {
    Plain(fn() -> anyhow::Result<()>),
    /// With what the command line tells it.
    Told(fn(&[String]) -> anyhow::Result<()>),
}

const CHORES: &[Chore] = &[
    Chore("ci", "everything a change must pass, the cheap checks first", Act::Plain(ci::run)),
    Chore("size", "lines per file, crate and test", Act::Plain(size::run)),
    Chore("strays", "source files that no module declares", Act::Plain(strays::run)),
    Chore("layers", "which crate may use which", Act::Plain(layers::run)),
    Chore("deny", "licences, doubled and foreign dependencies", Act::Plain(deny::run)),
    Chore(
        "advisories",
        "known weaknesses of dependencies; needs a network",
        Act::Plain(deny::advisories),
    ),
    Chore("reference", "write docs/reference from the code", Act::Plain(reference::write)),
    Chore(
        "secrets",
        "the rules of secrets beside secretlint's; needs npm",
        Act::Plain(secrets::run),
    ),
    Chore(
        "measure",
        "whole invocations beside a floor, in a release build",
        Act::Plain(measure::run),
    ),
    Chore(
        "quality",
        "file ranking on cases from real histories; needs clones",
        Act::Plain(quality::run),
    ),
    Chore("recall", "record ranking on cases from real histories", Act::Plain(recall::run)),
    Chore(
        "crash",
        "a run killed [--kills 200] times [--tasks 50] [--seed N]",
        Act::Told(crash::run),
    ),
    Chore("same", "one at once and sixteen: the same, [--times 10] each", Act::Told(same::run)),
];

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let split = words.iter().position(|word| word.starts_with("--")).unwrap_or(words.len());
    let (names, options) = words.split_at(split);
    let chosen: Option<Vec<&Chore>> =
        names.iter().map(|name| CHORES.iter().find(|chore| chore.0 == name)).collect();
    let takes = |chore: &Chore| options.is_empty() || matches!(chore.2, Act::Told(_));
    let Some(chosen) = chosen.filter(|list| list.last().is_some_and(|last| takes(last))) else {
        eprintln!("Usage: cargo xtask CHORE... [OPTIONS of the last]\n");
        for Chore(name, about, _) in CHORES {
            eprintln!("  {name:<12}{about}");
        }
        return ExitCode::from(2);
    };
    for (at, Chore(name, _, act)) in chosen.iter().enumerate() {
        let own = if at + 1 == chosen.len() { options } else { &[] };
        let done = match act {
            Act::Plain(run) => run(),
            Act::Told(run) => run(own),
        };
        if let Err(error) = done {
            eprintln!("\n{name} failed: {error:#}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}
