//! Plans whose files stand only in prose, in every format: what is right is accepted, and nothing is held against it.

use sequester_testkit::model::{Request, Turn};
use serde_json::{Value, json};

use super::{Row, bash, content, role, wrote};
use crate::command::Answer;

/// A plan of one task of each format, with the task's id.
const PLANS: [(&str, &str, &str); 12] = [
    (
        "superpowers",
        "1",
        "# Greeting Implementation Plan\n\n### Task 1: Greeting\n\n- [ ] **Step 1: Implement hello() in `greet.py`**\n",
    ),
    (
        "track",
        "A.1.1",
        "## Track A: Core\n\n### A.1 Part\n\n- [ ] **A.1.1** Implement hello() in `greet.py`\n",
    ),
    (
        "spec-kit",
        "T001",
        "# Tasks: Greeting\n\n## Phase 1: Setup\n\n- [ ] T001 Implement hello() in greet.py\n",
    ),
    ("openspec", "1.1", "## 1. Greeting\n\n- [ ] 1.1 Implement hello() in `greet.py`\n"),
    (
        "kiro",
        "1",
        "# Implementation Plan\n\n- [ ] 1. Implement hello() in `greet.py`\n  - _Requirements: 1.1_\n",
    ),
    (
        "task-master",
        "1",
        r#"{"tasks": [{"id": 1, "title": "Hello", "status": "pending", "dependencies": [], "details": "Implement hello() in greet.py."}]}"#,
    ),
    (
        "native",
        "hello",
        "---\nsequester: 1\n---\n# Greeting\n\n## [hello] Say hello\n\nImplement hello() in `greet.py`.\n",
    ),
    (
        "gsd",
        "1",
        "<objective>Greeting</objective>\n<task type=\"auto\">\n  <name>Task 1: Hello</name>\n  <action>Implement hello() in `greet.py`.</action>\n</task>\n",
    ),
    (
        "cursor",
        "hello",
        "---\nname: Greeting\ntodos:\n  - id: hello\n    content: \"Implement hello() in `greet.py`\"\n    status: pending\n---\n# Greeting\n",
    ),
    (
        "bmad",
        "1",
        "# Story 1.1: Greeting\n\n## Acceptance Criteria\n\n1. It says hello.\n\n## Tasks / Subtasks\n\n- [ ] Implement hello() in `greet.py` (AC: 1)\n",
    ),
    ("list", "1", "# Greeting\n\n- [ ] Implement hello() in `greet.py`\n"),
    ("single", "1", "# Greeting\n\nImplement hello() in `greet.py`.\n"),
];

/// A person says these two formats; the others are known by their marks.
fn said(format: &str) -> &[&str] {
    match format {
        "list" => &["--format", "list"],
        "single" => &["--format", "single"],
        _ => &[],
    }
}

/// A writer that first runs a command, if any, and then reports with these issues; all others are content.
fn row(plan: &str, files: &[&str], command: &'static str, issues: Value) -> Row {
    let row = Row::new(plan, move |request: &Request| {
        if role(request) != "writer" {
            return Turn::report(content(request));
        }
        if request.turn == 0 && !command.is_empty() {
            return bash(command);
        }
        let mut report = wrote(request);
        report["issues"] = issues.clone();
        Turn::report(report)
    });
    for file in files {
        row.bench.write(file, "def bye(): pass\n");
    }
    row.bench.commit("code");
    row
}

fn shown(row: &Row, run: &str, task: &str) -> String {
    let answer = Answer::of(&row.command(&["show", run, task]).output().unwrap());
    answer.out.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_change_of_the_file_that_a_bare_name_means_is_accepted_at_once() {
    for (format, task, plan) in PLANS {
        let row =
            row(plan, &["app/greet.py"], "echo 'def hello(): pass' >> app/greet.py", json!([]));
        let plan = row.json(&[&["plan", &row.plan()], said(format)].concat());
        assert_eq!((&plan["format"], &plan["warnings"]), (&json!(format), &json!([])), "{plan}");
        let file = &plan["tasks"][0]["files"][0];
        assert_eq!((&file["path"], &file["hint"]), (&json!("greet.py"), &json!(true)), "{plan}");
        let ran = row.run(said(format));
        let run = ran.ended(0, "done");
        let tried = row.tried(run, task);
        assert_eq!(
            tried.iter().filter(|one| one.starts_with("write")).count(),
            1,
            "{format}: {tried:?}"
        );
        assert!(
            row.prompts(task)[0].contains("### `app/greet.py`"),
            "{format}: {}",
            row.prompts(task)[0]
        );
        assert!(!shown(&row, run, task).contains("the plan"), "{format}");
        row.is_proved(run);
    }
}

#[test]
fn nothing_done_and_no_reason_given_is_refused() {
    for (format, task, plan) in PLANS {
        let row = row(plan, &["app/greet.py"], "", json!([]));
        let ran = row.run(&[&["--unattended"], said(format)].concat());
        let run = ran.ended(1, "failed");
        let evidence = &row.json(&["show", run, task])["attempts"][0]["evidence"];
        let told = evidence["fails"][0]["sentence"].as_str().unwrap();
        assert!(
            told.starts_with("Nothing was changed, and the report does not say why."),
            "{format}: {told}"
        );
        row.is_proved(run);
    }
}

#[test]
fn nothing_done_for_a_stated_reason_is_accepted_and_shown() {
    for (format, task, plan) in [PLANS[3], PLANS[6]] {
        let row = row(plan, &["app/greet.py"], "", json!(["hello() is there already."]));
        let ran = row.run(said(format));
        let run = ran.ended(0, "done");
        let text = shown(&row, run, task);
        assert!(
            text.contains("no change was needed: hello() is there already."),
            "{format}: {text}"
        );
        row.is_proved(run);
    }
}

#[test]
fn a_change_elsewhere_is_accepted_and_shown_with_what_the_plan_names() {
    for (format, task, plan) in PLANS {
        let row = row(plan, &[], "echo 'def hello(): pass' > hello.py", json!([]));
        let ran = row.run(said(format));
        let run = ran.ended(0, "done");
        let told = "the plan names `greet.py`, which is not there";
        let text = shown(&row, run, task);
        assert!(text.contains(told), "{format}: {text}");
        let evidence = &row.json(&["show", run, task])["attempts"][0]["evidence"];
        let hint = json!([{ "path": "greet.py", "presence": "not_there" }]);
        assert_eq!(evidence["untouched_hints"], hint, "{format}");
        let requests = row.server.requests();
        let posted = requests.iter().filter(|one| one.method == "POST");
        let mut asked = posted.map(|one| one.request().unwrap());
        let reviewer = asked.find(|one| role(one) == "reviewer").unwrap();
        assert!(reviewer.prompt().contains(told), "{format}: {}", reviewer.prompt());
        row.is_proved(run);
    }
}

#[test]
fn a_task_that_only_looks_at_files_may_change_nothing() {
    let plan = "## 1. Greeting\n\n- [ ] 1.1 Execute the steps of `quickstart.md`\n- [ ] 1.2 Run `npm test`\n";
    let row = row(plan, &["quickstart.md"], "", json!([]));
    let ran = row.run(&[]);
    let run = ran.ended(0, "done");
    assert!(row.prompts("1.1")[0].contains("### `quickstart.md`"));
    row.is_proved(run);
}
