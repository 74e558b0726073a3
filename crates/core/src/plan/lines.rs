//! Byte offsets to places, without rescanning.

use std::cell::Cell;

use crate::fault::Place;

pub(crate) struct Lines<'a> {
    source: &'a str,
    starts: Vec<usize>,
    /// The last answer and its offset: questions mostly come in order, so a long line is walked once.
    last: Cell<(usize, Place)>,
}

impl<'a> Lines<'a> {
    pub(crate) fn new(source: &'a str) -> Self {
        let starts = std::iter::once(0)
            .chain(source.match_indices('\n').map(|(at, _)| at + 1))
            .collect();
        Self {
            source,
            starts,
            last: Cell::new((0, Place { line: 1, column: 1 })),
        }
    }

    pub(crate) fn place(&self, offset: usize) -> Place {
        let offset = self.source.floor_char_boundary(offset);
        let line = self.starts.partition_point(|start| *start <= offset);
        let (last, known) = self.last.get();
        let (from, before) = if known.line == line as u32 && last <= offset {
            (last, known.column)
        } else {
            (self.starts[line - 1], 1)
        };
        let column = before + self.source[from..offset].chars().count() as u32;
        let place = Place {
            line: line as u32,
            column,
        };
        self.last.set((offset, place));
        place
    }
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
