//! Findings of any phase as plain lists, for whoever reads them without knowing the phase.

use serde_json::Value;

use super::findings::{
    Checks, Complexity, Findings, Judgement, Remark, Severity, Validation, Verification,
};

/// One list of a report's findings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FindingList {
    pub name: String,
    pub items: Vec<String>,
}

impl FindingList {
    fn new(name: &str, items: Vec<String>) -> Self {
        Self { name: name.to_owned(), items }
    }
}

impl Findings {
    /// The lists that hold something, the most important first. Of a judging phase only what speaks against the work.
    pub fn lists(&self) -> Vec<FindingList> {
        let mut lists = match self {
            Self::Research(found) => vec![
                FindingList::new("conflicts", found.conflicts.clone()),
                FindingList::new("recommendations", found.recommendations.clone()),
                FindingList::new(
                    "existing implementations",
                    found.existing_implementations.clone(),
                ),
                FindingList::new("patterns", found.patterns_found.clone()),
            ],
            Self::Write(change) | Self::Execute(change) => {
                vec![FindingList::new("tests written", change.tests_written.clone())]
            }
            Self::Validate(Validation { checks }) => {
                vec![FindingList::new("failed checks", failed_checks(checks))]
            }
            Self::Analyze(found) => {
                let word = match found.complexity {
                    Complexity::Simple => "simple",
                    Complexity::Complex => "complex",
                };
                vec![FindingList::new("complexity", vec![word.to_owned()])]
            }
            Self::Plan(plan) => vec![FindingList::new("steps", plan.steps.clone())],
            Self::Review(review) => vec![
                FindingList::new("specification", remarks(&review.spec)),
                FindingList::new("quality", remarks(&review.quality)),
            ],
            Self::Verify(found) => vec![FindingList::new("requirements not met", unmet(found))],
            Self::Draft(_) => Vec::new(),
            Self::Own(found) => found
                .fields
                .iter()
                .map(|(name, value)| FindingList::new(name, texts(value)))
                .collect(),
        };
        for list in &mut lists {
            list.items.retain(|item| !item.trim().is_empty());
        }
        lists.retain(|list| !list.items.is_empty());
        lists
    }
}

/// A field of an own phase: a list, or one value.
fn texts(value: &Value) -> Vec<String> {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    match value {
        Value::Array(items) => items.iter().map(text).collect(),
        Value::Null => Vec::new(),
        one => vec![text(one)],
    }
}

fn failed_checks(Checks { types, lint, tests, security }: &Checks) -> Vec<String> {
    let parts: [(&str, bool, &[String]); 4] = [
        ("types", types.passed, &types.errors),
        ("lint", lint.passed, &lint.errors),
        ("tests", tests.passed, &[]),
        ("security", security.passed, &security.issues),
    ];
    let failed = parts.into_iter().filter(|(_, passed, _)| !passed);
    failed.map(|(kind, _, errors)| format!("{kind}: {}", errors.join("; "))).collect()
}

fn unmet(found: &Verification) -> Vec<String> {
    let open = found.requirements.iter().filter(|one| !one.met);
    open.map(|one| format!("{} ({})", one.text, one.proof)).collect()
}

fn remarks(judgement: &Judgement) -> Vec<String> {
    judgement.findings.iter().map(remark).collect()
}

fn remark(Remark { severity, file, line, text }: &Remark) -> String {
    let severity = match severity {
        Severity::Critical => "critical",
        Severity::Important => "important",
        Severity::Minor => "minor",
    };
    let line = line.map(|line| format!(":{line}")).unwrap_or_default();
    format!("{severity}, {file}{line}: {text}")
}
