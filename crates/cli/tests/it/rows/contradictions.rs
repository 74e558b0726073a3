//! Plans that contradict themselves: all of it is asked before anything starts.

use std::fs;

use sequester_testkit::model::Request;
use serde_json::{Value, json};

use super::{Row, deliver, own, plan, write};
use crate::command::Answer;

/// `b` is to create what `a` creates, and rests on something that nobody makes.
const TASKS: [(&str, &str, &str); 3] = [
    ("a", "files: {create: [x.txt]}", "Write the first line."),
    (
        "b",
        "needs: [a]\nfiles: {create: [x.txt, b.txt]}\nconsumes: [\"`lost_total`\"]",
        "Write the second line.",
    ),
    ("c", "files: {create: [c.txt]}", "Write the letter c."),
];

fn row(tasks: &[(&str, &str, &str)]) -> Row {
    Row::new(&plan("solo", tasks), |request: &Request| match (own(request), request.turn) {
        ("a", _) => deliver(request, "x.txt", "a"),
        ("b", 0) => write("b.txt", "b"),
        ("b", 1) => super::bash("echo b >> x.txt"),
        (own, _) => deliver(request, &format!("{own}.txt"), own),
    })
}

fn inbox(row: &Row) -> Vec<Value> {
    row.json(&["inbox"]).as_array().unwrap().clone()
}

fn answer(row: &Row, question: &Value, words: &str) {
    row.json(&["answer", question["id"].as_str().unwrap(), words]);
}

#[test]
fn it_waits_in_the_inbox_in_one_batch_and_nothing_is_paid_before_it_is_decided() {
    let row = row(&TASKS);
    let ran = row.run(&[]);
    let run = ran.ended(3, "waiting");
    assert_eq!(row.server.requests().len(), 0, "no model was asked anything");
    let events: Vec<&str> = ran.events.iter().map(|one| one["event"].as_str().unwrap()).collect();
    assert_eq!(events, ["run_started", "question_asked", "question_asked", "run_ended"]);
    let asked = inbox(&row);
    let texts: Vec<&str> = asked.iter().map(|one| one["question"].as_str().unwrap()).collect();
    assert!(
        texts[0].contains("`a` creates `x.txt`") && texts[1].contains("`lost_total`"),
        "{texts:?}"
    );
    assert_eq!((&asked[0]["task"], &asked[0]["default"]), (&json!("b"), &json!("Change it")));
    answer(&row, &asked[0], "Change it");
    row.resume(run).ended(3, "waiting");
    assert_eq!(row.server.requests().len(), 0, "one of two is decided");
    answer(&row, &asked[1], "It comes from the vendor.");
    row.resume(run).ended(0, "done");
    let prompt = &row.prompts("b")[0];
    for told in ["`x.txt` is there when this task begins", "Change it", "It comes from the vendor."]
    {
        assert!(prompt.contains(told), "{told} in {prompt}");
    }
    assert_eq!(row.file(run, "x.txt"), "ab\n");
    row.is_proved(run);
}

#[test]
fn an_option_changes_what_the_run_does() {
    let row = row(&TASKS);
    let ran = row.run(&[]);
    let run = ran.ended(3, "waiting");
    for question in inbox(&row) {
        answer(&row, &question, "Leave it out");
    }
    row.resume(run).ended(0, "done");
    assert_eq!(row.state(run, "b"), ("skipped".into(), "A person left it out.".into()));
    assert_eq!((row.file(run, "x.txt").as_str(), row.file(run, "c.txt").as_str()), ("a", "c"));
    row.is_proved(run);
}

#[test]
fn where_nobody_is_there_the_defaults_are_taken() {
    let row = row(&TASKS);
    let ran = row.run(&["--unattended"]);
    let run = ran.ended(0, "done");
    let given = ran.events.iter().filter(|one| one["event"] == "question_answered");
    let given: Vec<&Value> = given.map(|one| &one["answer"]).collect();
    assert_eq!(given, ["Change it", "As it is"]);
    row.is_proved(run);
}

#[test]
fn a_name_that_the_code_has_is_not_asked_about() {
    let row = row(&TASKS[1..]);
    row.bench.write("lib.py", "def lost_total(): pass\n");
    row.bench.commit("code");
    let alone = TASKS[1].1.replace("needs: [a]\n", "");
    fs::write(row.bench.path("plan.md"), plan("solo", &[("b", &alone, TASKS[1].2)])).unwrap();
    let ran = row.run(&[]);
    let run = ran.ended(0, "done");
    assert!(ran.events.iter().all(|one| one["event"] != "question_asked"));
    row.is_proved(run);
}

#[test]
fn a_plan_that_is_edited_instead_is_asked_about_anew() {
    let row = row(&TASKS);
    let ran = row.run(&[]);
    let run = ran.ended(3, "waiting");
    let asked = inbox(&row);
    answer(&row, &asked[1], "As it is");
    let edit = |tasks: &[(&str, &str, &str)]| {
        fs::write(row.bench.path("plan.md"), plan("solo", tasks)).unwrap();
        row.tell(&["resume", run, "--json", "--plan", &row.plan()])
    };
    // What was decided before is not asked again.
    let same = edit(&TASKS);
    same.ended(3, "waiting");
    assert_eq!(inbox(&row).len(), 1);
    let late = row.command(&["answer", asked[0]["id"].as_str().unwrap(), "1"]).output().unwrap();
    assert_eq!(late.status.code(), Some(2), "what was asked of the old plan waits for nobody");
    let mended = TASKS[1].1.replace("create: [x.txt, b.txt]", "modify: [x.txt], create: [b.txt]");
    edit(&[TASKS[0], ("b", &mended, TASKS[1].2), TASKS[2]]).ended(0, "done");
    assert_eq!(inbox(&row).len(), 0);
    assert_eq!(row.file(run, "x.txt"), "ab\n");
    row.is_proved(run);
}

#[test]
fn a_controller_that_is_killed_while_it_is_decided_asks_nothing_twice() {
    let row = row(&TASKS);
    let ran = row.run(&[]);
    let run = ran.ended(3, "waiting");
    let asked = inbox(&row);
    // Its last event is lost, as if it had been killed before that.
    answer(&row, &asked[0], "Change it");
    let mut child = row.command(&["resume", run, "--json"]).spawn().unwrap();
    let _ = child.kill();
    child.wait().unwrap();
    assert_eq!(inbox(&row), asked[1..]);
    answer(&row, &asked[1], "As it is");
    row.resume(run).ended(0, "done");
    row.is_proved(run);
}

fn told(row: &Row) -> String {
    Answer::of(&row.command(&["plan", &row.plan()]).output().unwrap()).out
}

#[test]
fn the_plan_command_lists_what_a_run_would_ask_first() {
    let row = row(&TASKS);
    let shown = row.json(&["plan", &row.plan()]);
    let text = told(&row);
    row.run(&[]).ended(3, "waiting");
    let asked = inbox(&row);
    let listed = shown["contradictions"].as_array().unwrap();
    assert_eq!(listed.len(), asked.len());
    for (listed, asked) in listed.iter().zip(&asked) {
        for field in ["task", "question", "options", "default"] {
            assert_eq!(listed[field], asked[field], "{field}");
        }
        let label = asked["default"].as_str().unwrap();
        assert!(text.contains(&format!("- {label} (default)")), "{text}");
    }
    assert!(text.contains("asked before a run starts"), "{text}");
}

#[test]
fn a_plan_that_does_not_contradict_itself_lists_nothing() {
    let row = row(&TASKS[..1]);
    assert_eq!(row.json(&["plan", &row.plan()])["contradictions"], json!([]));
    assert!(!told(&row).contains("asked before"));
}
