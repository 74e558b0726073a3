//! Records: what outlives a task.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::id::TaskId;

/// Something a task left for those that build on it. The visibility rule looks at its task only.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    pub id: Arc<str>,
    pub task: TaskId,
    pub kind: Kind,
    pub title: String,
    pub text: String,
    /// What the task really touched.
    pub paths: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    Summary,
    Note,
    Artifact,
    Backpack,
    Interface,
}

impl Kind {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Summary => "summary",
            Self::Note => "note",
            Self::Artifact => "artifact",
            Self::Backpack => "backpack",
            Self::Interface => "interface",
        }
    }
}
