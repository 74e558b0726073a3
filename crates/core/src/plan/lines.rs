//! Byte offsets to places, without rescanning.

use crate::fault::Place;

/// Characters are counted once for every block of so many bytes, so that a column in a long line costs no walk.
const BLOCK: usize = 1024;

pub(crate) struct Lines<'a> {
    source: &'a str,
    starts: Vec<usize>,
    /// How many characters begin before each block.
    counts: Vec<usize>,
}

impl<'a> Lines<'a> {
    pub(crate) fn new(source: &'a str) -> Self {
        let breaks = source.match_indices('\n').map(|(at, _)| at + 1);
        let mut counts = vec![0];
        for block in source.as_bytes().chunks(BLOCK) {
            counts.push(counts.last().unwrap_or(&0) + characters(block));
        }
        Self { source, starts: std::iter::once(0).chain(breaks).collect(), counts }
    }

    pub(crate) fn place(&self, offset: usize) -> Place {
        let offset = self.source.floor_char_boundary(offset);
        let line = self.starts.partition_point(|start| *start <= offset);
        let column = self.before(offset) - self.before(self.starts[line - 1]) + 1;
        Place { line: line as u32, column: column as u32 }
    }

    /// How many characters begin before an offset.
    fn before(&self, offset: usize) -> usize {
        let block = offset / BLOCK;
        self.counts[block] + characters(&self.source.as_bytes()[block * BLOCK..offset])
    }
}

/// Every character has one byte that does not continue another.
fn characters(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| **byte & 0xC0 != 0x80).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_characters_in_any_order_of_questions() {
        let lines = Lines::new("aé\r\n漢字x\n");
        let ask = |offset| {
            let place = lines.place(offset);
            (place.line, place.column)
        };
        assert_eq!(
            [ask(0), ask(3), ask(5), ask(11), ask(8), ask(99)],
            [(1, 1), (1, 3), (2, 1), (2, 3), (2, 2), (3, 1)]
        );
    }
}
