//! A task's text as the words that are looked for.

use std::collections::BTreeMap;

use super::Query;
use super::words::{WORD, scope, words};

/// The first line names the task, and its files are named on purpose: a word there counts as often as this.
const FIRST_LINE: u32 = 2;
/// What comes after as many different words is detail.
const MOST_TERMS: usize = 1_000;

/// What is looked for, by the word as the index has it.
pub(super) struct Terms(pub(super) BTreeMap<String, Asked>);

pub(super) struct Asked {
    pub(super) count: u32,
    /// As the text has it; nothing where it is a pair or a prefix.
    pub(super) written: String,
}

impl Terms {
    pub(super) fn of(query: &Query<'_>) -> Self {
        let mut terms = Self(BTreeMap::new());
        let text = query.text.trim_start();
        let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
        terms.take(first, FIRST_LINE);
        for path in query.paths {
            terms.take(path, FIRST_LINE);
        }
        if let Some(scope) = scope(first) {
            let asked = Asked { count: WORD * FIRST_LINE, written: String::new() };
            terms.0.insert(scope, asked);
        }
        terms.take(rest, 1);
        terms
    }

    /// A word counts for where it counts most, not for how often it is said.
    fn take(&mut self, text: &str, times: u32) {
        words(text, |word| {
            let count = word.count * times;
            if let Some(known) = self.0.get_mut(word.text) {
                known.count = known.count.max(count);
            } else if self.0.len() < MOST_TERMS {
                let written = word.written.to_owned();
                self.0.insert(word.text.to_owned(), Asked { count, written });
            }
        });
    }
}
