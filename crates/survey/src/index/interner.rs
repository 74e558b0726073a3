//! Byte strings numbered in the order in which they are first seen.

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};

/// The hasher is seeded at random against crafted collisions; numbers depend on the order of calls alone.
#[derive(Default)]
pub(crate) struct Interner {
    /// Short texts lie in the table itself, so that finding one is one look at memory.
    short: HashTable<(u128, u32)>,
    /// Others by number and hash, so that most that differ are told apart without a look at their bytes.
    long: HashTable<(u32, u64)>,
    hasher: DefaultHashBuilder,
    bytes: Vec<u8>,
    spans: Vec<(u64, u32)>,
    recent: Recent,
}

impl Interner {
    pub(crate) fn intern(&mut self, text: &[u8]) -> u32 {
        let Some(key) = Recent::key(text) else {
            return self.look_up(text);
        };
        if let Some(number) = self.recent.get(key) {
            return number;
        }
        let hash = self.hasher.hash_one(key);
        let known = self.short.find(hash, |(known, _)| *known == key);
        let number = if let Some((_, number)) = known {
            *number
        } else {
            let number = self.append(text);
            let hasher = &self.hasher;
            let rehash = |(key, _): &(u128, u32)| hasher.hash_one(key);
            self.short.insert_unique(hash, (key, number), rehash);
            number
        };
        self.recent.put(key, number);
        number
    }

    fn append(&mut self, text: &[u8]) -> u32 {
        let number = self.spans.len() as u32;
        self.spans.push((self.bytes.len() as u64, text.len() as u32));
        self.bytes.extend_from_slice(text);
        number
    }

    fn look_up(&mut self, text: &[u8]) -> u32 {
        let hash = self.hasher.hash_one(text);
        let known = self.long.find(hash, |(number, other)| {
            *other == hash && slice(&self.bytes, &self.spans, *number) == text
        });
        if let Some((number, _)) = known {
            return *number;
        }
        let number = self.append(text);
        self.long.insert_unique(hash, (number, hash), |(_, hash)| *hash);
        number
    }

    pub(crate) fn get(&self, number: u32) -> &[u8] {
        slice(&self.bytes, &self.spans, number)
    }

    pub(crate) fn len(&self) -> usize {
        self.spans.len()
    }
}

/// Short texts seen not long ago: most of a file is names that it repeats.
struct Recent {
    slots: Vec<(u128, u32)>,
}

impl Recent {
    const BITS: u32 = 13;

    /// The text and its length as one number, never 0.
    #[inline]
    fn key(text: &[u8]) -> Option<u128> {
        let mut bytes = [0; 16];
        bytes.get_mut(..text.len())?.copy_from_slice(text);
        if text.is_empty() || bytes[15] != 0 {
            return None;
        }
        bytes[15] = text.len() as u8;
        Some(u128::from_le_bytes(bytes))
    }

    #[inline]
    fn slot(key: u128) -> usize {
        let mixed =
            (key as u64 ^ ((key >> 64) as u64).rotate_left(29)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (mixed >> (64 - Self::BITS)) as usize
    }

    #[inline]
    fn get(&self, key: u128) -> Option<u32> {
        let (known, number) = self.slots[Self::slot(key)];
        (known == key).then_some(number)
    }

    fn put(&mut self, key: u128, number: u32) {
        self.slots[Self::slot(key)] = (key, number);
    }
}

impl Default for Recent {
    fn default() -> Self {
        Self { slots: vec![(0, 0); 1 << Self::BITS] }
    }
}

fn slice<'a>(bytes: &'a [u8], spans: &[(u64, u32)], number: u32) -> &'a [u8] {
    let (start, length) = spans[number as usize];
    &bytes[start as usize..start as usize + length as usize]
}
