//! What a run's isolation saved against one conversation that does the same work, from the sizes that really were.

use serde::Serialize;

use super::history::{Attempt, History};
use crate::report::Phase;

/// What the comparison takes for granted, since the other conversation never took place.
const ASSUMPTIONS: [&str; 5] = [
    "One conversation makes the same turns, task by task in the plan's order, and is never compacted.",
    "Each of its turns sends again all that was said and read before.",
    "It starts as the run's first attempt did; what later attempts were handed at their start, it knows already.",
    "Where a model counts no tokens, as `literal` does, the size of the context stands for what was sent.",
    "Where a model's window is not known, it is taken to be 200,000 tokens.",
];

/// Tokens of windows, by the names that models begin with, as their providers publish them.
const WINDOWS: [(&str, u64); 6] = [
    ("anthropic/claude-haiku-4-5", 200_000),
    ("anthropic/claude-opus-5", 1_000_000),
    ("anthropic/claude-sonnet-5", 1_000_000),
    ("gemini/gemini-2.5", 1_048_576),
    ("openai-responses/gpt-5", 400_000),
    ("openai/gpt-5", 400_000),
];
const ASSUMED: u64 = 200_000;

/// The window of a model, where it is known.
pub fn window(model: &str) -> Option<u64> {
    WINDOWS.iter().find(|(name, _)| model.starts_with(name)).map(|(_, tokens)| *tokens)
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Savings {
    /// Those that took place, in the order of [`Phase::ALL`].
    pub phases: Vec<Row>,
    pub total: Row,
    pub assumptions: Vec<&'static str>,
}

/// Tokens that were sent, and that one conversation would have sent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Row {
    /// Nothing for all of them together.
    pub phase: Option<Phase>,
    pub attempts: usize,
    pub turns: usize,
    pub isolated: u64,
    pub monolithic: u64,
    /// Per cent of the latter; below zero where isolation cost more.
    pub saved: i64,
    /// The fullest that a window was, in per cent, and would have been.
    pub isolated_share: u64,
    pub monolithic_share: u64,
    /// Turns that one conversation could not have made: its window was full.
    pub over: usize,
}

/// Nothing where no turn took place. The histories come in the plan's order.
pub fn savings<'a>(histories: impl IntoIterator<Item = &'a History>) -> Option<Savings> {
    let row = |phase| Row { phase: Some(phase), ..Row::default() };
    let mut rows = Phase::ALL.map(row).to_vec();
    let mut total = Row::default();
    let mut talk: Option<Talk> = None;
    for attempt in histories.into_iter().flat_map(|history| &history.attempts) {
        let sizes = sizes(attempt);
        let Some(first) = sizes.first().map(|(input, _)| *input) else { continue };
        let talk = talk.get_or_insert(Talk { start: first, said: 0 });
        let window = window(&attempt.model).unwrap_or(ASSUMED);
        if rows.iter().all(|one| one.phase != Some(attempt.phase)) {
            rows.push(row(attempt.phase));
        }
        for row in rows.iter_mut().filter(|row| row.phase == Some(attempt.phase)) {
            row.count(&sizes, talk, window);
        }
        total.count(&sizes, talk, window);
        if let Some((input, output)) = sizes.last() {
            talk.said += input.saturating_sub(first) + output;
        }
    }
    talk?;
    let phases = rows.into_iter().filter(|row| row.attempts > 0).map(Row::done).collect();
    Some(Savings { phases, total: total.done(), assumptions: ASSUMPTIONS.to_vec() })
}

/// The one conversation, up to an attempt.
struct Talk {
    /// What it began with.
    start: u64,
    /// What was added since.
    said: u64,
}

/// What each turn sent and brought.
fn sizes(attempt: &Attempt) -> Vec<(u64, u64)> {
    let size = |input: u64| if input > 0 { input } else { attempt.tokens as u64 };
    attempt.turns.iter().map(|usage| (size(usage.input), usage.output)).collect()
}

impl Row {
    fn count(&mut self, sizes: &[(u64, u64)], talk: &Talk, window: u64) {
        let first = sizes.first().map_or(0, |(input, _)| *input);
        self.attempts += 1;
        self.turns += sizes.len();
        for (input, output) in sizes {
            let other = talk.start + talk.said + input.saturating_sub(first);
            self.isolated += input;
            self.monolithic += other;
            self.isolated_share = self.isolated_share.max(percent(input + output, window));
            self.monolithic_share = self.monolithic_share.max(percent(other + output, window));
            self.over += usize::from(other + output > window);
        }
    }

    fn done(mut self) -> Self {
        let (isolated, other) = (i128::from(self.isolated), i128::from(self.monolithic));
        if other > 0 {
            self.saved = i64::try_from((other - isolated) * 100 / other).unwrap_or_default();
        }
        self
    }
}

/// Rounded up, so that what is used never looks like nothing.
fn percent(part: u64, whole: u64) -> u64 {
    part.saturating_mul(100).div_ceil(whole)
}
