//! Secrets: found in text by shape, in names by name, and replaced before anyone sees them.

mod assigned_value;
mod assignment;
mod block;
pub mod fs_name;
mod known;
mod literal;
mod name;
mod rule;
mod scan;
mod secret_name;
mod table;
#[cfg(test)]
mod tests;
mod value;

use std::borrow::Cow;

pub use known::{Hider, SecretSet, is_less_of};
pub use name::is_secret_name;
pub use rule::{Example, Kind, Piece, Rule};
pub use table::RULES;

/// How every mark begins; text that holds it was redacted before.
pub const MARK: &str = "[redacted";

/// A text without its secrets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redacted<'t> {
    pub text: Cow<'t, str>,
    /// In order of their place; they do not overlap.
    pub found: Vec<Found>,
}

/// A secret: bytes `start..end` of the original text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// The name of its rule.
    pub rule: &'static str,
    pub start: usize,
    pub end: usize,
}

/// Replaces each secret by a mark that names its kind. Every line keeps its number. Redacting again changes nothing.
pub fn redact(text: &str) -> Redacted<'_> {
    let mut found = scan::scan(text);
    if found.is_empty() {
        return Redacted { text: Cow::Borrowed(text), found };
    }
    let mut clean = mark(text, &found);
    // A secret may have hidden in the match that another one spoiled, and stand alone now.
    for _ in 0..ROUNDS {
        let more = scan::scan(&clean);
        if more.is_empty() {
            break;
        }
        found = join(text, found, &more);
        clean = mark(text, &found);
    }
    Redacted { text: Cow::Owned(clean), found }
}

/// One is the rule, two are rare, more are somebody's joke.
const ROUNDS: usize = 8;

fn mark(text: &str, found: &[Found]) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut copied = 0;
    for secret in found {
        clean.push_str(&text[copied..secret.start]);
        clean.push_str(&secret.mark(text));
        copied = secret.end;
    }
    clean.push_str(&text[copied..]);
    clean
}

impl Found {
    fn mark(&self, text: &str) -> String {
        let mut mark = format!("{MARK}: {}]", self.rule);
        mark.extend(line_breaks(&text[self.start..self.end]));
        mark
    }
}

fn line_breaks(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive('\n').filter_map(|line| {
        let end = if line.ends_with("\r\n") { "\r\n" } else { "\n" };
        line.ends_with('\n').then_some(end)
    })
}

/// Adds what was found in the marked text, at its place in the original.
fn join(text: &str, found: Vec<Found>, more: &[Found]) -> Vec<Found> {
    let mut added = 0;
    let mut removed = 0;
    let mut marks = Vec::with_capacity(found.len());
    for secret in &found {
        let length = secret.mark(text).len();
        let start = secret.start - removed + added;
        marks.push((start..start + length, *secret));
        added += length;
        removed += secret.end - secret.start;
    }
    let origin = |offset: usize| {
        let behind = marks.partition_point(|(mark, _)| mark.start <= offset);
        match behind.checked_sub(1).map(|last| &marks[last]) {
            Some((mark, secret)) if offset < mark.end => secret.start,
            Some((mark, secret)) => secret.end + (offset - mark.end),
            None => offset,
        }
    };
    let all = more.iter().map(|secret| Found {
        start: origin(secret.start),
        end: origin(secret.end),
        ..*secret
    });
    scan::merge(text, found.into_iter().chain(all).collect())
}
