//! Subagents side by side, each isolated, joined into one answer (003, pattern 2).

use std::fs;
use std::sync::Arc;
use std::time::Duration;

use sequester_testkit::model::{Pace, Request, Script, Setup, Turn};
use serde_json::{Value, json};

use super::writes;
use crate::command::Bench;
use crate::rows::{Row, plan, report, stopped};

const WORKFLOW: &str = "\
name: four
phases:
  types-look: {judges: true, findings: {passed: boolean, errors: [text]}}
  lint-look: {judges: true, findings: {passed: boolean, errors: [text]}}
  tests-look: {judges: true, findings: {passed: boolean, errors: [text]}}
  security-look: {judges: true, findings: {passed: boolean, errors: [text]}}
steps:
  - {id: write, agent: writer}
  - {id: types, agent: Explore, phase: types-look, needs: [write]}
  - {id: lint, agent: Explore, phase: lint-look, needs: [write]}
  - {id: tests, agent: Explore, phase: tests-look, needs: [write]}
  - {id: security, agent: Explore, phase: security-look, needs: [write]}
";

fn bench() -> Arc<Bench> {
    let bench =
        Bench::with(&[("README.md", "Letters\n"), (".sequester/workflows/four.yaml", WORKFLOW)]);
    fs::write(bench.path("plan.md"), plan("four", &[("a", "", "Write a letter.")])).unwrap();
    Arc::new(bench)
}

/// The own phase that is asked for.
fn look(request: &Request) -> Option<&str> {
    let phase = request.prompt().split("**Phase:** ").nth(1)?.lines().next()?;
    phase.ends_with("-look").then_some(phase)
}

fn looked(request: &Request, phase: &str, passed: bool) -> Value {
    let mut told = report(
        request,
        phase,
        &json!({ "passed": passed, "errors": [format!("seen by {phase}")] }),
    );
    told["issues"] = json!([format!("issue of {phase}")]);
    told
}

/// The same four before anything is written.
const FIRST: &str = "\
name: four
phases:
  types-look: {findings: {passed: boolean, errors: [text]}}
  lint-look: {findings: {passed: boolean, errors: [text]}}
  tests-look: {findings: {passed: boolean, errors: [text]}}
  security-look: {findings: {passed: boolean, errors: [text]}}
steps:
  - {id: types, agent: Explore, phase: types-look, needs: []}
  - {id: lint, agent: Explore, phase: lint-look, needs: []}
  - {id: tests, agent: Explore, phase: tests-look, needs: []}
  - {id: security, agent: Explore, phase: security-look, needs: []}
  - {id: write, agent: writer}
";

#[test]
fn parallel_subagents_run_side_by_side_and_are_joined() {
    let bench = bench();
    bench.write(".sequester/workflows/four.yaml", FIRST);
    bench.commit("look first");
    let play = |request: &Request| match look(request) {
        Some(phase) => Turn::report(looked(request, phase, true)),
        None => writes(request, "echo a > a.txt"),
    };
    // A model that takes its time: all four are asked before the first is answered.
    let pace = Pace { first: Duration::from_millis(1_500), between: Duration::ZERO };
    let row = Row::set(bench, Setup::new(Script::new(play)).pace(pace));
    let ran = row.run(&["--jobs", "4"]);
    let run = ran.ended(0, "done").to_owned();
    let of = |event: &str| {
        let places = ran.events.iter().enumerate().filter(|(_, one)| one["event"] == event);
        places.map(|(at, _)| at).collect::<Vec<_>>()
    };
    assert!(of("attempt_started")[3] < of("attempt_ended")[0], "their times overlap in the log");
    let shown = row.json(&["show", &run, "a"]);
    let joined = &shown["joined"][0];
    assert_eq!(joined["decision"], "PROCEED");
    assert_eq!(joined["steps"], json!(["types", "lint", "tests", "security"]));
    assert_eq!(joined["checks"]["lint"]["errors"], json!(["seen by lint-look"]));
    assert_eq!(joined["issues"].as_array().unwrap().len(), 4);
    let looks = |prompt: &&String| {
        prompt.lines().any(|line| line.starts_with("**Phase:** ") && line.ends_with("-look"))
    };
    let prompts = row.prompts("a");
    assert_eq!(prompts.iter().filter(looks).count(), 4);
    for prompt in prompts.iter().filter(looks) {
        assert!(!prompt.contains("seen by"), "none sees what another found");
    }
    row.is_proved(&run);
}

#[test]
fn all_are_asked_before_a_stop_counts_and_issues_are_joined() {
    let play = |request: &Request| match look(request) {
        Some("lint-look") => {
            stopped(looked(request, "lint-look", false), "complete", "Tabs and blanks.", "Choose.")
        }
        Some(phase) => Turn::report(looked(request, phase, true)),
        None => writes(request, "echo a > a.txt"),
    };
    for jobs in ["1", "4"] {
        let row = Row::set(bench(), Setup::new(Script::new(play)));
        let run = row.run(&["--jobs", jobs, "--unattended"]).ended(1, "failed").to_owned();
        let tried = row.tried(&run, "a");
        // The first round, and two after mending.
        assert_eq!(tried.iter().filter(|one| one.starts_with("security")).count(), 3, "{tried:?}");
        let shown = row.json(&["show", &run, "a"]);
        let joined = &shown["joined"][0];
        assert_eq!(joined["decision"], "STOP", "{joined}");
        assert_eq!(joined["issues"].as_array().unwrap().len(), 4, "{joined}");
        row.is_proved(&run);
    }
}

#[test]
fn what_a_judging_phase_objects_to_is_told_wherever_people_look() {
    let play = |request: &Request| match look(request) {
        Some(phase) => Turn::report(looked(request, phase, phase != "lint-look")),
        None => writes(request, "echo a > a.txt"),
    };
    let row = Row::set(bench(), Setup::new(Script::new(play)));
    let run = row.run(&[]).ended(3, "waiting").to_owned();
    let text = |arguments: &[&str]| {
        let output = row.command(arguments).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let shown = text(&["show", &run, "a"]);
    assert!(shown.contains("lint (lint-look): objects"), "{shown}");
    assert!(shown.contains("errors: seen by types-look"), "{shown}");
    assert!(text(&["log", &run]).contains("It objects: errors: seen by lint-look."));
    let inbox = text(&["inbox"]);
    assert!(inbox.contains("lint:") && inbox.contains("errors: seen by lint-look"), "{inbox}");
}

#[test]
fn parallel_checks_are_shown_each_with_its_failing_lines() {
    let configuration = "[checks]\ntests = \"echo 'test adds ... FAILED'; exit 1\"\nlint = \"true\"\ntypes = false\nsecurity = false\n";
    let bench = Bench::with(&[("sequester.toml", configuration), ("README.md", "Letters\n")]);
    fs::write(bench.path("plan.md"), plan("parallel", &[("a", "", "Check it.")])).unwrap();
    let row = Row::set(Arc::new(bench), Setup::new(Script::new(|_: &Request| Turn::text("No."))));
    let run = row.run(&["--unattended"]).ended(1, "failed").to_owned();
    let shown = row.command(&["show", &run, "a"]).output().unwrap();
    let shown = String::from_utf8(shown.stdout).unwrap();
    for part in ["lint passed: true", "tests failed with exit code 1", "test adds ... FAILED"] {
        assert!(shown.contains(part), "{part} is missing in {shown}");
    }
}

#[test]
fn a_new_phase_gets_clean_isolation_and_its_own_findings() {
    let workflow = "name: threats\nphases:\n  threats: {findings: {threats: [text], worst: text}}\nsteps:\n  - {id: threats, agent: Explore, phase: threats}\n  - {id: write, agent: writer}\n";
    let bench = Bench::with(&[("README.md", "x\n"), (".sequester/workflows/t.yaml", workflow)]);
    fs::write(bench.path("plan.md"), plan("threats", &[("a", "", "Write a.")])).unwrap();
    let play = |request: &Request| {
        if !request.prompt().contains("**Phase:** threats") {
            return writes(request, "echo a > a.txt");
        }
        let wrong = json!({ "threats": "one" });
        let right = json!({ "threats": ["Replay"], "worst": "Replay" });
        Turn::report(report(request, "threats", if request.turn == 0 { &wrong } else { &right }))
    };
    let row = Row::set(Arc::new(bench), Setup::new(Script::new(play)));
    let run = row.run(&[]).ended(0, "done").to_owned();
    let writer = super::prompt(&row, &run, "a", "write");
    assert!(writer.contains("threats:\n1. Replay"), "{writer}");
    let shown = row.json(&["show", &run, "a"]);
    assert_eq!(shown["attempts"][0]["report"]["findings"]["worst"], "Replay");
    assert_eq!(shown["attempts"][0]["usage"]["turns"], 2, "what does not fit its fields goes back");
    row.is_proved(&run);
}
