//! Byte strings numbered in the order in which they are first seen.

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};

/// The hasher is seeded at random against crafted collisions; numbers depend on the order of calls alone.
#[derive(Default)]
pub(crate) struct Interner {
    table: HashTable<u32>,
    hasher: DefaultHashBuilder,
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Interner {
    pub(crate) fn intern(&mut self, text: &[u8]) -> u32 {
        let Self {
            table,
            hasher,
            bytes,
            ends,
        } = self;
        let hash = hasher.hash_one(text);
        if let Some(&number) = table.find(hash, |&number| slice(bytes, ends, number) == text) {
            return number;
        }
        let number = ends.len() as u32;
        bytes.extend_from_slice(text);
        ends.push(bytes.len());
        table.insert_unique(hash, number, |&number| {
            hasher.hash_one(slice(bytes, ends, number))
        });
        number
    }

    pub(crate) fn get(&self, number: u32) -> &[u8] {
        slice(&self.bytes, &self.ends, number)
    }

    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }
}

fn slice<'a>(bytes: &'a [u8], ends: &[usize], number: u32) -> &'a [u8] {
    let at = number as usize;
    let start = if at == 0 { 0 } else { ends[at - 1] };
    &bytes[start..ends[at]]
}
