//! Where a script goes: how far below the root its `cd` and `pushd` lead. Above it is outside.

use super::gap::{Gap, short};
use super::script::{self, Joint, Word};
use super::words::List;

const SHELLS: List = List(" bash sh zsh eval ");
/// Scripts in scripts go no deeper.
const NESTED: usize = 4;
const TOP: &str = "$(git rev-parse --show-toplevel)";

/// Fails if a script leaves the folder that it begins in, or may.
pub(super) fn check(script: &str) -> Result<(), Gap> {
    follow(script, 0, NESTED)
}

fn follow(script: &str, mut depth: usize, nested: usize) -> Result<(), Gap> {
    let mut outer = Vec::new();
    for command in script::commands(script) {
        depth = run(command.call(), depth, nested)?;
        match command.end {
            Joint::Open => outer.push(depth),
            Joint::Close => depth = outer.pop().unwrap_or(depth),
            _ => {}
        }
    }
    Ok(())
}

/// How deep it is after a command.
fn run(words: &[Word], depth: usize, nested: usize) -> Result<usize, Gap> {
    let Some((program, rest)) = words.split_first() else { return Ok(depth) };
    let target = rest.iter().map(|word| word.text.as_str());
    let target = target.clone().find(|word| *word == "-" || !word.starts_with('-'));
    match (program.text.as_str(), target) {
        // Back to where it was: no less deep than the root.
        ("popd", _) | ("pushd", None) | ("cd" | "pushd", Some("-")) => Ok(0),
        ("cd" | "pushd", target) => reach(target.unwrap_or("~"), depth),
        (shell, _) if SHELLS.has(shell) && nested > 0 => {
            let mut inner = rest.iter().filter(|word| word.quoted || shell == "eval");
            inner.try_for_each(|word| follow(&word.text, depth, nested - 1)).map(|()| depth)
        }
        _ => Ok(depth),
    }
}

/// How deep the folder is that an argument leads to.
fn reach(target: &str, mut depth: usize) -> Result<usize, Gap> {
    let told = short(target);
    let outside =
        || Gap::outside(format!("it goes to a folder outside of the repository (`cd {told}`)"));
    if target == TOP {
        return Ok(0);
    }
    if target.starts_with(['/', '~']) {
        return Err(outside());
    }
    if target.contains(['$', '`', '*', '?']) {
        return Err(Gap::outside(format!("it does not say to which folder `cd {told}` goes")));
    }
    for name in target.split('/').filter(|name| !matches!(*name, "" | ".")) {
        depth = if name == ".." { depth.checked_sub(1).ok_or_else(outside)? } else { depth + 1 };
    }
    Ok(depth)
}
