//! Artifacts that a report's findings amount to, for a subagent that did not record them itself.

use std::collections::BTreeSet;

use super::findings::{Findings, Judgement};
use super::{Artifact, Complexity, Label, Report};
use crate::path::RepoPath;
use crate::tokens;

/// Of one kind.
const MOST: usize = 8;
/// Of one artifact.
const TOKENS: usize = 200;

/// With the file that it is about.
type Text = (String, Option<String>);

impl Report {
    /// What it found as artifacts of one kind; nothing where its findings hold nothing of the kind.
    pub fn extract(&self, label: Label) -> Vec<Artifact> {
        let found = self.texts(label).into_iter().take(MOST);
        found.map(|text| self.artifact(label, text)).collect()
    }

    /// What it found of all kinds. A text that is of several is taken once, as the first of them.
    pub fn extract_all(&self) -> Vec<Artifact> {
        // How hard a task is says nothing to those that build on it.
        if matches!(self.findings, Findings::Analyze(_)) {
            return Vec::new();
        }
        let mut taken = BTreeSet::new();
        let all = Label::ALL.into_iter().flat_map(|label| {
            let mut found = self.texts(label);
            found.retain(|(content, _)| taken.insert(content.clone()));
            found.into_iter().take(MOST).map(move |text| (label, text))
        });
        all.map(|(label, text)| self.artifact(label, text)).collect()
    }

    /// For one that looked and whose findings hold nothing of any kind: an honest answer.
    pub fn nothing_found(&self) -> Option<Artifact> {
        let is_empty = Label::ALL.into_iter().all(|label| self.said(label).is_empty());
        let content = format!("Nothing found: {}", self.context_summary.trim());
        is_empty.then(|| self.artifact(Label::Finding, (content, None)))
    }

    fn artifact(&self, label: Label, (content, file): Text) -> Artifact {
        let file = file.and_then(|file| RepoPath::parse(&file).ok());
        Artifact {
            label,
            content: tokens::head(content.trim(), TOKENS).to_owned(),
            relevance: Some(self.phase().as_str().to_owned()),
            refs: file.iter().map(ToString::to_string).collect(),
        }
    }

    /// What was found and went wrong.
    fn texts(&self, label: Label) -> Vec<Text> {
        let mut found = self.said(label);
        if label == Label::Error {
            let issues = self.issues.iter().filter(|issue| !issue.trim().is_empty());
            found.extend(issues.map(|issue| (issue.clone(), None)));
        }
        found
    }

    /// What was found.
    fn said(&self, label: Label) -> Vec<Text> {
        let mut found = self.listed(label);
        found.retain(|(content, _)| !content.trim().is_empty());
        found
    }

    fn listed(&self, label: Label) -> Vec<Text> {
        let plain = |lists: &[&[String]]| -> Vec<Text> {
            lists.iter().flat_map(|list| list.iter()).map(|one| (one.clone(), None)).collect()
        };
        match (&self.findings, label) {
            (Findings::Research(found), Label::Finding) => {
                plain(&[&found.existing_implementations, &found.patterns_found, &found.conflicts])
            }
            (Findings::Research(found), Label::Resource) => {
                plain(&[&found.existing_implementations])
            }
            (Findings::Research(found), Label::Error) => plain(&[&found.conflicts]),
            (Findings::Research(found), Label::Decision | Label::Todo) => {
                plain(&[&found.recommendations])
            }
            (Findings::Write(change) | Findings::Execute(change), Label::Resource) => {
                let paths = change.files_changed.iter().chain(&change.tests_written);
                paths.map(|path| (path.clone(), Some(path.clone()))).collect()
            }
            (Findings::Validate(found), Label::Error | Label::Finding) => {
                let checks = &found.checks;
                plain(&[&checks.types.errors, &checks.lint.errors, &checks.security.issues])
            }
            (Findings::Analyze(found), Label::Finding | Label::Decision) => {
                let word = match found.complexity {
                    Complexity::Simple => "simple",
                    Complexity::Complex => "complex",
                };
                vec![(format!("The task is {word}."), None)]
            }
            (Findings::Own(_), Label::Finding) => {
                let lists = self.findings.lists().into_iter();
                lists.flat_map(|list| list.items).map(|item| (item, None)).collect()
            }
            (Findings::Plan(found), Label::Decision) => plain(&[&found.steps]),
            (Findings::Review(found), Label::Finding) => {
                [&found.spec, &found.quality].into_iter().flat_map(remarks).collect()
            }
            (Findings::Verify(found), Label::Finding) => {
                let met = found.requirements.iter().filter(|one| one.met);
                met.map(|one| (format!("{} ({})", one.text, one.proof), None)).collect()
            }
            (Findings::Verify(found), Label::Todo) => {
                let open = found.requirements.iter().filter(|one| !one.met);
                open.map(|one| (one.text.clone(), None)).collect()
            }
            _ => Vec::new(),
        }
    }
}

fn remarks(judgement: &Judgement) -> impl Iterator<Item = Text> {
    judgement.findings.iter().map(|one| {
        let line = one.line.map(|line| format!(":{line}")).unwrap_or_default();
        (format!("{}{line}: {}", one.file, one.text), Some(one.file.clone()))
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::id::TaskId;
    use crate::report::{Phase, read};

    fn report(phase: Phase, findings: &serde_json::Value) -> Report {
        let report = json!({
            "task_id": "A", "phase": phase, "status": "complete", "decision": "PROCEED",
            "findings": findings, "context_summary": "Done.", "issues": ["The cache is cold."],
            "self_review": [{"item": "It is there", "ok": true}],
        });
        read(report, &TaskId::new("A"), phase).unwrap()
    }

    fn told(
        phase: Phase,
        findings: &serde_json::Value,
        label: Label,
    ) -> Vec<(String, Vec<String>)> {
        let found = report(phase, findings).extract(label).into_iter();
        found.map(|one| (one.content, one.refs)).collect()
    }

    #[test]
    fn findings_of_each_phase_become_artifacts_of_their_kind() {
        let plain = |text: &str| (text.to_owned(), Vec::new());
        let research = json!({
            "existing_implementations": ["src/a.rs:2 `send`"], "conflicts": ["Two clocks"],
            "patterns_found": ["One module per thing", "  "], "recommendations": ["Use one clock"],
        });
        let of = |label| told(Phase::Research, &research, label);
        let found = ["src/a.rs:2 `send`", "One module per thing", "Two clocks"];
        assert_eq!(of(Label::Finding), found.map(plain));
        assert_eq!(of(Label::Todo), [plain("Use one clock")]);
        assert_eq!(of(Label::Error), [plain("Two clocks"), plain("The cache is cold.")]);
        assert_eq!(of(Label::Decision), [plain("Use one clock")]);

        let judgement = json!({"verdict": "fail", "findings": [
            {"severity": "minor", "file": "src/a.rs", "line": 3, "text": "A stray word"},
        ]});
        let review = json!({"spec": {"verdict": "pass", "findings": []}, "quality": judgement});
        let remark = ("src/a.rs:3: A stray word".to_owned(), vec!["src/a.rs".to_owned()]);
        assert_eq!(told(Phase::Review, &review, Label::Finding), [remark]);

        let change = json!({"files_changed": ["src/a.rs", "/etc/x"], "tests_written": []});
        let changed = [("src/a.rs".to_owned(), vec!["src/a.rs".to_owned()]), plain("/etc/x")];
        assert_eq!(told(Phase::Write, &change, Label::Resource), changed);
    }

    #[test]
    fn what_is_read_out_is_bounded() {
        let many: Vec<String> = (0..20).map(|at| format!("{at} {}", "word ".repeat(500))).collect();
        let found = told(Phase::Plan, &json!({"steps": many}), Label::Decision);
        assert!(found.len() == MOST && found.iter().all(|(one, _)| tokens::count(one) <= TOKENS));
        let research = json!({
            "existing_implementations": many, "conflicts": [], "patterns_found": [],
            "recommendations": [],
        });
        let all = report(Phase::Research, &research).extract_all();
        let labels: Vec<Label> = all.iter().map(|one| one.label).collect();
        assert_eq!(labels, [vec![Label::Finding; MOST], vec![Label::Error]].concat());
        assert_eq!(report(Phase::Analyze, &json!({"complexity": "simple"})).extract_all(), []);
    }
}
