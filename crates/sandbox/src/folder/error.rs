//! Why a folder cannot be a workspace.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    Unreadable {
        path: PathBuf,
        source: io::Error,
    },
    NoFolder(PathBuf),
    /// It lies in the product's own state.
    OwnState(PathBuf),
}

impl Error {
    pub(super) fn unreadable(path: &Path, source: io::Error) -> Self {
        Self::Unreadable { path: path.to_owned(), source }
    }

    /// What a person can do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Unreadable { .. } => "Name a folder that you can read.",
            Self::NoFolder(_) => "Name a folder, not a file.",
            Self::OwnState(_) => "Name a folder outside of `.sequester`.",
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable { path, source } => {
                write!(formatter, "The workspace `{}` cannot be read: {source}.", path.display())
            }
            Self::NoFolder(path) => {
                write!(formatter, "The workspace `{}` is no folder.", path.display())
            }
            Self::OwnState(path) => write!(
                formatter,
                "The workspace `{}` lies in the product's own state.",
                path.display()
            ),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Unreadable { source, .. } => Some(source),
            _ => None,
        }
    }
}
