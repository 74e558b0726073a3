//! What model replies cost, in tokens.

use std::ops::AddAssign;

use serde::{Deserialize, Serialize};

use crate::price::Price;

/// Tokens as the provider counted them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// All that was sent, whether it came from a cache or not.
    pub input: u64,
    /// Of the input: read from the provider's cache.
    pub cache_read: u64,
    /// Of the input: written to the provider's cache.
    pub cache_write: u64,
    /// All that was generated, reasoning included.
    pub output: u64,
}

impl Usage {
    pub fn total(&self) -> u64 {
        self.input.saturating_add(self.output)
    }

    /// Millionths of a dollar, rounded up.
    pub fn price(&self, price: &Price) -> u64 {
        let fresh = self.input.saturating_sub(self.cache_read.saturating_add(self.cache_write));
        let parts = [
            (fresh, price.input),
            (self.cache_read, price.cache_read),
            (self.cache_write, price.cache_write),
            (self.output, price.output),
        ];
        let sum: f64 = parts.iter().map(|(tokens, dollars)| *tokens as f64 * dollars).sum();
        // Dollars per million tokens are millionths of a dollar per token; a float beyond u64 saturates.
        #[expect(clippy::cast_sign_loss, reason = "no part is below zero")]
        let rounded = sum.ceil() as u64;
        rounded
    }
}

impl AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.input = self.input.saturating_add(other.input);
        self.cache_read = self.cache_read.saturating_add(other.cache_read);
        self.cache_write = self.cache_write.saturating_add(other.cache_write);
        self.output = self.output.saturating_add(other.output);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_from_the_cache_is_priced_as_such() {
        let price =
            Price { model: "made/up", input: 2.0, cache_write: 2.5, cache_read: 0.2, output: 10.0 };
        let usage = Usage { input: 1_000, cache_read: 600, cache_write: 300, output: 50 };
        // 100 fresh, 600 read, 300 written, 50 out: 200 + 120 + 750 + 500.
        assert_eq!(usage.price(&price), 1_570);
        assert_eq!(usage.total(), 1_050);
    }
}
