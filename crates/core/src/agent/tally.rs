//! Counting calls that bring nothing new.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::message::Call;

/// How often each call brought each result since a file was last changed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Tally(BTreeMap<u64, u32>);

impl Tally {
    /// Counts one more, and says how many that makes.
    pub(super) fn count(&mut self, call: &Call, result: &str) -> u32 {
        let mut hasher = blake3::Hasher::new();
        for part in [call.name.as_str(), &call.arguments.to_string(), result] {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part.as_bytes());
        }
        let mut key = [0; 8];
        hasher.finalize_xof().fill(&mut key);
        let count = self.0.entry(u64::from_le_bytes(key)).or_default();
        *count += 1;
        *count
    }

    /// A file changed: the same call may bring something new now.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}
