//! Time, loops, budgets, and providers that fail.

use std::sync::Arc;
use std::time::Duration;

use sequester_core::usage::Usage;
use sequester_testkit::model::{Choice, Fault, Faults, Request, Script, Setup};
use serde_json::json;

use super::{BOTH, Row, bash, bench, deliver, is_first_model, one, own, plan, write};
use crate::subagent_endings::{alive, endless};

#[test]
fn who_takes_too_long_is_killed_with_all_that_it_started_and_tried_once_more_with_less() {
    let (mark, turn) = endless();
    let tasks = [
        ("a", "files: {create: [a.txt]}", "Write the letter a."),
        ("b", "needs: [a]\nfiles: {create: [made.txt]}", "Write on and on."),
    ];
    let play = move |request: &Request| match own(request) {
        "a" => deliver(request, "a.txt", "a\n"),
        _ => turn.clone(),
    };
    let bench = bench("[limits]\nwall = \"3s\"\n", &plan("solo", &tasks));
    let row = Row::set(bench, Setup::new(Script::new(play)));
    let ran = row.run(&[]);
    let run = ran.ended(3, "waiting");
    assert_eq!(alive(&mark), 0, "a process is left");
    assert_eq!(row.tried(run, "b"), ["write first a timed_out", "write simplified a timed_out"]);
    let context = |attempt: &str| {
        row.json(&["context", "--run", run, "b", "--attempt", attempt])["withheld"].to_string()
    };
    assert!(!context("1").contains("simplified"), "{}", context("1"));
    assert!(context("2").contains("simplified"), "{}", context("2"));
    assert_eq!(row.changed(run, "b"), ["made.txt"], "what was done is kept");
    let question = row.question();
    assert!(question["question"].as_str().unwrap().contains("time limit"), "{question}");
    row.is_proved(run);
}

#[test]
fn who_goes_round_in_circles_is_stopped_with_what_shows_it() {
    let play = |request: &Request| match request.turn {
        0 => write("a.txt", "right\n"),
        _ => bash("cat a.txt"),
    };
    let row = Row::new(&one("solo"), play);
    let ran = row.run(&[]);
    let run = ran.ended(1, "failed");
    assert_eq!(row.tried(run, "a"), ["write first a looped"]);
    let (state, reason) = row.state(run, "a");
    assert_eq!(state, "failed");
    assert!(reason.contains("`Bash` was called 5 times"), "{reason}");
    assert_eq!(row.changed(run, "a"), ["a.txt"]);
    row.is_proved(run);
}

#[test]
fn a_budget_leaves_one_turn_for_the_report_and_what_was_done_is_kept() {
    let usage = Usage { input: 1_000, output: 10, ..Usage::default() };
    let play = move |request: &Request| {
        let turn = match request.turn {
            0 => write("a.txt", "right\n"),
            turn => bash(&format!("echo {turn}")),
        };
        turn.costing(usage)
    };
    let row = Row::new(&one("solo"), play);
    let ran = row.run(&["--budget", "3500"]);
    let run = ran.ended(4, "budget_exhausted");
    assert_eq!(row.tried(run, "a"), ["write first a budget_exhausted"]);
    let requests = row.server.requests();
    let posted = requests.iter().filter(|one| one.method == "POST");
    let choices: Vec<Choice> = posted.map(|one| one.request().unwrap().choice).collect();
    let held = choices.iter().filter(|one| **one == Choice::Tool("report".to_owned()));
    assert_eq!((held.count(), choices.last()), (1, Some(&Choice::Tool("report".to_owned()))));
    assert_eq!(row.changed(run, "a"), ["a.txt"]);
    row.is_proved(run);
}

#[test]
fn a_provider_that_fails_is_asked_again_and_then_another_one() {
    let play = |request: &Request| deliver(request, "a.txt", "right\n");
    let again = |_: &Request, times: u32| match times {
        0 => Some(Fault::TooManyRequests { retry_after: Duration::from_millis(20) }),
        1 => Some(Fault::Overloaded),
        _ => None,
    };
    let setup = Setup::new(Script::new(play)).faults(Faults::when(again));
    let row = Row::set(bench("", &one("solo")), setup);
    let ran = row.run(&["--model", "anthropic/claude-sonnet-5"]);
    let run = ran.ended(0, "done");
    assert_eq!(row.tried(run, "a"), ["write first b done"]);
    let failed = ran.events.iter().filter(|event| event["event"] == "turn_failed").count();
    assert_eq!((failed, row.server.injected()["overloaded"]), (4, 2), "{ran:?}");
    row.is_proved(run);

    let gone = |request: &Request, _: u32| is_first_model(request).then_some(Fault::NoCredit);
    let setup = Setup::new(Script::new(play)).faults(Faults::when(gone));
    let row = Row::set(Arc::clone(&row.bench), setup);
    let ran = row.run(&["--model", BOTH]);
    let run = ran.ended(0, "done");
    assert_eq!(row.tried(run, "a"), ["write first a failed", "write next_model b done"]);
    row.is_proved(run);
    let ran = row.run(&[]);
    let run = ran.ended(1, "failed");
    let shown = row.json(&["show", run, "a"]);
    assert_eq!(shown["attempts"].as_array().map(Vec::len), Some(1), "{shown}");
    assert_eq!(shown["attempts"][0]["outcome"], json!("failed"), "{shown}");
}
