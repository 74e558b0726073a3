//! A person has the last word: accepted, skipped, ticked, and recorded as such.

use sequester_testkit::model::Request;
use serde_json::{Value, json};

use super::{Ran, Row, bash, deliver, own, plan, wrote};
use sequester_testkit::model::Turn;

/// The first never passes its check; the second builds on it.
pub(super) fn tasks(check: &str) -> String {
    let first = format!("files: {{create: [a.txt]}}\nchecks: [\"{check}\"]");
    let tasks = [
        ("a", first.as_str(), "Write the right letter."),
        ("b", "needs: [a]\nfiles: {create: [b.txt]}", "Write what builds on it."),
    ];
    plan("solo", &tasks)
}

pub(super) fn wrong(request: &Request) -> Turn {
    match own(request) {
        "a" => deliver(request, "a.txt", "wrong"),
        own => deliver(request, &format!("{own}.txt"), own),
    }
}

pub(super) fn waiting(plan: &str, play: fn(&Request) -> Turn) -> (Row, String) {
    let row = Row::new(plan, play);
    let run = row.run(&[]).ended(3, "waiting").to_owned();
    (row, run)
}

impl Row {
    fn message(&self, run: &str) -> String {
        self.git(&["log", "--format=%B", &format!("sequester/{run}")])
    }

    pub(super) fn person(&self, run: &str, task: &str) -> Value {
        self.json(&["show", run, task])["person"].clone()
    }

    pub(super) fn text(&self, arguments: &[&str]) -> String {
        let output = self.command(arguments).output().unwrap();
        String::from_utf8(output.stdout).unwrap() + &String::from_utf8_lossy(&output.stderr)
    }
}

#[test]
fn what_a_person_accepts_is_committed_with_their_name_and_is_never_called_verified() {
    let (row, run) = waiting(&tasks("grep right a.txt"), wrong);
    let question = row.question();
    assert!(question["question"].as_str().unwrap().ends_with("How should I continue?"));
    let labels: Vec<&str> = question["options"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["label"].as_str().unwrap())
        .collect();
    let wanted = [
        "Try again",
        "Give up",
        "Accept as it is",
        "Edit it myself",
        "Skip this task and what needs it",
        "Skip this task only",
    ];
    assert_eq!((labels, &question["default"]), (wanted.to_vec(), &Value::Null));
    row.answer("3: the check is too strict");
    row.resume(&run).ended(0, "done");
    assert_eq!((row.file(&run, "a.txt"), row.file(&run, "b.txt")), ("wrong".into(), "b".into()));
    let message = row.message(&run);
    assert_eq!(message.matches("Sequester-Accepted-By: ").count(), 1, "{message}");
    let person = row.person(&run, "a");
    assert_eq!(
        (&person["choice"], &person["why"]),
        (&json!("accepted"), &json!("the check is too strict"))
    );
    assert_eq!(row.person(&run, "b"), Value::Null);
    row.is_proved(&run);
    let audit = row.json(&["audit", &run]);
    let accepted = &audit["persons"];
    assert_eq!(accepted.as_array().map(Vec::len), Some(1), "{audit}");
    assert_eq!((&accepted[0]["task"], &accepted[0]["verified"]), (&json!("a"), &json!(false)));
    for told in
        [row.text(&["audit", &run]), row.text(&["show", &run, "a"]), row.text(&["status", &run])]
    {
        let told = told.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(told.contains("not verified: the check is too strict."), "{told}");
    }
}

#[test]
fn a_task_is_skipped_with_what_needs_it_or_alone() {
    let (row, run) = waiting(&tasks("grep right a.txt"), wrong);
    row.answer("Skip this task and what needs it: not now");
    row.resume(&run).ended(0, "done");
    assert_eq!(
        (row.state(&run, "a").0, row.state(&run, "b").0),
        ("skipped".into(), "skipped".into())
    );
    assert!(row.state(&run, "a").1.contains("not now"), "{:?}", row.state(&run, "a"));
    assert_eq!(row.git(&["branch", "--list", "sequester/*"]), "");
    row.is_proved(&run);

    let (row, run) = waiting(&tasks("grep right a.txt"), wrong);
    row.answer("Skip this task only");
    row.resume(&run).ended(0, "done");
    assert_eq!((row.state(&run, "a").0, row.state(&run, "b").0), ("skipped".into(), "done".into()));
    let files = row.git(&["ls-tree", "--name-only", &format!("sequester/{run}")]);
    assert!(files.contains("b.txt") && !files.contains("a.txt"), "{files}");
    row.is_proved(&run);
}

fn token() -> String {
    format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8")
}

#[test]
fn accepting_lets_no_protected_name_and_no_secret_through() {
    let mixed = |request: &Request| match (own(request), request.turn) {
        ("a", 0) => bash(&format!(
            "echo wrong > a.txt; echo 'key = \"{}\"' > key.py; mkdir -p .vscode; echo '{{}}' > .vscode/tasks.json",
            token()
        )),
        ("a", _) => Turn::report(wrote(request)),
        (own, _) => deliver(request, &format!("{own}.txt"), own),
    };
    let (row, run) = waiting(&tasks("grep right a.txt"), mixed);
    row.answer("Accept as it is");
    row.resume(&run).ended(0, "done");
    let files = row.git(&["ls-tree", "-r", "--name-only", &format!("sequester/{run}")]);
    assert!(
        files.contains("a.txt") && !files.contains("key.py") && !files.contains(".vscode"),
        "{files}"
    );
    let left_out = row.person(&run, "a")["left_out"].to_string();
    assert!(left_out.contains("key.py") && left_out.contains(".vscode"), "{left_out}");
    row.is_proved(&run);

    let only = |request: &Request| match request.turn {
        0 => bash(&format!("echo 'key = \"{}\"' > a.txt", token())),
        _ => Turn::report(wrote(request)),
    };
    let (row, run) = waiting(&tasks("grep right a.txt"), only);
    row.answer("Accept as it is");
    row.resume(&run).ended(3, "waiting");
    let question = row.question();
    let text = question["question"].as_str().unwrap();
    assert!(text.contains("cannot be accepted") && text.contains("a.txt"), "{text}");
    assert!(!question["options"].to_string().contains("Accept"), "{question}");
    assert_eq!(row.git(&["branch", "--list", "sequester/*"]), "");
    row.is_proved(&run);
}

#[test]
fn a_run_without_a_person_never_accepts() {
    let row = Row::new(&tasks("grep right a.txt"), wrong);
    let ran: Ran = row.run(&["--unattended"]);
    let run = ran.ended(1, "failed");
    assert!(ran.events.iter().all(|event| event["event"] != "change_accepted"), "{ran:?}");
    assert_eq!(row.person(run, "a"), Value::Null);
}

#[test]
fn the_first_word_of_an_option_names_it_and_other_words_are_told_to_be_advice() {
    let (row, run) = waiting(&tasks("grep right a.txt"), wrong);
    let id = row.question()["id"].as_str().unwrap().to_owned();
    let skip = row.text(&["answer", &id, "skip"]);
    assert!(skip.contains("`skip` may mean `Skip this task and what needs it` or"), "{skip}");
    assert!(row.text(&["answer", &id, "accept"]).contains(": Accept as it is\n"));
    row.resume(&run).ended(0, "done");
    let (row, run) = waiting(&tasks("grep right a.txt"), wrong);
    let id = row.question()["id"].as_str().unwrap().to_owned();
    let told = row.text(&["answer", &id, "write right"]);
    assert!(told.contains(": write right (as advice to the subagent)"), "{told}");
    row.resume(&run).ended(3, "waiting");
}

#[test]
fn a_task_that_is_not_part_of_the_run_is_not_tried_again_and_the_reason_is_told() {
    let row = Row::new(&tasks("true"), wrong);
    let run = row.run(&["--only", "a"]).ended(0, "done").to_owned();
    let told = row.text(&["resume", &run, "--retry", "b"]);
    assert!(told.contains("`b` is not part of this run: "), "{told}");
}
