//! Where a script goes: the folders that its `cd` and `pushd` lead to, against the one it is in.

use std::iter::Peekable;
use std::str::Chars;

use super::gap::{Gap, short};

/// Words that a command may follow as if it stood alone.
const LEADS: [&str; 14] = [
    "then", "do", "else", "elif", "if", "while", "until", "!", "{", "time", "builtin", "command",
    "exec", "env",
];
const SHELLS: [&str; 4] = ["bash", "sh", "zsh", "eval"];
/// Scripts in scripts go no deeper.
const DEPTH: usize = 4;

/// Fails if a script leaves the folder that it begins in, or may.
pub(super) fn check(script: &str) -> Result<(), Gap> {
    Walk::default().script(script, DEPTH)
}

/// Whether a line of a script goes to another folder.
pub(super) fn changes(line: &str) -> bool {
    matches!(line.split_whitespace().next(), Some("cd" | "pushd" | "popd"))
}

enum Piece {
    Word {
        text: String,
        /// It stands between quotation marks of whatever kind.
        quoted: bool,
    },
    /// What ends a command.
    End,
    Open,
    Close,
}

#[derive(Clone, Default)]
struct Walk {
    /// The folder, by its names below the root.
    here: Vec<String>,
    before: Vec<String>,
    pushed: Vec<Vec<String>>,
}

impl Walk {
    fn script(&mut self, script: &str, depth: usize) -> Result<(), Gap> {
        let mut outer: Vec<Self> = Vec::new();
        let mut command: Vec<(String, bool)> = Vec::new();
        for piece in pieces(script).chain([Piece::End]) {
            if let Piece::Word { text, quoted } = piece {
                let leads = command.is_empty() && !quoted;
                if !(leads && (LEADS.contains(&text.as_str()) || is_set(&text))) {
                    command.push((text, quoted));
                }
                continue;
            }
            self.command(&std::mem::take(&mut command), depth)?;
            match piece {
                Piece::Open => outer.push(self.clone()),
                Piece::Close => *self = outer.pop().unwrap_or_else(|| self.clone()),
                _ => {}
            }
        }
        Ok(())
    }

    fn command(&mut self, words: &[(String, bool)], depth: usize) -> Result<(), Gap> {
        let Some(((program, _), rest)) = words.split_first() else { return Ok(()) };
        let target = rest.iter().map(|(word, _)| word.as_str());
        let target = target.clone().find(|word| *word == "-" || !word.starts_with('-'));
        match (program.as_str(), target) {
            ("cd" | "pushd", Some("-")) => {
                std::mem::swap(&mut self.here, &mut self.before);
                Ok(())
            }
            ("pushd", None) => Ok(()),
            ("cd" | "pushd", target) => {
                let next = self.reach(target.unwrap_or("~"))?;
                let last = std::mem::replace(&mut self.here, next);
                if program == "pushd" {
                    self.pushed.push(last.clone());
                }
                self.before = last;
                Ok(())
            }
            ("popd", _) => {
                self.here = self.pushed.pop().unwrap_or_default();
                Ok(())
            }
            (shell, _) if SHELLS.contains(&shell) && depth > 0 => rest
                .iter()
                .filter(|(_, quoted)| *quoted || shell == "eval")
                .try_for_each(|(inner, _)| self.clone().script(inner, depth - 1)),
            _ => Ok(()),
        }
    }

    /// The folder that an argument leads to from here.
    fn reach(&self, target: &str) -> Result<Vec<String>, Gap> {
        if target == "$(git rev-parse --show-toplevel)" {
            return Ok(Vec::new());
        }
        let outside = || {
            let target = short(target);
            Gap::outside(format!("it goes to a folder outside of the repository (`cd {target}`)"))
        };
        if target.starts_with(['/', '~']) {
            return Err(outside());
        }
        if target.contains(['$', '`', '*', '?']) {
            let target = short(target);
            return Err(Gap::outside(format!(
                "it does not say to which folder `cd {target}` goes"
            )));
        }
        let mut here = self.here.clone();
        for name in target.split('/').filter(|name| !matches!(*name, "" | ".")) {
            if name == ".." {
                here.pop().ok_or_else(outside)?;
            } else {
                here.push(name.to_owned());
            }
        }
        Ok(here)
    }
}

/// `NAME=value` before a command.
fn is_set(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    })
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
                while let Some(inner) = rest.next().filter(|inner| *inner != c) {
                    text.push(inner);
                }
            }
            '\\' => text.extend(rest.next().filter(|c| *c != '\n')),
            c => text.push(c),
        }
    }
    Piece::Word { text, quoted }
}
