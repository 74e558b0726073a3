//! Turns documents into postings, one pass over their bytes.

use super::interner::Interner;
use super::postings::{DEFINED, FOLDER, List, NAME, Posting, WHOLE_NAME};
use crate::words::{Part, identifiers, lower, singular, words};

/// More distinct words than any real repository has; past it new ones are left out, so that memory stays bounded.
const MOST_TERMS: usize = 16 << 20;

/// Documents are added in ascending order of their numbers.
///
/// Names repeat far more often than they differ, so each distinct identifier is split once for all documents, and
/// counted per document before its words are.
#[derive(Default)]
pub(crate) struct Builder {
    names: Interner,
    splits: Vec<Split>,
    parts: Vec<u32>,
    terms: Interner,
    lists: Vec<Pending>,
    touched: Vec<u32>,
    scratch: Vec<u8>,
    full: bool,
}

/// The words of one identifier, and its use in the document at hand.
struct Split {
    start: u32,
    words: u8,
    /// How many of `parts` belong to it.
    length: u8,
    defined: bool,
    count: u32,
}

/// A list and the posting of the document at hand, which is not yet in it.
#[derive(Default)]
struct Pending {
    list: List,
    posting: Posting,
    open: bool,
}

impl Builder {
    /// Counts the identifiers of `text` for `document`; the answer is the document's length in words.
    pub(crate) fn add_text(&mut self, document: u32, text: &[u8]) -> u32 {
        identifiers(text, |name, defines| self.meet(name, defines));
        let mut length = 0u32;
        for name in std::mem::take(&mut self.touched) {
            let split = &mut self.splits[name as usize];
            let (count, defined) = (split.count, split.defined);
            (split.count, split.defined) = (0, false);
            length = length.saturating_add(count.saturating_mul(u32::from(split.words)));
            let (start, end) = (split.start as usize, split.start as usize + split.length as usize);
            for at in start..end {
                // The last part stands for the whole identifier: that is what a place defines.
                let marks = if defined && at + 1 == end { DEFINED } else { 0 };
                self.count(self.parts[at], document, count, marks);
            }
        }
        length
    }

    fn meet(&mut self, name: &[u8], defines: bool) {
        if self.names.len() >= MOST_TERMS || self.terms.len() >= MOST_TERMS {
            self.full = true;
            return;
        }
        let number = self.names.intern(name);
        if number as usize == self.splits.len() {
            let split = self.split(name);
            self.splits.push(split);
        }
        let split = &mut self.splits[number as usize];
        if split.count == 0 {
            self.touched.push(number);
        }
        split.count = split.count.saturating_add(1);
        split.defined |= defines;
    }

    fn split(&mut self, name: &[u8]) -> Split {
        let Self { parts, terms, scratch, .. } = self;
        let start = parts.len();
        let mut singles = 0;
        words(name, scratch, |word, part| {
            parts.push(terms.intern(word));
            singles += u8::from(part == Part::Word);
        });
        Split {
            start: start as u32,
            words: singles,
            length: (parts.len() - start) as u8,
            defined: false,
            count: 0,
        }
    }

    /// Marks the words of a path for `document`.
    pub(crate) fn add_path(&mut self, document: u32, path: &str) {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        let stem = stem(name);
        self.mark(document, folder, FOLDER);
        self.mark(document, stem, NAME);
        let mut whole = whole_name(stem);
        let term = self.terms.intern(&whole);
        self.count(term, document, 0, WHOLE_NAME);
        let length = whole.len();
        singular(&mut whole);
        if whole.len() != length {
            let term = self.terms.intern(&whole);
            self.count(term, document, 0, WHOLE_NAME);
        }
    }

    fn mark(&mut self, document: u32, text: &str, mark: u8) {
        let mut found = Vec::new();
        let Self { terms, scratch, .. } = self;
        identifiers(text.as_bytes(), |name, _| {
            words(name, scratch, |word, _| found.push(terms.intern(word)));
        });
        for term in found {
            self.count(term, document, 0, mark);
        }
    }

    fn count(&mut self, term: u32, document: u32, count: u32, marks: u8) {
        let at = term as usize;
        if at >= self.lists.len() {
            self.lists.resize_with(self.terms.len(), Pending::default);
        }
        let pending = &mut self.lists[at];
        if pending.open && pending.posting.document != document {
            pending.list.push(pending.posting);
            pending.open = false;
        }
        if !pending.open {
            pending.open = true;
            pending.posting = Posting { document, count: 0, marks: 0 };
        }
        pending.posting.count = pending.posting.count.saturating_add(count);
        pending.posting.marks |= marks;
    }

    /// Whether words were left out because there were too many.
    pub(crate) fn is_full(&self) -> bool {
        self.full
    }

    /// Every word with its postings, sorted by the word's bytes.
    pub(crate) fn finish(self) -> Vocabulary {
        // Sorting by the first bytes as a number touches the words themselves only where those are equal.
        let terms = &self.terms;
        let used = self.lists.iter().enumerate().filter(|(_, pending)| pending.open);
        let mut order: Vec<(u64, u32)> =
            used.map(|(term, _)| (first_bytes(terms.get(term as u32)), term as u32)).collect();
        order.sort_unstable_by(|left, right| {
            let by_start = left.0.cmp(&right.0);
            by_start.then_with(|| terms.get(left.1).cmp(terms.get(right.1)))
        });
        Vocabulary { order, terms: self.terms, lists: self.lists, next: 0 }
    }
}

fn first_bytes(word: &[u8]) -> u64 {
    let mut first = [0; 8];
    let length = word.len().min(8);
    first[..length].copy_from_slice(&word[..length]);
    u64::from_be_bytes(first)
}

/// Words in ascending order, each handed out once.
pub(crate) struct Vocabulary {
    order: Vec<(u64, u32)>,
    terms: Interner,
    lists: Vec<Pending>,
    next: usize,
}

impl Vocabulary {
    pub(crate) fn peek(&self) -> Option<&[u8]> {
        let (_, term) = self.order.get(self.next)?;
        Some(self.terms.get(*term))
    }

    /// The next word with its postings.
    pub(crate) fn take(&mut self) -> Option<(&[u8], List)> {
        let (_, term) = *self.order.get(self.next)?;
        self.next += 1;
        let pending = &mut self.lists[term as usize];
        pending.list.push(pending.posting);
        Some((self.terms.get(term), std::mem::take(&mut pending.list)))
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
