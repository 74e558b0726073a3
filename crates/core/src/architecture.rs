//! The architecture: the only context shared by all subagents of a run.

mod render;

pub use render::Piece;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::check::Kind;

/// What every subagent may know of the project. Each line says where it was seen.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArchitecturalContext {
    /// The project tree, cut to folders that matter; parents before their children.
    pub project_structure: Vec<Stated>,
    pub languages: Vec<Stated>,
    pub entry_points: Vec<Stated>,
    pub key_patterns: Vec<Stated>,
    /// Titles with one-sentence summaries.
    pub relevant_adrs: Vec<Stated>,
    /// Some dependencies with their versions per line, lines of one manifest together.
    pub dependencies: Vec<Stated>,
    pub conventions: Vec<Stated>,
    /// How to build and test.
    pub commands: Vec<Stated>,
}

impl ArchitecturalContext {
    /// With the checks that decide about every change first among the commands.
    #[must_use]
    pub fn with_checks(mut self, checks: &BTreeMap<Kind, String>) -> Self {
        let line = |(kind, command): (&Kind, &String)| {
            Stated::new(format!("`{command}` is run on every change ({kind})"), "checks")
        };
        self.commands.splice(0..0, checks.iter().map(line));
        self
    }
}

/// One extracted line and its origin.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stated {
    pub text: String,
    /// The file (and line) it was taken from; for the tree, the folder.
    pub source: String,
}

impl Stated {
    pub fn new(text: impl Into<String>, source: impl Into<String>) -> Self {
        Self { text: text.into(), source: source.into() }
    }
}
