//! BM25 over what was left by earlier tasks, asked for some of it at a time. No number comes from a record that is not seen.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use super::words::words;
use super::{Entry, Query, Ranked, Relevance, Seen};

const K1: f64 = 1.2;
const B: f64 = 0.75;
/// Tasks after which a record has lost half of what it can lose.
const HALF_LIFE: f64 = 30.0;
/// A record never falls below this share of its score, however old it is.
const OLDEST: f64 = 0.5;
/// What a first use adds, as a share of the score; more uses add less and less.
const USED: f64 = 0.05;
/// How far back the seed's rule looks.
const LAST: usize = 10;
/// Reasons are told for as many as anybody reads.
const TOLD: usize = 200;
/// A word of a text counts once for the summary, and as often as this for the title and for a path.
const TITLE: u32 = 2;
const PATH: u32 = 1;

/// What is known of all records of a run. It grows, and never decides who sees what.
#[derive(Clone, Debug, Default)]
pub struct Index {
    /// For each word the records it occurs in, with its count there.
    postings: HashMap<String, Vec<Posting>>,
    lengths: Vec<u32>,
}

#[derive(Clone, Copy, Debug)]
struct Posting {
    at: u32,
    count: u32,
}

impl Index {
    /// The number of the record that was added.
    pub fn add(&mut self, entry: &Entry<'_>) -> usize {
        let at = self.lengths.len();
        let mut counts: BTreeMap<String, u32> = BTreeMap::new();
        let mut count = |text: &str, weight: u32| {
            words(text, |word| *counts.entry(word.to_owned()).or_default() += weight);
        };
        count(entry.summary, 1);
        count(entry.title, TITLE);
        for path in entry.paths {
            count(path, PATH);
        }
        self.lengths.push(counts.values().sum());
        for (word, count) in counts {
            self.postings.entry(word).or_default().push(Posting { at: at as u32, count });
        }
        at
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
            Relevance::Words => self.by_words(query, &View::new(self, seen)),
            Relevance::Seed => self.by_seed(query, seen),
            Relevance::Off => Vec::new(),
        }
    }

    fn by_words(&self, query: &Query<'_>, view: &View<'_>) -> Vec<Ranked> {
        let terms = self.terms(query, view);
        let most: f64 = terms.iter().map(|term| term.rarity * (K1 + 1.0)).sum();
        let mut scores = vec![0.0; view.seen.len()];
        for term in &terms {
            for posting in term.list {
                let Some(place) = view.place(posting.at) else { continue };
                let count = f64::from(posting.count);
                let length = f64::from(self.lengths[posting.at as usize]) / view.mean;
                let weight = count * (K1 + 1.0) / (count + K1 * (1.0 - B + B * length));
                scores[place] += term.rarity * weight;
            }
        }
        let aged = scores.iter().zip(view.seen).filter(|(score, _)| **score > 0.0);
        let scored = aged.map(|(score, seen)| (score / most * lasting(seen), *seen)).collect();
        let told = |at: usize| -> Vec<&str> {
            terms.iter().filter(|term| term.is_in(at)).map(|term| term.word.as_str()).collect()
        };
        in_order(scored, told)
    }

    /// The last ten by how many words of the query they have.
    fn by_seed(&self, query: &Query<'_>, seen: &[Seen]) -> Vec<Ranked> {
        let mut last = seen.to_vec();
        last.sort_by_key(|one| (one.age, Reverse(one.at)));
        last.truncate(LAST);
        let view = View::new(self, &last);
        let terms = self.terms(query, &view);
        let counted = last
            .iter()
            .map(|one| (terms.iter().filter(|term| term.is_in(one.at)).count() as f64, *one));
        let scored = counted.filter(|(score, _)| *score > 0.0).collect();
        in_order(scored, |at| {
            terms.iter().filter(|term| term.is_in(at)).map(|term| term.word.as_str()).collect()
        })
    }

    /// The words of the query that a seen record has, in the order of the alphabet.
    fn terms(&self, query: &Query<'_>, view: &View<'_>) -> Vec<Term<'_>> {
        let mut found = BTreeMap::new();
        for text in [query.text].into_iter().chain(query.paths.iter().map(String::as_str)) {
            words(text, |word| *found.entry(word.to_owned()).or_insert(0) += 1);
        }
        let total = view.seen.len() as f64;
        let terms = found.into_keys().map(|word| {
            let list = self.postings.get(&word).map_or(&[][..], Vec::as_slice);
            let frequency = list.iter().filter(|one| view.place(one.at).is_some()).count() as f64;
            // Rounded, so that no processor's last digit can change an order.
            let rarity = rounded((1.0 + (total - frequency + 0.5) / (frequency + 0.5)).ln());
            Term { word, list, rarity }
        });
        terms.collect()
    }
}

/// A word of the query.
struct Term<'a> {
    word: String,
    list: &'a [Posting],
    rarity: f64,
}

impl Term<'_> {
    fn is_in(&self, at: usize) -> bool {
        self.list.binary_search_by_key(&at, |one| one.at as usize).is_ok()
    }
}

/// The records that are seen, to be found by their number.
struct View<'a> {
    seen: &'a [Seen],
    /// The place in `seen` and one more; nothing for what is not seen.
    places: Vec<u32>,
    /// The mean length; never nothing.
    mean: f64,
}

impl<'a> View<'a> {
    fn new(index: &Index, seen: &'a [Seen]) -> Self {
        let mut places = vec![0; index.len()];
        let mut total = 0;
        for (place, one) in seen.iter().enumerate() {
            if let Some(slot) = places.get_mut(one.at) {
                *slot = place as u32 + 1;
                total += u64::from(index.lengths[one.at]);
            }
        }
        let mean = (total as f64 / seen.len().max(1) as f64).max(1.0);
        Self { seen, places, mean }
    }

    fn place(&self, at: u32) -> Option<usize> {
        (self.places[at as usize] as usize).checked_sub(1)
    }
}

/// What is left of a score after its age, and what its uses add.
fn lasting(seen: &Seen) -> f64 {
    let back = f64::from(seen.age.saturating_sub(1));
    let aged = rounded(OLDEST + (1.0 - OLDEST) * (-back / HALF_LIFE).exp2());
    aged * (1.0 + USED * rounded((1.0 + f64::from(seen.uses)).log2()))
}

fn rounded(number: f64) -> f64 {
    (number * 4096.0).round() / 4096.0
}

fn in_order<'a>(
    mut scored: Vec<(f64, Seen)>,
    words: impl Fn(usize) -> Vec<&'a str>,
) -> Vec<Ranked> {
    scored.sort_unstable_by(|(one, a), (two, b)| {
        two.total_cmp(one).then(a.age.cmp(&b.age)).then(b.at.cmp(&a.at))
    });
    let ranked = scored.into_iter().enumerate().map(|(place, (score, Seen { at, .. }))| {
        let why = if place < TOLD { words(at).join(", ") } else { String::new() };
        Ranked { at, score, why }
    });
    ranked.collect()
}
