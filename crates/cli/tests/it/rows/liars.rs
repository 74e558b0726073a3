//! Subagents that lie, and what the runtime saw.

use sequester_testkit::model::{Request, Turn};
use serde_json::{Value, json};

use super::{Row, one, plan, report, write};

/// Writes `a.txt`, then claims these findings of it.
fn lie(text: &'static str, findings: Value) -> impl Fn(&Request) -> Turn + Send + Sync + 'static {
    move |request: &Request| {
        if request.turn == 0 {
            return write("a.txt", text);
        }
        let mut report = report(request, "write", &findings);
        report["context_summary"] = "All tests pass, and everything is done.".into();
        report["self_review"] = json!([{ "item": "All tests pass", "ok": true }]);
        Turn::report(report)
    }
}

/// The evidence on the first attempt.
fn evidence(row: &Row, run: &str) -> Value {
    row.json(&["show", run, "a"])["attempts"][0]["evidence"].clone()
}

#[test]
fn who_says_that_tests_pass_is_refuted_by_the_check() {
    let claims = json!({ "files_changed": ["a.txt"], "tests_written": ["tests/letter.rs"] });
    let row = Row::new(&one("solo"), lie("wrong\n", claims));
    let ran = row.run(&["--unattended"]);
    let run = ran.ended(1, "failed");
    let seen = evidence(&row, run);
    let check = seen["checks"].as_array().unwrap().iter().find(|one| one["kind"] == "own").unwrap();
    assert_eq!(
        (&check["passed"], &check["held"], &check["code"]),
        (&json!(false), &json!(true), &json!(1))
    );
    assert_eq!(seen["fails"][0]["about"], "check", "{seen}");
    let told = "The report says that the test `tests/letter.rs` was written, and it is not there.";
    assert_eq!(seen["contradictions"], json!([told]));
    let shown = row.json(&["show", run, "a"]);
    assert_eq!((&shown["state"], &shown["commit"]), (&json!("failed"), &Value::Null), "{shown}");
    row.is_proved(run);
}

#[test]
fn who_names_files_that_it_did_not_change_is_refuted_by_the_change() {
    let claims = json!({ "files_changed": ["a.txt", "src/other.rs"], "tests_written": [] });
    let row = Row::new(&one("solo"), lie("right\n", claims));
    let ran = row.run(&[]);
    let run = ran.ended(0, "done");
    let told = "The report says that `src/other.rs` was changed, and it was not.";
    assert_eq!(evidence(&row, run)["contradictions"], json!([told]));
    let shown = row.json(&["show", run, "a"]);
    let report = &shown["attempts"][0]["report"];
    assert_eq!(report["findings"]["files_changed"], json!(["a.txt"]), "{report}");
    let text = row.command(&["show", run, "a"]).output().unwrap().stdout;
    assert!(
        String::from_utf8(text).unwrap().contains("`src/other.rs` was changed, and it was not")
    );
    row.is_proved(run);
}

#[test]
fn who_says_that_all_is_done_is_refuted_by_what_is_missing() {
    let block = "files: {create: [a.txt, docs/b.txt]}";
    let claims = json!({ "files_changed": ["a.txt", "docs/b.txt"], "tests_written": [] });
    let row = Row::new(&plan("solo", &[("a", block, "Write both.")]), lie("right\n", claims));
    let ran = row.run(&["--unattended"]);
    let run = ran.ended(1, "failed");
    let seen = evidence(&row, run);
    assert_eq!(seen["missing"][0]["path"], "docs/b.txt", "{seen}");
    assert_eq!(seen["fails"][0]["about"], "deliverable", "{seen}");
    let told = seen["contradictions"].as_array().unwrap();
    assert_eq!(told.len(), 2, "{seen}");
    assert!(told[1].as_str().unwrap().starts_with("The report says that the task is complete."));
    let shown = row.json(&["show", run, "a"]);
    assert_eq!((&shown["state"], &shown["commit"]), (&json!("failed"), &Value::Null), "{shown}");
    assert_eq!(shown["attempts"][0]["outcome"], "done", "what it said stays: {shown}");
    row.is_proved(run);
}
