//! How an attempt ended. Every ending is typed, and none loses what was done.

use serde::{Deserialize, Serialize};

use super::kept::Kept;
use crate::budget::{Limit, Spent};
use crate::provider::{self, Kind};
use crate::report::Report;

/// The end of one attempt, with all that it leaves.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ending {
    pub outcome: Outcome,
    /// Always there when the work is done, stopped or waits; sometimes otherwise.
    pub report: Option<Report>,
    pub spent: Spent,
    pub kept: Kept,
    /// What the model said last, for people: bounded, and never taken for a result.
    pub last_words: String,
    /// Files that its question is about: a person may let it see them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub wants: Vec<String>,
}

/// How it ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Outcome {
    /// A valid report that says PROCEED.
    Done,
    /// A valid report that says STOP.
    Stopped,
    /// A question waits for a person.
    Waiting,
    Failed {
        fault: Fault,
    },
    TimedOut,
    /// The same call brought the same result too often.
    Looped {
        call: String,
        times: u32,
    },
    BudgetExhausted {
        limit: Limit,
    },
    Cancelled,
    /// The model or its provider declined.
    Refused {
        reason: String,
    },
}

/// Why it failed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Fault {
    /// No report that could be taken, and what was wrong with the last one.
    NoReport {
        faults: Vec<String>,
    },
    Provider {
        error: provider::Error,
    },
    /// The runtime could not give it what it needs: a workspace, a jail.
    Runtime {
        message: String,
    },
}

impl Outcome {
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Stopped => "stopped",
            Self::Waiting => "waiting",
            Self::Failed { .. } => "failed",
            Self::TimedOut => "timed_out",
            Self::Looped { .. } => "looped",
            Self::BudgetExhausted { .. } => "budget_exhausted",
            Self::Cancelled => "cancelled",
            Self::Refused { .. } => "refused",
        }
    }

    /// One sentence for a person.
    /// What a person can do about a model that gave nothing.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Failed { fault: Fault::Provider { error } } => Some(error.kind.hint()),
            Self::Refused { .. } => Some("Say the task in other words, or take another model."),
            _ => None,
        }
    }

    /// Whether a person has to change what was given before it can succeed. A model that babbles is not theirs to mend.
    pub fn is_input(&self) -> bool {
        let Self::Failed { fault: Fault::Provider { error } } = self else { return false };
        !error.kind.is_passing() && error.kind != Kind::TooLarge
    }

    /// Whether what was given names a key or a model that the provider does not know: whatever the task, it cannot succeed so.
    pub fn is_misnamed(&self) -> bool {
        let Self::Failed { fault: Fault::Provider { error } } = self else { return false };
        matches!(error.kind, Kind::NoKey | Kind::Authentication | Kind::UnknownModel)
    }

    pub fn sentence(&self) -> String {
        match self {
            Self::Done => "The work is done.".to_owned(),
            Self::Stopped => "The subagent stopped and said why.".to_owned(),
            Self::Waiting => "A question waits for an answer.".to_owned(),
            Self::Failed { fault: Fault::NoReport { faults } } => {
                format!("There is no valid report: {}", faults.join(" "))
            }
            Self::Failed { fault: Fault::Provider { error } } => error.message.clone(),
            Self::Failed { fault: Fault::Runtime { message } } => message.clone(),
            Self::TimedOut => "The attempt reached its time limit.".to_owned(),
            Self::Looped { call, times } => {
                format!("`{call}` was called {times} times with the same result.")
            }
            Self::BudgetExhausted { limit } => {
                format!("The attempt reached its limit of {}.", limit.as_str())
            }
            Self::Cancelled => "The attempt was cancelled.".to_owned(),
            Self::Refused { reason } => format!("The model declined: {reason}"),
        }
    }
}
