//! A file in a context: whole, or its relevant definitions with an outline, or an outline, or its path.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use super::render::Ready;
use super::shelf::Held;
use crate::outliner::Symbol;
use crate::path::RepoPath;
use crate::tokens;

/// How much of a source is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum FormKind {
    #[serde(rename = "whole")]
    Whole,
    #[serde(rename = "symbols")]
    Symbols,
    #[serde(rename = "outline")]
    Outline,
    #[serde(rename = "path")]
    Path,
    #[serde(rename = "not there yet")]
    NotThereYet,
}

impl FormKind {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Whole => "whole",
            Self::Symbols => "symbols",
            Self::Outline => "outline",
            Self::Path => "path",
            Self::NotThereYet => "not there yet",
        }
    }
}

/// What a task says that makes one definition more telling than another.
pub(super) struct Focus {
    identifiers: BTreeSet<String>,
    words: BTreeSet<String>,
}

impl Focus {
    pub(super) fn new(text: &str) -> Self {
        let mut identifiers = BTreeSet::new();
        let mut words = BTreeSet::new();
        for identifier in text.split(|c: char| !(c.is_alphanumeric() || c == '_')) {
            if identifier.chars().count() > 2 {
                words.extend(parts(identifier));
                identifiers.insert(identifier.to_owned());
            }
        }
        Self { identifiers, words }
    }

    /// 0 for a definition the text does not touch on.
    fn weigh(&self, symbol: &Symbol, lines: Option<(u32, u32)>) -> usize {
        let pointed =
            lines.is_some_and(|(first, last)| symbol.lines.0 <= last && first <= symbol.lines.1);
        let named = self.identifiers.contains(&symbol.name);
        let shared = parts(&symbol.name).filter(|part| self.words.contains(part)).count();
        usize::from(pointed) * 1_000 + usize::from(named) * 100 + shared
    }
}

/// The lower-case words of an identifier: `parseURLPath` and `parse_url_path` are parse, url, path.
fn parts(identifier: &str) -> impl Iterator<Item = String> + use<> {
    let characters: Vec<char> = identifier.chars().collect();
    let mut words = Vec::new();
    let mut word = String::new();
    for (at, &character) in characters.iter().enumerate() {
        let after_lower = at > 0 && characters[at - 1].is_lowercase();
        let before_lower = characters.get(at + 1).is_some_and(|next| next.is_lowercase());
        if character == '_' || (character.is_uppercase() && (after_lower || before_lower)) {
            words.push(std::mem::take(&mut word));
        }
        if character != '_' {
            word.extend(character.to_lowercase());
        }
    }
    words.push(word);
    words.into_iter().filter(|word| word.chars().count() > 3)
}

/// The longest form that fits in `budget` tokens. A path always does.
pub(super) fn shape<'h>(
    held: &'h Held,
    symbols: impl FnOnce() -> &'h [Symbol],
    focus: &Focus,
    lines: Option<(u32, u32)>,
    budget: usize,
) -> Ready<'h> {
    if held.tokens <= budget {
        return ready(held, FormKind::Whole, Cow::Borrowed(&held.block), held.tokens);
    }
    outlined(held, symbols(), focus, lines, budget).unwrap_or_else(|| listed(held))
}

/// Only the path, with the reason.
pub(super) fn listed(held: &Held) -> Ready<'_> {
    let count = held.text.lines().count();
    let text = format!("### {}\n\nToo large to show here ({count} lines).\n\n", name(&held.path));
    let tokens = tokens::count(&text);
    ready(held, FormKind::Path, Cow::Owned(text), tokens)
}

fn outlined<'h>(
    held: &'h Held,
    symbols: &[Symbol],
    focus: &Focus,
    lines: Option<(u32, u32)>,
    budget: usize,
) -> Option<Ready<'h>> {
    let none = BTreeSet::new();
    // Every definition costs at least a token: no need to render what cannot fit.
    let outline = (!symbols.is_empty() && symbols.len() <= budget)
        .then(|| render_outline(held, symbols, &none, Rest::Outlined))
        .map(|text| (tokens::count(&text), text))
        .filter(|(size, _)| *size <= budget);
    let rest = if outline.is_some() { Rest::Outlined } else { Rest::Unlisted };
    let spent = outline.as_ref().map_or(60, |(size, _)| *size);
    let mut chosen = choose(held, symbols, focus, lines, budget.saturating_sub(spent));
    // What was summed piece by piece is checked as a whole; the last in the text goes first.
    while !chosen.is_empty() {
        let text = render_outline(held, symbols, &chosen, rest);
        let size = tokens::count(&text);
        if size <= budget {
            return Some(ready(held, FormKind::Symbols, Cow::Owned(text), size));
        }
        chosen.pop_last();
    }
    outline.map(|(size, text)| ready(held, FormKind::Outline, Cow::Owned(text), size))
}

/// The definitions that the task touches on, the most telling first, as far as their bodies fit.
fn choose(
    held: &Held,
    symbols: &[Symbol],
    focus: &Focus,
    lines: Option<(u32, u32)>,
    budget: usize,
) -> BTreeSet<usize> {
    let weighed = symbols.iter().enumerate().map(|(at, symbol)| (focus.weigh(symbol, lines), at));
    let mut order: Vec<(usize, usize)> = weighed.filter(|(weight, _)| *weight > 0).collect();
    order.sort_by_key(|&(weight, at)| (std::cmp::Reverse(weight), at));
    let mut chosen = BTreeSet::new();
    let mut left = budget;
    // More than this never fit; a hostile file may define a word a hundred thousand times.
    for (_, at) in order.into_iter().take(500) {
        let text = body(held, &symbols[at]);
        // A token is rarely longer than 20 bytes: what is far too large is not counted.
        if text.len() > left.saturating_mul(20) || overlaps(symbols, &chosen, at) {
            continue;
        }
        let cost = tokens::count(text) + 8;
        if cost <= left {
            left -= cost;
            chosen.insert(at);
        }
    }
    chosen
}

/// What is said of the definitions whose bodies are not shown.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rest {
    Outlined,
    Unlisted,
}

fn overlaps(symbols: &[Symbol], chosen: &BTreeSet<usize>, at: usize) -> bool {
    let bytes = &symbols[at].bytes;
    chosen.iter().any(|&other| {
        symbols[other].bytes.start < bytes.end && bytes.start < symbols[other].bytes.end
    })
}

fn body<'h>(held: &'h Held, symbol: &Symbol) -> &'h str {
    held.text.get(symbol.bytes.clone()).unwrap_or("")
}

fn render_outline(held: &Held, symbols: &[Symbol], chosen: &BTreeSet<usize>, rest: Rest) -> String {
    let mut inner = String::new();
    let mut shown_to = 0;
    for (at, symbol) in symbols.iter().enumerate() {
        let (first, last) = symbol.lines;
        if symbol.bytes.start < shown_to {
            continue;
        }
        if chosen.contains(&at) {
            let _ = writeln!(inner, "--- lines {first}-{last}");
            inner.push_str(body(held, symbol).trim_end_matches('\n'));
            inner.push_str("\n---\n");
            shown_to = symbol.bytes.end;
        } else if rest == Rest::Outlined {
            let indent = "  ".repeat(symbol.depth.min(8) as usize);
            let _ = writeln!(inner, "{first}-{last}: {indent}{}", symbol.signature);
        }
    }
    let count = held.text.lines().count();
    let (shown, all) = (chosen.len(), symbols.len());
    let said = match rest {
        _ if chosen.is_empty() => "its outline, by line numbers".to_owned(),
        Rest::Outlined => format!(
            "{shown} of {all} definitions with their bodies, the others as an outline, by line numbers"
        ),
        Rest::Unlisted => format!("{shown} of {all} definitions, those that the task speaks of"),
    };
    let said = format!("Too large to show whole ({count} lines): {said}.");
    let fence = fence(&inner);
    format!("### {}\n\n{said}\n\n{fence}\n{inner}{fence}\n\n", name(&held.path))
}

/// The whole file in a fence that nothing in it can close.
pub fn render_whole(path: &RepoPath, text: &str) -> String {
    let fence = fence(text);
    let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    format!("### {}\n\n{fence}\n{text}{end}{fence}\n\n", name(path))
}

fn name(path: &RepoPath) -> String {
    format!("`{path}`")
}

/// Longer than any run of backticks in the text.
pub fn fence(text: &str) -> String {
    let mut longest = 0;
    let mut run = 0;
    for byte in text.bytes() {
        run = if byte == b'`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    "`".repeat((longest + 1).max(3))
}

fn ready<'h>(held: &'h Held, form: FormKind, text: Cow<'h, str>, tokens: usize) -> Ready<'h> {
    Ready {
        text,
        tokens,
        form,
        source_hash: held.source_hash.clone(),
        redacted: held.redacted.clone(),
        why: String::new(),
        secrets: held.secrets.clone(),
    }
}
