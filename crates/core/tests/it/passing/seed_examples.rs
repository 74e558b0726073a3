//! The worked examples of the document that asked for records, by the default relevance.

use sequester_core::agent::{Kept, Left};
use sequester_core::context::Share;
use sequester_core::recall::Relevance;
use sequester_core::record::Handed;
use sequester_core::report::{Artifact, Label};
use sequester_core::run::Started;
use sequester_testkit::TaskText;

use super::{Told, planned};

/// A task after the three of the examples, each of which needs the one before.
fn chain(last: &str) -> Started {
    let titles = ["Analyze project structure", "Look at the API", "Choose how users log in", last];
    let task = |(at, title): (usize, &str)| TaskText {
        id: format!("t{at}"),
        title: title.to_owned(),
        text: format!("{title}."),
        needs: at.checked_sub(1).map(|before| format!("t{before}")).into_iter().collect(),
        ..TaskText::default()
    };
    let tasks = titles.into_iter().enumerate().map(task).collect();
    let mut started = planned(tasks, Share::Needs, Relevance::default());
    started.settings.records.artifacts = true;
    started
}

fn ids(handed: &Handed) -> Vec<&str> {
    let mut ids: Vec<&str> = handed.chosen.iter().map(|one| &*one.record.id).collect();
    ids.sort_unstable();
    ids
}

#[test]
fn endpoints_and_the_decision_for_jwt_reach_the_task_that_adds_authentication() {
    for text in ["Add authentication to API endpoints", "Add JWT authentication to API endpoints"] {
        let mut told = Told::new(chain(text));
        told.done("t0", "Project uses FastAPI framework. Main entry point is server.py.");
        told.done("t1", "Found API endpoints defined in routes/api.py");
        told.done("t2", "Decided to use JWT for auth (matches FastAPI patterns)");
        let handed = told.handed("t3", text);
        assert_eq!(ids(&handed), ["t0/summary", "t1/summary", "t2/summary"], "{handed:?}");
        assert_eq!(&*handed.chosen[0].record.id, "t2/summary", "a direct need gets room first");
    }
}

fn artifact(id: &str, label: Label, content: &str) -> Left {
    let relevance = Some("architecture".to_owned());
    let content = content.to_owned();
    Left { id: id.to_owned(), artifact: Artifact { label, content, relevance, refs: Vec::new() } }
}

#[test]
fn findings_and_resources_reach_the_task_that_adds_an_endpoint() {
    let text = "Add new API endpoint";
    let mut told = Told::new(chain(text));
    let leave = |artifacts: Vec<Left>| Kept { artifacts, ..Kept::default() };
    told.kept =
        leave(vec![artifact("finding-1", Label::Finding, "Project uses FastAPI framework")]);
    told.done("t0", "The structure is known.");
    told.kept = leave(vec![
        artifact("finding-1", Label::Finding, "Existing endpoints in routes/api.py"),
        artifact("resource-1", Label::Resource, "routes/api.py - API endpoint definitions"),
    ]);
    told.done("t1", "The parts are known.");
    told.kept = Kept::default();
    told.done("t2", "Passwords it is.");
    let mut handed = told.handed("t3", text);
    handed.chosen.retain(|one| !one.record.label.is_empty());
    assert_eq!(ids(&handed), ["t0/finding-1", "t1/finding-1", "t1/resource-1"], "{handed:?}");
}
