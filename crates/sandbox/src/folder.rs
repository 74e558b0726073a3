//! The person's own folder as a workspace: what in it must not be seen, and where its git folder is.

mod error;
mod git;
#[cfg(test)]
mod tests;
mod walk;

use std::fs;
use std::path::{Path, PathBuf};

use rustix::fs::Access;

use crate::protected;

pub use error::Error;
pub use git::Git;

/// What was found in a folder, so that all that follows decides without looking.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folder {
    /// Without links.
    pub path: PathBuf,
    pub git: Git,
    /// Files whose names say secret, sockets and pipes that lead out, and the product's own state.
    pub hidden: Vec<PathBuf>,
    /// Texts that stand in for files that hold credentials among other things.
    pub covers: Vec<(PathBuf, String)>,
    /// Protected names that are links: nothing can hold a link in place.
    pub links: Vec<PathBuf>,
    /// Folders that are there above protected names.
    pub parents: Vec<PathBuf>,
    pub walked: Walked,
}

/// How much of a folder was looked through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Walked {
    Whole,
    /// It has more entries than anybody waits for; secrets may be left in it.
    Part,
}

impl Folder {
    /// Whether this process could put something into it.
    pub fn is_writable(&self) -> bool {
        rustix::fs::access(&self.path, Access::WRITE_OK | Access::EXEC_OK).is_ok()
    }

    pub fn look(path: &Path) -> Result<Self, Error> {
        let error = |source| Error::unreadable(path, source);
        let path = fs::canonicalize(path).map_err(error)?;
        if !path.is_dir() {
            return Err(Error::NoFolder(path));
        }
        if path.iter().any(|part| part == ".sequester") {
            return Err(Error::OwnState(path));
        }
        fs::read_dir(&path).map_err(|source| Error::unreadable(&path, source))?;
        let (hidden, walked) = walk::hidden(&path, walk::MOST);
        let (git, covers) = git::look(&path);
        let is_link = |path: &PathBuf| fs::symlink_metadata(path).is_ok_and(|at| at.is_symlink());
        let protected = || protected::NAMES.iter().map(|(name, _)| Path::new(name));
        let mut parents: Vec<PathBuf> = protected()
            .filter_map(Path::parent)
            .filter(|parent| !parent.as_os_str().is_empty())
            .map(|parent| path.join(parent))
            .collect();
        parents.dedup();
        let names = protected().map(|name| path.join(name));
        let links = names.chain(parents.iter().cloned()).filter(is_link).collect();
        parents.retain(|parent| fs::symlink_metadata(parent).is_ok_and(|at| at.is_dir()));
        Ok(Self { path, git, hidden, covers, links, parents, walked })
    }
}
