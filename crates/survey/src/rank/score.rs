//! One score per file, and what it came from.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use sequester_core::ranker::Ranked;

use super::query::{Query, Term};
use crate::history::Votes;
use crate::index::{Blob, DEFINED, FOLDER, Index, NAME, Posting, WHOLE_NAME, stem, whole_name};
use crate::kind::Kind;
use crate::words::{identifiers, words};

/// BM25: how soon repetition stops to count, and how much a long file is held against it.
const SATURATION: f64 = 1.6;
const LENGTH: f64 = 0.7;
/// What a word in the path counts, in occurrences in the content.
const IN_FOLDER: f64 = 1.5;
const IN_NAME: f64 = 3.0;
const AS_WHOLE_NAME: f64 = 3.0;
/// A longer question is asked by its most telling words.
const MOST_TERMS: usize = 64;
/// A name defined in more files than this tells nothing; a plain word that is defined tells less than a compound.
const MOST_DEFINITIONS: usize = 20;
const PLAIN_DEFINITION: f64 = 0.3;
/// What the text names goes first. The rest is in parts of the best score that words alone gave.
const NAMED: f64 = 10.0;
const NAMED_AMONG_SEVERAL: f64 = 0.5;
const SYMBOL: f64 = 1.0;
const SYMBOL_DEFINITIONS: usize = 2;
const SCOPE_NAME: f64 = 0.3;
const SCOPE_FOLDER: f64 = 0.2;
/// History: its whole weight, the commits that vote, the age at which a vote counts half.
const VOTES: f64 = 0.6;
const VOTERS: usize = 50;
const VOTE_HALF_LIFE: f64 = 3_000.0;
const MESSAGE_SATURATION: f64 = 1.2;
const MESSAGE_LENGTH: f64 = 0.3;
/// Files that change together with the best ones.
const COMPANIONS: f64 = 0.3;
const SEEDS: usize = 10;
const COMPANION_HALF_LIFE: f64 = 1_000.0;
const COMPANION_DOUBT: f64 = 5.0;
const COMPANION_PATHS: usize = 30;

pub(crate) struct Scores<'a> {
    index: &'a Index,
    query: &'a Query,
    score: Vec<f64>,
    reasons: Vec<Reasons>,
    /// Compound names of the text with the files that define them, tests apart.
    symbols: Vec<(usize, Vec<u32>)>,
    /// The best score that words alone gave.
    best_by_words: f64,
}

#[derive(Clone, Default)]
struct Reasons {
    /// The words that gave most, with what they gave; a word is its number among the terms, plus one.
    words: [(f32, u16); 3],
    named: bool,
    /// The number of the defined term, plus one.
    symbol: u16,
    commits: u16,
    /// The document it often changes with, plus one.
    companion: u32,
}

impl Reasons {
    fn word(&mut self, term: usize, score: f64) {
        let mut entry = (score as f32, term as u16 + 1);
        for slot in &mut self.words {
            if entry.0 > slot.0 {
                std::mem::swap(slot, &mut entry);
            }
        }
    }
}

impl<'a> Scores<'a> {
    pub(crate) fn new(index: &'a Index, query: &'a Query) -> Self {
        Self {
            index,
            query,
            score: vec![0.0; index.paths.len()],
            reasons: vec![Reasons::default(); index.paths.len()],
            symbols: Vec::new(),
            best_by_words: f64::MIN_POSITIVE,
        }
    }

    /// BM25 over content and path as one text, and what defines the words.
    pub(crate) fn match_words(&mut self) {
        let blob = &self.index.blob;
        let average = average(blob);
        for (number, term, rarity) in telling_terms(self.query, blob) {
            let Some((postings, _)) = blob.find(&term.text) else {
                continue;
            };
            let mut definers = Vec::new();
            for posting in postings {
                let length = f64::from(blob.length(posting.document)) / average;
                let often = f64::from(posting.count) / (1.0 - LENGTH + LENGTH * length).max(0.05)
                    + path_weight(posting);
                let gain = term.weight * rarity * often * (SATURATION + 1.0) / (often + SATURATION);
                self.add_word(posting.document, number, gain);
                if posting.marks & DEFINED != 0 {
                    definers.push(posting.document);
                }
            }
            self.add_definitions(number, term, rarity, &definers);
        }
        self.best_by_words = best(&self.score);
    }

    fn add_word(&mut self, document: u32, term: usize, gain: f64) {
        let at = document as usize;
        if let (Some(score), Some(reasons)) = (self.score.get_mut(at), self.reasons.get_mut(at)) {
            *score += gain;
            reasons.word(term, gain);
        }
    }

    fn add_definitions(&mut self, number: usize, term: &Term, rarity: f64, definers: &[u32]) {
        let is_test = |document: &&u32| self.index.kinds[**document as usize] == Kind::Test;
        let outside_tests = definers.iter().filter(|document| !is_test(document)).count();
        if definers.is_empty() || outside_tests > MOST_DEFINITIONS {
            return;
        }
        let share = if term.whole { 1.0 } else { PLAIN_DEFINITION };
        let gain = share * term.weight * rarity / (outside_tests.max(1) as f64).sqrt();
        for document in definers {
            self.score[*document as usize] += gain;
        }
        if term.whole && outside_tests <= SYMBOL_DEFINITIONS {
            let documents = definers.iter().filter(|document| !is_test(document)).copied();
            self.symbols.push((number, documents.collect()));
        }
    }

    /// `url: ...` speaks of `lib/url.c`, `tsdb: ...` of the folder `tsdb`.
    pub(crate) fn match_scopes(&mut self) {
        let mut gains: BTreeMap<u32, f64> = BTreeMap::new();
        for scope in &self.query.scopes {
            for document in self.files_named(scope) {
                gains.insert(document, SCOPE_NAME);
            }
            for document in self.files_under(scope) {
                gains.entry(document).or_insert(SCOPE_FOLDER);
            }
        }
        for (document, gain) in gains {
            self.score[document as usize] += gain * self.best_by_words;
        }
    }

    /// Files whose stem is `name`, with or without its ending.
    fn files_named(&self, name: &str) -> Vec<u32> {
        let found = self.index.blob.find(&whole_name(stem(name)));
        let postings = found.into_iter().flat_map(|(postings, _)| postings);
        postings
            .filter(|posting| posting.marks & WHOLE_NAME != 0)
            .map(|posting| posting.document)
            .filter(|document| {
                let path = self.index.paths[*document as usize].name();
                whole_name(stem(path)) == whole_name(stem(name))
            })
            .collect()
    }

    fn files_under(&self, folder: &str) -> Vec<u32> {
        let mut last = None;
        identifiers(folder.as_bytes(), |found| {
            words(found.name, &mut Vec::new(), |word, _| last = Some(word.to_vec()));
        });
        let found = last.and_then(|word| self.index.blob.find(&word));
        let postings = found.into_iter().flat_map(|(postings, _)| postings);
        postings
            .filter(|posting| posting.marks & FOLDER != 0)
            .map(|posting| posting.document)
            .filter(|document| {
                let path = &self.index.paths[*document as usize];
                path.folder().split('/').any(|part| part.eq_ignore_ascii_case(folder))
            })
            .collect()
    }

    pub(crate) fn weigh_kinds(&mut self) {
        for (score, kind) in self.score.iter_mut().zip(&self.index.kinds) {
            *score *= kind.weight();
        }
    }

    /// A file that defines a compound name of the text is spoken of, unless many do.
    pub(crate) fn match_symbols(&mut self) {
        for (term, documents) in std::mem::take(&mut self.symbols) {
            for document in documents {
                let reasons = &mut self.reasons[document as usize];
                if reasons.symbol == 0 {
                    reasons.symbol = term as u16 + 1;
                    self.score[document as usize] += SYMBOL * self.best_by_words;
                }
            }
        }
    }

    /// A file named in several ways gets what the most telling of them gives, once.
    pub(crate) fn match_names(&mut self) {
        let mut gains: BTreeMap<u32, f64> = BTreeMap::new();
        for name in &self.query.names {
            let named = self.files_written(name);
            let gain =
                if named.len() == 1 || name.contains('/') { NAMED } else { NAMED_AMONG_SEVERAL };
            for document in named {
                let most = gains.entry(document).or_default();
                *most = most.max(gain);
            }
        }
        for (document, gain) in gains {
            self.reasons[document as usize].named = true;
            self.score[document as usize] += gain * self.best_by_words;
        }
    }

    /// Files whose path is `name` or ends with it.
    fn files_written(&self, name: &str) -> Vec<u32> {
        if let Some(document) = self.index.document(name) {
            return if self.index.is_ranked(document) { vec![document] } else { Vec::new() };
        }
        let file = name.rsplit('/').next().unwrap_or(name);
        let mut found = self.files_named(file);
        found.retain(|document| {
            let path = self.index.paths[*document as usize].as_str();
            path.strip_suffix(name).is_some_and(|before| before.ends_with('/'))
        });
        found
    }

    /// From here on 1 is the best that text alone gave.
    pub(crate) fn normalise(&mut self) {
        let best = best(&self.score);
        self.score.iter_mut().for_each(|score| *score /= best);
    }

    /// Commits with similar messages vote for the files they changed.
    pub(crate) fn count_votes(&mut self) {
        let Some(votes) = &self.index.votes else {
            return;
        };
        let similar = similar_commits(self.query, votes);
        let Some(&(top, _)) = similar.first() else {
            return;
        };
        let mut gains: BTreeMap<u32, f64> = BTreeMap::new();
        for &(similarity, commit) in &similar {
            let changed = &votes.changed[commit as usize];
            let vote = (similarity / top).powi(2) / (changed.len() as f64).sqrt();
            for document in changed {
                *gains.entry(*document).or_default() += vote;
                self.reasons[*document as usize].commits += 1;
            }
        }
        self.add_shares(gains, VOTES);
    }

    /// Files that used to change together with the best ones so far.
    pub(crate) fn follow_companions(&mut self) {
        let Some(votes) = &self.index.votes else {
            return;
        };
        let seeds = self.best(SEEDS);
        let Some(top) = seeds.first().map(|seed| self.score[*seed as usize]) else {
            return;
        };
        let mut gains: BTreeMap<u32, f64> = BTreeMap::new();
        for seed in seeds {
            let telling = |commit: &u32| votes.changed[*commit as usize].len() <= COMPANION_PATHS;
            let commits: Vec<u32> = votes.commits_of(seed).filter(telling).collect();
            let weights = commits.iter().map(|commit| fade(*commit, COMPANION_HALF_LIFE));
            let all: f64 = weights.sum::<f64>() + COMPANION_DOUBT;
            for commit in commits {
                let changed = &votes.changed[commit as usize];
                let others = changed.len().saturating_sub(1).max(1) as f64;
                let strength = self.score[seed as usize] / top / all / others.sqrt();
                for document in changed.iter().filter(|document| **document != seed) {
                    *gains.entry(*document).or_default() +=
                        strength * fade(commit, COMPANION_HALF_LIFE);
                    let companion = &mut self.reasons[*document as usize].companion;
                    if *companion == 0 {
                        *companion = seed + 1;
                    }
                }
            }
        }
        self.add_shares(gains, COMPANIONS);
    }

    /// Adds gains, weighed by kind, as shares of the greatest.
    fn add_shares(&mut self, mut gains: BTreeMap<u32, f64>, whole: f64) {
        gains.retain(|document, _| self.index.is_ranked(*document));
        for (document, gain) in &mut gains {
            *gain *= self.index.kinds[*document as usize].weight();
        }
        let greatest = gains.values().copied().fold(f64::MIN_POSITIVE, f64::max);
        for (document, gain) in gains {
            self.score[document as usize] += whole * gain / greatest;
        }
    }

    /// The best `top` documents, best first.
    pub(crate) fn best(&self, top: usize) -> Vec<u32> {
        let all = 0..self.score.len() as u32;
        let mut found: Vec<u32> = all.filter(|at| self.score[*at as usize] > 0.0).collect();
        // Documents are numbered in the order of their paths.
        let order = |left: &u32, right: &u32| -> Ordering {
            let by_score = self.score[*right as usize].total_cmp(&self.score[*left as usize]);
            by_score.then(left.cmp(right))
        };
        if top == 0 {
            return Vec::new();
        }
        if found.len() > top {
            found.select_nth_unstable_by(top - 1, order);
            found.truncate(top);
        }
        found.sort_unstable_by(order);
        found
    }

    pub(crate) fn explain(&self, document: u32) -> Ranked {
        let reasons = &self.reasons[document as usize];
        let text = |term: u16| match self.query.terms.get(usize::from(term).wrapping_sub(1)) {
            Some(term) => term.written.as_str(),
            None => "",
        };
        let mut why = Vec::new();
        if reasons.named {
            why.push("named in the text".to_owned());
        }
        if reasons.symbol > 0 {
            why.push(format!("defines `{}`", text(reasons.symbol)));
        }
        let words = reasons.words.iter().filter(|(_, term)| *term > 0);
        let mut words: Vec<&str> = words.map(|(_, term)| text(*term)).collect();
        words.dedup();
        if !words.is_empty() {
            why.push(format!("words: {}", words.join(", ")));
        }
        match reasons.commits {
            0 => {}
            1 => why.push("1 similar commit".to_owned()),
            commits => why.push(format!("{commits} similar commits")),
        }
        if let (true, Some(seed)) = (why.is_empty(), reasons.companion.checked_sub(1)) {
            why.push(format!("changes together with `{}`", self.index.paths[seed as usize]));
        }
        Ranked {
            path: self.index.paths[document as usize].clone(),
            score: (self.score[document as usize] * 1e6).round() / 1e6,
            why: why.join("; "),
        }
    }
}

/// The terms that tell most, in their own order, each with its number and how rare it is.
fn telling_terms<'a>(query: &'a Query, blob: &Blob) -> Vec<(usize, &'a Term, f64)> {
    let mut telling: Vec<(usize, &Term, f64)> = Vec::new();
    for (number, term) in query.terms.iter().enumerate().take(usize::from(u16::MAX) - 1) {
        if let Some((_, count)) = blob.find(&term.text) {
            telling.push((number, term, rarity(blob.documents(), count)));
        }
    }
    if telling.len() > MOST_TERMS {
        let gain = |entry: &(usize, &Term, f64)| entry.1.weight * entry.2;
        telling.sort_by(|left, right| gain(right).total_cmp(&gain(left)));
        telling.truncate(MOST_TERMS);
        telling.sort_by_key(|(number, _, _)| *number);
    }
    telling
}

fn similar_commits(query: &Query, votes: &Votes) -> Vec<(f64, u32)> {
    let blob = &votes.messages;
    let average = average(blob);
    let mut similarity = vec![0.0; votes.changed.len()];
    for (_, term, rarity) in telling_terms(query, blob) {
        for posting in blob.find(&term.text).into_iter().flat_map(|(postings, _)| postings) {
            let length = f64::from(blob.length(posting.document)) / average;
            let long = MESSAGE_SATURATION * (1.0 - MESSAGE_LENGTH + MESSAGE_LENGTH * length);
            let count = f64::from(posting.count);
            if let Some(similarity) = similarity.get_mut(posting.document as usize) {
                *similarity += term.weight * rarity * count / (count + long);
            }
        }
    }
    let all = similarity.into_iter().zip(0u32..);
    let mut similar: Vec<(f64, u32)> = all
        .filter(|(similarity, commit)| {
            *similarity > 0.0 && !votes.changed[*commit as usize].is_empty()
        })
        .map(|(similarity, commit)| (similarity * fade(commit, VOTE_HALF_LIFE), commit))
        .collect();
    let order = |left: &(f64, u32), right: &(f64, u32)| {
        right.0.total_cmp(&left.0).then(left.1.cmp(&right.1))
    };
    if similar.len() > VOTERS {
        similar.select_nth_unstable_by(VOTERS - 1, order);
        similar.truncate(VOTERS);
    }
    similar.sort_unstable_by(order);
    similar
}

fn path_weight(posting: Posting) -> f64 {
    let marks = [(FOLDER, IN_FOLDER), (NAME, IN_NAME), (WHOLE_NAME, AS_WHOLE_NAME)];
    let set = marks.iter().filter(|(mark, _)| posting.marks & mark != 0);
    set.map(|(_, weight)| weight).sum()
}

/// The inverse document frequency of BM25.
fn rarity(documents: usize, with: u32) -> f64 {
    let (documents, with) = (documents as f64, f64::from(with));
    (1.0 + (documents - with + 0.5).max(0.0) / (with + 0.5)).ln()
}

fn average(blob: &Blob) -> f64 {
    (blob.total as f64 / blob.documents().max(1) as f64).max(1.0)
}

/// What something `age` commits ago still counts.
fn fade(age: u32, half_life: f64) -> f64 {
    (-f64::from(age) / half_life).exp2()
}

fn best(scores: &[f64]) -> f64 {
    scores.iter().copied().fold(f64::MIN_POSITIVE, f64::max)
}
