//! What replies cost.

use serde::{Deserialize, Serialize};

use crate::usage::Usage;

/// Tokens and what they cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cost {
    #[serde(flatten)]
    pub usage: Usage,
    /// Millionths of a dollar, as far as prices are known.
    pub price: u64,
}

impl Cost {
    pub(super) fn add(&mut self, usage: Usage, price: u64) {
        self.usage += usage;
        self.price = self.price.saturating_add(price);
    }
}
