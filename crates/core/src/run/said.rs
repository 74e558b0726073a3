//! A report, as far as a run goes by it.

use serde::{Deserialize, Serialize};

use crate::report::{
    Checks, Complexity, Conclusion, Findings, Question, Report, Status, Validation, Verdict,
};

/// What a report says, as far as it decides what comes next.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "decision", rename_all = "UPPERCASE")]
pub enum Said {
    Proceed {
        /// Of a judging phase: whether what it judged may stand.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        passed: Option<bool>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        complexity: Option<Complexity>,
    },
    Stop {
        status: Status,
        reason: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        resolution: Option<String>,
    },
    Clarify {
        questions: Vec<Question>,
        /// What they are about, where a tool asked and not the subagent itself.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        files: Vec<String>,
    },
}

impl Said {
    /// With the files that it waits for, if it waits for any.
    #[must_use]
    pub fn wanting(self, wants: &[String]) -> Self {
        match self {
            Self::Clarify { questions, .. } => Self::Clarify { questions, files: wants.to_vec() },
            other => other,
        }
    }

    pub fn of(report: &Report) -> Self {
        match &report.verdict {
            Conclusion::Proceed => {
                let (mut passed, mut complexity) = (None, None);
                match &report.findings {
                    Findings::Review(review) => {
                        let verdicts = [&review.spec, &review.quality];
                        passed = Some(verdicts.iter().all(|one| one.verdict == Verdict::Pass));
                    }
                    Findings::Validate(Validation { checks }) => {
                        let Checks { types, lint, tests, security } = checks;
                        let all = [types.passed, lint.passed, tests.passed, security.passed];
                        passed = Some(all == [true; 4]);
                    }
                    Findings::Verify(found) => {
                        passed = Some(found.requirements.iter().all(|one| one.met));
                    }
                    Findings::Analyze(found) => complexity = Some(found.complexity),
                    Findings::Research(_)
                    | Findings::Write(_)
                    | Findings::Execute(_)
                    | Findings::Plan(_)
                    | Findings::Draft(_) => {}
                }
                Self::Proceed { passed, complexity }
            }
            Conclusion::Stop { status, reason, resolution } => Self::Stop {
                status: *status,
                reason: reason.clone(),
                resolution: resolution.clone(),
            },
            Conclusion::Clarify { questions, .. } => {
                Self::Clarify { questions: questions.clone(), files: Vec::new() }
            }
        }
    }
}
