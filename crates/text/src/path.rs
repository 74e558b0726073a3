//! Paths inside a repository.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// A path inside a repository: relative, `/` between its parts, never leaving the root.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct RepoPath(Arc<str>);

impl<'de> Deserialize<'de> for RepoPath {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).map_err(serde::de::Error::custom)
    }
}

/// Why a text is no path inside the repository.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    Empty,
    Absolute,
    Leaves,
    ControlCharacter,
}

impl RepoPath {
    /// Takes `./`, doubled slashes and inner `..` away; refuses what is absolute or leaves the root.
    pub fn parse(text: &str) -> Result<Self, Error> {
        if text.chars().any(char::is_control) {
            return Err(Error::ControlCharacter);
        }
        let drive = text.as_bytes();
        if text.starts_with(['/', '~', '\\'])
            || (drive.len() > 1 && drive[0].is_ascii_alphabetic() && drive[1] == b':')
        {
            return Err(Error::Absolute);
        }
        let mut parts: Vec<&str> = Vec::new();
        for part in text.split('/') {
            match part {
                "" | "." => {}
                ".." => {
                    parts.pop().ok_or(Error::Leaves)?;
                }
                part => parts.push(part),
            }
        }
        if parts.is_empty() {
            return Err(Error::Empty);
        }
        Ok(Self(parts.join("/").into()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The last part.
    pub fn name(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or(&self.0)
    }

    /// The folder it lies in; empty for the root.
    pub fn folder(&self) -> &str {
        self.0.rsplit_once('/').map_or("", |(folder, _)| folder)
    }

    /// What follows the last dot of the name, if anything does.
    pub fn extension(&self) -> Option<&str> {
        self.name().rsplit_once('.').filter(|(stem, _)| !stem.is_empty()).map(|(_, end)| end)
    }
}

impl fmt::Display for RepoPath {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl AsRef<str> for RepoPath {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl std::borrow::Borrow<str> for RepoPath {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Empty => "the path is empty",
            Self::Absolute => "the path is absolute",
            Self::Leaves => "the path leaves the repository",
            Self::ControlCharacter => "the path holds a control character",
        })
    }
}

impl std::error::Error for Error {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_kept_in_its_shortest_form() {
        for (given, kept) in [("a/b", "a/b"), ("./a//b/", "a/b"), ("a/x/../b", "a/b")] {
            assert_eq!(RepoPath::parse(given).map(|path| path.to_string()), Ok(kept.to_owned()));
        }
    }

    #[test]
    fn a_path_never_leaves_the_repository() {
        for (given, error) in [
            ("../a", Error::Leaves),
            ("a/../../b", Error::Leaves),
            ("/etc/passwd", Error::Absolute),
            ("~/.ssh/id", Error::Absolute),
            ("C:\\x", Error::Absolute),
            ("\\\\host\\x", Error::Absolute),
            ("", Error::Empty),
            ("./", Error::Empty),
            ("a\0b", Error::ControlCharacter),
        ] {
            assert_eq!(RepoPath::parse(given), Err(error), "{given:?}");
        }
    }

    #[test]
    fn name_folder_and_extension_are_its_parts() {
        let path = RepoPath::parse("src/.config/a.test.ts").unwrap();
        assert_eq!(
            (path.name(), path.folder(), path.extension()),
            ("a.test.ts", "src/.config", Some("ts"))
        );
        assert_eq!(RepoPath::parse(".gitignore").unwrap().extension(), None);
    }
}
