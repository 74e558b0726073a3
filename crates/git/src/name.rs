//! Names of objects, in both of git's formats.

use std::fmt;

use sequester_core::repository::Error;
use sha1::Sha1;
use sha2::{Digest, Sha256};

use crate::program::broken;

/// How a repository names its objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Sha1,
    Sha256,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Blob,
    Tree,
    Commit,
}

/// The name of an object.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Name {
    bytes: [u8; 32],
    length: u8,
}

/// What git calls a commit with these bytes, in the format of another name; nothing where that is none.
pub fn commit_id(like: &str, object: &[u8]) -> Option<String> {
    Some(Format::of(like)?.name(Kind::Commit, object).to_string())
}

impl Kind {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Blob => "blob",
            Self::Tree => "tree",
            Self::Commit => "commit",
        }
    }
}

impl Format {
    /// As `rev-parse --show-object-format` says it.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        match text {
            "sha1" => Some(Self::Sha1),
            "sha256" => Some(Self::Sha256),
            _ => None,
        }
    }

    /// The one that a name in full is of.
    pub(crate) fn of(name: &str) -> Option<Self> {
        [Self::Sha1, Self::Sha256].into_iter().find(|format| format.length() * 2 == name.len())
    }

    /// Bytes of a name.
    pub(crate) fn length(self) -> usize {
        match self {
            Self::Sha1 => 20,
            Self::Sha256 => 32,
        }
    }

    fn blank(self) -> Name {
        Name { bytes: [0; 32], length: self.length() as u8 }
    }

    /// What git calls an object with these bytes.
    pub(crate) fn name(self, kind: Kind, bytes: &[u8]) -> Name {
        let head = format!("{} {}\0", kind.as_str(), bytes.len());
        let mut name = self.blank();
        match self {
            Self::Sha1 => {
                let sum = Sha1::new().chain_update(head).chain_update(bytes).finalize();
                name.bytes[..20].copy_from_slice(&sum);
            }
            Self::Sha256 => {
                let sum = Sha256::new().chain_update(head).chain_update(bytes).finalize();
                name.bytes.copy_from_slice(&sum);
            }
        }
        name
    }

    /// Nothing that is no name in full becomes one: it may end up as an argument or in a path.
    pub(crate) fn read(self, text: &str) -> Result<Name, Error> {
        let refused = || broken(format!("`{}` is no object's name.", text.escape_debug()));
        let digits = text.as_bytes();
        if digits.len() != self.length() * 2 {
            return Err(refused());
        }
        let mut name = self.blank();
        for (byte, pair) in name.bytes.iter_mut().zip(digits.chunks(2)) {
            let value = |digit: u8| match digit {
                b'0'..=b'9' => Some(digit - b'0'),
                b'a'..=b'f' => Some(digit - b'a' + 10),
                _ => None,
            };
            let (high, low) = (value(pair[0]), value(pair[1]));
            *byte = high.zip(low).map(|(high, low)| high << 4 | low).ok_or_else(refused)?;
        }
        Ok(name)
    }

    /// A name as a tree holds it.
    pub(crate) fn take(self, bytes: &[u8]) -> Option<Name> {
        let mut name = self.blank();
        name.bytes.get_mut(..bytes.len())?.copy_from_slice(bytes);
        (bytes.len() == self.length()).then_some(name)
    }
}

impl Name {
    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.length)]
    }
}

impl fmt::Display for Name {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&hex(self.as_bytes()))
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    let digits = b"0123456789abcdef";
    let halves = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    halves.map(|digit| char::from(digits[usize::from(digit)])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_has_the_name_that_git_gives_it_in_both_formats() {
        let sha1 = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391";
        let sha256 = "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813";
        for (format, name) in [(Format::Sha1, sha1), (Format::Sha256, sha256)] {
            assert_eq!(format.name(Kind::Blob, b"").to_string(), name);
            let read = format.read(name).unwrap();
            assert_eq!(format.take(read.as_bytes()), Some(read));
            assert_eq!(read.to_string(), name);
        }
        assert_ne!(Format::Sha1.name(Kind::Tree, b"").to_string(), sha1);
    }

    #[test]
    fn what_is_no_name_is_never_taken_for_one() {
        let upper = "E69DE29BB2D1D6434B8B29AE775AD8C2E48C5391";
        let long = format!("{}0", upper.to_lowercase());
        for text in [
            "",
            "HEAD",
            "e69de29",
            upper,
            &long,
            "--output=x",
            "../../../../../../etc/passwd/aaaaaaaaaaaa",
        ] {
            assert!(Format::Sha1.read(text).is_err(), "{text}");
        }
        assert_eq!(Format::Sha1.take(&[0; 32]), None);
        assert_eq!(Format::Sha256.take(&[0; 33]), None);
    }
}
