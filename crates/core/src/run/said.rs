//! A report, as far as a run goes by it.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::report::{
    Checks, Complexity, Conclusion, FindingList, Findings, PASSED, Question, Report, Status,
    Validation, Verdict,
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
        /// What a judging phase found against it, in short; the rest is in the report.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        against: Vec<String>,
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

    /// Why a judging phase did not let something stand, for people.
    pub fn gist(&self) -> Option<String> {
        match self {
            Self::Proceed { against, .. } if !against.is_empty() => {
                Some(format!("- {}\n", against.join("\n- ")))
            }
            Self::Stop { reason, .. } => Some(format!("- {}\n", short(reason))),
            _ => None,
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
                    Findings::Own(found) => {
                        passed = found.fields.get(PASSED).and_then(Value::as_bool);
                    }
                    Findings::Analyze(found) => complexity = Some(found.complexity),
                    Findings::Research(_)
                    | Findings::Write(_)
                    | Findings::Execute(_)
                    | Findings::Plan(_)
                    | Findings::Draft(_) => {}
                }
                let against = if passed == Some(false) { against(report) } else { Vec::new() };
                Self::Proceed { passed, complexity, against }
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

/// Most that is told of one finding, in bytes, and of how many.
const WORDS: usize = 240;
const MOST: usize = 8;

/// What a judging phase holds against what it judged, the rest counted.
fn against(report: &Report) -> Vec<String> {
    let is_own = matches!(report.findings, Findings::Own(_));
    let lists = report.findings.lists().into_iter().filter(|list| !is_own || list.name != PASSED);
    // Nobody but its author knows what a field of an own phase is about.
    let told = |name: &str, item: String| if is_own { format!("{name}: {item}") } else { item };
    let named = |FindingList { name, items }: FindingList| {
        items.into_iter().map(|item| told(&name, item)).collect::<Vec<_>>()
    };
    let mut found: Vec<String> = lists.flat_map(named).collect();
    let more = found.len().saturating_sub(MOST);
    found.truncate(MOST);
    let mut told: Vec<String> = found.iter().map(|one| short(one)).collect();
    if more > 0 {
        told.push(format!("and {more} more"));
    }
    told
}

/// On one line, and no longer than is read.
fn short(text: &str) -> String {
    let mut line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.len() > WORDS {
        line.truncate(line.floor_char_boundary(WORDS));
        line.push('…');
    }
    line
}
