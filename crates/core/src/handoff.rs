//! The handoff: the typed request to a subagent.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::context::{IsolatedContext, Kind};
use crate::plan::{Plan, Task};
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

impl From<Phase> for Expected {
    fn from(phase: Phase) -> Self {
        match phase {
            Phase::Write | Phase::Execute => Self::FilesChanged,
            Phase::Validate | Phase::Verify | Phase::Review => Self::ValidationResult,
            Phase::Research | Phase::Analyze | Phase::Plan => Self::StructuredFindings,
        }
    }
}

impl Handoff {
    /// The handoff of one phase of a task, as its context really was.
    pub fn of(plan: &Plan, task: &Task, phase: Phase, context: &IsolatedContext) -> Self {
        let sources = |kind: Kind| {
            let rows = context.manifest.fragments.iter().filter(move |row| row.kind == kind);
            let mut sources: Vec<String> = rows.map(|row| row.source.clone()).collect();
            sources.dedup();
            sources
        };
        let shared = plan.constraints.iter().map(|one| one.text.clone());
        Self {
            task_id: task.id.as_str().to_owned(),
            phase,
            context: Given {
                feature: plan.feature(),
                spec_path: sources(Kind::Spec).into_iter().next(),
                relevant_files: sources(Kind::File),
                constraints: shared.chain(task.constraints.iter().cloned()).collect(),
                previous_findings: sources(Kind::Record),
            },
            instructions: task.text.clone(),
            expected_output: phase.into(),
        }
    }
}
