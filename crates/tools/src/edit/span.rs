//! Where a text stands in a file, whatever the file's line ends are: `Read` shows no carriage returns, so that a model
//! cannot write them.

use std::ops::Range;

use memchr::{memchr, memmem, memrchr};

/// Bytes of a file that are replaced.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) bytes: Range<usize>,
    /// Lines end with a carriage return here, so that the new ones shall too.
    pub(super) crlf: bool,
}

/// The first `most` places of `text`, ascending and apart.
pub(super) fn find(file: &[u8], text: &str, most: usize) -> Vec<Span> {
    if memmem::find(file, CRLF).is_none() {
        let starts = memmem::find_iter(file, text.as_bytes()).take(most);
        return starts.map(|at| Span { bytes: at..at + text.len(), crlf: false }).collect();
    }
    let plain = without_returns(file);
    let text = text.replace("\r\n", "\n");
    let mut origin = Origin { returns: memmem::find_iter(file, CRLF).peekable(), passed: 0 };
    let mut line_end = LineEnd { file, next: None };
    let starts = memmem::find_iter(&plain, text.as_bytes()).take(most);
    starts
        .map(|at| {
            let bytes = origin.of(at)..origin.of(at + text.len());
            Span { crlf: line_end.is_crlf(bytes.start), bytes }
        })
        .collect()
}

/// Whether a text stands in a file at two places that overlap: [`find`] sees only the first of them.
pub(super) fn overlaps_itself(file: &[u8], text: &str) -> bool {
    let (plain, text) = (without_returns(file), text.replace("\r\n", "\n"));
    memmem::find(&plain, text.as_bytes()) != memmem::rfind(&plain, text.as_bytes())
}

const CRLF: &[u8] = b"\r\n";

fn without_returns(file: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(file.len());
    let mut copied = 0;
    for at in memmem::find_iter(file, CRLF) {
        plain.extend_from_slice(&file[copied..at]);
        copied = at + 1;
    }
    plain.extend_from_slice(&file[copied..]);
    plain
}

/// Places in the file for places in it without carriage returns; asked for in ascending order.
struct Origin<I: Iterator<Item = usize>> {
    returns: std::iter::Peekable<I>,
    passed: usize,
}

impl<I: Iterator<Item = usize>> Origin<I> {
    fn of(&mut self, at: usize) -> usize {
        // A place at a line break is the one before its carriage return.
        while self.returns.next_if(|back| *back < at + self.passed).is_some() {
            self.passed += 1;
        }
        at + self.passed
    }
}

/// How the lines end, asked for in ascending order.
struct LineEnd<'f> {
    file: &'f [u8],
    /// The last break that was looked up, and whether a carriage return is before it.
    next: Option<(usize, bool)>,
}

impl LineEnd<'_> {
    /// Of the line that holds `at`; of the last break before it, where none follows.
    fn is_crlf(&mut self, at: usize) -> bool {
        if self.next.is_none_or(|(next, _)| next < at) {
            let next = match memchr(b'\n', &self.file[at..]) {
                Some(length) => at + length,
                None => memrchr(b'\n', self.file).unwrap_or(0),
            };
            let crlf = next > 0 && self.file[next - 1] == b'\r';
            // Beyond the last break nothing is looked up again.
            self.next = Some((if next < at { usize::MAX } else { next }, crlf));
        }
        self.next.is_some_and(|(_, crlf)| crlf)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_span_takes_in_the_whole_line_break_or_none_of_it() {
        let file = b"a\r\nb\nc\r\nd";
        let found = |text| find(file, text, 100).into_iter().map(|span| (span.bytes, span.crlf));
        assert_eq!(found("a").collect::<Vec<_>>(), [(0..1, true)]);
        assert_eq!(found("a\nb").collect::<Vec<_>>(), [(0..4, true)]);
        assert_eq!(found("a\r\nb").collect::<Vec<_>>(), [(0..4, true)]);
        assert_eq!(found("b\nc").collect::<Vec<_>>(), [(3..6, false)]);
        assert_eq!(found("\n").collect::<Vec<_>>(), [(1..3, true), (4..5, false), (6..8, true)]);
        assert_eq!(found("c\nd").collect::<Vec<_>>(), [(5..9, true)]);
        assert_eq!(found("d").collect::<Vec<_>>(), [(8..9, true)]);
    }

    #[test]
    fn a_text_that_overlaps_itself_stands_twice() {
        assert!(overlaps_itself(b"-1 \r\n-1 \r\n-", "-1 \n-"));
        assert!(!overlaps_itself(b"a\nb\n", "a\nb"));
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2_000) })]

        #[test]
        fn what_is_found_reads_like_the_text(file in "([abc]{0,3}\r?\n){0,8}[abc\r]{0,3}", text in "[abc\n]{1,4}") {
            let shown = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap().replace("\r\n", "\n");
            let spans = find(file.as_bytes(), &text, usize::MAX);
            prop_assert_eq!(spans.len(), shown(file.as_bytes()).matches(&text).count());
            for Span { bytes, .. } in spans {
                prop_assert_eq!(shown(&file.as_bytes()[bytes]), text.as_str());
            }
        }
    }
}
