//! Where a script goes: how far below the root its `cd` and `pushd` lead. Above it is outside.

use std::iter::Peekable;
use std::str::Chars;

use super::gap::{Gap, short};
use super::words::List;

/// Words that a command may follow as if it stood alone.
const LEADS: List = List(" then do else elif if while until ! { time builtin command exec env ");
const SHELLS: List = List(" bash sh zsh eval ");
/// Scripts in scripts go no deeper.
const NESTED: usize = 4;
const TOP: &str = "$(git rev-parse --show-toplevel)";

enum Piece {
    /// And whether it has quotation marks.
    Word(String, bool),
    /// What ends a command.
    End,
    Open,
    Close,
}

/// Fails if a script leaves the folder that it begins in, or may.
pub(super) fn check(script: &str) -> Result<(), Gap> {
    follow(script, 0, NESTED)
}

/// Whether a line of a script goes to another folder.
pub(super) fn changes(line: &str) -> bool {
    matches!(line.split_whitespace().next(), Some("cd" | "pushd" | "popd"))
}

fn follow(script: &str, mut depth: usize, nested: usize) -> Result<(), Gap> {
    let mut outer = Vec::new();
    let mut command: Vec<(String, bool)> = Vec::new();
    for piece in pieces(script).chain([Piece::End]) {
        if let Piece::Word(text, quoted) = piece {
            let leads = command.is_empty() && !quoted && (LEADS.has(&text) || is_set(&text));
            if !leads {
                command.push((text, quoted));
            }
            continue;
        }
        depth = run(&std::mem::take(&mut command), depth, nested)?;
        match piece {
            Piece::Open => outer.push(depth),
            Piece::Close => depth = outer.pop().unwrap_or(depth),
            _ => {}
        }
    }
    Ok(())
}

/// How deep it is after a command.
fn run(words: &[(String, bool)], depth: usize, nested: usize) -> Result<usize, Gap> {
    let Some(((program, _), rest)) = words.split_first() else { return Ok(depth) };
    let target = rest.iter().map(|(word, _)| word.as_str());
    let target = target.clone().find(|word| *word == "-" || !word.starts_with('-'));
    match (program.as_str(), target) {
        // Back to where it was: no less deep than the root.
        ("popd", _) | ("pushd", None) | ("cd" | "pushd", Some("-")) => Ok(0),
        ("cd" | "pushd", target) => reach(target.unwrap_or("~"), depth),
        (shell, _) if SHELLS.has(shell) && nested > 0 => {
            let mut inner = rest.iter().filter(|(_, quoted)| *quoted || shell == "eval");
            inner.try_for_each(|(script, _)| follow(script, depth, nested - 1)).map(|()| depth)
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

/// `NAME=value` before a command.
fn is_set(word: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    word.split_once('=').is_some_and(|(name, _)| !name.is_empty() && name.chars().all(plain))
}

fn pieces(script: &str) -> impl Iterator<Item = Piece> {
    let mut rest = script.chars().peekable();
    std::iter::from_fn(move || {
        while rest.next_if(|c| matches!(c, ' ' | '\t' | '\r')).is_some() {}
        match rest.peek()? {
            '\n' | ';' | '&' | '|' => rest.next().map(|_| Piece::End),
            '(' => rest.next().map(|_| Piece::Open),
            ')' => rest.next().map(|_| Piece::Close),
            '#' => {
                while rest.next_if(|c| *c != '\n').is_some() {}
                Some(Piece::End)
            }
            _ => Some(word(&mut rest)),
        }
    })
}

fn word(rest: &mut Peekable<Chars<'_>>) -> Piece {
    let (mut text, mut quoted) = (String::new(), false);
    while let Some(c) = rest.next_if(|c| !c.is_whitespace() && !";&|()".contains(*c)) {
        match c {
            '"' | '\'' => {
                quoted = true;
                text.extend(std::iter::from_fn(|| rest.next().filter(|inner| *inner != c)));
            }
            '\\' => text.extend(rest.next().filter(|c| *c != '\n')),
            c => text.push(c),
        }
    }
    Piece::Word(text, quoted)
}
