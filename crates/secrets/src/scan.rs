//! The search: one set over all rules says which of them are worth a look, their shapes say where.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{LazyLock, OnceLock};

use aho_corasick::{AhoCorasick, MatchKind};
use regex::{Regex, RegexSet};

use super::rule::{Kind, Rule};
use super::table::{PASSWORD, RULES};
use super::{Found, MARK, assignment, block, value};

/// What any rule finds: in order, apart from each other.
pub(super) fn scan(text: &str) -> Vec<Found> {
    let mut hits = Vec::new();
    for index in KEYWORDS.matches(text) {
        let (rule, shape) = (&RULES[index], shape(index));
        let hit = |span: Range<usize>| {
            hits.push(Found { rule: rule.name, start: span.start, end: span.end });
        };
        match rule.kind {
            Kind::Block => block::find(text, shape, hit),
            Kind::Name => assignment::find(text, rule.name == PASSWORD, shape, hit),
            Kind::Token | Kind::Value => find(text, rule, shape, hit),
        }
    }
    hits.extend(repeats(text, &hits));
    merge(text, hits)
}

/// Where the secrets stand once more, perhaps with nothing around them that would tell.
fn repeats(text: &str, hits: &[Found]) -> Vec<Found> {
    let mut known = BTreeMap::new();
    for hit in hits {
        let secret = &text[hit.start..hit.end];
        if value::is_distinct(secret) {
            known.entry(secret).or_insert(hit.rule);
        }
    }
    if known.is_empty() {
        return Vec::new();
    }
    let rules: Vec<&'static str> = known.values().copied().collect();
    let searcher =
        AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(known.keys());
    let Ok(searcher) = searcher else {
        return Vec::new();
    };
    searcher
        .find_iter(text)
        .map(|found| Found { rule: rules[found.pattern()], start: found.start(), end: found.end() })
        .collect()
}

/// Calls `hit` with every secret of the rule. A match that is no secret is looked into once more, as it may hide one
/// behind a false start; of a long one only the end, which keeps the work linear.
fn find(text: &str, rule: &Rule, shape: &Regex, mut hit: impl FnMut(Range<usize>)) {
    let mut from = 0;
    while let Some((whole, secret)) = next_match(text, rule, shape, from) {
        from = if rule.kind == Kind::Token && !starts_word(text, whole.start) {
            end_of_run(text, whole.start)
        } else if is_secret(rule, text, &whole, &secret) {
            hit(secret.clone());
            secret.end
        } else {
            let again = whole.end.saturating_sub(LOOK_AGAIN).max(whole.start + 1);
            text.ceil_char_boundary(again)
        };
    }
}

const LOOK_AGAIN: usize = 256;

/// The next match from `from` on, and the secret in it.
fn next_match(
    text: &str,
    rule: &Rule,
    shape: &Regex,
    from: usize,
) -> Option<(Range<usize>, Range<usize>)> {
    if rule.kind == Kind::Token {
        let whole = shape.find_at(text, from)?.range();
        return Some((whole.clone(), whole));
    }
    let captures = shape.captures_at(text, from)?;
    let secret = captures.get(rule.group())?.range();
    Some((captures.get_match().range(), secret))
}

fn is_secret(rule: &Rule, text: &str, whole: &Range<usize>, secret: &Range<usize>) -> bool {
    value::is_plausible(rule, &text[secret.clone()])
        && !text[whole.clone()].contains(MARK)
        && !is_folder(&text[..whole.start], &text[whole.clone()])
}

/// Whether it is the folder that a shell is in: `PWD=/a1/b2`, `"OLDPWD": "/a1/b2"`. The names hold that of a password.
fn is_folder(before: &str, whole: &str) -> bool {
    let before = before.strip_suffix("OLD").unwrap_or(before);
    let is_within_name = |last: char| last.is_ascii_alphanumeric() || matches!(last, '_' | '-');
    let value = whole.strip_prefix("PWD").map(|rest| rest.trim_start_matches(NO_VALUE));
    value.is_some_and(|value| value.starts_with('/')) && !before.ends_with(is_within_name)
}

/// What stands between a name and its value.
const NO_VALUE: [char; 6] = ['=', ':', '"', '\'', ' ', '\t'];

/// Behind the letters and digits at `start`, and at least one character on: no word starts before that.
fn end_of_run(text: &str, start: usize) -> usize {
    let rest = &text[start..];
    rest.find(|inner: char| !inner.is_ascii_alphanumeric())
        .map_or(text.len(), |run| text.ceil_char_boundary(start + run.max(1)))
}

/// Whether no letter or digit precedes `at`, but for escapes such as `\n` and `%3D`.
fn starts_word(text: &str, at: usize) -> bool {
    match &text.as_bytes()[..at] {
        [] | [.., b'\\', b'n' | b'r' | b't'] => true,
        [.., b'%', high, low] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => true,
        [.., last] => !last.is_ascii_alphanumeric(),
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

/// Sorts, ends each at the end of a word, and joins what overlaps; the earliest rule of the table gives the name.
pub(super) fn merge(text: &str, mut hits: Vec<Found>) -> Vec<Found> {
    hits.sort_unstable_by_key(|hit| (hit.start, hit.end, rank(hit.rule)));
    let mut joined: Vec<Found> = Vec::with_capacity(hits.len());
    for hit in hits {
        match joined.last_mut() {
            Some(last) if hit.start < last.end => {
                if hit.end > last.end {
                    last.end = end_of_word(text, hit.end);
                }
                if rank(hit.rule) < rank(last.rule) {
                    last.rule = hit.rule;
                }
            }
            _ => joined.push(Found { end: end_of_word(text, hit.end), ..hit }),
        }
    }
    joined
}

fn rank(name: &str) -> usize {
    RULES.iter().position(|rule| rule.name == name).unwrap_or(RULES.len())
}

static KEYWORDS: LazyLock<RegexSet> = LazyLock::new(keyword_set);

#[expect(clippy::expect_used, reason = "the table is constant, and a test builds the set")]
fn keyword_set() -> RegexSet {
    let alternatives = RULES.iter().map(|rule| {
        let words: Vec<String> = rule.keywords.iter().map(|word| regex::escape(word)).collect();
        let case = if matches!(rule.kind, Kind::Value | Kind::Name) { "i" } else { "" };
        format!("(?{case}:{})", words.join("|"))
    });
    RegexSet::new(alternatives).expect("the keywords are literals")
}

/// Shapes are compiled when a text first holds one of their keywords.
#[expect(clippy::expect_used, reason = "the table is constant, and a test compiles every shape")]
fn shape(index: usize) -> &'static Regex {
    static SHAPES: [OnceLock<Regex>; RULES.len()] = [const { OnceLock::new() }; RULES.len()];
    SHAPES[index]
        .get_or_init(|| Regex::new(RULES[index].shape).expect("the shape is a regular expression"))
}
