//! Workflows: how a task is worked on, as data.

use serde::{Deserialize, Serialize};

use crate::check::Kind;
use crate::report::Complexity;

/// Steps in the order in which they are written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Workflow {
    pub name: String,
    pub steps: Vec<Step>,
}

/// A subagent, or checks by the runtime.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    pub id: String,
    /// Nothing where the runtime checks by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Steps that must be complete before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub needs: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<When>,
    /// Fresh attempts after one that failed.
    #[serde(default)]
    pub retries: u32,
    /// Which of the project's checks are run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub check: Vec<Kind>,
}

/// Whether a step is taken: by what an analysis before it found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum When {
    Simple,
    Complex,
}

impl When {
    pub fn holds(self, found: Complexity) -> bool {
        matches!(
            (self, found),
            (Self::Simple, Complexity::Simple) | (Self::Complex, Complexity::Complex)
        )
    }
}
