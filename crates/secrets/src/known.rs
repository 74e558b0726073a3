//! Values that were recognised once, and are hidden wherever they stand again.

use std::collections::BTreeMap;
use std::fmt;

use aho_corasick::{AhoCorasick, MatchKind};
use serde::{Deserialize, Serialize};

use super::table::RULES;
use super::{Found, MARK, Redacted, join, mark, redact, value};

/// Secrets of one context, or of one attempt. They are never written down: a set is kept in memory, and sent only from the
/// process that runs tools to the one that records.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SecretSet {
    /// Each with the rule that names it in marks.
    values: BTreeMap<String, String>,
}

/// More are not kept: a text that holds so many is a dump.
const VALUES: usize = 4_096;
/// Longer ones are known by their own look.
const BYTES: usize = 512;

impl SecretSet {
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Takes in what was found in a text, as far as it is a secret wherever it stands. Says whether any of it is new.
    pub fn learn(&mut self, text: &str, found: &[Found]) -> bool {
        let mut is_new = false;
        for secret in found {
            is_new |= self.add(&text[secret.start..secret.end], secret.rule);
        }
        is_new
    }

    /// Takes in what another set knows. Says whether any of it is new.
    pub fn extend(&mut self, other: &Self) -> bool {
        let mut is_new = false;
        for (value, rule) in &other.values {
            is_new |= self.add(value, rule);
        }
        is_new
    }

    fn add(&mut self, secret: &str, rule: &str) -> bool {
        let is_kept = value::is_distinct(secret)
            && secret.len() <= BYTES
            && !secret.contains(MARK)
            && RULES.iter().any(|known| known.name == rule)
            && self.values.len() < VALUES
            && !self.values.contains_key(secret);
        if is_kept {
            self.values.insert(secret.to_owned(), rule.to_owned());
        }
        is_kept
    }

    /// What hides these values. Building it takes time: keep it while the set stays the same.
    pub fn hider(&self) -> Hider {
        let mut builder = AhoCorasick::builder();
        let search = builder.match_kind(MatchKind::LeftmostLongest).build(self.values.keys());
        let name =
            |rule: &String| RULES.iter().find(|known| known.name == rule).map(|known| known.name);
        Hider {
            search: search.ok().filter(|_| !self.is_empty()),
            rules: self.values.values().filter_map(name).collect(),
        }
    }
}

/// Without the values.
impl fmt::Debug for SecretSet {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "SecretSet({})", self.values.len())
    }
}

/// Finds the values of a [`SecretSet`].
#[derive(Clone, Default)]
pub struct Hider {
    search: Option<AhoCorasick>,
    rules: Vec<&'static str>,
}

impl Hider {
    /// Where the values stand in a text that was redacted.
    fn find(&self, text: &str) -> Vec<Found> {
        let Some(search) = &self.search else { return Vec::new() };
        let found = search.find_iter(text);
        let found = found.map(|found| Found {
            rule: self.rules[found.pattern()],
            start: found.start(),
            end: found.end(),
        });
        super::scan::merge(text, found.collect())
    }

    /// Replaces these values, and nothing else, by marks. Nothing where none stands in the text.
    pub fn hide(&self, text: &str) -> Option<Redacted<'static>> {
        let found = self.find(text);
        (!found.is_empty()).then(|| Redacted { text: mark(text, &found).into(), found })
    }

    /// Replaces each secret, and each of these values, by a mark.
    pub fn redact<'t>(&self, text: &'t str) -> Redacted<'t> {
        let redacted = redact(text);
        let more = self.find(&redacted.text);
        if more.is_empty() {
            return redacted;
        }
        let found = join(text, redacted.found, &more);
        Redacted { text: mark(text, &found).into(), found }
    }
}

/// Whether `shown` is `source` with nothing changed but that marks stand in the place of some of it, line by line.
pub fn is_less_of(shown: &str, source: &str) -> bool {
    let count = |text: &str| text.bytes().filter(|byte| *byte == b'\n').count();
    let mut lines = shown.split('\n').zip(source.split('\n'));
    shown == source
        || count(shown) == count(source)
            && lines.all(|(shown, source)| is_less_of_line(shown, source))
}

/// The pieces between the marks stand in the other line, one behind the other, from its start to its end.
fn is_less_of_line(shown: &str, source: &str) -> bool {
    if shown == source {
        return true;
    }
    let mut pieces = shown.split(MARK);
    let Some(mut rest) = pieces.next().and_then(|first| source.strip_prefix(first)) else {
        return false;
    };
    let mut last = None;
    for piece in pieces {
        if let Some(last) = last.replace(piece) {
            let Some(text) = after_mark(last) else { return false };
            let Some(at) = rest.find(text) else { return false };
            rest = &rest[at + text.len()..];
        }
    }
    last.and_then(after_mark).is_some_and(|text| rest.ends_with(text))
}

/// Behind the rule that a mark names.
fn after_mark(piece: &str) -> Option<&str> {
    let (rule, text) = piece.strip_prefix(": ")?.split_once(']')?;
    rule.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-').then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn less_is_the_same_with_marks() {
        let source = "a = x1\nlogin(kq7, kq7) and more\n";
        for shown in [
            source,
            "a = x1\nlogin([redacted: jwt], kq7) and more\n",
            "a = x1\nlogin([redacted: jwt], [redacted: jwt]) and more\n",
            "[redacted: jwt]\n[redacted: jwt]\n",
        ] {
            assert!(is_less_of(shown, source), "{shown}");
        }
        for shown in [
            "a = x1\n",
            "a = x1\nlogin([redacted: jwt], kq8) and more\n",
            "a = x2\nlogin([redacted: jwt], kq7) and more\n",
            "a = x1\nlogin([redacted: jwt] and more\n[redacted: jwt]\n",
            "a = x1\nlogin([redacted: words of another, kq7) and more\n",
            "a = x1\nlogin([redacted: jwt], kq7) and more, and more\n",
        ] {
            assert!(!is_less_of(shown, source), "{shown}");
        }
    }

    #[test]
    fn a_set_hides_what_it_learned_and_no_plain_words() {
        let secret = ["kq7&", "Vz2!"].concat();
        let first = format!("DB_PASS={secret}\nSMTP_PASS=swordfish\n");
        let mut known = SecretSet::default();
        assert!(known.learn(&first, &redact(&first).found));
        assert!(!known.learn(&first, &redact(&first).found));
        let hidden = known.hider().redact(&format!("login({secret}) swordfish")).text.into_owned();
        assert_eq!(hidden, "login([redacted: assigned-password]) swordfish");
        assert_eq!(format!("{known:?}"), "SecretSet(1)");
    }
}
