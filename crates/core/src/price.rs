//! Prices of models, as data, and what a plan would cost at them.

use serde::Serialize;

use crate::provider::Powers;
use crate::usage::Usage;

/// The day the table was last compared with what the providers publish.
pub const DATE: &str = "2026-11-15";

/// US dollars per million tokens.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Price {
    pub model: &'static str,
    pub input: f64,
    pub cache_write: f64,
    pub cache_read: f64,
    pub output: f64,
}

const fn price(model: &'static str, [input, cache_write, cache_read, output]: [f64; 4]) -> Price {
    Price { model, input, cache_write, cache_read, output }
}

/// Known models, dearest first within a provider.
pub const PRICES: [Price; 9] = [
    price("anthropic/claude-opus-5", [5.0, 6.25, 0.5, 25.0]),
    price("anthropic/claude-opus-5-5", [4.0, 5.0, 0.2, 20.0]),
    price("anthropic/claude-sonnet-5", [2.0, 2.5, 0.2, 10.0]),
    price("anthropic/claude-haiku-4-5", [1.0, 1.25, 0.1, 5.0]),
    price("openai/gpt-6-sol", [2.0, 2.5, 0.2, 10.0]),
    price("openai/gpt-5", [1.25, 1.25, 0.125, 10.0]),
    price("openai/gpt-5-mini", [0.25, 0.25, 0.025, 2.0]),
    price("gemini/gemini-2.5-pro", [1.25, 1.25, 0.125, 10.0]),
    price("gemini/gemini-2.5-flash", [0.3, 0.3, 0.03, 2.5]),
];

/// What an estimate takes for granted, since nobody can know it before a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Assumptions {
    /// Architecture, constraints and files beside a task's own text.
    pub surroundings: usize,
    /// Replies of the model per task.
    pub turns: usize,
    /// What a turn adds to the conversation: tool output read by the next turns.
    pub growth: usize,
    pub output: usize,
}

pub const ASSUMPTIONS: Assumptions =
    Assumptions { surroundings: 16_000, turns: 12, growth: 1_200, output: 400 };

/// The price of a model, by its name or by the name it begins with: providers append dates.
pub fn find(model: &str) -> Option<&'static Price> {
    let model = model.replacen("openai-responses/", "openai/", 1);
    let named = |price: &&Price| {
        let dated = model.strip_prefix(price.model).and_then(|rest| rest.strip_prefix('-'));
        model == price.model || dated.is_some_and(|rest| rest.starts_with("20"))
    };
    PRICES.iter().find(named)
}

/// What a reply costs, in millionths of a dollar; nothing where nobody knows.
pub fn of(model: &str, powers: Powers, usage: Usage) -> Option<u64> {
    if powers.free { Some(0) } else { find(model).map(|price| usage.price(price)) }
}

impl Price {
    /// Dollars for one task whose own text has `tokens`: the context is written to the cache once and read from it by
    /// every later turn, and so is what each turn adds.
    pub fn estimate(&self, tokens: usize) -> f64 {
        let Assumptions { surroundings, turns, growth, output } = ASSUMPTIONS;
        let context = (tokens + surroundings) as f64;
        let (turns, growth, output) = (turns as f64, growth as f64, output as f64);
        let added = growth + output;
        let written = context + added * (turns - 1.0);
        let read = context * (turns - 1.0) + added * (turns - 1.0) * (turns - 2.0) / 2.0;
        (written * self.cache_write + read * self.cache_read + turns * output * self.output) / 1e6
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_longer_task_and_a_dearer_model_cost_more() {
        for price in PRICES {
            assert!(price.estimate(0) > 0.0 && price.estimate(2_000) > price.estimate(1_000));
        }
        assert!(PRICES[0].estimate(1_000) > PRICES[1].estimate(1_000));
    }

    #[test]
    fn a_price_is_found_by_a_name_with_a_date_and_by_no_other() {
        let found = |model| find(model).map(|price| price.model);
        assert_eq!(found("anthropic/claude-sonnet-5-20260901"), Some("anthropic/claude-sonnet-5"));
        assert_eq!(found("openai/gpt-5"), Some("openai/gpt-5"));
        assert_eq!((found("openai/gpt-5-nano"), found("literal")), (None, None));
    }

    #[test]
    fn an_estimate_is_the_sum_of_its_stated_parts() {
        let price = price("made/up", [0.0, 1.0, 0.0, 0.0]);
        // 16,000 + 1,000 of context, then 11 times 1,600.
        assert!((price.estimate(1_000) - 0.034_6).abs() < 1e-9);
    }
}
