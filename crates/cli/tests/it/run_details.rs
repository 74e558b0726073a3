//! What a person can see of a run: calls, what failing checks print, checks that cannot run.

use sequester_core::message::Message;
use sequester_testkit::model::{Request, Script, Server, Turn};
use serde_json::{Value, json};

use crate::command::{Answer, Bench};
use crate::scripted::program;

const PLAN: &str = "---\nsequester: 1\nworkflow: solo\n---\n# Letters\n\n## [a] Thank them\n\n\
    ```task\nfiles: {create: [a.txt]}\nchecks: [\"grep -q two a.txt || { echo WANTED-TWO; false; }\", \
    \"nowhere-to-be-found --check\"]\n```\n\nThank every guest.\n";

/// A call with a wrong argument, then a file that lacks something, then the whole file.
fn play(request: &Request) -> Turn {
    let is_fix = request.prompt().contains("WANTED-TWO\n");
    let replies = request.messages.iter().filter(|one| matches!(one, Message::Assistant(_)));
    let write = |text: &str| Turn::call("Write", json!({"file_path": "a.txt", "content": text}));
    match (replies.count(), is_fix) {
        (0, false) => Turn::call("Write", json!({"path": "a.txt"})).saying("I begin with it."),
        (1, false) => write("one\n"),
        (0, true) => Turn::call("Read", json!({"file_path": "a.txt"})),
        (1, true) => write("one\ntwo\n"),
        _ => Turn::report(json!({
            "task_id": "a", "phase": "write", "status": "complete", "decision": "PROCEED",
            "findings": {"files_changed": ["a.txt"], "tests_written": []},
            "context_summary": "Thanked them.", "issues": [], "questions": [], "artifacts": [],
            "notes": [], "self_review": [{"item": "It is there", "ok": true}],
        })),
    }
}

fn run() -> (Bench, Answer) {
    let bench = Bench::with(&[("README.md", "Letters\n")]);
    std::fs::write(bench.path("plan.md"), PLAN).unwrap();
    let server = Server::start_blocking(Script::new(play)).unwrap();
    let plan = bench.path("plan.md").display().to_string();
    let arguments = ["run", plan.as_str(), "--model", "openai/gpt-5", "--yes"];
    let answer = Answer::of(&program(&bench, &server, &arguments).output().unwrap());
    (bench, answer)
}

#[test]
fn calls_outputs_and_checks_that_cannot_run_are_told() {
    let (bench, answer) = run();
    assert_eq!(answer.code, Some(0), "{answer:?}");
    let told = "note: `nowhere-to-be-found` is not installed or not visible in the sandbox. Not run: \
        `nowhere-to-be-found --check`.";
    assert_eq!(answer.err.matches(told).count(), 1, "{answer:?}");
    assert!(!answer.err.contains("`nowhere-to-be-found --check` fails"), "{answer:?}");

    let shown = bench.run(&["show", "a"]).out;
    assert!(shown.contains("output of `grep -q two a.txt"), "{shown}");
    assert!(shown.contains("    WANTED-TWO\n"), "{shown}");
    let not_run =
        "own not run, `nowhere-to-be-found` is not installed or not visible in the sandbox";
    assert!(shown.contains(not_run), "{shown}");

    let calls = bench.run(&["log", "a", "--calls"]).out;
    assert!(calls.contains("    Write\n      path: a.txt\n      error"), "{calls}");
    assert!(calls.contains("      file_path: a.txt\n      content: one\n      gave: "), "{calls}");
    assert!(!calls.contains("I begin with it."), "{calls}");
    let turns = bench.run(&["log", "a", "--turns"]).out;
    assert!(turns.contains("    says:\n      I begin with it.\n    Write\n"), "{turns}");

    // The file that the fix is about stands once in its context: whole, among the files.
    let id = bench.run(&["status", "--json"]).json()[0]["run"].as_str().unwrap().to_owned();
    let context = bench.run(&["context", "--run", &id, "a", "--attempt", "2"]).out;
    assert!(context.contains("new file, as it stands among the files"), "{context}");
    assert!(!context.contains("+one"), "{context}");
    assert_eq!(bench.run(&["audit"]).code, Some(0));

    let data = bench.run(&["log", "a", "--calls", "--json"]).json();
    let first = &data[0];
    assert_eq!((&first["task"], &first["turn"]), (&json!("a"), &json!(1)), "{data}");
    assert_eq!(first["words"], "I begin with it.");
    assert_eq!(first["calls"][0]["arguments"], json!({"path": "a.txt"}));
    assert_eq!(first["calls"][0]["result"]["failed"], true);
    let reports = |turn: &&Value| turn["calls"][0]["name"] == "report";
    let report = data.as_array().unwrap().iter().find(reports).unwrap();
    assert_eq!(report["calls"][0]["result"], Value::Null, "a report that was taken ends it");
}

#[test]
fn a_run_without_any_check_says_so_before_it_starts() {
    let plan = "---\nsequester: 1\n---\n# Letters\n\n## [a] Thank them\n\nCreate `a.txt`:\n\n```\none\n```\n";
    let bench = Bench::with(&[("README.md", "Letters\n")]);
    std::fs::write(bench.path("plan.md"), plan).unwrap();
    let plan = bench.path("plan.md").display().to_string();
    let told = "note: No check was found";
    let answer = bench.run(&["run", &plan, "--model", "literal"]);
    assert!(answer.err.contains(told), "{answer:?}");
    let off = bench.run(&["run", &plan, "--model", "literal", "--no-checks"]);
    assert!(!off.err.contains(told), "{off:?}");
}
