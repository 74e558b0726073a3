//! The port to a cache: it may lose anything at any time, and nobody may be wrong for it.

/// Bytes by key. Keys are short ASCII names chosen by the caller; a key names its format's version.
pub trait Cache: Send + Sync {
    fn get(&self, key: &str) -> Option<Vec<u8>>;

    /// Best effort: a cache that cannot write forgets.
    fn put(&self, key: &str, bytes: &[u8]);
}

/// The cache that remembers nothing.
pub struct Forgetful;

impl Cache for Forgetful {
    fn get(&self, _key: &str) -> Option<Vec<u8>> {
        None
    }

    fn put(&self, _key: &str, _bytes: &[u8]) {}
}
