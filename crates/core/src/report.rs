//! The report: the only thing that a subagent hands back.

mod extract;
mod finding_list;
mod findings;
mod joined_report;
mod own_phase;
mod read;
mod report_excerpt;
mod schema;
mod wire;

pub use finding_list::FindingList;
pub use findings::{
    Analysis, Change, Check, Checks, Complexity, Draft, Findings, Judgement, OwnFindings, Phase,
    Remark, Requirement, Research, Review, Scan, Severity, Steps, Tests, Validation, Verdict,
    Verification,
};
pub use joined_report::JoinedReport;
pub use own_phase::{FieldType, FindingFields, OwnPhase, PASSED, ReportForm};
pub(crate) use read::widen_questions;
pub use read::{REPORT_BYTES, SUMMARY_TOKENS, read, read_text};
pub use report_excerpt::{FINDINGS_TOKENS, OBJECTION_TOKENS, excerpt, numbered, objection};
pub(crate) use schema::schema_of;
pub use schema::{asked, bounded, published};
pub use wire::{Artifact, Choice, Label, Note, Question, Reviewed};

use serde::{Deserialize, Serialize};

use crate::id::TaskId;
use wire::Wire;

/// What a subagent hands back, checked. Status and decision that contradict each other cannot be written down.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(into = "Wire<Findings>", try_from = "serde_json::Value")]
pub struct Report {
    pub task_id: TaskId,
    pub verdict: Conclusion,
    pub findings: Findings,
    /// At most 500 tokens.
    pub context_summary: String,
    /// Filled by the runtime.
    pub tokens_used: u64,
    pub issues: Vec<String>,
    pub artifacts: Vec<Artifact>,
    pub notes: Vec<Note>,
    pub self_review: Vec<Reviewed>,
}

/// The six legal pairs of status and decision.
#[derive(Clone, Debug, PartialEq)]
pub enum Conclusion {
    /// complete, PROCEED.
    Proceed,
    /// complete, partial or blocked, STOP.
    Stop { status: Status, reason: String, resolution: Option<String> },
    /// partial or blocked, CLARIFY; at least one question.
    Clarify { status: Unclear, questions: Vec<Question> },
}

/// How far the work got.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    Complete,
    Partial,
    Blocked,
}

/// How far work got that cannot go on without an answer: never complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unclear {
    Partial,
    Blocked,
}

/// What should happen next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum Decision {
    Proceed,
    Stop,
    Clarify,
}

impl Conclusion {
    pub fn status(&self) -> Status {
        match self {
            Self::Proceed => Status::Complete,
            Self::Stop { status, .. } => *status,
            Self::Clarify { status: Unclear::Partial, .. } => Status::Partial,
            Self::Clarify { status: Unclear::Blocked, .. } => Status::Blocked,
        }
    }

    pub fn decision(&self) -> Decision {
        match self {
            Self::Proceed => Decision::Proceed,
            Self::Stop { .. } => Decision::Stop,
            Self::Clarify { .. } => Decision::Clarify,
        }
    }
}

impl Report {
    pub fn phase(&self) -> Phase {
        self.findings.phase()
    }

    /// What its author's own review found not in order.
    pub fn unmended(&self) -> Vec<String> {
        let open = self.self_review.iter().filter(|one| !one.ok);
        let told = open.map(|one| match &one.note {
            Some(note) => format!("{} ({note})", one.item),
            None => one.item.clone(),
        });
        told.collect()
    }

    /// The report of a subagent that asked instead of finishing.
    pub fn asking(task_id: TaskId, phase: Phase, questions: Vec<Question>) -> Self {
        let asked: Vec<&str> =
            questions.iter().map(|question| question.question.as_str()).collect();
        let summary = format!("Waits for an answer: {}", asked.join(" "));
        Self {
            task_id,
            findings: Findings::none(phase),
            context_summary: crate::tokens::head(&summary, SUMMARY_TOKENS).to_owned(),
            verdict: Conclusion::Clarify { status: Unclear::Blocked, questions },
            tokens_used: 0,
            issues: Vec::new(),
            artifacts: Vec::new(),
            notes: Vec::new(),
            self_review: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests;
