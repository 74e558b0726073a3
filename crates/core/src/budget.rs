//! What one attempt may use, and what it used.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::limits::{self, HandoverSizes};
use crate::usage::Usage;

/// Limits of one attempt. One turn is held back for the report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Budget {
    pub turns: u32,
    /// Tokens in and out, what came from a cache included.
    pub tokens: Option<u64>,
    /// Millionths of a dollar.
    pub price: Option<u64>,
    pub wall: Duration,
    /// How often the same call may bring the same result.
    pub identical: u32,
    /// How often a report that is not valid goes back.
    pub rejections: u32,
    /// How often one request is sent again after an error that may pass.
    pub retries: u32,
    /// The longest that one such wait may be.
    pub patience: Duration,
    /// Tokens of one reply.
    pub output: u32,
    /// Calls in one reply; the others are answered with a refusal.
    pub calls: usize,
    #[serde(default, skip_serializing_if = "HandoverSizes::is_default")]
    pub handover: HandoverSizes,
}

impl Default for Budget {
    fn default() -> Self {
        Self {
            turns: 80,
            tokens: None,
            price: None,
            wall: Duration::from_mins(30),
            identical: 5,
            rejections: 2,
            retries: 8,
            patience: Duration::from_mins(2),
            output: 16_384,
            calls: 32,
            handover: HandoverSizes::default(),
        }
    }
}

/// What an attempt has used.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spent {
    pub turns: u32,
    /// Without the report, and without those after the last turn.
    pub calls: u32,
    /// Requests that were sent again.
    pub retries: u32,
    #[serde(flatten)]
    pub usage: Usage,
    /// Millionths of a dollar; nothing where the model's price is not known.
    pub price: Option<u64>,
    #[serde(rename = "elapsed_ms", with = "milliseconds")]
    pub elapsed: Duration,
}

mod milliseconds {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<S: Serializer>(time: &Duration, to: S) -> Result<S::Ok, S::Error> {
        u64::try_from(time.as_millis()).unwrap_or(u64::MAX).serialize(to)
    }

    pub(super) fn deserialize<'d, D: Deserializer<'d>>(from: D) -> Result<Duration, D::Error> {
        u64::deserialize(from).map(Duration::from_millis)
    }
}

/// Which limit was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    Turns,
    Tokens,
    Price,
}

impl Limit {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Turns => "turns",
            Self::Tokens => "tokens",
            Self::Price => "price",
        }
    }
}

impl Budget {
    /// So much was used by others on its account.
    pub fn pay(&mut self, tokens: u64, price: u64) {
        self.tokens = self.tokens.map(|limit| limit.saturating_sub(tokens));
        self.price = self.price.map(|limit| limit.saturating_sub(price));
    }

    /// Which limit leaves room for no more than the turn that is held back, if that costs what the latest did.
    pub fn reached(&self, spent: &Spent, latest: Usage) -> Option<Limit> {
        let over = |limit: Option<u64>, used: u64, next: u64| {
            limit.is_some_and(|limit| used.saturating_add(next) >= limit)
        };
        let price = spent.price.unwrap_or(0);
        let next = price / u64::from(spent.turns.max(1));
        if spent.turns.saturating_add(1) >= self.turns {
            Some(Limit::Turns)
        } else if over(self.tokens, spent.usage.total(), latest.total()) {
            Some(Limit::Tokens)
        } else if over(self.price, price, next) {
            Some(Limit::Price)
        } else {
            None
        }
    }
}

impl Spent {
    /// Counts one reply.
    pub fn add(&mut self, usage: Usage, price: Option<u64>) {
        *self = self.with(&Self { turns: 1, usage, price, ..Self::default() });
    }

    /// Both together. A price that is not known makes the sum unknown.
    #[must_use]
    pub fn with(&self, other: &Self) -> Self {
        let price = match (self.turns, other.turns) {
            (_, 0) => self.price,
            (0, _) => other.price,
            _ => self.price.zip(other.price).map(|(one, other)| one.saturating_add(other)),
        };
        let mut usage = self.usage;
        usage += other.usage;
        Self {
            turns: self.turns + other.turns,
            calls: self.calls + other.calls,
            retries: self.retries + other.retries,
            usage,
            price,
            elapsed: self.elapsed + other.elapsed,
        }
    }
}

/// What a person writes as a budget: `200k` or `2m` tokens, `5usd`. The error says what was expected.
pub fn parse(text: &str) -> Result<(limits::Limit, u64), &'static str> {
    let text = text.trim();
    let dollars = text.len() >= 3 && text.to_ascii_lowercase().ends_with("usd");
    let limit = if dollars { limits::Limit::Price } else { limits::Limit::Tokens };
    Ok((limit, limit.read(text)?))
}

/// How long to wait before the same request is sent again: what the provider asks for, else twice as long each time,
/// spread by a seed so that many subagents do not come back at once.
pub fn backoff(
    asked: Option<Duration>,
    retry: u32,
    seed: u64,
    patience: Duration,
) -> Option<Duration> {
    const FIRST: Duration = Duration::from_millis(500);
    let spread = |wait: Duration| wait.mul_f64(0.5 + (mix(seed, retry) % 1_000) as f64 / 2_000.0);
    match asked {
        // Never sooner than asked; a little later, each in its own time.
        Some(asked) => (asked <= patience).then(|| asked + spread(FIRST)),
        None => Some(spread(FIRST.saturating_mul(1 << retry.min(10))).min(patience)),
    }
}

fn mix(seed: u64, retry: u32) -> u64 {
    // SplitMix64: enough to spread waits, and the same everywhere.
    let mut state = seed.wrapping_add(u64::from(retry).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    state = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    state = (state ^ (state >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    state ^ (state >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_turn_is_held_back() {
        let budget = Budget { turns: 3, tokens: Some(1_000), ..Budget::default() };
        let spent = |turns, input| Spent {
            turns,
            usage: Usage { input, ..Usage::default() },
            ..Spent::default()
        };
        let latest = Usage { input: 400, ..Usage::default() };
        assert_eq!(budget.reached(&spent(1, 599), latest), None);
        assert_eq!(budget.reached(&spent(2, 0), latest), Some(Limit::Turns));
        assert_eq!(budget.reached(&spent(1, 600), latest), Some(Limit::Tokens));
    }

    #[test]
    fn a_budget_is_tokens_or_dollars_and_never_nothing() {
        use crate::limits::Limit as Name;
        assert_eq!(parse("200k"), Ok((Name::Tokens, 200_000)));
        assert_eq!(parse("1.5M"), Ok((Name::Tokens, 1_500_000)));
        assert_eq!(parse("5usd"), Ok((Name::Price, 5_000_000)));
        for nothing in ["", "k", "0", "-5k", "nan", "infusd", "5 eur", "1e9"] {
            assert!(parse(nothing).is_err(), "{nothing}");
        }
    }

    #[test]
    fn the_providers_own_delay_is_kept_unless_it_is_too_long() {
        let patience = Duration::from_mins(1);
        let asked = Some(Duration::from_secs(10));
        let wait = backoff(asked, 0, 7, patience).unwrap();
        assert!(wait >= Duration::from_secs(10) && wait < Duration::from_secs(11));
        assert_eq!(backoff(Some(Duration::from_mins(5)), 0, 7, patience), None);
    }

    #[test]
    fn waits_grow_differ_by_seed_and_stay_under_the_cap() {
        let patience = Duration::from_secs(20);
        let wait = |retry, seed| backoff(None, retry, seed, patience).unwrap();
        assert!(wait(3, 1) > wait(0, 1) && wait(0, 1) != wait(0, 2));
        assert!((0..40).all(|retry| wait(retry, 9) <= patience));
    }
}
