//! Protected names that a change may hold all the same, because somebody who may says so.

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Grantor, ProtectedName, covers, leads_to};
use crate::path::RepoPath;

/// Protected names, and paths in them, that one attempt may change.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Grants(BTreeSet<String>);

/// Before a path that may be deleted. No path begins like this.
const DELETED: &str = "//";

/// Why a name cannot be granted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// It is this name, or lies in it.
    Never(&'static str),
    /// There is nothing to grant.
    Unprotected,
}

impl Grants {
    /// For whoever is granted nothing.
    pub fn none() -> &'static Self {
        static NONE: Grants = Grants(BTreeSet::new());
        &NONE
    }

    /// The person's own word for a protected name, or for a path in one. With `./` before it, for a path that is protected in this
    /// repository alone.
    pub fn grant(&mut self, name: &str) -> Result<(), Error> {
        let own = name.strip_prefix("./");
        let name = own.unwrap_or(name);
        let path = RepoPath::parse(name).map_err(|_| Error::Unprotected)?;
        let covering: Vec<_> = ProtectedName::covering(path.as_str()).collect();
        if let Some(known) = covering.iter().find(|known| known.grantor == Grantor::Nobody) {
            return Err(Error::Never(known.name));
        }
        if covering.is_empty() && own.is_none() {
            return Err(Error::Unprotected);
        }
        self.0.insert(if own.is_some() { format!("/{path}") } else { path.to_string() });
        Ok(())
    }

    /// With the files of build services among those that a task names to be changed.
    #[must_use]
    pub fn with_named<'p>(mut self, paths: impl IntoIterator<Item = &'p RepoPath>) -> Self {
        let granted = |path: &&RepoPath| {
            let mut covering = ProtectedName::covering(path.as_str()).peekable();
            covering.peek().is_some() && covering.all(|known| known.grantor == Grantor::Task)
        };
        // A path from the root: the name alone would be granted wherever it lies.
        self.0.extend(paths.into_iter().filter(granted).map(|path| format!("/{path}")));
        self
    }

    /// With the files of build services at the paths that a task deletes, or below them: they may go, but not change.
    #[must_use]
    pub fn with_deleted<'p>(mut self, paths: impl IntoIterator<Item = &'p RepoPath>) -> Self {
        self.0.extend(paths.into_iter().map(|path| format!("{DELETED}{path}")));
        self
    }

    /// Whether a change may delete what is at the path, though it is protected.
    pub fn may_delete(&self, path: &str) -> bool {
        let is_tasks = |known: &ProtectedName| known.grantor == Grantor::Task;
        ProtectedName::covering(path).all(is_tasks) && self.deleted().any(|at| reaches(at, path))
    }

    fn deleted(&self) -> impl Iterator<Item = &str> {
        self.iter().filter(|grant| grant.starts_with(DELETED))
    }

    /// Also what another grants.
    pub fn extend(&mut self, other: &Self) {
        self.0.extend(other.0.iter().cloned());
    }

    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    /// Whether a change may hold `path` though the `name` is protected and covers it. Only what is granted, letter by letter: another
    /// file that some file system takes for it is another file.
    pub fn lift(&self, name: &str, path: &str) -> bool {
        self.within(name).any(|grant| reaches(grant, path))
    }

    /// Whether a path is granted that is protected in one repository alone.
    pub fn reach(&self, path: &str) -> bool {
        self.iter().any(|grant| !grant.starts_with(DELETED) && reaches(grant, path))
    }

    /// Whether all of a protected name is granted.
    pub fn open(&self, name: &str) -> bool {
        self.lift(name, name)
    }

    /// Whether anything in a protected name is granted, or may be deleted with a folder above it.
    pub fn touch(&self, name: &str) -> bool {
        let is_deleted = || {
            let known = ProtectedName::find(name);
            known.is_some_and(|known| known.grantor == Grantor::Task)
                && self.deleted().any(|at| leads_to(at.trim_start_matches('/'), name))
        };
        self.within(name).next().is_some() || is_deleted()
    }

    /// What is granted of one name. What lies in several needs a grant of each.
    fn within(&self, name: &str) -> impl Iterator<Item = &str> {
        let can_be =
            ProtectedName::find(name).is_some_and(|known| known.grantor != Grantor::Nobody);
        let grants = self.iter().filter(|grant| !grant.starts_with(DELETED));
        grants.filter(move |grant| can_be && covers(name, grant.trim_start_matches('/')))
    }
}

/// As [`covers`] has it, with the very letters.
fn reaches(grant: &str, path: &str) -> bool {
    let mut parts = path.split('/');
    if grant.contains('/') {
        grant.trim_matches('/').split('/').all(|part| parts.next() == Some(part))
    } else {
        parts.any(|part| part == grant)
    }
}

impl Error {
    pub fn hint(&self) -> String {
        match self {
            Self::Never(_) => "Take it out, and change it by yourself.".to_owned(),
            Self::Unprotected => {
                "Write a protected name such as `.vscode` or `.github/workflows`, or a path in one (docs/jail.md lists \
                 all); or `./PATH` for a path that git runs from this repository."
                    .to_owned()
            }
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Never(name) => write!(formatter, "`{name}` is granted to nobody."),
            Self::Unprotected => formatter.write_str("This is no protected name."),
        }
    }
}

impl std::error::Error for Error {}
