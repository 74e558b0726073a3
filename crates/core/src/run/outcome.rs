//! How a run ended.

use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    Done,
    Failed,
    /// All that is left waits for answers; it goes on when they are given.
    Waiting,
    /// Somebody interrupted it; it goes on when somebody takes it up again.
    Stopped,
    BudgetExhausted,
    Cancelled,
}

impl Outcome {
    /// Whether nothing of it waits for anybody.
    pub fn is_final(self) -> bool {
        !matches!(self, Self::Waiting | Self::Stopped)
    }

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Waiting => "waiting",
            Self::Stopped => "stopped",
            Self::BudgetExhausted => "budget_exhausted",
            Self::Cancelled => "cancelled",
        }
    }
}

/// How many tasks ended how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    pub done: usize,
    pub failed: usize,
    pub blocked: usize,
    pub waiting: usize,
    pub skipped: usize,
    pub cancelled: usize,
}
