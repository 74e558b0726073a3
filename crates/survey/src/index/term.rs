//! Words as numbers: an index holds hashes of words, not their bytes.

const SEED: u64 = 0x9e37_79b9_7f4a_7c15;
const FACTOR: u64 = 0xd6e8_feb8_6659_fd93;

/// The hash of a word as an index has it: the same on every machine and in every run. Two words of one hash are one word to
/// the ranking; for a million words the odds of such a pair are 1 in 30 million.
pub(crate) fn term(word: &[u8]) -> u64 {
    hash(SEED, word)
}

/// Sixteen bytes at a time, the last ones filled up with zeros.
fn hash(seed: u64, word: &[u8]) -> u64 {
    let (pairs, tail) = word.as_chunks::<16>();
    let mut last = [0; 16];
    last[..tail.len()].copy_from_slice(tail);
    let state = pairs.iter().fold(seed, |state, pair| fold(state, u128::from_le_bytes(*pair)));
    finish(fold(state, u128::from_le_bytes(last)), word.len())
}

/// The hash of `text[start..end]`. Where it is short its neighbours are read with it and cut off: no branch depends on
/// its length.
#[inline]
pub(crate) fn hash_within(seed: u64, text: &[u8], start: usize, end: usize) -> u64 {
    match text[start..].first_chunk::<16>() {
        Some(bytes) if end - start < 16 => {
            let bytes = u128::from_le_bytes(*bytes) & ((1 << (8 * (end - start))) - 1);
            finish(fold(seed, bytes), end - start)
        }
        _ => hash(seed, &text[start..end]),
    }
}

#[inline]
fn finish(state: u64, length: usize) -> u64 {
    multiply(state ^ length as u64, FACTOR)
}

#[inline]
fn fold(state: u64, bytes: u128) -> u64 {
    multiply(state ^ bytes as u64, FACTOR ^ (bytes >> 64) as u64)
}

/// Both halves of the product, so that every bit given reaches the first bits as well as the last.
#[inline]
fn multiply(left: u64, right: u64) -> u64 {
    let product = u128::from(left) * u128::from(right);
    (product >> 64) as u64 ^ product as u64
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn hashes_are_those_of_every_other_machine() {
        let given = ["", "a", "if", "word", "parse_url", "a_name_of_many_more_bytes"];
        let expected = [
            0x1137_509a_84ab_7784,
            0x44a8_c6fb_d2a7_d372,
            0xc37c_6035_f1cc_5597,
            0xeab9_1d57_51a9_af96,
            0x3a1e_7f64_9f2b_b791,
            0x8893_f244_9c1d_6c50,
        ];
        assert_eq!(given.map(|word| term(word.as_bytes())), expected);
    }

    #[test]
    fn a_word_within_a_text_has_the_hash_that_it_has_alone() {
        let text = b"a_name_of_many_more_bytes, and others";
        for start in 0..text.len() {
            for end in start..=text.len() {
                assert_eq!(hash_within(SEED, text, start, end), term(&text[start..end]));
            }
        }
    }

    #[test]
    fn words_that_differ_in_a_byte_or_in_length_differ_in_their_first_and_last_bits() {
        let mut firsts = BTreeSet::new();
        let mut lasts = BTreeSet::new();
        let mut all = 0;
        for length in 0..40 {
            for at in 0..=length {
                let mut word = vec![b'a'; length];
                word.get_mut(at).into_iter().for_each(|byte| *byte = b'b');
                all += 1;
                firsts.insert(term(&word) >> 32);
                lasts.insert(term(&word) as u32);
            }
        }
        assert_eq!((firsts.len(), lasts.len()), (all, all));
    }
}
