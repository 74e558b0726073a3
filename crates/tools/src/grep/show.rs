//! How the lines that were found in one file are shown.

use std::ops::Range;
use std::path::Path;

use crate::lines::{numbered, show};

/// The rest of a longer line is not shown.
const LINE_CHARS: usize = 500;

/// Whether lines are shown with their numbers.
#[derive(Clone, Copy)]
pub(super) enum Numbers {
    Shown,
    Hidden,
}

/// How many lines are shown before and after a match.
#[derive(Clone, Copy)]
pub(super) struct Around {
    pub(super) before: usize,
    pub(super) after: usize,
}

impl Around {
    pub(super) fn is_empty(self) -> bool {
        self.before == 0 && self.after == 0
    }

    /// The matched lines with those around them: number, and whether it is part of a match; ascending.
    fn widen(self, matched: &[Range<usize>]) -> impl Iterator<Item = (usize, bool)> {
        let mut next = 1;
        matched.iter().enumerate().flat_map(move |(index, range)| {
            let before = range.start.saturating_sub(self.before).max(next);
            let ahead = matched.get(index + 1).map_or(usize::MAX, |range| range.start);
            next = range.end.saturating_add(self.after).min(ahead);
            let around = |lines: Range<usize>| lines.map(|number| (number, false));
            let found = range.clone().map(|number| (number, true));
            around(before..range.start).chain(found).chain(around(range.end..next))
        })
    }
}

/// `path:12:text` for a match, `path-11-text` around it, `--` where lines are left out; no more than `most` lines.
pub(super) fn show_lines(
    path: &Path,
    clean: &str,
    matched: &[Range<usize>],
    around: Around,
    numbers: Numbers,
    most: usize,
) -> Vec<String> {
    let mut wanted = around.widen(matched).peekable();
    let mut shown = Vec::new();
    let mut before = None;
    for (number, line) in numbered(clean) {
        let Some((_, matched)) = wanted.next_if(|(at, _)| *at == number) else { continue };
        if !around.is_empty() && before.is_some_and(|before: usize| before + 1 != number) {
            shown.push("--".to_owned());
        }
        before = Some(number);
        let mark = if matched { ':' } else { '-' };
        let place = match numbers {
            Numbers::Shown => format!("{mark}{number}{mark}"),
            Numbers::Hidden => mark.to_string(),
        };
        let cut = show(line, LINE_CHARS);
        let more =
            if cut.cut > 0 { format!(" [{} more characters]", cut.cut) } else { String::new() };
        shown.push(format!("{}{place}{}{more}", path.display(), cut.line));
        if shown.len() >= most || wanted.peek().is_none() {
            break;
        }
    }
    shown
}
