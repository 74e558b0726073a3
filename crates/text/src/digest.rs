//! The name of bytes: equal digests are equal bytes.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize};

/// BLAKE3, as 64 hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct Digest(Arc<str>);

impl Digest {
    pub fn of(bytes: &[u8]) -> Self {
        Self(blake3::hash(bytes).to_hex().as_str().into())
    }

    /// Nothing that is no digest can be taken for one.
    pub fn parse(text: &str) -> Option<Self> {
        let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        (text.len() == 64 && text.bytes().all(is_digit)).then(|| Self(text.into()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl<'d> Deserialize<'d> for Digest {
    fn deserialize<D: Deserializer<'d>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        Self::parse(&text).ok_or_else(|| serde::de::Error::custom("this is no digest"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_digest_is_read_as_one() {
        let digest = Digest::of(b"bytes");
        assert_eq!(Digest::parse(digest.as_str()), Some(digest.clone()));
        let upper = digest.as_str().to_uppercase();
        for other in ["", "ab", upper.as_str(), "../../../../etc/passwd"] {
            assert_eq!(Digest::parse(other), None, "{other}");
        }
    }
}
