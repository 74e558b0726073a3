//! The typed request, as it is built, stored and shown (003); what a person or a subagent adds to it (000).

use std::fs;
use std::sync::Arc;

use sequester_core::handoff::faults_of;
use sequester_testkit::model::{Request, Script, Setup, Turn};
use serde_json::{Value, json};

use super::{CONFIGURATION, TASK, TESTS, prompt, writes};
use crate::command::Bench;
use crate::rows::{Row, plan, role, stopped, wrote};

fn ran(workflow: &str) -> (Row, String) {
    let bench = Bench::with(&[
        ("sequester.toml", CONFIGURATION),
        ("tests.sh", TESTS),
        ("src/auth.py", "def sign(): pass\n"),
    ]);
    fs::write(bench.path("plan.md"), plan(workflow, &[TASK])).unwrap();
    let play = |request: &Request| writes(request, "echo 'def login(): pass' >> src/auth.py");
    let row = Row::set(Arc::new(bench), Setup::new(Script::new(play)));
    let run = row.run(&[]).ended(0, "done").to_owned();
    (row, run)
}

fn handoff(row: &Row, run: &str, phase: &str) -> Value {
    row.json(&["context", "--run", run, "login", "--phase", phase, "--handoff"])
}

#[test]
fn handoff_json_validates() {
    let (row, run) = ran("chain");
    assert_eq!(row.json(&["schema", "handoff"])["title"], "Handoff");
    for phase in ["research", "write", "validate"] {
        let handoff = handoff(&row, &run, phase);
        assert_eq!(faults_of(&handoff), Vec::<String>::new(), "{handoff}");
        let shown = row.json(&["show", &run, "login"]);
        let attempts = shown["attempts"].as_array().unwrap();
        let attempt = attempts.iter().find(|one| one["phase"] == phase).unwrap();
        assert_eq!(attempt["handoff"], handoff, "`show --json` has the same");
    }
}

#[test]
fn request_phase_and_expected_output_are_those_of_the_attempt() {
    let (row, run) = ran("chain");
    for (phase, wanted) in [
        ("research", "structured_findings"),
        ("write", "files_changed"),
        ("validate", "validation_result"),
    ] {
        let handoff = handoff(&row, &run, phase);
        assert_eq!(
            (&handoff["phase"], &handoff["expected_output"]),
            (&json!(phase), &json!(wanted))
        );
        assert!(prompt(&row, &run, "login", phase).contains(&format!("**Phase:** {phase}\n")));
    }
}

#[test]
fn request_previous_findings_is_a_text_or_null() {
    let (row, run) = ran("chain");
    assert_eq!(handoff(&row, &run, "research")["context"]["previous_findings"], Value::Null);
    let found = handoff(&row, &run, "write")["context"]["previous_findings"].clone();
    assert!(found.as_str().unwrap().contains("Did login."), "{found}");
    assert!(prompt(&row, &run, "login", "write").contains(found.as_str().unwrap()));
}

#[test]
fn request_spec_path_is_named_in_the_handoff_and_in_the_prompt() {
    let bench = Bench::with(&[
        (
            ".kiro/specs/login/requirements.md",
            "# Requirements\n\n### Requirement 1: Login\n\nA user logs in with a token.\n",
        ),
        (
            ".kiro/specs/login/tasks.md",
            "# Plan\n\n- [ ] 1. Add the login\n  - Make `src/auth.py`\n  - _Requirements: 1.1_\n",
        ),
        ("src/auth.py", "def sign(): pass\n"),
    ]);
    let plan = bench.path("repo/.kiro/specs/login/tasks.md");
    let plan = if plan.exists() { plan } else { bench.repo().join(".kiro/specs/login/tasks.md") };
    let plan = plan.display().to_string();
    let shown = bench.run(&["context", &plan, "1", "--handoff", "--json"]).json();
    let path = shown["context"]["spec_path"].as_str().unwrap().to_owned();
    assert!(path.ends_with("requirements.md"), "{shown}");
    let text = bench.run(&["context", &plan, "1"]).out;
    assert!(text.contains(&format!("From `{path}`:")), "{text}");
}

#[test]
fn add_clarification() {
    let bench = Bench::with(&[("README.md", "Letters\n")]);
    fs::write(bench.path("plan.md"), plan("solo", &[("login", "", "Add a login.")])).unwrap();
    let play = |request: &Request| {
        let told = request.prompt().contains("Use async methods");
        match (role(request), request.turn) {
            ("writer", 0) if !told => {
                stopped(wrote(request), "complete", "Which style?", "Say it.")
            }
            ("writer", 0) => crate::rows::bash("echo async > login.txt"),
            _ => Turn::report(wrote(request)),
        }
    };
    let row = Row::set(Arc::new(bench), Setup::new(Script::new(play)));
    let run = row.run(&[]).ended(1, "failed").to_owned();
    let alone = row.tell(&["resume", &run, "--say", "Use async methods", "--json"]);
    assert_eq!(alone.code, Some(2), "{alone:?}");
    let again =
        row.tell(&["resume", &run, "--retry", "login", "--say", "Use async methods", "--json"]);
    again.ended(0, "done");
    let shown = prompt(&row, &run, "login", "write");
    assert!(shown.contains("- A person says:\n  Use async methods\n"), "{shown}");
    row.is_proved(&run);
}

#[test]
fn complete_self_review_before_submitting() {
    let bench = Bench::with(&[("README.md", "Letters\n")]);
    fs::write(bench.path("plan.md"), plan("build", &[("login", "", "Add a login.")])).unwrap();
    let play = |request: &Request| match (role(request), request.turn) {
        ("writer", 0) => crate::rows::bash("echo 1 > login.txt"),
        ("writer", _) => {
            let mut told = wrote(request);
            told["self_review"] =
                json!([{ "item": "tests pass", "ok": false, "note": "none run" }]);
            Turn::report(told)
        }
        _ => Turn::report(crate::rows::content(request)),
    };
    let row = Row::set(Arc::new(bench), Setup::new(Script::new(play)));
    let run = row.run(&[]).ended(0, "done").to_owned();
    let shown = row.json(&["show", &run, "login"]);
    let writer = &shown["attempts"][0];
    assert_eq!(writer["usage"]["turns"], 3, "it went back once");
    assert_eq!(writer["report"]["issues"], json!(["Self-review, not ok: tests pass (none run)"]));
    let reviewer = prompt(&row, &run, "login", "review");
    assert!(reviewer.contains("tests pass (none run)"), "the reviewer is told: {reviewer}");
    assert!(prompt(&row, &run, "login", "write").contains("`self_review`"), "the prompt names it");
}

#[test]
fn full_content_not_file_references_and_three_given_files_are_edited_unread() {
    let files = ["a", "b", "c"].map(|name| format!("src/{name}.py"));
    let large: Vec<String> = (0..4_000).map(|at| format!("def f_{at}(): return {at}")).collect();
    let large = large.join("\n");
    let mut all: Vec<(&str, &str)> = files.iter().map(|path| (path.as_str(), "x = 1\n")).collect();
    all.push(("src/large.py", &large));
    let bench = Bench::with(&all);
    let block = "files: {modify: [src/a.py, src/b.py, src/c.py, src/large.py]}";
    fs::write(bench.path("plan.md"), plan("solo", &[("edit", block, "Make x two.")])).unwrap();
    let play = |request: &Request| {
        let edit = |path: &str, old: &str| json!({ "file_path": path, "old_string": old, "new_string": "x = 2" });
        match request.turn {
            0 => Turn::call("Edit", edit("src/a.py", "x = 1"))
                .and_call("Edit", edit("src/b.py", "x = 1"))
                .and_call("Edit", edit("src/c.py", "x = 1"))
                .and_call("Edit", edit("src/large.py", "def f_0(): return 0")),
            1 => {
                let told = crate::rows::results(request);
                assert_eq!(told.matches("Edited `src/").count(), 3, "{told}");
                assert!(told.contains("`src/large.py` exists and you have not read it."), "{told}");
                Turn::call("Read", json!({ "file_path": "src/large.py", "limit": 3 }))
            }
            2 => Turn::call("Edit", edit("src/large.py", "def f_0(): return 0")),
            _ => Turn::report(wrote(request)),
        }
    };
    let row = Row::set(Arc::new(bench), Setup::new(Script::new(play)));
    let run = row.run(&[]).ended(0, "done").to_owned();
    assert_eq!(row.changed(&run, "edit").len(), 4);
    row.is_proved(&run);
}

#[test]
fn dispatch_gives_a_ready_task_call_that_promises_nothing_it_has_not() {
    let bench = Bench::with(&[("src/module.py", "class Foo: pass\n")]);
    fs::write(
        bench.path("plan.md"),
        plan("build", &[("A.1.1", "files: {modify: [src/module.py]}", "Implement feature.")]),
    )
    .unwrap();
    let plan = bench.path("plan.md").display().to_string();
    let call = bench.run(&["context", &plan, "A.1.1", "--task-call"]).json();
    let prompt = call["prompt"].as_str().unwrap();
    assert!(prompt.contains("class Foo: pass") && prompt.contains("A.1.1"));
    assert!(
        prompt.contains("there is no `report`, `ask` or `request_files` tool here"),
        "{prompt}"
    );
}
