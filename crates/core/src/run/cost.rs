//! What replies cost.

use serde::{Deserialize, Serialize};

use super::history::Attempt;
use crate::report::Phase;
use crate::usage::Usage;

/// Tokens and what they cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cost {
    #[serde(flatten)]
    pub usage: Usage,
    /// Millionths of a dollar, as far as prices are known.
    pub price: u64,
    /// Replies whose price nobody knows.
    #[serde(default)]
    pub unpriced: u32,
}

impl Cost {
    /// One reply; without a price where nobody knows it.
    pub fn count(&mut self, usage: Usage, price: Option<u64>) {
        let unpriced = u32::from(price.is_none());
        self.add(&Self { usage, price: price.unwrap_or(0), unpriced });
    }

    pub fn add(&mut self, other: &Self) {
        self.usage += other.usage;
        self.price = self.price.saturating_add(other.price);
        self.unpriced = self.unpriced.saturating_add(other.unpriced);
    }

    /// All of it; nothing where a part is not known.
    pub fn whole(&self) -> Option<u64> {
        (self.unpriced == 0).then_some(self.price)
    }

    pub fn bill(&self) -> Bill {
        let is_known = self.unpriced == 0 || self.price > 0;
        let price = is_known.then_some(self.price);
        Bill { usage: self.usage, price, unpriced: self.unpriced }
    }
}

/// What it came to, as it is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Bill {
    pub usage: Usage,
    /// Millionths of a dollar, as far as prices are known; nothing where none is.
    pub price: Option<u64>,
    /// Replies that are not in the price, since nobody knows theirs.
    pub unpriced: u32,
}

/// What a phase came to, with all its attempts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Part {
    pub phase: Phase,
    pub attempts: usize,
    pub turns: usize,
    #[serde(flatten)]
    pub bill: Bill,
}

/// Of the phases that took place, in the order of [`Phase::ALL`], then own ones. Together they are what the run says.
pub fn by_phase<'a>(attempts: impl IntoIterator<Item = &'a Attempt>) -> Vec<Part> {
    let mut sums = Phase::ALL.map(|phase| (phase, 0, 0, Cost::default())).to_vec();
    for attempt in attempts {
        if sums.iter().all(|sum| sum.0 != attempt.phase) {
            sums.push((attempt.phase, 0, 0, Cost::default()));
        }
        for (_, attempts, turns, cost) in sums.iter_mut().filter(|sum| sum.0 == attempt.phase) {
            *attempts += 1;
            *turns += attempt.turns.len();
            cost.add(&attempt.cost);
        }
    }
    let took_place = sums.into_iter().filter(|(_, attempts, ..)| *attempts > 0);
    let part = |(phase, attempts, turns, cost): (Phase, usize, usize, Cost)| Part {
        phase,
        attempts,
        turns,
        bill: cost.bill(),
    };
    took_place.map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_knows_is_never_nothing() {
        let usage = Usage { input: 10, ..Usage::default() };
        let mut cost = Cost::default();
        assert_eq!((cost.whole(), cost.bill().price), (Some(0), Some(0)));
        cost.count(usage, None);
        assert_eq!((cost.whole(), cost.bill().price, cost.bill().unpriced), (None, None, 1));
        cost.count(usage, Some(7));
        assert_eq!((cost.whole(), cost.bill().price, cost.bill().unpriced), (None, Some(7), 1));
        assert_eq!(cost.bill().usage.input, 20);
    }
}
