//! Files that are in no workspace, and that a person lets a task see.

use sequester_audit::{Ports, Rule, audit};
use sequester_core::context::{Content, Given, Refusal};
use sequester_core::message::Message;
use sequester_core::path::RepoPath;
use sequester_core::provider::Reply;
use sequester_core::run::{Event, Found, Outcome, Scope};
use sequester_core::store::RunStore as _;
use sequester_testkit::provider::calls;
use serde_json::json;

use super::run::write_then_report;
use super::stage::{Stage, run};

const PLAN: &str = "---\nsequester: 1\n---\n# Letters\n\n\
## [a] Write a\n\n```task\nfiles: {create: [a.txt]}\n```\n\nWrite the letter a.\n\n\
## [b] Write b\n\n```task\nneeds: [a]\nfiles: {create: [b.txt]}\n```\n\nWrite the letter b.\n";

const CANARY: &str = "let canary = 'IGNORED';";
const SECRET: &str = "AKIAZ7QHWQ3TPLM5XK2D";

/// `a` asks for what git ignores until somebody says something to that.
fn asks_first(task: &str, messages: &[Message]) -> Reply {
    let Some(Message::User(prompt)) = messages.first() else { panic!("no prompt") };
    if task == "a" && prompt.contains("# Clarifications\n\nNone.") {
        let paths = ["dist/app.js", "dist/gone.js"];
        return calls(&[("request_files", json!({"paths": paths, "reason": "To look."}))]);
    }
    write_then_report(task, messages)
}

fn stage() -> Stage {
    let mut stage = Stage::new(PLAN, &[("README.md", "Letters\n")], asks_first);
    let text = "let canary = 'IGNORED';\nlet key = 'AKIAZ7QHWQ3TPLM5XK2D';\n";
    stage.ignored = vec![("dist/app.js", Some(text)), ("dist/gone.js", None)];
    stage
}

/// Asked, answered and taken up again.
async fn answered(answer: &str) -> Stage {
    go_on(stage(), answer).await
}

async fn go_on(stage: Stage, answer: &str) -> Stage {
    assert_eq!(stage.conduct().await, Ok(Outcome::Waiting));
    let state = stage.state();
    let (question, open) = state.inbox().next().unwrap();
    let labels: Vec<&str> = open.asked.options.iter().map(|one| one.label.as_str()).collect();
    assert_eq!(labels, ["Yes", "No"]);
    let (question, answer, by) = (question.clone(), answer.to_owned(), "somebody".to_owned());
    let scope = Scope { task: open.task.clone(), ..Scope::default() };
    stage.tell(scope, Event::QuestionAnswered { question, answer, by }).await;
    assert_eq!(stage.conduct().await, Ok(Outcome::Done));
    stage
}

/// The prompts of a task's attempts, in order.
fn prompts(stage: &Stage, task: &str) -> Vec<String> {
    let of = |scope: &Scope| scope.task.as_ref().is_some_and(|id| id.as_str() == task);
    let log = stage.log();
    let shown = log.iter().filter_map(|one| match &one.entry.event {
        Event::AttemptStarted(started) if of(&one.entry.scope) => Some(&started.context.prompt),
        _ => None,
    });
    shown.map(|prompt| String::from_utf8(stage.store.blob(prompt).unwrap()).unwrap()).collect()
}

#[tokio::test]
async fn a_yes_shows_the_files_to_later_attempts_of_the_task_and_to_no_other() {
    let stage = answered("Yes").await;
    let [first, second] = &prompts(&stage, "a")[..] else { panic!("two attempts") };
    assert!(!first.contains(CANARY));
    assert!(second.contains(CANARY) && second.contains("not in your workspace"), "{second}");
    assert!(second.contains("### `dist/gone.js`\n\nNot shown: it was gone"), "{second}");
    assert!(!second.contains(SECRET), "{second}");
    assert!(prompts(&stage, "b").iter().all(|prompt| !prompt.contains("dist/")));
    let log = stage.log();
    let granted = log.iter().find_map(|one| match &one.entry.event {
        Event::FilesGranted { files } => Some(files.clone()),
        _ => None,
    });
    let granted = granted.unwrap();
    let Found::Blob(kept) = &granted["dist/app.js"] else { panic!("{granted:?}") };
    let kept = String::from_utf8(stage.store.blob(kept).unwrap()).unwrap();
    assert!(kept.contains(CANARY) && !kept.contains(SECRET), "{kept}");
    assert_eq!(granted["dist/gone.js"], Found::Refused(Refusal::Gone));
    assert_eq!(stage.audit().breaches, []);
    let handle = stage.handle().await.context(&"a".into()).unwrap();
    assert!(handle.prompt.contains(CANARY), "a program that dispatches it again shows it too");
}

#[tokio::test]
async fn any_other_answer_shows_nothing_and_reads_nothing() {
    for answer in ["No", "Do without."] {
        let stage = answered(answer).await;
        let log = stage.log();
        assert!(!log.iter().any(|one| matches!(one.entry.event, Event::FilesGranted { .. })));
        let last = prompts(&stage, "a").pop().unwrap();
        assert!(last.contains(answer) && !last.contains(CANARY), "{last}");
        assert_eq!(stage.audit().breaches, []);
    }
}

#[tokio::test]
async fn a_file_of_one_task_in_the_context_of_another_is_found() {
    let mut stage = stage();
    let path = RepoPath::parse("dist/app.js").unwrap();
    let content = Content::Outside(Ok(format!("{CANARY}\n").into_bytes()));
    stage.planted = Some(Given { task: "b".into(), path, content });
    let found = go_on(stage, "Yes").await.audit().breaches;
    let found: Vec<_> = found.iter().map(|one| (one.task.clone(), one.rule)).collect();
    assert_eq!(found, [(Some("b".into()), Rule::Fragment)]);
}

#[tokio::test]
async fn a_grant_that_was_moved_to_another_task_is_found() {
    let stage = answered("Yes").await;
    let mut log = stage.log();
    for one in &mut log {
        if matches!(one.entry.event, Event::FilesGranted { .. }) {
            one.entry.scope.task = Some("b".into());
        }
    }
    let run = run();
    let ports = Ports { run: &run, store: &stage.store, repository: Some(&stage.trees) };
    let found = audit(&log, &ports);
    assert!(found.breaches.iter().any(|one| one.rule == Rule::Log), "{found:?}");
}
