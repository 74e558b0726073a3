//! Turns documents into postings, one pass over their bytes.

use std::hash::{BuildHasher, RandomState};

use super::blob::Terms;
use super::postings::{DEFINED, FOLDER, NAME, Posting, WHOLE_NAME};
use super::runs::Runs;
use super::split::Splits;
use super::term::{hash_within, term};
use crate::words::{first_identifier, identifiers, lower, singular, words};

/// Slots for the identifiers of one document: 16 KB, so that they stay in the fastest cache.
const SLOTS: usize = 1 << 10;

/// Documents are added in ascending order of their numbers, the text of each before its path.
///
/// No table here grows: where identifiers meet in a slot, the later one takes the place. What that leaves counted in
/// pieces is put together when the postings are sorted.
pub(crate) struct Builder {
    /// Identifiers are told apart by hashes that only this builder knows, so that nobody can craft two alike.
    seed: u64,
    counts: Vec<Count>,
    /// The slots of `counts` that are in use.
    touched: Vec<u32>,
    splits: Splits,
    runs: Runs,
    scratch: Vec<u8>,
    full: bool,
}

/// One identifier of the document at hand.
#[derive(Clone, Copy, Default)]
struct Count {
    hash: u64,
    /// Where the text has it.
    start: u32,
    /// How often, times two, plus one if it is defined there; 0 is an empty slot.
    uses: u32,
}

impl Count {
    #[inline]
    fn holds(&self, hash: u64) -> bool {
        self.hash == hash && self.uses > 0
    }
}

impl Builder {
    pub(crate) fn for_documents(count: usize) -> Self {
        Self {
            seed: RandomState::new().hash_one(0),
            counts: vec![Count::default(); SLOTS],
            touched: Vec::new(),
            splits: Splits::for_documents(count),
            runs: Runs::default(),
            scratch: Vec::new(),
            full: false,
        }
    }

    /// Counts the identifiers of `text` for `document`; the answer is the document's length in words.
    pub(crate) fn add_text(&mut self, document: u32, text: &[u8]) -> u32 {
        self.full |= !self.runs.make_room();
        if self.full {
            return 0;
        }
        let mut length = 0;
        identifiers(text, |found| {
            let end = found.start + found.name.len();
            let hash = hash_within(self.seed, text, found.start, end);
            let at = self.slot(hash);
            let slot = &mut self.counts[at];
            if !slot.holds(hash) {
                let fresh = Count { hash, start: found.start as u32, uses: 0 };
                let before = std::mem::replace(slot, fresh);
                if before.uses > 0 {
                    length += self.record(document, text, before);
                } else {
                    self.touched.push(at as u32);
                }
            }
            let slot = &mut self.counts[at];
            slot.uses = (slot.uses + 2) | u32::from(found.defined);
        });
        let mut touched = std::mem::take(&mut self.touched);
        self.splits.fetch(touched.iter().map(|at| self.counts[*at as usize].hash));
        for at in touched.drain(..) {
            let count = std::mem::take(&mut self.counts[at as usize]);
            length += self.record(document, text, count);
        }
        self.touched = touched;
        length.min(u64::from(u32::MAX)) as u32
    }

    /// Where an identifier is counted: in its own slot, or in the one beside it if another was there first.
    #[inline]
    fn slot(&self, hash: u64) -> usize {
        let home = hash as usize % SLOTS;
        let beside = home ^ 1;
        let is_home = self.counts[home].holds(hash)
            || self.counts[home].uses == 0 && !self.counts[beside].holds(hash);
        if is_home { home } else { beside }
    }

    /// Writes the words of an identifier down; the answer is how many they are.
    fn record(&mut self, document: u32, text: &[u8], Count { hash, start, uses }: Count) -> u64 {
        let (singles, terms) = self.splits.of(hash, || first_identifier(&text[start as usize..]));
        let (count, defined) = (uses >> 1, uses & 1 == 1);
        for (at, term) in terms.iter().enumerate() {
            // The last part stands for the whole identifier: that is what a place defines.
            let marks = if defined && at + 1 == terms.len() { DEFINED } else { 0 };
            self.runs.push(*term, Posting { document, count, marks });
        }
        u64::from(count) * u64::from(singles)
    }

    /// Marks the words of a path for `document`.
    pub(crate) fn add_path(&mut self, document: u32, path: &str) {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        let stem = stem(name);
        self.mark(document, folder, FOLDER);
        self.mark(document, stem, NAME);
        let mut whole = whole_name(stem);
        let posting = Posting { document, count: 0, marks: WHOLE_NAME };
        self.runs.push(term(&whole), posting);
        singular(&mut whole);
        self.runs.push(term(&whole), posting);
    }

    fn mark(&mut self, document: u32, text: &str, marks: u8) {
        let Self { runs, scratch, .. } = self;
        identifiers(text.as_bytes(), |found| {
            words(found.name, scratch, |word, _| {
                runs.push(term(word), Posting { document, count: 0, marks });
            });
        });
    }

    /// Whether words were left out because there were too many.
    pub(crate) fn is_full(&self) -> bool {
        self.full
    }

    pub(crate) fn finish(self) -> Terms {
        self.runs.finish()
    }
}

/// A file's name up to its first dot; a name that starts with a dot up to its second.
pub(crate) fn stem(name: &str) -> &str {
    let name = name.trim_start_matches('.');
    name.split('.').next().unwrap_or(name)
}

/// The one word that stands for a whole stem.
pub(crate) fn whole_name(stem: &str) -> Vec<u8> {
    let mut whole = Vec::new();
    lower(stem.as_bytes(), &mut whole);
    whole.iter_mut().filter(|byte| **byte == b'-').for_each(|byte| *byte = b'_');
    whole
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;

    #[test]
    fn a_text_of_more_names_than_slots_is_counted_exactly() {
        let names = 5 * SLOTS;
        let mut text = String::new();
        for number in (0..names).chain(0..names) {
            let _ = write!(text, "name{number}x ");
        }
        let mut builder = Builder::for_documents(1);
        assert_eq!(builder.add_text(3, text.as_bytes()), 2 * names as u32);
        let terms = builder.finish();
        let view = terms.view();
        assert_eq!(view.len(), names);
        let twice = Posting { document: 3, count: 2, marks: 0 };
        assert!((0..names).all(|at| view.postings(at).eq([twice])));
    }

    #[test]
    fn a_name_of_many_words_is_counted_word_by_word() {
        let mut builder = Builder::for_documents(2);
        let name = b"one_two_three_four_five_six_seven_eight";
        assert_eq!(builder.add_text(0, name), 8);
        assert_eq!(builder.add_text(1, name), 8);
        let terms = builder.finish();
        assert_eq!(terms.view().len(), 9);
        assert!((0..9).all(|at| terms.view().postings(at).count() == 2));
    }
}
