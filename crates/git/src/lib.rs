//! History, trees, merges, commits and branches, through the `git` program and its objects.

mod apply;
mod base;
mod checkout;
mod dirty;
mod export;
mod file_versions;
mod folder;
mod history;
mod index;
mod listing;
mod name;
mod objects;
mod program;
mod repo;
mod run_paths;
mod share;
mod trees;
mod worktree;

pub use apply::{Application, Applied, Apply, Refusal, Unclean};
pub use base::Tree;
pub use dirty::Dirty;
pub use export::{Export, Touched};
pub use history::Log;
pub use name::commit_id;
pub use repo::Repo;
pub use run_paths::RunPath;
pub use trees::{CHANGED_BYTES, Home, Trees};
pub use worktree::{WorktreeContent, WorktreeLosses};
