//! The project's own chores: `cargo xtask ci` and its parts.
#![allow(clippy::print_stdout, clippy::print_stderr)] // it talks to whoever runs it

mod ci;
mod crash;
mod deny;
mod fuzz;
mod layers;
mod measure;
mod plans;
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
    /// With all words behind it, names and options.
    Words(fn(&[String]) -> anyhow::Result<()>),
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
    Chore(
        "plans",
        "what the readers make of the plans in git histories, DIR",
        Act::Words(plans::run),
    ),
    Chore("recall", "record ranking on cases from real histories", Act::Plain(recall::run)),
    Chore(
        "crash",
        "a run killed [--kills 200] times [--tasks 50] [--seed N]",
        Act::Told(crash::run),
    ),
    Chore(
        "fuzz",
        "parsers on mutated inputs, [TARGET...] [--runs N] [--minutes N]",
        Act::Words(fuzz::run),
    ),
    Chore("same", "one at once and sixteen: the same, [--times 10] each", Act::Told(same::run)),
];

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let Some(chosen) = choose(&words) else {
        eprintln!("Usage: cargo xtask CHORE... [OPTIONS of the last]\n");
        for Chore(name, about, _) in CHORES {
            eprintln!("  {name:<12}{about}");
        }
        return ExitCode::from(2);
    };
    for (Chore(name, _, act), own) in chosen {
        let done = match act {
            Act::Plain(run) => run(),
            Act::Told(run) | Act::Words(run) => run(own),
        };
        if let Err(error) = done {
            eprintln!("\n{name} failed: {error:#}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

/// The chores that are named, each with the words for it; nothing where a word is none of a chore's.
fn choose(words: &[String]) -> Option<Vec<(&'static Chore, &[String])>> {
    let mut chosen = Vec::new();
    let mut rest = words;
    while let Some((name, after)) = rest.split_first() {
        let chore = CHORES.iter().find(|chore| chore.0 == name)?;
        let has_options = after.first().is_some_and(|word| word.starts_with("--"));
        let taken = match chore.2 {
            Act::Words(_) => after.len(),
            Act::Told(_) if has_options => after.len(),
            Act::Told(_) | Act::Plain(_) => 0,
        };
        let (own, others) = after.split_at(taken);
        chosen.push((chore, own));
        rest = others;
    }
    (!chosen.is_empty()).then_some(chosen)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_behind_a_chore_are_other_chores_or_its_own() {
        let read = |words: &str| -> Option<Vec<(String, usize)>> {
            let words: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
            let chosen = choose(&words)?.into_iter();
            Some(chosen.map(|(chore, own)| (chore.0.to_owned(), own.len())).collect())
        };
        let chosen = |list: &[(&str, usize)]| {
            Some(list.iter().map(|(name, own)| ((*name).to_owned(), *own)).collect::<Vec<_>>())
        };
        assert_eq!(read("size strays"), chosen(&[("size", 0), ("strays", 0)]));
        assert_eq!(read("size crash --kills 3"), chosen(&[("size", 0), ("crash", 2)]));
        assert_eq!(read("fuzz report --runs 3"), chosen(&[("fuzz", 3)]));
        for wrong in ["", "sizes", "size --kills 3", "size report", "crash report"] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }
}
