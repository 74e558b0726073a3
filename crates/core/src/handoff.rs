//! The handoff: the typed request to a subagent.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::report::Phase;

/// What a subagent is asked for. Contents are in the rendered context; this names them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Handoff {
    pub task_id: String,
    pub phase: Phase,
    pub context: Given,
    /// The task's own text, in full.
    pub instructions: String,
    pub expected_output: Expected,
}

/// What goes with the task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Given {
    pub feature: String,
    /// The companion document that the task's specification comes from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spec_path: Option<String>,
    pub relevant_files: Vec<String>,
    pub constraints: Vec<String>,
    /// Records of the tasks it builds on.
    pub previous_findings: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Expected {
    StructuredFindings,
    FilesChanged,
    ValidationResult,
}
