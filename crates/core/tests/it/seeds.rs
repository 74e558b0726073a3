//! The tests that the first design named, where they concern contexts.

use sequester_testkit::{PlanText, TaskText, World};

use crate::desk::{context, small};

fn world(task: TaskText) -> World {
    let files = [("src/module.py".to_owned(), "def foo(): return 42\n".to_owned())].into();
    let other = TaskText {
        id: "A.1.2".into(),
        title: "Elsewhere".into(),
        text: "Unrelated work.".into(),
        ..TaskText::default()
    };
    let plan =
        PlanText { title: "Project".into(), tasks: vec![task, other], ..PlanText::default() };
    World { plan, files, records: Vec::new() }
}

fn task(id: &str, text: &str) -> TaskText {
    TaskText { id: id.into(), title: "One thing".into(), text: text.into(), ..TaskText::default() }
}

#[test]
fn to_prompt_includes_task_id() {
    let world = world(task("A.9.1.3", "Implement feature"));
    let prompt = context(&world, "A.9.1.3", &small()).unwrap().to_prompt();
    assert!(prompt.contains("A.9.1.3"));
    assert!(prompt.contains("Implement feature"));
}

#[test]
fn to_prompt_excludes_other_tasks() {
    let world = world(task("A.1.1", "Task A"));
    let prompt = context(&world, "A.1.1", &small()).unwrap().to_prompt();
    assert!(!prompt.to_lowercase().contains("other task"));
    assert!(!prompt.contains("A.1.2"));
    assert!(!prompt.to_lowercase().contains("total tasks"));
}

#[test]
fn file_contents_included_not_paths() {
    let mut task = task("A.1.1", "Fix bug");
    task.modify = vec!["src/module.py".into()];
    let prompt = context(&world(task), "A.1.1", &small()).unwrap().to_prompt();
    assert!(prompt.contains("def foo(): return 42"));
    assert!(prompt.contains("src/module.py"));
}

#[test]
fn creates_isolated_context() {
    let context = context(&world(task("A.1.1", "Implement feature")), "A.1.1", &small()).unwrap();
    assert_eq!(context.task.as_str(), "A.1.1");
    assert!(context.prompt.contains("Implement feature"));
}

#[test]
fn loads_file_contents() {
    let mut task = task("A.1.1", "Fix bug");
    task.modify = vec!["src/module.py".into()];
    let context = context(&world(task), "A.1.1", &small()).unwrap();
    let rows = &context.manifest.fragments;
    let row = rows.iter().find(|row| row.source == "src/module.py").unwrap();
    assert!(context.prompt[row.start..row.end].contains("def foo(): return 42"));
}

#[test]
fn dispatch_generates_task_call() {
    let context = context(&world(task("A.1.1", "Implement")), "A.1.1", &small()).unwrap();
    let call = context.to_task_call("One thing");
    assert_eq!(call.subagent_type, "writer");
    assert_eq!(call.description, "A.1.1: One thing");
    let own = |text: &str| text.split("# What to report").next().unwrap().to_owned();
    assert_eq!(own(&call.prompt), own(&context.to_prompt()));
    assert!(call.prompt.contains("You are a subagent of another program"));
}

#[test]
fn an_empty_section_says_so() {
    let mut world = world(task("A.1.1", "zzz"));
    world.files.clear();
    let prompt = context(&world, "A.1.1", &small()).unwrap().prompt;
    assert!(prompt.contains("No files given; ask if you need one."));
    for heading in ["# Constraints", "# Interfaces", "# Clarifications", "# From earlier work"] {
        assert!(prompt.contains(&format!("{heading}\n\nNone.\n")), "{heading}");
    }
}
