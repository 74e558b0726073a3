//! The chain that makes a change of any event show: each one's hash covers the hash before it.

use blake3::Hasher;

pub(crate) type Hash = [u8; 32];

/// What the first event follows.
pub(crate) const START: Hash = [0; 32];

pub(crate) fn link(before: &Hash, body: &str) -> Hash {
    Hasher::new().update(before).update(body.as_bytes()).finalize().into()
}
