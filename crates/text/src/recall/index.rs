//! BM25 over what earlier tasks left, asked for some of it at a time. No number comes from a record that is not seen.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::f64::consts::LN_2;
use std::fmt::Write as _;

use super::query::Terms;
use super::words::{WORD, scope, words};
use super::{Entry, FEW, Query, Ranked, Relevance, Seen};

const K1: f64 = 1.2;
/// How much more often a long record must say a word to count as much as a short one.
const B: f64 = 0.4;
/// A word counts once in the summary, and as often as this in the title, in a path, and as what the title's prefix names.
const TITLE: u32 = 2;
const PATH: u32 = 3;
const SCOPE: u32 = 2;
/// Who touched more has told enough.
const MOST_PATHS: usize = 500;
/// Tasks after which a record has lost half of what it can lose.
const HALF_LIFE: f64 = 30.0;
/// A record never falls below this share of its score, however old it is.
const OLDEST: f64 = 0.5;
/// What each doubling of its uses adds, as a share of the score, and from how many on nothing more is added.
const USED: f64 = 0.05;
const MOST_USES: u32 = 7;
/// What words must weigh together to make a score of 1, among [`FEW`] records or more. Measured: with it, records that have
/// nothing to do with a task are seldom chosen, and nearly all of those that do still are.
const EVIDENCE: f64 = 3.6;
/// The weight of a word that half of the records have; no word weighs less. The words of a plan about one thing are in all of
/// its records: they do not tell these apart, but they do tell that the records matter.
const COMMON: f64 = LN_2;
/// How far back the seed's rule looks.
pub const LAST: usize = 10;
/// Reasons are told for as many as anybody reads.
const TOLD: usize = 200;

/// What is known of all records of a run. It grows, and never decides who sees what.
#[derive(Clone, Debug, Default)]
pub struct Index {
    /// For each word the records it occurs in, in the order they were added.
    postings: HashMap<String, Vec<Posting>>,
    lengths: Vec<u32>,
    /// The words that are kept; nothing where all are.
    asked: Option<HashSet<String>>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Posting {
    at: u32,
    count: u32,
}

impl Index {
    /// For one question only: what has none of its words is counted and not kept. No other question may be asked of it.
    pub fn about(query: &Query<'_>) -> Self {
        Self { asked: Some(Terms::of(query).0.into_keys().collect()), ..Self::default() }
    }

    /// The number of the record that was added.
    pub fn add(&mut self, entry: &Entry<'_>) -> usize {
        let at = self.lengths.len();
        // Paths tell what a record is about, not how much it says.
        let length =
            self.take(at, entry.summary, 1).saturating_add(self.take(at, entry.title, TITLE));
        for path in entry.paths.iter().take(MOST_PATHS) {
            self.take(at, path, PATH);
        }
        if let Some(scope) = scope(entry.title) {
            self.count(at, &scope, WORD * SCOPE);
        }
        self.lengths.push(length);
        at
    }

    /// Counts the words of a text; says how much they are together.
    fn take(&mut self, at: usize, text: &str, times: u32) -> u32 {
        let mut sum = 0_u32;
        words(text, |word| {
            let count = word.count * times;
            sum = sum.saturating_add(count);
            self.count(at, word.text, count);
        });
        sum
    }

    fn count(&mut self, at: usize, word: &str, count: u32) {
        if self.asked.as_ref().is_some_and(|asked| !asked.contains(word)) {
            return;
        }
        let at = at as u32;
        match self.postings.get_mut(word) {
            None => {
                self.postings.insert(word.to_owned(), vec![Posting { at, count }]);
            }
            Some(list) => match list.last_mut().filter(|last| last.at == at) {
                Some(last) => last.count = last.count.saturating_add(count),
                None => list.push(Posting { at, count }),
            },
        }
    }

    pub fn len(&self) -> usize {
        self.lengths.len()
    }

    pub fn is_empty(&self) -> bool {
        self.lengths.is_empty()
    }

    /// All seen records that share a word with the query, best first, ties newest first. Reasons are told for the first 200.
    pub fn rank(&self, query: &Query<'_>, seen: &[Seen], by: Relevance) -> Vec<Ranked> {
        match by {
            Relevance::Words => self.by_words(query, seen),
            Relevance::Seed => self.by_seed(query, seen),
            Relevance::Off => Vec::new(),
        }
    }

    fn by_words(&self, query: &Query<'_>, seen: &[Seen]) -> Vec<Ranked> {
        let view = View::new(self, seen);
        let terms = self.terms(query, &view);
        let mut scores = vec![0.0; seen.len()];
        for term in &terms {
            for posting in term.list {
                if let Some(place) = view.place(posting.at) {
                    let count = f64::from(posting.count) / f64::from(WORD);
                    scores[place] += term.weight * count / (count + view.norms[place]);
                }
            }
        }
        let wanted = evidence(view.count);
        let found = scores.iter().zip(seen).filter(|(score, _)| **score > 0.0);
        let scored = found.map(|(score, seen)| (score / wanted * lasting(seen), *seen)).collect();
        in_order(scored, &terms)
    }

    /// The last ten by how many words of the query they have.
    fn by_seed(&self, query: &Query<'_>, seen: &[Seen]) -> Vec<Ranked> {
        let mut last = seen.to_vec();
        last.sort_unstable_by_key(|one| (one.age, Reverse(one.at)));
        last.truncate(LAST);
        let mut terms = self.terms(query, &View::new(self, &last));
        terms.retain(|term| !term.written.is_empty());
        let count = |one: &Seen| terms.iter().filter(|term| term.is_in(one.at)).count();
        let scored = last.iter().map(|one| (count(one) as f64, *one));
        in_order(scored.filter(|(score, _)| *score > 0.0).collect(), &terms)
    }

    /// The query's words, in the order of the alphabet: sums are then the same in whatever order records were added.
    fn terms(&self, query: &Query<'_>, view: &View) -> Vec<Term<'_>> {
        let total = view.count as f64;
        let terms = Terms::of(query).0.into_iter().map(|(word, asked)| {
            let list = self.postings.get(&word).map_or(&[][..], Vec::as_slice);
            let frequency = list.iter().filter(|one| view.place(one.at).is_some()).count() as f64;
            let rarity = (1.0 + (total - frequency + 0.5) / (frequency + 0.5)).ln();
            let rarity = rounded(rarity.max(COMMON));
            let weight = rarity * f64::from(asked.count) / f64::from(WORD);
            Term { written: asked.written, list, weight }
        });
        terms.collect()
    }
}

/// A word of the query, and where it is.
struct Term<'a> {
    /// As the query has it; nothing for what is not told.
    written: String,
    list: &'a [Posting],
    weight: f64,
}

impl Term<'_> {
    fn is_in(&self, at: usize) -> bool {
        self.list.binary_search_by_key(&at, |one| one.at as usize).is_ok()
    }
}

/// The records that are seen, to be found by their number, and what must be known of all of them.
struct View {
    /// The place among the seen, and one more; nothing for what is not seen.
    places: Vec<u32>,
    /// By place: how often a word must be there to count half.
    norms: Vec<f64>,
    count: usize,
}

impl View {
    fn new(index: &Index, seen: &[Seen]) -> Self {
        let mut places = vec![0; index.len()];
        let (mut total, mut count) = (0, 0_usize);
        for (place, one) in seen.iter().enumerate() {
            if let Some(slot) = places.get_mut(one.at).filter(|slot| **slot == 0) {
                *slot = place as u32 + 1;
                total += u64::from(index.lengths[one.at]);
                count += 1;
            }
        }
        let mean = (total as f64 / count.max(1) as f64).max(1.0);
        let length =
            |one: &Seen| index.lengths.get(one.at).map_or(0.0, |length| f64::from(*length));
        let norms = seen.iter().map(|one| K1 * (1.0 - B + B * length(one) / mean)).collect();
        Self { places, norms, count }
    }

    fn place(&self, at: u32) -> Option<usize> {
        (self.places[at as usize] as usize).checked_sub(1)
    }
}

/// Among few records no word is rare, so that the same match weighs less: less is wanted then.
fn evidence(count: usize) -> f64 {
    let share = rounded((1.0 + count as f64).ln() / (1.0 + FEW as f64).ln()).min(1.0);
    EVIDENCE * share * share
}

/// What is left of a score after its age, and what its uses add.
fn lasting(seen: &Seen) -> f64 {
    let back = f64::from(seen.age.saturating_sub(1));
    let aged = rounded(OLDEST + (1.0 - OLDEST) * (-back / HALF_LIFE).exp2());
    aged * (1.0 + USED * rounded(f64::from(1 + seen.uses.min(MOST_USES)).log2()))
}

/// Logarithms and powers may differ in their last digit from one processor to another: an order must not.
fn rounded(number: f64) -> f64 {
    (number * 4096.0).round() / 4096.0
}

fn in_order(mut scored: Vec<(f64, Seen)>, terms: &[Term<'_>]) -> Vec<Ranked> {
    scored.sort_unstable_by(|(one, a), (two, b)| {
        two.total_cmp(one).then(a.age.cmp(&b.age)).then(b.at.cmp(&a.at))
    });
    let mut told: Vec<&Term<'_>> = terms.iter().filter(|term| !term.written.is_empty()).collect();
    // A stable sort: what weighs the same stays in the order of the alphabet.
    told.sort_by(|one, two| two.weight.total_cmp(&one.weight));
    let ranked = scored.into_iter().enumerate().map(|(place, (score, seen))| {
        let why = if place < TOLD { why(&seen, &told) } else { String::new() };
        Ranked { at: seen.at, score, why }
    });
    ranked.collect()
}

/// The words that led to a record, those that weigh most first.
fn why(seen: &Seen, terms: &[&Term<'_>]) -> String {
    const MOST_WORDS: usize = 6;
    let found = || terms.iter().filter(|term| term.is_in(seen.at));
    let words: Vec<&str> = found().take(MOST_WORDS).map(|term| term.written.as_str()).collect();
    let mut why = if words.is_empty() { "pairs of words".to_owned() } else { words.join(", ") };
    if let Some(more) = found().count().checked_sub(MOST_WORDS).filter(|more| *more > 0) {
        let _ = write!(why, " and {more} more");
    }
    match seen.uses {
        0 => why,
        1 => why + "; used once before",
        uses => format!("{why}; used {uses} times before"),
    }
}
