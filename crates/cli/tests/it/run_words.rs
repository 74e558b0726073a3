//! A person's words to runs: `answer`, `cancel`, `apply`, `gc`.

use std::fs;
use std::thread;
use std::time::Duration;

use sequester_core::run::Event;
use sequester_core::store::Letter;
use serde_json::json;

use crate::command::{Bench, FILES};
use crate::ledger::{Ledger, PLAN, about};

fn code(bench: &Bench, arguments: &[&str]) -> (Option<i32>, String) {
    let answer = bench.run(&[arguments, &["--json"]].concat());
    let code = answer.json()["error"]["code"].as_str().unwrap_or_default().to_owned();
    (answer.code, code)
}

fn sq(exit: i32, code: &str) -> (Option<i32>, String) {
    (Some(exit), code.to_owned())
}

#[test]
fn an_answer_to_a_run_that_nobody_carries_out_is_recorded_with_who_gave_it() {
    let bench = Bench::with(&FILES);
    drop(Ledger::waiting(&bench, "0abcdef1"));
    bench.git(&["config", "user.name", "Somebody"]);
    bench.git(&["config", "user.email", "somebody@example.org"]);
    assert_eq!(code(&bench, &["answer", "0abcdef1-7", "x"]), sq(2, "SQ0302"));
    assert_eq!(code(&bench, &["answer", "nothing", "x"]), sq(2, "SQ0302"));
    assert_eq!(code(&bench, &["answer", "other-1", "x"]), sq(2, "SQ0301"));
    assert_eq!(code(&bench, &["answer", "0abcdef1-1", "3"]), sq(2, "SQ0302"));
    let answer = bench.run(&["answer", "0abcdef1-1", "2"]);
    assert_eq!(answer.code, Some(0), "{answer:?}");
    assert!(answer.out.contains("answered by Somebody: Long"), "{answer:?}");
    assert!(answer.out.contains("`sequester resume 0abcdef1`"), "{answer:?}");
    let log = bench.run(&["log", "0abcdef1", "--json"]).json();
    let last = log.as_array().unwrap().last().unwrap();
    assert_eq!((&last["event"], &last["task"]), (&json!("question_answered"), &json!("2")));
    assert_eq!((&last["answer"], &last["by"]), (&json!("Long"), &json!("Somebody")));
    let status = bench.run(&["status", "0abcdef1", "--json"]).json();
    assert_eq!((&status["state"], &status["inbox"]), (&json!("stopped"), &json!([])));
    assert_eq!(code(&bench, &["answer", "0abcdef1-1", "Short"]), sq(2, "SQ0302"));
}

#[test]
fn words_may_begin_with_a_hyphen_and_labels_may_be_written_as_one_likes() {
    for (given, taken) in [("short", "Short"), ("- neither of them", "- neither of them")] {
        let bench = Bench::with(&FILES);
        drop(Ledger::waiting(&bench, "0abcdef1"));
        let answer = bench.run(&["answer", "0abc-1", given, "--json"]);
        assert_eq!(answer.code, Some(0), "{answer:?}");
        assert_eq!(answer.json()["answer"], taken);
        assert_eq!(answer.json()["delivered"], "recorded");
    }
}

#[test]
fn a_run_that_is_carried_out_gets_a_letter_and_nobody_else_writes_to_it() {
    let bench = Bench::with(&FILES);
    let ledger = Ledger::waiting(&bench, "0abcdef1");
    let before = bench.run(&["export"]).out;
    let answer = bench.run(&["answer", "0abcdef1-1", "Short", "--json"]);
    assert_eq!((answer.code, &answer.json()["delivered"]), (Some(0), &json!("left")), "{answer:?}");
    let cancel = bench.run(&["cancel", "0abcdef1", "--json"]);
    assert_eq!((cancel.code, &cancel.json()["delivered"]), (Some(0), &json!("left")), "{cancel:?}");
    assert_eq!(bench.run(&["export"]).out, before);
    let letters = ledger.lease.as_ref().unwrap().letters(0).unwrap();
    let [(_, Letter::Answer { answer, .. }), (_, Letter::Cancel { .. })] = &letters[..] else {
        panic!("{letters:?}")
    };
    assert_eq!(answer, "Short");
}

#[test]
fn whoever_carries_a_run_out_takes_the_letter_and_the_answer_says_so() {
    let bench = Bench::with(&FILES);
    let mut ledger = Ledger::waiting(&bench, "0abcdef1");
    let owner = thread::spawn(move || {
        let lease = ledger.lease.clone().unwrap();
        let letter = loop {
            match lease.letters(0).unwrap().pop() {
                Some((_, letter)) => break letter,
                None => thread::sleep(Duration::from_millis(20)),
            }
        };
        let Letter::Answer { question, answer, by } = letter else { panic!("{letter:?}") };
        ledger.tell(about("2"), Event::QuestionAnswered { question, answer, by });
        ledger
    });
    let answer = bench.run(&["answer", "0abcdef1-1", "1", "--json"]);
    assert_eq!(
        (answer.code, &answer.json()["delivered"]),
        (Some(0), &json!("taken")),
        "{answer:?}"
    );
    drop(owner.join().unwrap());
}

#[test]
fn a_cancelled_run_ends_with_all_that_was_open_and_keeps_what_is_done() {
    let bench = Bench::with(&FILES);
    drop(Ledger::waiting(&bench, "0abcdef1"));
    let cancelled = bench.run(&["cancel", "0abcdef1", "--json"]);
    assert_eq!(cancelled.code, Some(0), "{cancelled:?}");
    let status = cancelled.json();
    assert_eq!((&status["state"], &status["inbox"]), (&json!("cancelled"), &json!([])));
    let states: Vec<_> =
        status["tasks"].as_array().unwrap().iter().map(|one| &one["state"]).collect();
    assert_eq!(states, ["done", "cancelled"]);
    let log = bench.run(&["export"]).out;
    assert!(
        log.lines().last().unwrap().contains(r#""event":"run_ended","outcome":"cancelled""#),
        "{log}"
    );
    // Once is enough.
    let again = bench.run(&["cancel", "0abcdef1"]);
    assert_eq!(again.code, Some(0), "{again:?}");
    assert!(again.out.contains("has ended already: cancelled"), "{again:?}");
    assert_eq!(code(&bench, &["resume", "0abcdef1"]), sq(2, "SQ0219"), "it is for good");
    assert_eq!(bench.run(&["export"]).out, log);
    // An attempt whose process is gone ends, too.
    let mut cut = Ledger::start(&bench, "0abcdef2");
    cut.begin("1");
    drop(cut);
    let status = bench.run(&["cancel", "0abcdef2", "--json"]).json();
    assert_eq!(status["state"], "cancelled");
    let shown = bench.run(&["show", "0abcdef2", "1", "--json"]).json();
    assert_eq!(
        (&shown["state"], &shown["attempts"][0]["outcome"]),
        (&json!("cancelled"), &json!("cancelled"))
    );
}

#[test]
fn a_branch_is_applied_and_the_boxes_of_done_tasks_are_ticked_and_no_other() {
    let bench = Bench::with(&FILES);
    drop(Ledger::waiting(&bench, "0abcdef1"));
    let plan = bench.path("plan.md");
    fs::write(&plan, PLAN.replace("- [ ] test it", "- [ ] test it all")).unwrap();
    assert_eq!(code(&bench, &["apply", "--tick"]), sq(1, "SQ0310"));
    assert!(!bench.repo().join("hello.txt").exists(), "nothing is applied before that");
    fs::write(&plan, format!("{PLAN}\nA word of mine.\n")).unwrap();
    bench.write("README.md", "mine\n");
    assert_eq!(code(&bench, &["apply"]), sq(1, "SQ0309"));
    let applied = bench.run(&["apply", "--tick", "--allow-dirty", "--json"]);
    assert_eq!(applied.code, Some(0), "{applied:?}");
    assert!(applied.err.contains("Only what is done is applied: 1 of 2 tasks."), "{applied:?}");
    let told = applied.json();
    assert_eq!((&told["applied"], &told["ticked"]), (&json!("moved"), &json!(2)));
    assert_eq!(fs::read_to_string(bench.repo().join("hello.txt")).unwrap(), "Hello.\n");
    assert_eq!(fs::read_to_string(bench.repo().join("README.md")).unwrap(), "mine\n");
    let ticked = PLAN.replacen("- [ ]", "- [x]", 2) + "\nA word of mine.\n";
    assert_eq!(fs::read_to_string(&plan).unwrap(), ticked);
    let again = bench.run(&["apply", "--tick", "--allow-dirty", "--json"]).json();
    assert_eq!((&again["applied"], &again["ticked"]), (&json!("nothing"), &json!(0)));
}

#[test]
fn commits_made_since_are_joined_when_asked_and_a_conflict_changes_nothing() {
    let bench = Bench::with(&FILES);
    drop(Ledger::waiting(&bench, "0abcdef1"));
    bench.write("other.txt", "other\n");
    bench.commit("mine");
    assert_eq!(code(&bench, &["apply"]), sq(1, "SQ0309"));
    let merged = bench.run(&["apply", "--merge", "--json"]);
    assert_eq!((merged.code, &merged.json()["applied"]), (Some(0), &json!("moved")), "{merged:?}");
    assert!(bench.repo().join("hello.txt").exists() && bench.repo().join("other.txt").exists());
    let bench = Bench::with(&FILES);
    drop(Ledger::waiting(&bench, "0abcdef1"));
    bench.write("hello.txt", "Another hello.\n");
    bench.commit("mine");
    for how in ["--merge", "--patch"] {
        assert_eq!(code(&bench, &["apply", how]), sq(1, "SQ0309"));
    }
    bench.git(&["diff", "--quiet", "HEAD"]);
    assert_eq!(fs::read_to_string(bench.repo().join("hello.txt")).unwrap(), "Another hello.\n");
    drop(Ledger::start(&bench, "0abcdef2"));
    assert_eq!(code(&bench, &["apply", "0abcdef2"]), sq(1, "SQ0309"));
}

#[test]
fn old_runs_go_and_those_that_are_named_and_what_is_held_stays() {
    let bench = Bench::with(&FILES);
    assert_eq!(bench.run(&["gc", "--json"]).json()["runs"], json!([]));
    drop(Ledger::waiting(&bench, "0abcdef1"));
    let held = Ledger::start(&bench, "0abcdef2");
    // These were written in 2026; the clock of the test may be earlier or later than a month after.
    let gone = bench.run(&["gc", "0abcdef1", "0abcdef2", "--json"]);
    assert_eq!(gone.code, Some(0), "{gone:?}");
    let told = gone.json();
    assert_eq!((&told["runs"], &told["held"]), (&json!(["0abcdef1"]), &json!(["0abcdef2"])));
    assert!(told["blobs"].as_u64().unwrap() > 0);
    assert_eq!(code(&bench, &["gc", "0abcdef1"]), sq(2, "SQ0301"));
    drop(held);
    let list = bench.run(&["status", "--json"]).json();
    assert_eq!(list.as_array().unwrap().len(), 1);
}
