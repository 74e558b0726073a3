//! What work starts from.

use sequester_core::repository::Snapshot;
use sequester_git::{Repo, Tree};
use sequester_survey::Folder;

pub(crate) enum Base {
    /// A tree of the repository, whatever the working tree holds: HEAD's, or one that a run made.
    Tree { repo: Repo, tree: Box<Tree> },
    /// A repository with all that is not committed.
    Uncommitted { repo: Repo, folder: Folder },
    /// A folder without git.
    Folder(Folder),
}

impl Base {
    pub(crate) fn repo(&self) -> Option<&Repo> {
        match self {
            Self::Tree { repo, .. } | Self::Uncommitted { repo, .. } => Some(repo),
            Self::Folder(_) => None,
        }
    }

    pub(crate) fn snapshot(&self) -> &dyn Snapshot {
        match self {
            Self::Tree { tree, .. } => tree.as_ref(),
            Self::Uncommitted { folder, .. } | Self::Folder(folder) => folder,
        }
    }
}
