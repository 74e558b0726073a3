//! A task's text as a question to the index.

use std::collections::{BTreeMap, BTreeSet};

use crate::words::{Identifier, Part, identifiers, words};

/// Text past this is data; the question is asked before it.
const MOST_BYTES: usize = 64 << 10;
/// The first line names the task: a word there counts as often as this.
const FIRST_LINE: f64 = 2.0;
/// A prefix longer than this is a sentence with a colon.
const LONGEST_PREFIX: usize = 50;

/// English that carries no subject, and what commits and tasks say whatever they are about; plurals taken back.
const STOP_WORDS: &str = "about above add added adding after again all allow allowed also alway am an and any are as at authored avoid \
    back be because been before being below between both but by can cannot change changed changing chore clean \
    cleanup close closed co commit corrected could did do doe doing don done down during each either else ensure \
    etc even ever every feat few fix fixed fixing follow for from further get give had handle handled has have \
    having he her here him his how however if implement implemented improve improved in instead into introduce \
    introduced is it its itself just let like made make making many may me might more most move moved much must my \
    need new no nor not now of off on once one only or other our out over own patch per pr prevent prevented \
    previously prior provide rather ref refactor refactored regression remove removed removing rename renamed \
    replace replaced report reported revert review reviewed same see set she should signed simplified simplify \
    since so some still such support supported than thank that the their them then there these they thing this \
    those though through thus to too two under until up update updated upon us use used using very via was way we \
    well were what when where whether which while who why will with within without work would yes yet you your";

/// Types of conventional commits: they name no part of the code.
const CHANGE_TYPES: [&str; 10] =
    ["build", "chore", "ci", "docs", "feat", "fix", "perf", "refactor", "style", "test"];

pub(crate) struct Query {
    /// Sorted by text, each once.
    pub(crate) terms: Vec<Term>,
    /// What may be a path or a file's name, as written.
    pub(crate) names: BTreeSet<String>,
    /// The parts of the code that a prefix such as `url:` or `fix(css):` names, in lower case.
    pub(crate) scopes: BTreeSet<String>,
}

pub(crate) struct Term {
    pub(crate) text: Vec<u8>,
    /// The identifier it comes from, as the text has it.
    pub(crate) written: String,
    pub(crate) weight: f64,
    /// A name of several words, such as `parse_url`.
    pub(crate) whole: bool,
}

impl Term {
    fn new(word: &[u8], name: &[u8], part: Part) -> Self {
        Self {
            text: word.to_vec(),
            // A part of a name is shown as the part: the name as a whole is a term of its own.
            written: String::from_utf8_lossy(if word.len() + 3 < name.len() { word } else { name })
                .into_owned(),
            weight: 0.0,
            whole: part == Part::Whole,
        }
    }
}

impl Query {
    pub(crate) fn parse(text: &str) -> Self {
        let text = &text[..text.floor_char_boundary(MOST_BYTES)];
        let first_line = text.lines().next().unwrap_or("");
        let mut terms: BTreeMap<Vec<u8>, Term> = BTreeMap::new();
        let stop: BTreeSet<&[u8]> = STOP_WORDS.split(' ').map(str::as_bytes).collect();
        let mut scratch = Vec::new();
        for (number, line) in text.lines().enumerate() {
            let times = if number == 0 { FIRST_LINE } else { 1.0 };
            identifiers(line.as_bytes(), |Identifier { name, .. }| {
                words(name, &mut scratch, |word, part| {
                    if !stop.contains(word) {
                        let term = terms
                            .entry(word.to_vec())
                            .or_insert_with(|| Term::new(word, name, part));
                        term.weight += times;
                    }
                });
            });
        }
        let mut terms: Vec<Term> = terms.into_values().collect();
        for term in &mut terms {
            // Repetition tells less and less.
            term.weight = 1.0 + 0.5 * term.weight.ln();
        }
        Self { terms, names: names(text), scopes: scopes(first_line) }
    }
}

fn names(text: &str) -> BTreeSet<String> {
    let outside = |c: char| !(c.is_alphanumeric() || "_-./+".contains(c));
    let names = text.split(outside).map(|name| name.trim_end_matches(['.', '/', '-']));
    let names = names.map(|name| name.trim_start_matches("./").trim_start_matches('/'));
    names.filter(|name| name.len() > 2 && name.contains(['.', '/'])).map(str::to_owned).collect()
}

fn scopes(first_line: &str) -> BTreeSet<String> {
    let Some((prefix, _)) = first_line.split_once(':') else {
        return BTreeSet::new();
    };
    if prefix.len() > LONGEST_PREFIX {
        return BTreeSet::new();
    }
    let inner = prefix.split_once('(').and_then(|(_, rest)| rest.split_once(')'));
    let prefix = inner.map_or(prefix, |(inner, _)| inner).to_lowercase();
    let words = prefix.split(|c: char| !(c.is_alphanumeric() || "_-.".contains(c)));
    let words = words.filter(|word| word.len() > 1 && !CHANGE_TYPES.contains(word));
    words.map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_becomes_words_names_and_scopes() {
        let query = Query::parse("fix(plugin-react): use `src/a.rs` in parse_url\n\nSee lib/b.c.");
        let terms: Vec<String> =
            query.terms.iter().map(|term| String::from_utf8_lossy(&term.text).into()).collect();
        assert_eq!(terms, ["lib", "parse", "parse_url", "plugin", "react", "rs", "src", "url"]);
        assert_eq!(query.names, ["lib/b.c", "src/a.rs"].map(str::to_owned).into());
        assert_eq!(query.scopes, ["plugin-react".to_owned()].into());
    }
}
