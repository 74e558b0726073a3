//! Records: what outlives a task.

mod artifact;
mod backpack;

pub use artifact::{Todo, artifact_ids, artifacts, open_todos};
pub use backpack::{BACKPACK_TOKENS, Pack, Packed};

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
    /// Other records by their ids, or paths, that it speaks of.
    #[serde(default)]
    pub refs: Vec<String>,
    /// What sort of its kind it is, such as `finding`; empty where there is only one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub label: String,
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
