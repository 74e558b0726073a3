//! The report's JSON, field by field.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Conclusion, Decision, Findings, Phase, Report, Status};
use crate::digest::Digest;

/// A report as JSON has it: flat, so that a contradiction can be written down and refused.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Wire<F> {
    pub(super) task_id: String,
    pub(super) phase: Phase,
    pub(super) status: Status,
    /// PROCEED goes with complete; CLARIFY with partial or blocked; STOP with any of them.
    pub(super) decision: Decision,
    /// With STOP: why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) reason: Option<String>,
    /// With STOP: what would help, if you know.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) resolution: Option<String>,
    pub(super) findings: F,
    /// At most 500 tokens, for a reader who has seen nothing of your work: key findings, decisions, files that matter.
    pub(super) context_summary: String,
    #[serde(default)]
    pub(super) tokens_used: u64,
    /// What went wrong or is worth knowing.
    #[serde(default)]
    pub(super) issues: Vec<String>,
    /// With CLARIFY: what you need to know.
    #[serde(default)]
    pub(super) questions: Vec<Question>,
    #[serde(default)]
    pub(super) artifacts: Vec<Artifact>,
    #[serde(default)]
    pub(super) notes: Vec<Note>,
    /// If you changed files, at least one item with PROCEED: each requirement, constraint and test, and whether it is in order.
    #[serde(default)]
    pub(super) self_review: Vec<Reviewed>,
}

/// A question to a person.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Question {
    pub question: String,
    /// A word or two.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub header: Option<String>,
    #[serde(default)]
    pub options: Vec<Choice>,
    /// The answer that is taken if nobody gives one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
    /// How long to wait before the default is taken, such as `2h`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Choice {
    pub label: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// Something worth keeping for those who build on this task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Artifact {
    #[serde(rename = "type")]
    pub label: Label,
    pub content: String,
    /// A word or two that say what it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub relevance: Option<String>,
    /// Files by path, artifacts or records by id. A TODO that a finding, decision or resource refers to is done.
    #[serde(default)]
    pub refs: Vec<String>,
}

impl Artifact {
    /// Names what it says, whatever its type, case and spaces.
    pub(crate) fn words(&self) -> Digest {
        let words = self.content.split_whitespace().collect::<Vec<_>>().join(" ");
        Digest::of(words.trim_end_matches('.').to_lowercase().as_bytes())
    }
}

#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "UPPERCASE")]
pub enum Label {
    Finding,
    Decision,
    Resource,
    Error,
    Todo,
}

impl Label {
    pub const ALL: [Self; 5] =
        [Self::Finding, Self::Decision, Self::Resource, Self::Error, Self::Todo];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Finding => "FINDING",
            Self::Decision => "DECISION",
            Self::Resource => "RESOURCE",
            Self::Error => "ERROR",
            Self::Todo => "TODO",
        }
    }

    /// As it stands in ids.
    pub fn word(self) -> &'static str {
        match self {
            Self::Finding => "finding",
            Self::Decision => "decision",
            Self::Resource => "resource",
            Self::Error => "error",
            Self::Todo => "todo",
        }
    }

    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|label| label.as_str() == name)
    }
}

/// A section of the project's notes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Note {
    /// Findings, Decisions, TODO, Resources, or a name of your own.
    pub section: String,
    pub content: String,
}

/// One thing that the subagent looked over itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Reviewed {
    pub item: String,
    pub ok: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

impl From<Report> for Wire<Findings> {
    fn from(report: Report) -> Self {
        let (status, decision) = (report.verdict.status(), report.verdict.decision());
        let (reason, resolution, questions) = match report.verdict {
            Conclusion::Proceed => (None, None, Vec::new()),
            Conclusion::Stop { reason, resolution, .. } => (Some(reason), resolution, Vec::new()),
            Conclusion::Clarify { questions, .. } => (None, None, questions),
        };
        Self {
            task_id: report.task_id.as_str().to_owned(),
            phase: report.findings.phase(),
            status,
            decision,
            reason,
            resolution,
            findings: report.findings,
            context_summary: report.context_summary,
            tokens_used: report.tokens_used,
            issues: report.issues,
            questions,
            artifacts: report.artifacts,
            notes: report.notes,
            self_review: report.self_review,
        }
    }
}
