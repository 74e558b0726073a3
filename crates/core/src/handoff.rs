//! The handoff: the typed request to a subagent. The prompt is rendered from it.

use std::sync::LazyLock;

use jsonschema::Validator;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::context::{Manifest, Work, work_block};
use crate::plan::{Constraint, Plan, Task};
use crate::report::{Phase, schema_of};
use crate::secret::{Hider, is_less_of, redact};

/// What a subagent is asked for. File contents stand in the rendered prompt; this names the files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Handoff {
    pub task_id: String,
    pub phase: Phase,
    pub context: HandoffContext,
    /// The task's title and text, in full.
    pub instructions: String,
    pub expected_output: ExpectedOutput,
}

/// What goes with the task.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HandoffContext {
    /// The plan's title and goal.
    pub feature: String,
    /// The companion document that the task's specification comes from.
    pub spec_path: Option<String>,
    pub relevant_files: Vec<String>,
    pub constraints: Vec<String>,
    /// What earlier phases of the task found, and what speaks against its change.
    pub previous_findings: Option<String>,
    /// Questions about the task and what people answered.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub clarifications: Vec<String>,
    /// Ids of what other tasks left for it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub records: Vec<String>,
}

/// What kind of report is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ExpectedOutput {
    StructuredFindings,
    FilesChanged,
    ValidationResult,
}

impl ExpectedOutput {
    fn of(phase: Phase, judges: bool) -> Self {
        if phase.changes_files() {
            Self::FilesChanged
        } else if judges {
            Self::ValidationResult
        } else {
            Self::StructuredFindings
        }
    }
}

impl Handoff {
    /// Without what is chosen by its size: files and the specification. The phase may judge other work.
    pub fn new(plan: &Plan, task: &Task, (phase, judges): (Phase, bool), work: &[Work]) -> Self {
        let own = task.constraints.iter().cloned();
        let constraints = plan.constraints.iter().map(constraint_text).chain(own).collect();
        let found = work.iter().filter(|piece| !piece.is_change);
        let found =
            found.map(|piece| redact(&work_block(&piece.title, &piece.text)).text.into_owned());
        let previous_findings = joined_findings(found);
        let feature = plan.feature();
        Self {
            task_id: task.id.as_str().to_owned(),
            phase,
            context: HandoffContext {
                feature,
                constraints,
                previous_findings,
                ..HandoffContext::default()
            },
            instructions: format!("{}\n\n{}", task.title, task.text),
            expected_output: ExpectedOutput::of(phase, judges),
        }
    }

    /// The first line of the instructions, and the rest.
    pub fn title_and_text(&self) -> (&str, &str) {
        self.instructions.split_once("\n\n").unwrap_or((&self.instructions, ""))
    }

    /// With the files and the specification that the context shows, and no secret in any of its texts.
    #[must_use]
    pub fn completed(mut self, manifest: &Manifest, hider: &Hider) -> Self {
        self.context.relevant_files = manifest.files();
        self.context.spec_path = manifest.spec_path();
        self.context.records = manifest.records().map(str::to_owned).collect();
        for text in self.texts() {
            *text = hider.redact(text).text.into_owned();
        }
        self
    }

    /// What was written by others.
    fn texts(&mut self) -> impl Iterator<Item = &mut String> {
        let HandoffContext { feature, constraints, previous_findings, clarifications, .. } =
            &mut self.context;
        let lists = constraints.iter_mut().chain(clarifications);
        [&mut self.instructions, feature].into_iter().chain(lists).chain(previous_findings)
    }

    /// Whether it says what `other` says, but for secrets that only the other one shows.
    pub fn is_less_of(&self, other: &Self) -> bool {
        let (mut own, mut other) = (self.clone(), other.clone());
        for (own, other) in own.texts().zip(other.texts()) {
            if is_less_of(own, other) {
                other.clone_from(own);
            }
        }
        own == other
    }

    /// What its own schema finds wrong with it; nothing of a handoff that can be sent.
    pub fn faults(&self) -> Vec<String> {
        let value = serde_json::to_value(self).unwrap_or_default();
        faults_of(&value)
    }
}

/// Blocks of earlier work as one text; nothing where there are none.
pub fn joined_findings(blocks: impl Iterator<Item = String>) -> Option<String> {
    let found: String = blocks.collect();
    Some(found.trim_end().to_owned()).filter(|text| !text.is_empty())
}

/// What the schema finds wrong with the JSON of a handoff.
pub fn faults_of(value: &Value) -> Vec<String> {
    static VALIDATOR: LazyLock<Option<Validator>> =
        LazyLock::new(|| jsonschema::validator_for(&schema_of::<Handoff>()).ok());
    let Some(validator) = VALIDATOR.as_ref() else {
        return vec!["The schema of handoffs cannot be compiled.".to_owned()];
    };
    let faults = validator.iter_errors(value);
    faults.map(|fault| format!("`{}`: {fault}", fault.instance_path())).collect()
}

/// A constraint of the plan, with its label where that says something.
fn constraint_text(Constraint { label, text, .. }: &Constraint) -> String {
    if label == "Constraints" { text.clone() } else { format!("{label}: {text}") }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::plan::{self, Options};

    fn handoff(phase: Phase) -> Handoff {
        let text = "---\nsequester: 1\n---\n# P\n\n## [A.1] Add a login\n\n\
                    ```task\nconstraints: [No new dependency]\n```\n\nUse JWT.\n\nKeep it small.\n";
        let plan = plan::parse(text.as_bytes(), &Options::default()).plan;
        let task = &plan.tasks[0];
        let work = Work {
            task: task.id.clone(),
            title: "Report of the phase research".to_owned(),
            text: "JWT helpers exist.".to_owned(),
            is_change: false,
        };
        let change = Work { title: "The change".to_owned(), is_change: true, ..work.clone() };
        Handoff::new(&plan, task, (phase, phase.judges()), &[work, change])
    }

    #[test]
    fn a_handoff_has_the_fields_of_the_protocol_and_fits_its_schema() {
        let value = serde_json::to_value(handoff(Phase::Write)).unwrap();
        assert_eq!(
            value,
            json!({
                "task_id": "A.1", "phase": "write",
                "context": {
                    "feature": "P", "spec_path": null, "relevant_files": [],
                    "constraints": ["No new dependency"],
                    "previous_findings": "Report of the phase research:\n\n```\nJWT helpers exist.\n```",
                },
                "instructions": "Add a login\n\nUse JWT.\n\nKeep it small.",
                "expected_output": "files_changed",
            })
        );
        assert_eq!(faults_of(&value), Vec::<String>::new());
        assert_eq!(
            handoff(Phase::Write).title_and_text(),
            ("Add a login", "Use JWT.\n\nKeep it small.")
        );
    }

    #[test]
    fn every_phase_expects_one_kind_of_report() {
        for phase in Phase::ALL {
            let wanted = match phase {
                Phase::Write | Phase::Execute => ExpectedOutput::FilesChanged,
                Phase::Validate | Phase::Review | Phase::Verify => ExpectedOutput::ValidationResult,
                _ => ExpectedOutput::StructuredFindings,
            };
            assert_eq!(handoff(phase).expected_output, wanted, "{phase}");
        }
    }

    #[test]
    fn what_does_not_fit_the_schema_is_said() {
        let mut value = serde_json::to_value(handoff(Phase::Write)).unwrap();
        value["phase"] = json!("A guess!");
        value["context"]["relevant_files"] = json!("src");
        assert_eq!(faults_of(&value).len(), 2);
    }
}
