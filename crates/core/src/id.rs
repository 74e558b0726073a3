//! Newtypes for the names that things go by.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// The id of a task, exactly as the plan writes it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TaskId(Arc<str>);

impl TaskId {
    pub fn new(id: impl Into<Arc<str>>) -> Self {
        Self(id.into())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for TaskId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl Default for TaskId {
    fn default() -> Self {
        Self::new("")
    }
}

impl From<&str> for TaskId {
    fn from(id: &str) -> Self {
        Self::new(id)
    }
}
