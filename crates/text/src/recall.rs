//! Recall: which of the records that a task may see its text is about.

mod index;
mod query;
mod words;

use serde::{Deserialize, Serialize};

pub use index::{Index, LAST};

/// How many records a task is given.
pub const TOP: usize = 3;
/// A record with less is not worth its room: what little it shares with the task may be chance.
pub const LEAST: f64 = 1.0;
/// A task that sees fewer records is given up to [`TOP`] of them by any evidence.
pub const FEW: usize = 10;

/// By what records are chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Relevance {
    /// By the words they share with the task, rare ones first of all.
    #[default]
    Words,
    /// The last ten, by how many of the task's words they have: the rule that all of this began with, for comparison.
    Seed,
    /// No record is chosen by its text.
    Off,
}

impl Relevance {
    pub const ALL: [Self; 3] = [Self::Words, Self::Seed, Self::Off];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Words => "words",
            Self::Seed => "seed",
            Self::Off => "off",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.as_str() == text)
    }
}

/// What is known of a record by the index.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'a> {
    pub title: &'a str,
    pub summary: &'a str,
    pub paths: &'a [String],
}

/// One record that the task may see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    /// Its number in the index.
    pub at: usize,
    /// How many tasks back it was left; 1 is the task just before.
    pub age: u32,
    /// How often others that the task may see made use of it.
    pub uses: u32,
}

/// What a task is about.
#[derive(Clone, Copy, Debug)]
pub struct Query<'a> {
    pub text: &'a str,
    /// The files that it names.
    pub paths: &'a [String],
}

/// A record that shares something with the task. A score of 1 is worth its room among any number of records.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranked {
    pub at: usize,
    pub score: f64,
    pub why: String,
}

/// The best of a ranking among `visible` records, at most [`TOP`]. Silence is better than a record that has nothing to do with
/// the task.
pub fn choose(ranked: &[Ranked], visible: usize) -> &[Ranked] {
    let is_worth = |one: &&Ranked| is_enough(one.score, visible);
    let chosen = ranked.iter().take(TOP).take_while(is_worth).count();
    &ranked[..chosen]
}

/// Whether a score is worth the room of its record among `visible` ones. Among few a needless record costs less than a missing
/// one, so any evidence is enough.
pub fn is_enough(score: f64, visible: usize) -> bool {
    score >= LEAST || visible < FEW && score > 0.0
}

#[cfg(test)]
mod tests;
