//! The index as one run of bytes, searched where it lies: nothing is parsed to load it.
//!
//! Layout: magic, checksum of the rest, the sizes, then the sections in the order of [`Blob`]'s fields. Numbers are
//! little-endian. A blob whose checksum or sizes do not fit does not exist.

use std::cmp::Ordering;
use std::ops::Range;

use super::postings::{List, Postings};
use super::term::term;

/// Names the format; a change of the layout or of how text becomes words changes it.
const MAGIC: &[u8; 8] = b"sqindex2";
const HEAD: usize = MAGIC.len() + blake3::OUT_LEN;
const SIZES: usize = 5;
/// A term, where its postings end, how many they are.
const ROW: usize = 8 + 8 + 4;

pub(crate) struct Blob {
    bytes: Vec<u8>,
    /// The owner's own bytes, such as what was indexed.
    extra: Range<usize>,
    /// The length of each document.
    lengths: Range<usize>,
    rows: Range<usize>,
    postings: Range<usize>,
    /// The sum of all lengths.
    pub(crate) total: u64,
}

impl Blob {
    pub(crate) fn assemble(extra: &[u8], lengths: &[u32], terms: &Terms) -> Self {
        let counted = lengths.iter().filter(|length| **length != u32::MAX);
        let total: u64 = counted.map(|length| u64::from(*length)).sum();
        let sections = extra.len() + lengths.len() * 4 + terms.rows.len() + terms.postings.len();
        let mut bytes = Vec::with_capacity(HEAD + SIZES * 8 + sections);
        bytes.resize(HEAD, 0);
        for size in [
            extra.len() as u64,
            lengths.len() as u64 * 4,
            terms.rows.len() as u64,
            terms.postings.len() as u64,
            total,
        ] {
            bytes.extend(size.to_le_bytes());
        }
        bytes.extend_from_slice(extra);
        bytes.extend(lengths.iter().flat_map(|length| length.to_le_bytes()));
        bytes.extend_from_slice(&terms.rows);
        bytes.extend_from_slice(&terms.postings);
        let checksum = blake3::hash(&bytes[HEAD..]);
        bytes[..MAGIC.len()].copy_from_slice(MAGIC);
        bytes[MAGIC.len()..HEAD].copy_from_slice(checksum.as_bytes());
        let mut start = HEAD + SIZES * 8;
        let mut section = |length: usize| {
            start += length;
            start - length..start
        };
        Self {
            extra: section(extra.len()),
            lengths: section(lengths.len() * 4),
            rows: section(terms.rows.len()),
            postings: section(terms.postings.len()),
            total,
            bytes,
        }
    }

    pub(crate) fn parse(bytes: Vec<u8>) -> Option<Self> {
        let rest = bytes.strip_prefix(MAGIC)?;
        let (checksum, rest) = rest.split_at_checked(blake3::OUT_LEN)?;
        if blake3::hash(rest).as_bytes() != checksum {
            return None;
        }
        let mut sizes = [0; SIZES];
        for (at, size) in sizes.iter_mut().enumerate() {
            *size = read_u64(rest, at * 8)?;
        }
        let mut start = HEAD + SIZES * 8;
        let mut section = |size: u64| {
            let end = start.checked_add(usize::try_from(size).ok()?)?;
            (end <= bytes.len()).then(|| std::mem::replace(&mut start, end)..end)
        };
        Some(Self {
            extra: section(sizes[0])?,
            lengths: section(sizes[1])?,
            rows: section(sizes[2])?,
            postings: section(sizes[3])?,
            total: sizes[4],
            bytes,
        })
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(crate) fn extra(&self) -> &[u8] {
        &self.bytes[self.extra.clone()]
    }

    pub(crate) fn documents(&self) -> usize {
        self.lengths.len() / 4
    }

    pub(crate) fn length(&self, document: u32) -> u32 {
        read_u32(&self.bytes[self.lengths.clone()], document as usize * 4).unwrap_or(0)
    }

    pub(crate) fn terms(&self) -> View<'_> {
        View { rows: &self.bytes[self.rows.clone()], postings: &self.bytes[self.postings.clone()] }
    }

    /// The postings of `term` and how many they are.
    pub(crate) fn find(&self, word: &[u8]) -> Option<(Postings<'_>, u32)> {
        let (terms, wanted) = (self.terms(), term(word));
        let (mut low, mut high) = (0, terms.len());
        while low < high {
            let middle = usize::midpoint(low, high);
            match terms.term(middle)?.cmp(&wanted) {
                Ordering::Less => low = middle + 1,
                Ordering::Greater => high = middle,
                Ordering::Equal => return Some((terms.postings(middle), terms.count(middle)?)),
            }
        }
        None
    }
}

/// Terms in ascending order, each with its postings.
#[derive(Clone, Copy)]
pub(crate) struct View<'a> {
    rows: &'a [u8],
    postings: &'a [u8],
}

impl<'a> View<'a> {
    pub(crate) fn len(self) -> usize {
        self.rows.len() / ROW
    }

    pub(crate) fn term(self, at: usize) -> Option<u64> {
        read_u64(self.rows, at * ROW)
    }

    fn count(self, at: usize) -> Option<u32> {
        read_u32(self.rows, at * ROW + 16)
    }

    pub(crate) fn postings(self, at: usize) -> Postings<'a> {
        let end = |at: usize| read_u64(self.rows, at * ROW + 8).map(|end| end as usize);
        let start = if at == 0 { Some(0) } else { end(at - 1) };
        let range = start.zip(end(at)).map(|(start, end)| start..end);
        Postings::new(range.and_then(|range| self.postings.get(range)).unwrap_or_default())
    }
}

/// The terms of a blob to be, pushed in ascending order.
#[derive(Default)]
pub(crate) struct Terms {
    rows: Vec<u8>,
    postings: Vec<u8>,
}

impl Terms {
    pub(crate) fn view(&self) -> View<'_> {
        View { rows: &self.rows, postings: &self.postings }
    }

    pub(crate) fn push(&mut self, term: u64, list: &List) {
        if list.length == 0 {
            return;
        }
        self.postings.extend_from_slice(&list.bytes);
        self.rows.extend(term.to_le_bytes());
        self.rows.extend((self.postings.len() as u64).to_le_bytes());
        self.rows.extend(list.length.to_le_bytes());
    }
}

fn read_u64(bytes: &[u8], at: usize) -> Option<u64> {
    let (number, _) = bytes.get(at..)?.split_first_chunk()?;
    Some(u64::from_le_bytes(*number))
}

fn read_u32(bytes: &[u8], at: usize) -> Option<u32> {
    let (number, _) = bytes.get(at..)?.split_first_chunk()?;
    Some(u32::from_le_bytes(*number))
}
