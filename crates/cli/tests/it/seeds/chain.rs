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
const PHASES: [&str; 3] = ["research", "write", "validate"];
/// Long findings of a small research, and of one that comes to 14,000 tokens.
const FEW: usize = 3;
const MANY: usize = 325;

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
    play_with(request, 150)
}

fn play_with(request: &Request, findings: usize) -> Turn {
    if role(request) != "researcher" {
        return writes(request, "echo 'def login(): pass' >> src/auth.py");
    }
    let finding = |at: usize| {
        format!(
            "{RAW}-{at}: the helper number {at} in src/lib/auth_{at}.ts signs tokens of its own kind, as told in the page about helpers, and nobody calls it from more than two places"
        )
    };
    let found: Vec<String> = (0..findings).map(finding).collect();
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
    run_with(150)
}

fn run_with(findings: usize) -> (Row, String) {
    let script = Script::new(move |request: &Request| play_with(request, findings));
    let row = Row::set(project(), Setup::new(script));
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

/// Tokens of each phase's context, and the per cent that `show` says isolation saved.
fn measure_phases(findings: usize) -> [(u64, i64); 3] {
    let (row, run) = run_with(findings);
    let shown = row.json(&["show", &run]);
    let phases = shown["savings"]["phases"].as_array().unwrap();
    PHASES.map(|phase| {
        let savings = phases.iter().find(|one| one["phase"] == phase).unwrap();
        (tokens(&row, &run, "login", phase), savings["saved"].as_i64().unwrap())
    })
}

#[test]
fn each_phase_stays_well_under_what_one_conversation_would_hold() {
    let [few, many] = [FEW, MANY].map(measure_phases);
    println!("| phase | {FEW} findings | saved | {MANY} findings | saved |\n|---|---|---|---|---|");
    for (phase, (few, many)) in PHASES.iter().zip(few.iter().zip(&many)) {
        println!("| {phase} | {} | {} % | {} | {} % |", few.0, few.1, many.0, many.1);
    }
    let [_, few_write, few_validate] = few;
    let [_, write, validate] = many;
    assert!(write.0 <= few_write.0 + 1_000, "findings are bounded: {few:?} {many:?}");
    assert_eq!(validate.0, few_validate.0, "no finding of the research arrives");
    assert!(write.1 >= 43 && validate.1 >= write.1, "per cent saved: {many:?}");
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
