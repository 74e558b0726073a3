//! Outlines: what a source file defines, and where.
//!
//! Definitions are found by walking the syntax tree with a table of node kinds per language. The grammars' own tags
//! queries would miss half of what an outline needs (Java's enums, C#'s structs, TypeScript's functions, Rust's `impl`),
//! name only the declarator in C, match references too, and have to be compiled first.

mod grammar;
mod plain;
mod walk;

use sequester_core::outliner::{Outliner, Symbol};
use sequester_core::path::RepoPath;

/// Longer text gets the plain outline.
const MOST_PARSED: usize = 8 << 20;
/// A signature's characters.
const MOST_SIGNATURE: usize = 200;

/// Outlines by syntax tree where the language is known, by the look of lines elsewhere.
#[derive(Clone, Copy, Debug, Default)]
pub struct Outlines;

impl Outlines {
    /// Whether it is given to a parser, which is others' code and may break on text that was made for it.
    pub fn parses(path: &RepoPath, text: &str) -> bool {
        grammar(path, text).is_some()
    }

    /// By the look of lines alone.
    pub fn plain(path: &RepoPath, text: &str) -> Vec<Symbol> {
        sorted(plain::outline(path, text))
    }
}

impl Outliner for Outlines {
    fn outline(&self, path: &RepoPath, text: &str) -> Vec<Symbol> {
        let parsed = grammar(path, text).and_then(|grammar| walk::outline(&grammar, text));
        parsed.map_or_else(|| Self::plain(path, text), sorted)
    }
}

fn grammar(path: &RepoPath, text: &str) -> Option<grammar::Grammar> {
    grammar::of(path, text).filter(|_| text.len() <= MOST_PARSED)
}

/// A tree of broken text may name a symbol before the one that its line comes after.
fn sorted(mut symbols: Vec<Symbol>) -> Vec<Symbol> {
    symbols.sort_by_key(|symbol| symbol.lines.0);
    symbols
}
/// Where each line starts; the text's end is the last one's end.
struct Lines<'a> {
    text: &'a str,
    starts: Vec<usize>,
}

impl<'a> Lines<'a> {
    fn of(text: &'a str) -> Self {
        let mut starts = vec![0];
        starts.extend(text.match_indices('\n').map(|(at, _)| at + 1));
        Self { text, starts }
    }

    /// From the start of line `first` to the end of line `last` with its line break, counted from 0.
    fn span(&self, first: usize, last: usize) -> std::ops::Range<usize> {
        let end = self.text.len();
        let start = self.starts.get(first).copied().unwrap_or(end);
        let stop = self.starts.get(last + 1).copied().unwrap_or(end);
        start..stop.max(start)
    }

    fn symbol(&self, name: String, kind: &str, rows: (usize, usize)) -> Symbol {
        Symbol {
            name,
            kind: kind.to_owned(),
            bytes: self.span(rows.0, rows.1),
            lines: (rows.0 as u32 + 1, rows.1 as u32 + 1),
            signature: String::new(),
            depth: 0,
        }
    }
}

/// Runs of white space become one space; the end is cut with an ellipsis.
fn collapse(text: &str, most: usize) -> String {
    let mut line = String::new();
    let mut count = 0;
    for word in text.split_whitespace() {
        let gap = usize::from(!line.is_empty());
        let length = word.chars().count();
        if count + gap + length >= most {
            // The last character is the mark's.
            let room = most.saturating_sub(count + 1);
            line.extend((gap == 1 && room > 0).then_some(' '));
            line.extend(word.chars().take(room.saturating_sub(gap)));
            line.push('…');
            return line;
        }
        line.extend((gap == 1).then_some(' '));
        line.push_str(word);
        count += gap + length;
    }
    line
}
