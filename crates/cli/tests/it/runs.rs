//! What is shown of runs: `status`, `show`, `log`, `diff`, `inbox`, `export`.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use serde_json::{Value, json};

use crate::command::{Answer, Bench, FILES};
use crate::ledger::{Ledger, path};

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

fn has(value: &Value, wanted: &[&str]) {
    let found = keys(value);
    for key in wanted {
        assert!(found.contains(key), "{key} is missing in {found:?}");
    }
}

fn refused(answer: &Answer, exit: i32, code: &str) {
    assert_eq!(answer.code, Some(exit), "{answer:?}");
    let error = &answer.json()["error"];
    assert_eq!(error["code"], code, "{answer:?}");
    has(error, &["code", "message", "place", "hint"]);
}

#[test]
fn a_run_that_waits_is_shown_with_its_tasks_its_question_and_its_cost() {
    let bench = Bench::with(&FILES);
    drop(Ledger::waiting(&bench, "0abcdef1"));
    let status = bench.run(&["status", "0abcdef1", "--json"]).json();
    has(&status, &["run", "state", "tasks", "inbox", "usage", "price", "branch", "started_at"]);
    assert_eq!((&status["run"], &status["state"]), (&json!("0abcdef1"), &json!("waiting")));
    let [one, two] = &status["tasks"].as_array().unwrap()[..] else { panic!("{status}") };
    has(one, &["id", "title", "state", "phase", "attempts", "usage", "reason", "resolution"]);
    assert_eq!((&one["state"], &two["state"]), (&json!("done"), &json!("waiting")));
    assert_eq!((&one["phase"], &one["attempts"]), (&json!("write"), &json!(1)));
    assert_eq!(one["usage"]["input"], 1_500);
    assert_eq!((&status["usage"]["input"], &status["reviewed"]), (&json!(3_000), &json!(false)));
    let inbox = bench.run(&["inbox", "--json"]).json();
    has(
        &inbox[0],
        &["id", "run", "task", "phase", "question", "options", "default", "deadline", "asked_at"],
    );
    assert_eq!(inbox, status["inbox"]);
    assert_eq!((&inbox[0]["id"], &inbox[0]["phase"]), (&json!("0abcdef1-1"), &json!("write")));
    let text = bench.run(&["status", "0abcdef1"]);
    assert_eq!(text.code, Some(0), "{text:?}");
    for part in ["1 done, 1 waiting", "Which words?", "1. Short", "sequester answer 0abcdef1-1"] {
        assert!(text.out.contains(part), "{part} is missing in {}", text.out);
    }
    assert!(text.out.contains("not every change was reviewed"), "{}", text.out);
    assert!(!text.out.contains('\x1b'), "{}", text.out);
}

#[test]
fn a_task_is_shown_attempt_by_attempt_with_reports_evidence_and_what_was_skipped() {
    let bench = Bench::with(&FILES);
    drop(Ledger::waiting(&bench, "0abcdef1"));
    let shown = bench.run(&["show", "0abc", "1", "--json"]).json();
    has(&shown, &["id", "state", "attempts", "skipped", "checks", "run"]);
    let attempt = &shown["attempts"][0];
    let wanted = [
        "number", "phase", "step", "agent", "model", "purpose", "digest", "outcome", "report",
        "evidence", "usage",
    ];
    has(attempt, &wanted);
    assert_eq!((&attempt["model"], &attempt["outcome"]), (&json!("literal"), &json!("done")));
    assert_eq!(attempt["report"]["context_summary"], "Did 1.");
    assert_eq!(attempt["evidence"]["files_changed"][0]["path"], "hello.txt");
    assert_eq!(shown["skipped"], json!([{ "step": "review", "reason": "no model" }]));
    let text = bench.run(&["show", "0abcdef1", "1"]).out;
    for part in ["step review skipped: no model", "Did 1.", "writer with literal", "hello.txt"] {
        assert!(text.contains(part), "{part} is missing in {text}");
    }
    let whole = bench.run(&["show", "--json"]).json();
    let savings = &whole["savings"];
    assert_eq!(savings["phases"][0]["phase"], "write");
    assert_eq!(
        (&savings["total"]["attempts"], &savings["total"]["isolated"]),
        (&json!(2), &json!(3_000))
    );
    assert!(!savings["assumptions"].as_array().unwrap().is_empty());
    let text = bench.run(&["show"]).out;
    assert!(
        text.contains("Against one conversation") && text.contains("Taken for granted"),
        "{text}"
    );
}

#[test]
fn runs_are_listed_newest_first_and_found_by_a_beginning_that_fits_one() {
    let bench = Bench::with(&FILES);
    assert_eq!(bench.run(&["status", "--json"]).json(), json!([]));
    assert_eq!(bench.run(&["inbox", "--json"]).json(), json!([]));
    refused(&bench.run(&["show", "--json"]), 2, "SQ0301");
    assert!(!path(&bench).exists(), "looking makes nothing");
    drop(Ledger::waiting(&bench, "0abcdef1"));
    drop(Ledger::start(&bench, "0abcdef2"));
    let list = bench.run(&["status", "--json"]).json();
    let ids: Vec<&str> =
        list.as_array().unwrap().iter().map(|run| run["run"].as_str().unwrap()).collect();
    assert_eq!(ids, ["0abcdef2", "0abcdef1"]);
    assert_eq!((&list[1]["tasks"]["done"], &list[1]["inbox"]), (&json!(1), &json!(1)));
    assert_eq!(list[0]["state"], "stopped");
    assert_eq!(bench.run(&["show", "--json"]).json()["run"], "0abcdef2");
    assert_eq!(bench.run(&["status", "0ABCDEF1", "--json"]).json()["run"], "0abcdef1");
    let both = bench.run(&["status", "0abc", "--json"]);
    refused(&both, 2, "SQ0301");
    assert!(both.out.contains("0abcdef1") && both.out.contains("0abcdef2"), "{both:?}");
    refused(&bench.run(&["log", "zzz", "--json"]), 2, "SQ0301");
    refused(&bench.run(&["show", "0abcdef1", "9", "--json"]), 2, "SQ0004");
    let text = bench.run(&["status"]).out;
    assert!(text.lines().nth(1).unwrap().starts_with("0abcdef2"), "{text}");
}

#[test]
fn a_run_is_live_as_long_as_a_process_holds_it() {
    let bench = Bench::with(&FILES);
    let mut ledger = Ledger::start(&bench, "0abcdef1");
    ledger.begin("1");
    let live = bench.run(&["status", "0abcdef1", "--json"]).json();
    assert_eq!((&live["state"], &live["live"]), (&json!("running"), &json!(true)));
    assert_eq!(live["tasks"][0]["state"], "running");
    let ledger = ledger.let_go();
    let cut = bench.run(&["status", "0abcdef1", "--json"]).json();
    assert_eq!((&cut["state"], &cut["tasks"][0]["state"]), (&json!("stopped"), &json!("pending")));
    drop(ledger);
}

#[test]
fn a_log_is_told_in_sentences_and_exported_as_it_was_written() {
    let bench = Bench::with(&FILES);
    drop(Ledger::waiting(&bench, "0abcdef1"));
    let text = bench.run(&["log", "0abcdef1"]).out;
    for part in [
        "The run starts with 2 tasks",
        "[1 write 1]",
        "Question `0abcdef1-1`",
        "The run ends: waiting.",
    ] {
        assert!(text.contains(part), "{part} is missing in {text}");
    }
    let one = bench.run(&["log", "0abcdef1", "1"]).out;
    assert!(one.contains("Step `review` skipped: no model.") && !one.contains("Question"), "{one}");
    let export = bench.run(&["export", "0abcdef1"]);
    let lines = &export.out;
    let events: Vec<Value> =
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for (at, event) in events.iter().enumerate() {
        has(event, &["seq", "at", "event", "run"]);
        assert_eq!(event["seq"], at + 1);
    }
    let whole = bench.run(&["log", "0abcdef1", "--json"]).json();
    assert_eq!((export.code, whole), (Some(0), Value::Array(events)));
    let status = bench.run(&["status", "0abcdef1", "1", "--json"]).json();
    assert_eq!(status["tasks"].as_array().unwrap().len(), 1);
    assert_eq!(status["tasks"][0]["id"], "1");
    let blobs = bench.run(&["export", "0abcdef1", "--blobs"]).out;
    assert!(blobs.starts_with(lines) && blobs.contains(r#""text":"context of 1""#), "{blobs}");
}

#[test]
fn a_diff_is_of_the_run_of_a_done_task_or_of_what_a_waiting_one_has_so_far() {
    let bench = Bench::with(&FILES);
    drop(Ledger::waiting(&bench, "0abcdef1"));
    for (arguments, file, line) in [
        (&["diff", "--json"][..], "hello.txt", "+Hello."),
        (&["diff", "0abcdef1", "1", "--json"], "hello.txt", "+Hello."),
        (&["diff", "0abcdef1", "2", "--json"], "goodbye.txt", "+Goodb"),
    ] {
        let diff = bench.run(arguments).json();
        let [changed] = &diff["files"].as_array().unwrap()[..] else { panic!("{diff}") };
        has(changed, &["path", "action", "added", "removed"]);
        assert_eq!((&changed["path"], &changed["action"]), (&json!(file), &json!("create")));
        assert!(diff["patch"].as_str().unwrap().contains(line), "{diff}");
    }
    let patch = bench.run(&["diff"]);
    fs::write(bench.path("patch"), &patch.out).unwrap();
    bench.git(&["apply", "--check", &bench.path("patch").display().to_string()]);
    assert!(bench.run(&["diff", "--stat"]).out.contains("create hello.txt (+1 -0)"));
}

#[test]
fn a_store_that_cannot_be_read_is_named_with_its_code() {
    let bench = Bench::with(&FILES);
    drop(Ledger::waiting(&bench, "0abcdef1"));
    let whole = fs::read(path(&bench)).unwrap();
    // A word of an event becomes another one.
    let word = b"Which words?";
    let at = whole.windows(word.len()).position(|window| window == word).unwrap();
    let mut damaged = whole.clone();
    damaged[at] = b'V';
    fs::write(path(&bench), &damaged).unwrap();
    let answer = bench.run(&["status", "0abcdef1", "--json"]);
    refused(&answer, 1, "SQ0304");
    assert!(answer.out.contains("Event") && answer.out.contains("sequester export"), "{answer:?}");
    assert_eq!(bench.run(&["status"]).code, Some(1));
    // The version of a SQLite file's content stands in its header.
    let mut newer = whole.clone();
    newer[63] = 9;
    fs::write(path(&bench), &newer).unwrap();
    refused(&bench.run(&["status", "--json"]), 1, "SQ0305");
    refused(&bench.run(&["answer", "0abcdef1-1", "x", "--json"]), 1, "SQ0305");
    fs::write(path(&bench), "This is no store.\n".repeat(300)).unwrap();
    refused(&bench.run(&["inbox", "--json"]), 1, "SQ0304");
    fs::remove_file(path(&bench)).unwrap();
    symlink("/etc/passwd", path(&bench)).unwrap();
    refused(&bench.run(&["status", "--json"]), 1, "SQ0303");
}

#[test]
fn the_store_is_the_persons_own_and_git_does_not_see_it() {
    let bench = Bench::with(&FILES);
    drop(Ledger::waiting(&bench, "0abcdef1"));
    fs::remove_file(bench.repo().join(".sequester/.gitignore")).unwrap();
    // The first command that writes completes the folder.
    assert_eq!(bench.run(&["gc"]).code, Some(0));
    bench.write(".sequester/agents/docs.md", "x");
    let mode = |path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(bench.repo().join(".sequester")), mode(path(&bench))), (0o700, 0o600));
    bench.git(&["add", "--all"]);
    bench.git(&["diff", "--quiet", "--cached", "--", ".", ":!.sequester/agents"]);
    let staged = std::process::Command::new("git")
        .args(["diff", "--cached", "--name-only"])
        .current_dir(bench.repo())
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&staged.stdout), ".sequester/agents/docs.md\n");
}
