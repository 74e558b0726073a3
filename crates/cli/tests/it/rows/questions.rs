//! CLARIFY, and nobody there to answer.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use sequester_testkit::model::{Request, Turn};
use serde_json::json;

use super::{Row, bash, deliver, one, own, pass, plan, results, reviewed, role, write, wrote};

fn tasks() -> String {
    let tasks = [
        ("a", "files: {create: [a.txt]}", "Write in the right colour."),
        ("b", "needs: [a]\nfiles: {create: [b.txt]}", "Write what builds on it."),
        ("c", "files: {create: [c.txt]}", "Write the letter c."),
    ];
    plan("solo", &tasks)
}

fn ask(default: Option<&str>) -> Turn {
    let options = json!([{ "label": "Red", "description": "As blood" }, { "label": "Blue" }]);
    let question = json!({ "question": "Which colour?", "options": options, "default": default });
    Turn::call("ask", json!({ "questions": [question] }))
}

#[test]
fn a_question_parks_its_task_and_the_answer_is_shown_to_all_that_come_after() {
    let play = |request: &Request| {
        let prompt = request.prompt();
        match (own(request), request.turn) {
            ("a", 0) if !prompt.contains("Which colour?") => write("parked.txt", "so far\n"),
            ("a", _) if !prompt.contains("Which colour?") => ask(None),
            ("a", 0) => bash("ls"),
            ("a", 1) => {
                assert!(!results(request).contains("parked"), "{}", results(request));
                write("a.txt", "Blue\n")
            }
            ("a", _) => Turn::report(wrote(request)),
            (own, _) => deliver(request, &format!("{own}.txt"), own),
        }
    };
    let row = Row::new(&tasks(), play);
    let ran = row.run(&[]);
    let run = ran.ended(3, "waiting");
    assert_eq!(row.state(run, "a").0, "waiting");
    assert_eq!(row.state(run, "b").0, "pending");
    assert_eq!(row.file(run, "c.txt"), "c", "the rest goes on");
    let question = row.question();
    assert_eq!(question["question"], "Which colour?");
    assert_eq!(question["options"][0], json!({ "label": "Red", "description": "As blood" }));
    assert_eq!(row.changed(run, "a"), ["parked.txt"], "what was parked is to be seen");
    row.is_proved(run);
    let told = row.answer("Blue");
    assert!(told.contains(&format!("sequester resume {run}")), "{told}");
    assert_eq!(row.resume(run).ended(0, "done"), run);
    assert_eq!(row.tried(run, "a"), ["write first a waiting", "write answered a done"]);
    let prompts = row.prompts("a");
    assert!(prompts[1].contains("Which colour?") && prompts[1].contains("Blue"), "{}", prompts[1]);
    assert_eq!((row.file(run, "a.txt").as_str(), row.file(run, "b.txt").as_str()), ("Blue\n", "b"));
    row.is_proved(run);
}

#[test]
fn an_answer_is_shown_to_later_retries_too() {
    let begun = AtomicUsize::new(0);
    let play = move |request: &Request| {
        let more = usize::from(request.turn == 0);
        match begun.fetch_add(more, Ordering::Relaxed) + more {
            1 => ask(None),
            2 => Turn::text("Blue it is."),
            _ => deliver(request, "a.txt", "Blue\n"),
        }
    };
    let block = "files: {create: [a.txt]}";
    let row = Row::new(&plan("solo", &[("a", block, "Write in the right colour.")]), play);
    let ran = row.run(&[]);
    let run = ran.ended(3, "waiting");
    row.answer("Blue");
    row.resume(run).ended(0, "done");
    let wanted = ["write first a waiting", "write answered a failed", "write repeat a done"];
    assert_eq!(row.tried(run, "a"), wanted);
    let prompts = row.prompts("a");
    assert_eq!(prompts[1], prompts[2]);
    row.is_proved(run);
}

#[test]
fn a_run_in_the_background_stays_for_a_default_that_is_not_due_yet() {
    let play = |request: &Request| match own(request) {
        "a" if !request.prompt().contains("Which colour?") => {
            let question =
                json!({ "question": "Which colour?", "default": "Red", "deadline": "1s" });
            Turn::call("ask", json!({ "questions": [question] }))
        }
        own => deliver(request, &format!("{own}.txt"), own),
    };
    let row = Row::new(&tasks(), play);
    let run = row.run(&["--detach"]).run;
    let end = Instant::now() + Duration::from_mins(2);
    while row.json(&["status", &run])["state"] != "done" {
        assert!(Instant::now() < end, "{:?}", row.json(&["status", &run]));
        thread::sleep(Duration::from_millis(100));
    }
    let log = row.json(&["log", &run]);
    let answered = log.as_array().unwrap().iter().find(|one| one["event"] == "question_answered");
    assert_eq!(answered.unwrap()["by"], "default, after its deadline");
    row.is_proved(&run);
}

#[test]
fn where_nobody_is_there_defaults_are_taken_and_what_has_none_has_failed() {
    for (default, code, outcome, state) in
        [(Some("Red"), 0, "done", "done"), (None, 1, "failed", "failed")]
    {
        let play = move |request: &Request| match own(request) {
            "a" if !request.prompt().contains("Which colour?") => ask(default),
            own => deliver(request, &format!("{own}.txt"), own),
        };
        let row = Row::new(&tasks(), play);
        let ran = row.run(&["--unattended"]);
        let run = ran.ended(code, outcome);
        assert_eq!(row.state(run, "a").0, state);
        assert_eq!(row.file(run, "c.txt"), "c");
        let answered = ran.events.iter().find(|event| event["event"] == "question_answered");
        assert_eq!(answered.is_some(), default.is_some(), "{ran:?}");
        if default.is_some() {
            assert_eq!(answered.unwrap()["by"], "default, unattended");
            assert!(row.prompts("a").last().unwrap().contains("Red"));
        } else {
            assert!(row.state(run, "a").1.contains("no default"), "{:?}", row.state(run, "a"));
            assert_eq!(row.state(run, "b").0, "blocked");
        }
        row.is_proved(run);
    }
}

#[test]
fn whoever_is_asked_about_failing_checks_sees_what_fails_and_what_was_claimed() {
    let block = "files: {create: [a.txt]}\nchecks: [\"cat a.txt; exit 3\"]";
    let play = |request: &Request| {
        if request.turn == 0 {
            return bash("seq -f 'error: line %g' 4000 > a.txt");
        }
        let mut report = wrote(request);
        report["findings"]["tests_written"] = json!(["tests/letter.rs"]);
        Turn::report(report)
    };
    let row = Row::new(&plan("solo", &[("a", block, "Write the letter a.")]), play);
    let ran = row.run(&[]);
    let run = ran.ended(3, "waiting");
    let question = row.question();
    let details = question["details"].as_str().unwrap();
    let claimed =
        "The report says that the test `tests/letter.rs` was written, and it is not there.";
    for told in ["`cat a.txt; exit 3` ended with exit code 3", "error: line 1\n", claimed] {
        assert!(details.contains(told), "{told} in {details}");
    }
    assert!(details.len() < 4_000, "{}", details.len());
    let inbox = String::from_utf8(row.command(&["inbox"]).output().unwrap().stdout).unwrap();
    assert!(inbox.contains("    error: line 1\n") && inbox.contains(claimed), "{inbox}");
    row.answer("Give up");
    row.resume(run).ended(1, "failed");
    row.is_proved(run);
}

#[test]
fn whoever_is_asked_about_a_review_sees_its_findings() {
    let play = |request: &Request| {
        if role(request) == "writer" {
            return deliver(request, "a.txt", "right\n");
        }
        let found =
            json!({ "severity": "critical", "file": "a.txt", "line": 7, "text": "NO GREETING" });
        let fail = json!({ "verdict": "fail", "findings": [found] });
        Turn::report(reviewed(request, &fail, &pass()))
    };
    let row = Row::new(&one("build"), play);
    row.run(&[]).ended(3, "waiting");
    let question = row.question();
    assert_eq!(question["details"], "- critical, a.txt:7: NO GREETING\n", "{question}");
}
