//! The search in one file: in windows, so that a time limit holds inside it too.

use std::ops::{ControlFlow, Range};

use grep_matcher::Matcher as _;
use grep_regex::RegexMatcher;
use memchr::{memchr, memchr_iter, memrchr};

/// An expression can cost much for each byte. Windows overlap by half where a match may go on in the next: one that is
/// longer may be missed.
const WINDOW: usize = 32 << 10;

/// Whether a match may go over the end of a line.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    Line,
    Lines,
}

/// What is wanted of one file.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Want {
    /// Up to so many matches, with their lines.
    Lines(usize),
    /// How many matches there are; there may be millions.
    Count,
}

#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Hits {
    pub(super) matches: usize,
    /// Numbers of the lines that match, from 1; ascending and apart.
    pub(super) lines: Vec<Range<usize>>,
}

impl Hits {
    fn take(&mut self, lines: Range<usize>, want: Want) {
        self.matches += 1;
        match self.lines.last_mut() {
            _ if want == Want::Count => {}
            Some(last) if lines.start < last.end => last.end = last.end.max(lines.end),
            _ => self.lines.push(lines),
        }
    }
}

pub(super) struct Finder {
    matcher: RegexMatcher,
    reach: Reach,
    /// Bytes that are searched between two looks at the clock.
    window: usize,
}

impl Finder {
    pub(super) fn new(matcher: RegexMatcher, reach: Reach) -> Self {
        Self { matcher, reach, window: WINDOW }
    }

    /// Searches until all that is wanted is found or `is_over` says so, which breaks the search.
    pub(super) fn search(
        &self,
        bytes: &[u8],
        want: Want,
        mut is_over: impl FnMut() -> bool,
    ) -> (Hits, ControlFlow<()>) {
        let most = if let Want::Lines(most) = want { most } else { usize::MAX };
        let mut hits = Hits::default();
        let mut windows = Windows { finder: self, bytes, at: 0 };
        let (mut line, mut counted) = (1, 0);
        while hits.matches < most {
            if is_over() {
                return (hits, ControlFlow::Break(()));
            }
            match windows.step() {
                Step::Found(found) => {
                    line += memchr_iter(b'\n', &bytes[counted..found.start]).count();
                    counted = found.start;
                    let more = memchr_iter(b'\n', &bytes[found.start..found.end]).count();
                    hits.take(line..line + more + 1, want);
                }
                Step::On => {}
                Step::End => break,
            }
        }
        (hits, ControlFlow::Continue(()))
    }
}

struct Windows<'s> {
    finder: &'s Finder,
    bytes: &'s [u8],
    /// All before it is searched.
    at: usize,
}

enum Step {
    /// Bytes that match; of a line break at their end only what is before it.
    Found(Range<usize>),
    On,
    End,
}

impl Windows<'_> {
    fn step(&mut self) -> Step {
        let Self { finder: Finder { matcher, reach, window }, bytes, .. } = *self;
        if self.at >= bytes.len() {
            return Step::End;
        }
        let end = self.end();
        // What stands before the window is seen by `^` and `\b`. There are no errors: the type stands for none.
        match matcher.find_at(&bytes[..end], self.at).unwrap_or(None) {
            // It may go on behind the window, or be there only because the window ends.
            Some(found) if found.end() == end && end < bytes.len() && found.start() > self.at => {
                self.at = found.start();
                Step::On
            }
            Some(found) if found.start() < bytes.len() || !bytes.ends_with(b"\n") => {
                let last = found.end().saturating_sub(1).max(found.start());
                self.at = match reach {
                    Reach::Line => self.line_end(found.start()),
                    Reach::Lines => found.end().max(found.start() + 1),
                };
                Step::Found(found.start()..last)
            }
            // Behind the last line break there is no line.
            Some(_) => Step::End,
            None if end == bytes.len() => Step::End,
            None => {
                let whole = *reach == Reach::Line && bytes[end - 1] == b'\n';
                self.at = if whole { end } else { end - window / 2 };
                Step::On
            }
        }
    }

    /// Where the window ends: behind a line, if no match can go further, and never within a character.
    fn end(&self) -> usize {
        let Self { finder: Finder { reach, window, .. }, bytes, at } = *self;
        let end = at + window;
        if end >= bytes.len() {
            return bytes.len();
        }
        match memrchr(b'\n', &bytes[at..end]).filter(|_| *reach == Reach::Line) {
            Some(last) => at + last + 1,
            None => end - (0..3).take_while(|back| bytes[end - back] & 0xC0 == 0x80).count(),
        }
    }

    /// Behind the line that holds `at`.
    fn line_end(&self, at: usize) -> usize {
        memchr(b'\n', &self.bytes[at..]).map_or(self.bytes.len(), |length| at + length + 1)
    }
}

#[cfg(test)]
mod tests;
