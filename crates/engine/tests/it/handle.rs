//! A program that dispatches the tasks of a run itself.

use std::sync::Arc;

use sequester_core::context::{IsolatedContext, Kind, Rule};
use sequester_core::id::TaskId;
use sequester_core::run::Outcome;
use sequester_engine::{Handle, Trouble};

use super::run::write_then_report;
use super::stage::Stage;

const PLAN: &str = "---\nsequester: 1\n---\n# Foo\n\n\
## [A.1.1] Implement the feature\n\n```task\nfiles: {modify: [src/module.py]}\n```\n\n\
Implement feature one of the class.\n\n\
## [A.1.2] Another thing\n\n```task\nneeds: [A.1.1]\n```\n\nPolish the brass.\n";

const FILES: [(&str, &str); 4] = [
    ("src/module.py", "class Foo: pass\n"),
    ("docs/style.txt", "Tabs, never spaces.\n"),
    (".env", "TOKEN=1\n"),
    ("logo.bin", "\0\0"),
];

fn one() -> TaskId {
    "A.1.1".into()
}

fn two() -> TaskId {
    "A.1.2".into()
}

fn stage() -> Stage {
    Stage::new(PLAN, &FILES, write_then_report)
}

async fn handle() -> Handle {
    stage().handle().await
}

fn rows(context: &IsolatedContext, kind: Kind) -> Vec<(String, Rule)> {
    let rows = context.manifest.fragments.iter().filter(|row| row.kind == kind);
    rows.map(|row| (row.source.clone(), row.rule)).collect()
}

#[tokio::test]
async fn to_prompt_includes_task_id() {
    let prompt = handle().await.context(&one()).unwrap().to_prompt();
    assert!(prompt.contains("**Task ID:** A.1.1"), "{prompt}");
    assert!(prompt.contains("Implement feature one"), "{prompt}");
}

#[tokio::test]
async fn to_prompt_excludes_other_tasks() {
    let prompt = handle().await.context(&one()).unwrap().to_prompt();
    for foreign in ["A.1.2", "Another thing", "brass", "other task", "total tasks"] {
        assert!(!prompt.contains(foreign), "{foreign}: {prompt}");
    }
}

#[tokio::test]
async fn file_contents_included_not_paths() {
    let prompt = handle().await.context(&one()).unwrap().to_prompt();
    assert!(prompt.contains("### `src/module.py`\n\n```\nclass Foo: pass\n```"), "{prompt}");
}

#[tokio::test]
async fn creates_isolated_context() {
    let context = handle().await.context(&one()).unwrap();
    assert_eq!((context.task.as_str(), context.agent.as_str()), ("A.1.1", "writer"));
    assert_eq!(&context.prompt[context.task_text()], "Implement feature one of the class.");
}

#[tokio::test]
async fn loads_file_contents() {
    let mut handle = handle().await;
    let before = handle.context(&two()).unwrap();
    assert!(!before.prompt.contains("Tabs"), "{}", before.prompt);
    handle.add_file(&one(), "docs/style.txt").unwrap();
    let context = handle.context(&one()).unwrap();
    assert!(context.prompt.contains("```\nTabs, never spaces.\n```"), "{}", context.prompt);
    let given = ("docs/style.txt".to_owned(), Rule::GrantedFile);
    assert!(rows(&context, Kind::File).contains(&given), "{:?}", context.manifest);
    assert_eq!(*handle.context(&two()).unwrap(), *before, "another task's context is as it was");
}

#[tokio::test]
async fn a_file_that_cannot_be_shown_is_refused_with_the_reason() {
    let mut handle = handle().await;
    let before = handle.context(&one()).unwrap();
    for (path, why) in [
        ("../x", "outside of the repository"),
        ("/etc/passwd", "outside of the repository"),
        (".env", "its name says that it holds secrets"),
        ("dist/a.js", "it is not in the base"),
        ("logo.bin", "it is not text"),
    ] {
        let Err(Trouble::Crew { message, .. }) = handle.add_file(&one(), path) else {
            panic!("`{path}` was added");
        };
        assert!(message.contains(path) && message.contains(why), "{message}");
    }
    assert!(Arc::ptr_eq(&before, &handle.context(&one()).unwrap()));
}

#[tokio::test]
async fn contents_come_from_the_tasks_own_base() {
    let stage = stage();
    assert_eq!(stage.conduct().await, Ok(Outcome::Done));
    let mut handle = stage.handle().await;
    handle.add_file(&two(), "A.1.1.txt").unwrap();
    assert!(handle.context(&two()).unwrap().prompt.contains("letter A.1.1"));
    assert!(handle.add_file(&one(), "A.1.1.txt").is_err(), "it began without what it wrote");
}

#[tokio::test]
async fn caches_context() {
    let mut handle = handle().await;
    let first = handle.context(&one()).unwrap();
    assert!(Arc::ptr_eq(&first, &handle.context(&one()).unwrap()));
    handle.add_clarification(&one(), "Use async methods.").unwrap();
    assert_ne!(*first, *handle.context(&one()).unwrap());
    handle.forget(&one());
    assert_eq!(*first, *handle.context(&one()).unwrap(), "built anew without what was added");
}

#[tokio::test]
async fn add_clarification() {
    let mut handle = handle().await;
    let other = handle.context(&two()).unwrap();
    handle.add_clarification(&one(), "Use async methods.").unwrap();
    let context = handle.context(&one()).unwrap();
    assert!(context.prompt.contains("Use async methods."), "{}", context.prompt);
    let said = ("answer added-1".to_owned(), Rule::OwnAnswer);
    assert_eq!(rows(&context, Kind::Clarification), [said]);
    assert!(Arc::ptr_eq(&other, &handle.context(&two()).unwrap()));
    assert!(handle.add_clarification(&"B.1".into(), "Nobody hears.").is_err());
}

#[tokio::test]
async fn dispatch_generates_task_call() {
    let mut handle = handle().await;
    handle.add_clarification(&one(), "Use async methods.").unwrap();
    let call = handle.task_call(&one(), "researcher").unwrap();
    assert_eq!(call.subagent_type, "researcher");
    assert_eq!(call.description, "A.1.1: Implement the feature");
    assert!(call.prompt.contains("Implement feature one"), "{}", call.prompt);
    assert!(call.prompt.contains("Use async methods."), "{}", call.prompt);
    assert!(!call.prompt.contains("brass"), "{}", call.prompt);
}
