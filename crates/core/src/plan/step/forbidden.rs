//! What a task or its constraints forbid by name. A step that does it all the same is not carried out.

use crate::plan::markdown::{Document, Kind};

use super::gap::{Gap, short};
use super::sentence::{self, CODE, Sentence};
use super::{Action, Step, Told, quote, target, title};

/// More than any person forbids by name; beyond it nothing is carried out.
const NAMES: usize = 200;
/// What forbids wherever it stands in a sentence: what it is said of stands before it or behind it.
const ANYWHERE: [&str; 13] = [
    "must not ",
    "mustn't ",
    "should not ",
    "shouldn't ",
    "shall not ",
    "may not be ",
    "must never ",
    "should never ",
    "not allowed",
    "unchanged",
    "untouched",
    "off limits",
    "off-limits",
];
/// What forbids at the start of a clause: what it is said of stands behind it.
const LEADING: [&str; 8] =
    ["do not ", "don't ", "dont ", "never ", "avoid ", "no changes to ", "no edits to ", "leave "];
/// Where a prohibition ends, and something else begins.
const ENDS: [&str; 8] =
    ["; ", " but ", " instead", " except", " other than ", " outside", " besides ", " rather "];
/// Programs that change the files they are given.
const WRITERS: [&str; 14] = [
    "rm", "mv", "cp", "sed", "tee", "touch", "truncate", "dd", "ln", "chmod", "patch", "perl",
    "unlink", "rmdir",
];
const RUNNERS: [&str; 8] = ["bash", "sh", "zsh", "source", ".", "python", "python3", "node"];

/// A sentence and the files and commands that it forbids.
struct Prohibition {
    said: String,
    names: Vec<String>,
}

impl Told {
    /// Holds the steps to constraints from outside of the task's text. Those that nothing compares are kept by name.
    #[must_use]
    pub fn under(mut self, constraints: &str) -> Self {
        let mut found = Vec::new();
        for said in sentences(&Document::read(constraints)) {
            match read(&said) {
                Some(prohibition) => found.push(prohibition),
                None => self.unchecked.push(said.raw),
            }
        }
        judge(&found, &mut self);
        self
    }
}

/// Holds the steps to what their own text forbids, wherever it stands in it.
pub(super) fn hold(document: &Document<'_>, told: &mut Told) {
    let found: Vec<Prohibition> = sentences(document).iter().filter_map(read).collect();
    judge(&found, told);
}

fn sentences(document: &Document<'_>) -> Vec<Sentence> {
    let words = document.blocks.iter().filter_map(|block| match block.kind {
        Kind::Heading(_) | Kind::Item(_) | Kind::Paragraph => {
            Some(sentence::split(document.text(&block.words)))
        }
        Kind::Fence(_) | Kind::Rule => None,
    });
    let quoted = quote::blocks(document.source).into_iter().map(|(_, text)| sentence::split(&text));
    words.chain(quoted).flatten().collect()
}

/// What a sentence forbids, if it names anything.
fn read(sentence: &Sentence) -> Option<Prohibition> {
    let (plain, cased) = (sentence.plain.replace('’', "'"), sentence.cased.replace('’', "'"));
    let (from, at) = ANYWHERE
        .iter()
        .find_map(|phrase| plain.find(phrase).map(|at| (0, at)))
        .or_else(|| leading(&plain).map(|at| (at, at)))?;
    let end = ENDS.iter().filter_map(|end| plain[at..].find(end).map(|found| at + found)).min();
    let clause = cased.get(from..end.unwrap_or(plain.len()))?;
    let skipped = plain[..from].matches(CODE).count();
    let codes = sentence.codes.iter().skip(skipped).take(clause.matches(CODE).count()).cloned();
    let words = clause
        .split_whitespace()
        .map(|word| word.trim_matches([',', ':', '(', ')', '"', '\'', '!']).trim_end_matches('.'));
    let paths = words.filter(|word| target::is_plain_path(word)).map(str::to_owned);
    let names: Vec<String> = codes.chain(paths).map(|name| bare(&name)).collect();
    let names: Vec<String> = names.into_iter().filter(|name| !name.is_empty()).collect();
    (!names.is_empty()).then(|| Prohibition { said: sentence.raw.clone(), names })
}

/// Where a clause begins that forbids; `do not forget` asks.
fn leading(plain: &str) -> Option<usize> {
    let starts = |at: usize| {
        let before = plain[..at].trim_end();
        let last = before.rsplit(' ').next().unwrap_or_default();
        before.is_empty()
            || before.ends_with([',', ';', ':', '—', '–', '-', '(', '.'])
            || matches!(
                last,
                "and" | "but" | "please" | "so" | "you" | "then" | "also" | "or" | "we"
            )
    };
    let forbids = |(at, phrase): &(usize, &str)| {
        let rest = &plain[at + phrase.len()..];
        let leaves =
            ["alone", "as is", "as it is", "as they are"].iter().any(|end| rest.contains(end));
        starts(*at) && !rest.starts_with("forget") && (*phrase != "leave " || leaves)
    };
    LEADING.iter().flat_map(|phrase| plain.match_indices(phrase)).find(forbids).map(|(at, _)| at)
}

fn bare(name: &str) -> String {
    name.trim().trim_start_matches("./").trim_end_matches('/').to_owned()
}

fn judge(found: &[Prohibition], told: &mut Told) {
    if found.iter().map(|one| one.names.len()).sum::<usize>() > NAMES {
        let gap = Gap::new("too much is forbidden by name to be held word for word");
        return told.steps.push(Step { title: String::new(), line: 1, action: gap.into() });
    }
    let mut blamed = Vec::new();
    for step in &told.steps {
        let broken = found.iter().find_map(|one| {
            one.names.iter().find(|name| does(&step.action, name)).map(|name| (&one.said, name))
        });
        if let Some((said, name)) = broken {
            let gap = Gap::forbidden(format!("`{}` forbids it (`{}`)", long(said), short(name)));
            blamed.push(Step { action: gap.into(), ..step.clone() });
        }
    }
    told.steps.extend(blamed);
}

/// The sentence itself is what a person looks for.
fn long(said: &str) -> &str {
    &said[..said.floor_char_boundary(200)]
}

/// Whether an action changes the file, or runs the command or file, of this name.
fn does(action: &Action, name: &str) -> bool {
    match action {
        Action::Run { command, .. } => {
            command.split(['\n', ';', '|', '&', '(', ')']).any(|part| runs(part.trim(), name))
        }
        action => title::touched(action).into_iter().any(|path| covers(name, path)),
    }
}

fn runs(command: &str, name: &str) -> bool {
    let mut words = command.split_whitespace();
    let Some(program) = words.next() else { return false };
    let is_name = |word: &str| covers(name, &bare(word.trim_matches(['"', '\''])));
    if is_name(program) {
        return true;
    }
    if !target::is_path(name) {
        let joins = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || "_-".contains(c));
        return command.match_indices(name).any(|(at, _)| {
            !joins(command[..at].chars().next_back())
                && !joins(command[at + name.len()..].chars().next())
        });
    }
    let writes = WRITERS.contains(&program) || command.contains('>');
    (writes || RUNNERS.contains(&program))
        && words.any(|word| is_name(word.trim_start_matches('>')))
}

/// Whether a name is that of a path: itself, a folder above it, its last part, or a pattern with one star.
fn covers(name: &str, path: &str) -> bool {
    let inside = |name: &str| path.strip_prefix(name).is_some_and(|rest| rest.starts_with('/'));
    match name.split_once('*') {
        Some((head, tail)) => {
            let last = path.rsplit('/').next().unwrap_or(path);
            let fits = |path: &str| {
                path.len() >= head.len() + tail.len()
                    && path.starts_with(head)
                    && path.ends_with(tail)
            };
            fits(path) || fits(last)
        }
        None => path == name || inside(name) || path.ends_with(&format!("/{name}")),
    }
}
