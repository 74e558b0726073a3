//! What was found in one file, and how it is shown.

use std::io;
use std::path::Path;

use grep_searcher::{Searcher, Sink, SinkContext, SinkMatch};
use sequester_core::secret;

use crate::file::decode;
use crate::lines::{numbered, show};

/// The rest of a longer line is not shown.
const LINE_CHARS: usize = 500;

/// Lines that match or stand around a match.
pub(super) struct Hits {
    most: usize,
    pub(super) matches: usize,
    /// Number of the line, and whether it is part of a match; ascending.
    lines: Vec<(usize, bool)>,
}

impl Hits {
    pub(super) fn new(most: usize) -> Self {
        Self { most, matches: 0, lines: Vec::new() }
    }

    pub(super) fn has_context(&self) -> bool {
        self.lines.iter().any(|(_, matched)| !matched)
    }

    fn take(&mut self, first: Option<u64>, count: usize, matched: bool) -> bool {
        let first = first.unwrap_or(1) as usize;
        // Counting needs no lines, and there may be millions.
        if self.most != usize::MAX {
            let room = self.most.saturating_sub(self.lines.len());
            self.lines.extend((first..first + count.min(room)).map(|number| (number, matched)));
        }
        self.lines.len() < self.most
    }
}

impl Sink for Hits {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> Result<bool, io::Error> {
        self.matches += 1;
        Ok(self.take(found.line_number(), found.lines().count(), true))
    }

    fn context(&mut self, _: &Searcher, context: &SinkContext<'_>) -> Result<bool, io::Error> {
        Ok(self.take(context.line_number(), 1, false))
    }
}

/// Whether lines are shown with their numbers.
#[derive(Clone, Copy)]
pub(super) enum Numbers {
    Shown,
    Hidden,
}

/// `path:12:text` for a match, `path-11-text` around it, `--` where lines are left out.
pub(super) fn show_lines(path: &Path, bytes: &[u8], hits: &Hits, numbers: Numbers) -> Vec<String> {
    let text = decode(bytes).text;
    // Of the whole file: one line of a key does not look like a secret.
    let clean = secret::redact(&text);
    let mut shown = Vec::with_capacity(hits.lines.len());
    let mut wanted = hits.lines.iter().peekable();
    let mut before = None;
    for (number, line) in numbered(&clean.text) {
        let Some((_, matched)) = wanted.next_if(|(at, _)| *at == number) else { continue };
        if hits.has_context() && before.is_some_and(|before: usize| before + 1 != number) {
            shown.push("--".to_owned());
        }
        before = Some(number);
        let mark = if *matched { ':' } else { '-' };
        let place = match numbers {
            Numbers::Shown => format!("{mark}{number}{mark}"),
            Numbers::Hidden => mark.to_string(),
        };
        let cut = show(line, LINE_CHARS);
        let more =
            if cut.cut > 0 { format!(" [{} more characters]", cut.cut) } else { String::new() };
        shown.push(format!("{}{place}{}{more}", path.display(), cut.line));
        if wanted.peek().is_none() {
            break;
        }
    }
    shown
}
