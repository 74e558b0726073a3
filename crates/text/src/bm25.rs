//! BM25 over a handful of texts. Every number in it comes from the texts it was given and from nothing else.

use std::collections::{BTreeMap, HashMap};

const K1: f64 = 1.2;
const B: f64 = 0.75;

/// A small collection that can be asked which of its texts a query is about.
#[derive(Clone, Debug, Default)]
pub struct Corpus {
    /// For each term the texts it occurs in, with its count there.
    postings: HashMap<String, Vec<(usize, u32)>>,
    lengths: Vec<u32>,
}

impl Corpus {
    pub fn new<'a>(texts: impl IntoIterator<Item = &'a str>) -> Self {
        let mut corpus = Self::default();
        for (at, text) in texts.into_iter().enumerate() {
            let mut counts: BTreeMap<String, u32> = BTreeMap::new();
            let mut length = 0;
            for word in words(text) {
                *counts.entry(word).or_default() += 1;
                length += 1;
            }
            corpus.lengths.push(length);
            for (word, count) in counts {
                corpus.postings.entry(word).or_default().push((at, count));
            }
        }
        corpus
    }

    /// The texts that share a word with the query, best first; ties in the order they were given.
    pub fn rank(&self, query: &str) -> Vec<(usize, f64)> {
        let total = self.lengths.len() as f64;
        let mean =
            self.lengths.iter().map(|&length| f64::from(length)).sum::<f64>() / total.max(1.0);
        let mut terms: Vec<String> = words(query).collect();
        terms.sort_unstable();
        terms.dedup();
        let mut scores: BTreeMap<usize, f64> = BTreeMap::new();
        for list in terms.iter().filter_map(|term| self.postings.get(term)) {
            let frequency = list.len() as f64;
            let rarity = (1.0 + (total - frequency + 0.5) / (frequency + 0.5)).ln();
            for &(at, count) in list {
                let count = f64::from(count);
                let length = f64::from(self.lengths[at]) / mean.max(1.0);
                let weight = count * (K1 + 1.0) / (count + K1 * (1.0 - B + B * length));
                *scores.entry(at).or_default() += rarity * weight;
            }
        }
        let mut ranked: Vec<_> = scores.into_iter().collect();
        ranked.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        ranked
    }
}

/// Lower-case words of three letters or more.
fn words(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| word.chars().nth(2).is_some())
        .map(str::to_lowercase)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_that_shares_rare_words_comes_first() {
        let corpus = Corpus::new(["the user logs in", "the user resets the password", "the end"]);
        let ranked: Vec<_> =
            corpus.rank("reset: password of the user").into_iter().map(|(at, _)| at).collect();
        assert_eq!(ranked, [1, 0, 2]);
    }

    #[test]
    fn a_query_without_a_shared_word_finds_nothing() {
        assert_eq!(Corpus::new(["alpha beta"]).rank("gamma"), []);
        assert_eq!(Corpus::default().rank("gamma"), []);
    }
}
