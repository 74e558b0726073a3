//! The port to outlines: what a source file defines, and where.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::path::RepoPath;

/// Reads the symbols of one text; the language is known by the path.
pub trait Outliner: Send + Sync {
    /// Symbols in order of their start. Text of an unknown language gets a plain outline; it may be empty.
    fn outline(&self, path: &RepoPath, text: &str) -> Vec<Symbol>;
}

/// One definition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Symbol {
    pub name: String,
    /// `function`, `class`, `method`, ... as the language's own words go.
    pub kind: String,
    /// The bytes of the whole definition, from the start of its first line to the end of its last.
    pub bytes: Range<usize>,
    /// Its first and last line, from 1.
    pub lines: (u32, u32),
    /// Its first line or lines up to the body, trimmed, on one line.
    pub signature: String,
    /// How deep it is nested in other symbols.
    pub depth: u32,
}
