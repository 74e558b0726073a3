//! Whole test-first tasks, carried out word for word with the real tools and tool chains.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::command::{Answer, Bench, search_path};

const RUST: &str = include_str!("tasks/rust.md");
const PYTHON: &str = include_str!("tasks/python.md");
const JAVASCRIPT: &str = include_str!("tasks/javascript.md");

fn carry_out(bench: &Bench, text: &str) -> Answer {
    let variables = [("PATH", &*search_path())];
    let arguments = ["task", text, "--agent", "writer", "--model", "literal", "--json"];
    bench.run_in(&bench.repo(), &arguments, &variables)
}

/// What the subagent looked over, in one text.
fn seen(report: &Value) -> String {
    let rows = report["self_review"].as_array().unwrap();
    let line = |row: &Value| format!("{}: {}\n", row["item"], row["note"]);
    rows.iter().map(line).collect::<Vec<_>>().concat()
}

fn changed(report: &Value) -> Vec<(String, String)> {
    let files = report["evidence"]["files_changed"].as_array().unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    files.iter().map(|file| (text(&file["action"]), text(&file["path"]))).collect()
}

fn pairs(list: &[(&str, &str)]) -> Vec<(String, String)> {
    list.iter().map(|(action, path)| ((*action).to_owned(), (*path).to_owned())).collect()
}

/// Done, red seen and then green, twice, and nothing of it in the person's own tree.
fn carry_out_red_then_green(bench: &Bench, text: &str) -> Value {
    let before = bench.tree();
    let answer = carry_out(bench, text);
    let report = answer.json();
    assert_eq!((answer.code, &report["outcome"]), (Some(0), &json!("done")), "{answer:?}");
    let seen = seen(&report);
    let steps: Vec<&str> = seen
        .lines()
        .filter(|line| line.contains("exit code"))
        .map(|line| if line.contains("exit code 0") { "green" } else { "red" })
        .collect();
    assert_eq!(steps, ["red", "green", "red", "green"], "{seen}");
    assert!(bench.tree() == before, "the person's own tree is not as it was");
    report
}

#[test]
fn a_ten_step_task_in_rust_is_red_then_green() {
    let bench = Bench::with(&[
        ("Cargo.toml", "[package]\nname = \"clock\"\nversion = \"0.1.0\"\nedition = \"2021\"\n"),
        (".gitignore", "target\nCargo.lock\n"),
        ("src/lib.rs", "//! A clock.\n\npub mod time;\n"),
        ("src/time.rs", "//! Time.\n"),
    ]);
    let report = carry_out_red_then_green(&bench, RUST);
    let expected =
        [("modify", "src/lib.rs"), ("create", "src/words.rs"), ("create", "tests/words.rs")];
    assert_eq!(changed(&report), pairs(&expected));
    let patch = report["evidence"]["patch"].as_str().unwrap();
    assert!(patch.contains("+    if seconds < 60 {"), "{patch}");
}

#[test]
fn a_ten_step_task_in_python_is_red_then_green() {
    let bench = Bench::with(&[
        (".gitignore", "__pycache__\n"),
        ("NOTES.txt", "Old notes.\n"),
        ("counter/__init__.py", ""),
        ("tests/__init__.py", ""),
    ]);
    let report = carry_out_red_then_green(&bench, PYTHON);
    let expected = [
        ("delete", "NOTES.txt"),
        ("create", "counter/words.py"),
        ("create", "docs/notes.txt"),
        ("create", "tests/test_words.py"),
    ];
    assert_eq!(changed(&report), pairs(&expected));
}

#[test]
fn a_ten_step_task_in_javascript_is_red_then_green() {
    let bench = Bench::with(&[
        ("package.json", "{\"name\": \"slugs\", \"version\": \"1.0.0\"}\n"),
        ("src/old-slug.js", "module.exports = {};\n"),
    ]);
    let report = carry_out_red_then_green(&bench, JAVASCRIPT);
    let expected =
        [("delete", "src/old-slug.js"), ("create", "src/slug.js"), ("create", "test/slug.test.js")];
    assert_eq!(changed(&report), pairs(&expected));
}

#[test]
fn a_vague_step_is_named_and_nothing_at_all_is_done() {
    let bench = Bench::with(&[("counter/__init__.py", "")]);
    let vague = PYTHON.replace(
        "Change `for word in text.split():` to `for word in text.lower().split():` in `counter/words.py`.",
        "Update the implementation accordingly.",
    );
    let answer = carry_out(&bench, &vague);
    let report = answer.json();
    assert_eq!((answer.code, &report["outcome"]), (Some(1), &json!("stopped")), "{answer:?}");
    assert_eq!((&report["status"], &report["decision"]), (&json!("blocked"), &json!("STOP")));
    let reason = report["reason"].as_str().unwrap();
    assert!(reason.contains("Line 74 (\"Make it pass\")"), "{reason}");
    assert_eq!(report["evidence"], json!({"files_changed": [], "refused": [], "patch": ""}));
}

#[test]
fn a_test_that_passes_where_it_should_fail_blocks_the_task() {
    let bench = Bench::with(&[
        ("counter/__init__.py", ""),
        ("tests/__init__.py", ""),
        ("counter/words.py", "def count(text):\n    return {\"one\": 2, \"two\": 1}\n"),
    ]);
    let answer = carry_out(&bench, PYTHON);
    let report = answer.json();
    assert_eq!((&report["status"], &report["decision"]), (&json!("blocked"), &json!("STOP")));
    let reason = report["reason"].as_str().unwrap();
    assert!(reason.contains("Line 28") && reason.contains("exit code 0"), "{reason}");
}

#[test]
fn a_question_that_a_step_spells_out_is_asked() {
    let bench = Bench::with(&[("a.txt", "a\n")]);
    let text = "Set the port.\n\n- [ ] **Step 1: Choose**\n\nAsk: Which port should it listen on?\n\n- 80\n- 8080\n\nDefault: 8080\n";
    let answer = carry_out(&bench, text);
    let report = answer.json();
    assert_eq!((answer.code, &report["outcome"]), (Some(3), &json!("waiting")), "{answer:?}");
    let question = &report["questions"][0];
    assert_eq!(question["question"], "Which port should it listen on?");
    assert_eq!(question["default"], "8080");
    assert_eq!(question["options"][1]["label"], "8080");
}

#[test]
fn what_a_constraint_forbids_is_not_done() {
    let bench = Bench::with(&[("package.json", "{}\n")]);
    let arguments =
        ["task", "Delete `package.json`.", "--constraint", "Do not change package.json."];
    let arguments =
        [&arguments[..], &["--constraint", "Use tabs.", "--model", "literal", "--json"]].concat();
    let variables = [("SEQUESTER_TEST_UNJAILED", "1")];
    let report = bench.run_in(&bench.repo(), &arguments, &variables).json();
    assert_eq!(report["status"], "blocked", "{report}");
    assert!(
        report["reason"].as_str().unwrap().contains("`Do not change package.json.` forbids it")
    );
    assert_eq!(report["issues"], json!(["Not checked by `literal`: Use tabs."]));
    assert_eq!(report["evidence"]["files_changed"], json!([]));
}

#[test]
fn the_task_of_the_examples_is_carried_out() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let bench = Bench::with(&[]);
    let project = root.join("shortener");
    let copied = Command::new("cp").arg("-R").arg(project.join(".")).arg(bench.repo()).status();
    assert!(copied.unwrap().success());
    bench.commit("the example");
    let text = std::fs::read_to_string(root.join("literal-task.md")).unwrap();
    let report = carry_out(&bench, &text).json();
    assert_eq!(report["outcome"], "done", "{report}");
}
