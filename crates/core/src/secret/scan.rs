//! The search: one set over all rules says which of them are worth a look, their shapes say where.

use std::ops::Range;
use std::sync::{LazyLock, OnceLock};

use regex::{Captures, Regex, RegexSet};

use super::rule::{Kind, Rule};
use super::table::RULES;
use super::{Found, MARK, block, value};

/// What any rule finds: in order, apart from each other, each whole word by whole word.
pub(super) fn scan(text: &str) -> Vec<Found> {
    let mut hits = Vec::new();
    for index in KEYWORDS.matches(text) {
        let (rule, shape) = (&RULES[index], shape(index));
        let mut hit = |span: Range<usize>| {
            hits.push(Found {
                rule: rule.name,
                start: span.start,
                end: span.end,
            });
        };
        match rule.kind {
            Kind::Block => block::find(text, shape, hit),
            Kind::Token | Kind::Value => each_match(text, shape, |captures| {
                if let Some(span) = secret_of(text, rule, captures) {
                    hit(span);
                }
            }),
        }
    }
    merge(hits)
}

/// Looks at every place where the shape fits, also inside earlier matches: what is found does not depend on what
/// was looked at before, so that a second redaction finds nothing new.
fn each_match<'t>(text: &'t str, shape: &Regex, mut look: impl FnMut(&Captures<'t>)) {
    let mut from = 0;
    while let Some(captures) = shape.captures_at(text, from) {
        look(&captures);
        let start = captures.get_match().start();
        from = start + text[start..].chars().next().map_or(1, char::len_utf8);
        if from > text.len() {
            break;
        }
    }
}

fn secret_of(text: &str, rule: &Rule, captures: &Captures<'_>) -> Option<Range<usize>> {
    let whole = captures.get_match();
    let secret = captures.get(rule.group())?;
    let stands_alone = rule.kind != Kind::Token || starts_word(text, whole.start());
    (stands_alone && !whole.as_str().contains(MARK) && value::is_plausible(rule, secret.as_str()))
        .then(|| secret.start()..end_of_word(text, secret.end()))
}

/// Whether no letter or digit precedes `at`, but for escapes such as `\n` and `%3D`.
fn starts_word(text: &str, at: usize) -> bool {
    match &text.as_bytes()[..at] {
        [.., b'\\', b'n' | b'r' | b't'] => true,
        [.., b'%', high, low] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => true,
        [.., last] => !last.is_ascii_alphanumeric(),
        [] => true,
    }
}

/// The end of the word that `end` stands in or behind: no rest of a secret is left over.
fn end_of_word(text: &str, end: usize) -> usize {
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let bytes = text.as_bytes();
    if !bytes[..end].last().is_some_and(is_word) {
        return end;
    }
    end + bytes[end..].iter().take_while(|byte| is_word(byte)).count()
}

/// Sorts, and joins what overlaps; the earliest rule of the table gives the name.
pub(super) fn merge(mut hits: Vec<Found>) -> Vec<Found> {
    hits.sort_unstable_by_key(|hit| (hit.start, hit.end, rank(hit.rule)));
    let mut joined: Vec<Found> = Vec::with_capacity(hits.len());
    for hit in hits {
        match joined.last_mut() {
            Some(last) if hit.start < last.end => {
                last.end = last.end.max(hit.end);
                if rank(hit.rule) < rank(last.rule) {
                    last.rule = hit.rule;
                }
            }
            _ => joined.push(hit),
        }
    }
    joined
}

fn rank(name: &str) -> usize {
    RULES
        .iter()
        .position(|rule| rule.name == name)
        .unwrap_or(RULES.len())
}

static KEYWORDS: LazyLock<RegexSet> = LazyLock::new(keyword_set);

#[expect(
    clippy::expect_used,
    reason = "the table is constant, and a test builds the set"
)]
fn keyword_set() -> RegexSet {
    let alternatives = RULES.iter().map(|rule| {
        let words: Vec<String> = rule
            .keywords
            .iter()
            .map(|word| regex::escape(word))
            .collect();
        let case = if rule.kind == Kind::Value { "i" } else { "" };
        format!("(?{case}:{})", words.join("|"))
    });
    RegexSet::new(alternatives).expect("the keywords are literals")
}

/// Shapes are compiled when a text first holds one of their keywords.
#[expect(
    clippy::expect_used,
    reason = "the table is constant, and a test compiles every shape"
)]
fn shape(index: usize) -> &'static Regex {
    static SHAPES: [OnceLock<Regex>; RULES.len()] = [const { OnceLock::new() }; RULES.len()];
    SHAPES[index]
        .get_or_init(|| Regex::new(RULES[index].shape).expect("the shape is a regular expression"))
}
