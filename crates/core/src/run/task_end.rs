//! How a task ends.

use serde::{Deserialize, Serialize};

use super::person::{PersonChoice, PersonDecision};
use crate::id::{TaskId, TreeId};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskEnded {
    pub state: Ended,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolution: Option<String>,
    /// The result; only of a task that is done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree: Option<TreeId>,
    /// The person's decision that it ended by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub person: Option<PersonDecision>,
    /// The task that a person skipped with all that needs it, and that this one needs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skipped_with: Option<TaskId>,
}

impl TaskEnded {
    pub fn new(state: Ended, reason: Option<String>) -> Self {
        Self { state, reason, resolution: None, tree: None, person: None, skipped_with: None }
    }

    /// Whether a task that it needs kept it from beginning.
    pub(super) fn is_by_need(&self) -> bool {
        self.state == Ended::Blocked || self.skipped_with.is_some()
    }

    /// Whether tasks that need this one are skipped too.
    pub(super) fn skips_dependants(&self) -> bool {
        let by_person = |one: &PersonDecision| one.choice == PersonChoice::SkippedWithDependants;
        self.skipped_with.is_some() || self.person.as_ref().is_some_and(by_person)
    }
}

/// How a task ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ended {
    Done,
    Failed,
    /// A task that it needs is not done.
    Blocked,
    Skipped,
    Cancelled,
}
