//! The port to file ranking: which files a task's text is about.

use serde::Serialize;

use crate::path::RepoPath;

/// Ranks the files of one snapshot.
pub trait Ranker: Send + Sync {
    /// The best `top` files for `text`, best first; the same input gives the same answer.
    fn rank(&self, text: &str, top: usize) -> Vec<Ranked>;
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Ranked {
    pub path: RepoPath,
    pub score: f64,
    /// In a few words: what in the text led here.
    pub why: String,
}
