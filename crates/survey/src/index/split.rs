//! The words of identifiers, remembered: the names of a repository repeat from file to file.

use std::hint::black_box;

use super::term::term;
use crate::words::{Part, words};

/// A slot is a line of the processor's cache, so this is 4 MB.
const MOST_SLOTS: usize = 1 << 16;
const SLOTS_PER_DOCUMENT: usize = 64;
/// An identifier of more words is split each time.
const MOST_TERMS: usize = 6;

/// One entry a slot, the latest one.
pub(crate) struct Splits {
    slots: Vec<Slot>,
    terms: Vec<u64>,
    scratch: Vec<u8>,
}

#[derive(Clone, Copy, Default)]
#[repr(align(64))]
struct Slot {
    hash: u64,
    terms: [u64; MOST_TERMS],
    length: u8,
    singles: u8,
    used: bool,
}

impl Splits {
    /// Few documents have few names to remember.
    pub(crate) fn for_documents(count: usize) -> Self {
        let slots = count.saturating_mul(SLOTS_PER_DOCUMENT).next_power_of_two().min(MOST_SLOTS);
        Self {
            slots: vec![Slot::default(); slots.max(SLOTS_PER_DOCUMENT)],
            terms: Vec::new(),
            scratch: Vec::new(),
        }
    }

    /// Looks at all slots that are needed next, so that the processor waits for their memory once and not for each.
    pub(crate) fn fetch(&self, hashes: impl Iterator<Item = u64>) {
        black_box(hashes.filter(|hash| self.slots[self.slot(*hash)].hash == *hash).count());
    }

    /// The terms of a name, and how many of them are single words.
    #[inline]
    pub(crate) fn of<'a>(&mut self, hash: u64, name: impl FnOnce() -> &'a [u8]) -> (u8, &[u64]) {
        let at = self.slot(hash);
        if !self.slots[at].used || self.slots[at].hash != hash {
            let singles = self.split(name());
            let length = self.terms.len();
            let mut slot =
                Slot { hash, length: length as u8, singles, used: true, ..Slot::default() };
            let Some(terms) = slot.terms.get_mut(..length) else {
                return (singles, &self.terms);
            };
            terms.copy_from_slice(&self.terms);
            self.slots[at] = slot;
        }
        let slot = &self.slots[at];
        (slot.singles, &slot.terms[..usize::from(slot.length)])
    }

    fn split(&mut self, name: &[u8]) -> u8 {
        let mut singles = 0;
        self.terms.clear();
        words(name, &mut self.scratch, |word, part| {
            self.terms.push(term(word));
            singles += u8::from(part == Part::Word);
        });
        singles
    }

    fn slot(&self, hash: u64) -> usize {
        // Their number is a power of two.
        (hash >> 32) as usize & (self.slots.len() - 1)
    }
}
