//! Plans that contradict themselves: in a terminal it is asked, elsewhere the defaults are taken.

use std::fs;

use sequester_testkit::model::Request;
use serde_json::json;

use super::{Ran, Row, deliver, own, plan, write};
use crate::command::Answer;

/// `b` is to create what `a` creates, and rests on something that a done task should have made.
const TASKS: [(&str, &str, &str); 4] = [
    ("a", "files: {create: [x.txt]}", "Write the first line."),
    (
        "b",
        "needs: [a]\nfiles: {create: [x.txt, b.txt]}\nconsumes: [\"`lost_total`\"]",
        "Write the second line.",
    ),
    ("c", "files: {create: [c.txt]}", "Write the letter c."),
    ("z", "done: true\nproduces: [\"`lost_total`\"]", "Count what is lost."),
];

fn row(tasks: &[(&str, &str, &str)]) -> Row {
    Row::new(&plan("solo", tasks), |request: &Request| match (own(request), request.turn) {
        ("a", _) => deliver(request, "x.txt", "a"),
        ("b", 0) => write("b.txt", "b"),
        ("b", 1) => super::bash("echo b >> x.txt"),
        (own, _) => deliver(request, &format!("{own}.txt"), own),
    })
}

/// Answers that were given, and by whom.
fn given(ran: &Ran) -> Vec<(&str, &str)> {
    let given = ran.events.iter().filter(|one| one["event"] == "question_answered");
    given.map(|one| (one["answer"].as_str().unwrap(), one["by"].as_str().unwrap())).collect()
}

const BY_DEFAULT: &str = "no terminal: default";

#[test]
fn without_a_terminal_the_defaults_are_taken_at_once_and_told() {
    let row = row(&TASKS);
    let ran = row.run(&[]);
    let run = ran.ended(0, "done");
    assert_eq!(given(&ran), [("Change it", BY_DEFAULT), ("As it is", BY_DEFAULT)]);
    let prompt = &row.prompts("b")[0];
    for told in ["`x.txt` is there when this task begins", "Change it"] {
        assert!(prompt.contains(told), "{told} in {prompt}");
    }
    assert_eq!(row.file(run, "x.txt"), "ab\n");
    assert_eq!(row.json(&["inbox"]), json!([]));
    row.is_proved(run);
}

#[test]
fn a_run_tells_on_standard_error_which_defaults_it_takes() {
    let row = row(&TASKS);
    let plan = row.plan();
    let mut command = row.command(&["run", &plan, "--yes", "--model", super::A]);
    let answer = Answer::of(&command.output().unwrap());
    assert_eq!(answer.code, Some(0), "{answer:?}");
    let told = answer.err.split_whitespace().collect::<Vec<_>>().join(" ");
    for words in ["Task `a` creates `x.txt`, and task `b`", "takes the default: Change it."] {
        assert!(told.contains(words), "{words} in {told}");
    }
}

#[test]
fn where_a_run_is_unattended_the_defaults_are_taken() {
    let row = row(&TASKS);
    let ran = row.run(&["--unattended"]);
    let run = ran.ended(0, "done");
    let answers: Vec<&str> = given(&ran).iter().map(|(answer, _)| *answer).collect();
    assert_eq!(answers, ["Change it", "As it is"]);
    row.is_proved(run);
}

#[test]
fn a_name_that_the_code_has_is_not_asked_about() {
    let row = row(&TASKS[1..3]);
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
fn a_plan_that_is_edited_takes_the_defaults_of_what_is_new() {
    let row = row(&TASKS[..1]);
    let ran = row.run(&[]);
    let run = ran.ended(0, "done");
    let edit = |tasks: &[(&str, &str, &str)]| {
        fs::write(row.bench.path("plan.md"), plan("solo", tasks)).unwrap();
        row.tell(&["resume", run, "--json", "--plan", &row.plan()])
    };
    let edited = edit(&TASKS);
    edited.ended(0, "done");
    assert_eq!(given(&edited), [("Change it", BY_DEFAULT), ("As it is", BY_DEFAULT)]);
    assert_eq!(row.file(run, "x.txt"), "ab\n");
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
    let listed = shown["contradictions"].as_array().unwrap();
    assert_eq!(listed.len(), 2, "{shown}");
    for listed in listed {
        let label = listed["default"].as_str().unwrap();
        assert!(text.contains(&format!("- {label} (default)")), "{text}");
        let mut warnings = shown["warnings"].as_array().unwrap().iter();
        let warning = warnings.find(|one| one["message"] == listed["question"]).unwrap();
        assert!(warning["hint"].as_str().unwrap().contains(label), "{warning}");
        assert!(warning["line"].as_u64() > Some(1), "{warning}");
    }
    assert_eq!(shown["faults"], json!([]));
    assert!(text.contains("asked before a run starts"), "{text}");
}

#[test]
fn a_plan_that_does_not_contradict_itself_lists_nothing() {
    let row = row(&TASKS[..1]);
    assert_eq!(row.json(&["plan", &row.plan()])["contradictions"], json!([]));
    assert!(!told(&row).contains("asked before"));
}
