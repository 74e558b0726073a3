//! Research, write, validate: what passes from phase to phase, and what does not (003).

use std::fs;
use std::sync::Arc;

use sequester_testkit::model::{Request, Script, Setup, Turn};
use serde_json::json;

use super::{CONFIGURATION, TASK, TESTS, prompt, tokens, writes};
use crate::command::Bench;
use crate::rows::{Row, content, plan, report, role};

/// Words of one finding; there are many of them.
const RAW: &str = "RAWFINDING";

fn project() -> Arc<Bench> {
    let bench = Bench::with(&[
        ("sequester.toml", CONFIGURATION),
        ("tests.sh", TESTS),
        ("src/auth.py", "def sign(): pass\n"),
    ]);
    fs::write(bench.path("plan.md"), plan("chain", &[TASK])).unwrap();
    Arc::new(bench)
}

/// A researcher that brings 150 long findings and a short summary.
fn play(request: &Request) -> Turn {
    if role(request) != "researcher" {
        return writes(request, "echo 'def login(): pass' >> src/auth.py");
    }
    let finding = |at: usize| {
        format!(
            "{RAW}-{at}: the helper number {at} in src/lib/auth_{at}.ts signs tokens of its own kind, as told in the page about helpers, and nobody calls it from more than two places"
        )
    };
    let found: Vec<String> = (0..150).map(finding).collect();
    let mut told = report(
        request,
        "research",
        &json!({
            "existing_implementations": found, "conflicts": ["CONFLICT: two clocks"],
            "patterns_found": [], "recommendations": ["RECOMMENDED: use sign()"],
        }),
    );
    told["context_summary"] = "SUMMARY: JWT helpers exist.".into();
    Turn::report(told)
}

fn ran() -> (Row, String) {
    let row = Row::set(project(), Setup::new(Script::new(play)));
    let run = row.run(&[]).ended(0, "done").to_owned();
    (row, run)
}

#[test]
fn sequential_chain_completes() {
    let (row, run) = ran();
    assert_eq!(
        row.tried(&run, "login"),
        ["research first a done", "write first a done", "validate first a done"]
    );
    row.is_proved(&run);
}

#[test]
fn writer_reads_the_summary_and_not_the_raw_research() {
    let (row, run) = ran();
    let writer = prompt(&row, &run, "login", "write");
    assert!(writer.contains("SUMMARY: JWT helpers exist."));
    assert!(writer.contains("CONFLICT: two clocks") && writer.contains("RECOMMENDED: use sign()"));
    let raw = writer.matches(RAW).count();
    assert!((1..60).contains(&raw), "{raw} of 150 findings");
    assert!(writer.contains("more findings are not shown. Ask for them with `recall`."));
}

#[test]
fn handoff_compaction_works() {
    let (row, run) = ran();
    let handoff = row.json(&["context", "--run", &run, "login", "--phase", "write", "--handoff"]);
    let found = handoff["context"]["previous_findings"].as_str().unwrap();
    let size = sequester_core::tokens::count(found);
    assert!(
        size <= 1_600,
        "{size} tokens: 500 of summary, 1,000 of findings, and what frames them"
    );
}

#[test]
fn the_rest_of_the_findings_is_there_by_recall() {
    let play = |request: &Request| match (role(request), request.turn) {
        ("writer", 0) => Turn::call("recall", json!({ "query": "helper number 149 auth_149" })),
        ("writer", 1) => {
            let found = crate::rows::results(request);
            assert!(found.contains("RAWFINDING-149"), "{found}");
            crate::rows::bash("echo 'def login(): pass' >> src/auth.py")
        }
        _ => play(request),
    };
    let row = Row::set(project(), Setup::new(Script::new(play)));
    let run = row.run(&[]).ended(0, "done").to_owned();
    row.is_proved(&run);
}

#[test]
fn validator_gets_the_change_the_writers_summary_and_the_checks_and_no_research() {
    let (row, run) = ran();
    let validator = prompt(&row, &run, "login", "validate");
    assert!(validator.contains("Did login."), "the writer's summary: {validator}");
    assert!(validator.contains("+def login(): pass"), "the change");
    assert!(validator.contains("`sh tests.sh` passed with exit code 0"), "{validator}");
    assert!(validator.contains("1 passed, 0 failed"), "what it printed");
    assert!(!validator.contains(RAW) && !validator.contains("SUMMARY: JWT"), "{validator}");
}

#[test]
fn each_phase_stays_well_under_what_one_conversation_would_hold() {
    let (row, run) = ran();
    let [research, write, validate] =
        ["research", "write", "validate"].map(|phase| tokens(&row, &run, "login", phase));
    let raw = 150 * 40;
    assert!(write < research + 1_600, "{research} {write}");
    assert!(validate < research + 1_600 && validate + raw > write, "{write} {validate}");
}

#[test]
fn validator_coverage_is_a_number() {
    let play = |request: &Request| {
        if role(request) != "validator" {
            return play(request);
        }
        let mut told = content(request);
        told["findings"]["checks"]["tests"]["coverage"] = json!(81);
        Turn::report(told)
    };
    let row = Row::set(project(), Setup::new(Script::new(play)));
    let run = row.run(&[]).ended(0, "done").to_owned();
    let shown = row.json(&["show", &run, "login"]);
    let report = &shown["attempts"][2]["report"];
    assert_eq!(report["findings"]["checks"]["tests"]["coverage"], 81);
    assert_eq!(shown["attempts"][2]["usage"]["turns"], 1, "no turn is lost over it");
}
