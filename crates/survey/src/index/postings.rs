//! Which documents hold a word, how often, and where: a list of small numbers.

/// The word is in a folder of the path.
pub(crate) const FOLDER: u8 = 1;
/// The word is in the file's name.
pub(crate) const NAME: u8 = 2;
/// The word is the whole of the file's name, without its ending.
pub(crate) const WHOLE_NAME: u8 = 4;
/// The file defines it.
pub(crate) const DEFINED: u8 = 8;

const MARK_BITS: u32 = 4;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Posting {
    pub(crate) document: u32,
    /// How often the content has it; 0 where only the path does.
    pub(crate) count: u32,
    pub(crate) marks: u8,
}

/// Postings in ascending order of their documents, encoded as they come. Most words occur once in a file: such a
/// posting is the distance to the one before and nothing else.
#[derive(Default)]
pub(crate) struct List {
    pub(crate) bytes: Vec<u8>,
    pub(crate) length: u32,
    pub(crate) last: u32,
}

impl List {
    pub(crate) fn push(&mut self, posting: Posting) {
        let distance = u64::from(posting.document - self.last);
        let plain = posting.count == 1 && posting.marks == 0;
        write_number(&mut self.bytes, distance << 1 | u64::from(!plain));
        if !plain {
            let detail = u64::from(posting.count) << MARK_BITS | u64::from(posting.marks);
            write_number(&mut self.bytes, detail);
        }
        self.last = posting.document;
        self.length += 1;
    }

    /// Adds an encoded list of later documents, whose last one is `last`.
    pub(crate) fn append(&mut self, mut bytes: &[u8], length: u32, last: u32) {
        // Its first distance is from 0; all others hold.
        if let Some(head) = read_number(&mut bytes) {
            write_number(&mut self.bytes, head - (u64::from(self.last) << 1));
            self.bytes.extend_from_slice(bytes);
            self.last = last;
            self.length += length;
        }
    }

    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
        self.length = 0;
        self.last = 0;
    }
}

/// Reads what [`List`] wrote; ends early rather than fails on anything else.
#[derive(Clone, Default)]
pub(crate) struct Postings<'a> {
    bytes: &'a [u8],
    last: u32,
}

impl<'a> Postings<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, last: 0 }
    }
}

impl Iterator for Postings<'_> {
    type Item = Posting;

    #[inline]
    fn next(&mut self) -> Option<Posting> {
        let head = read_number(&mut self.bytes)?;
        self.last = self.last.checked_add(u32::try_from(head >> 1).ok()?)?;
        let (count, marks) = if head & 1 == 0 {
            (1, 0)
        } else {
            let detail = read_number(&mut self.bytes)?;
            ((detail >> MARK_BITS) as u32, (detail & 0xf) as u8)
        };
        Some(Posting { document: self.last, count, marks })
    }
}

/// Seven bits a byte, the lowest first.
pub(crate) fn write_number(into: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        into.push(number as u8 | 0x80);
        number >>= 7;
    }
    into.push(number as u8);
}

#[inline]
pub(crate) fn read_number(from: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    let mut shift = 0;
    loop {
        let (&byte, rest) = from.split_first()?;
        *from = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(number);
        }
        shift += 7;
        if shift > 63 {
            return None;
        }
    }
}

pub(crate) fn write_bytes(into: &mut Vec<u8>, bytes: &[u8]) {
    write_number(into, bytes.len() as u64);
    into.extend_from_slice(bytes);
}

pub(crate) fn read_bytes<'a>(from: &mut &'a [u8]) -> Option<&'a [u8]> {
    let length = usize::try_from(read_number(from)?).ok()?;
    let (bytes, rest) = from.split_at_checked(length)?;
    *from = rest;
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn postings_come_back_as_they_were_pushed() {
        let given = [(0, 1, 0), (1, 7, 0), (900, 0, NAME), (70_000, 1, DEFINED)]
            .map(|(document, count, marks)| Posting { document, count, marks });
        let mut list = List::default();
        for posting in given {
            list.push(posting);
        }
        assert_eq!(Postings::new(&list.bytes).collect::<Vec<_>>(), given);
        assert_eq!(list.length, 4);
    }

    #[test]
    fn broken_bytes_end_a_list() {
        assert_eq!(Postings::new(&[0x81]).count(), 0);
        assert_eq!(Postings::new(&[0xff; 40]).count(), 0);
    }
}
