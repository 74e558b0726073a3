//! The port to all states of a repository that a run makes: trees, merges, commits, the branch.

use std::sync::Arc;

use super::{Error, Snapshot};
use crate::change::Change;
use crate::id::{CommitId, RunId, TreeId};
use crate::moment::Moment;

/// Objects and refs are read and written; a working tree never is.
pub trait Repository: Send + Sync {
    /// Where a run starts: HEAD, or with `dirty` the working tree as it is, written as objects.
    fn start(&self, dirty: bool) -> Result<Start, Error>;

    fn snapshot(&self, tree: &TreeId) -> Result<Arc<dyn Snapshot>, Error>;

    /// The base with a change on it.
    fn with_change(&self, base: &TreeId, change: &Change) -> Result<TreeId, Error>;

    /// What leads from one tree to another, with contents and a patch.
    fn between(&self, from: &TreeId, to: &TreeId) -> Result<Change, Error>;

    /// What leads from `base` to `theirs`, done to `ours`.
    fn merge(&self, base: &TreeId, ours: &TreeId, theirs: &TreeId) -> Result<Merge, Error>;

    /// The same arguments give the same commit.
    fn commit(&self, draft: &Draft) -> Result<CommitId, Error>;

    /// Moves a branch forward, if it still is where it was last seen; nothing for one that is not there yet. Where commits would be
    /// lost, it stays.
    fn move_branch(
        &self,
        branch: &str,
        from: Option<&CommitId>,
        to: &CommitId,
    ) -> Result<(), Error>;

    /// Where a branch stands.
    fn branch(&self, branch: &str) -> Result<Option<CommitId>, Error>;

    /// Keeps trees, and commits with all that leads to them, from being cleaned away as long as a run is kept.
    fn hold(&self, run: &RunId, trees: &[TreeId], commits: &[CommitId]) -> Result<(), Error>;
}

/// Where a run starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Start {
    /// Nothing where there is none yet.
    pub commit: Option<CommitId>,
    pub tree: TreeId,
    /// Whether the tree holds what is not committed.
    pub uncommitted: bool,
    /// Whether the working tree has changes that the tree does not hold.
    pub left_out: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Merge {
    Clean(TreeId),
    /// Paths that both changed differently.
    Conflict(Vec<String>),
}

/// A commit to be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Draft {
    pub tree: TreeId,
    pub parent: Option<CommitId>,
    pub message: String,
    /// As git writes it: `Name <address>`; nothing for the one that the repository is configured with.
    pub author: Option<String>,
    pub at: Moment,
}
