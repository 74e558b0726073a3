//! One answer from the reports of steps that ran side by side.

use serde::Serialize;
use serde_json::{Map, Value};

use super::{Decision, Report};
use crate::run::Said;

/// It proceeds only if all do; what each found stands under its step, and issues are one list.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct JoinedReport {
    pub decision: Decision,
    pub checks: Map<String, Value>,
    pub issues: Vec<String>,
}

impl JoinedReport {
    /// Of the steps in their order.
    pub fn of(reports: &[(String, Report)]) -> Self {
        let proceeds = |report: &Report| match Said::of(report) {
            Said::Proceed { passed, .. } => passed != Some(false),
            Said::Stop { .. } | Said::Clarify { .. } => false,
        };
        let all = reports.iter().all(|(_, report)| proceeds(report));
        let findings = |report: &Report| serde_json::to_value(&report.findings).unwrap_or_default();
        Self {
            decision: if all { Decision::Proceed } else { Decision::Stop },
            checks: reports.iter().map(|(step, one)| (step.clone(), findings(one))).collect(),
            issues: reports.iter().flat_map(|(_, report)| report.issues.clone()).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::id::TaskId;
    use crate::report::{Phase, read};

    fn report(verdict: &str, issue: &str) -> Report {
        let judgement = json!({"verdict": verdict, "findings": []});
        let report = json!({
            "task_id": "A", "phase": "review", "status": "complete", "decision": "PROCEED",
            "findings": {"spec": judgement, "quality": judgement}, "context_summary": "Read.", "issues": [issue],
        });
        read(report, &TaskId::new("A"), Phase::Review).unwrap()
    }

    #[test]
    fn all_must_pass_and_issues_are_joined_in_the_order_of_the_steps() {
        let named = |step: &str, verdict, issue| (step.to_owned(), report(verdict, issue));
        let joined = JoinedReport::of(&[named("a", "pass", "one"), named("b", "pass", "two")]);
        assert_eq!(
            (joined.decision, joined.issues),
            (Decision::Proceed, vec!["one".into(), "two".into()])
        );
        let joined = JoinedReport::of(&[named("a", "pass", ""), named("b", "fail", "")]);
        assert_eq!(joined.decision, Decision::Stop);
        assert_eq!(joined.checks.keys().collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!(joined.checks["b"]["spec"]["verdict"], "fail");
    }
}
