//! `sequester plan`.

use std::fmt::Write as _;
use std::fs;

use serde_json::json;

use crate::command::{Bench, PLAN, shop};

#[test]
fn the_json_has_the_promised_shape() {
    let (bench, plan) = shop();
    let answer = bench.run(&["plan", &plan, "--json"]);
    assert_eq!(answer.code, Some(0), "{answer:?}");
    let shown = answer.json();
    assert_eq!(shown["format"], "native");
    assert_eq!(shown["faults"], json!([]));
    let task = &shown["tasks"][1];
    assert_eq!(task["id"], "b");
    assert_eq!(task["title"], "Send the mail");
    assert_eq!(task["needs"], json!(["a"]));
    assert_eq!(task["wave"], 2);
    assert_eq!(task["done"], false);
    assert_eq!(task["optional"], false);
    assert_eq!(task["files"], json!([{ "path": "src/mail.rs", "action": "modify" }]));
    assert!(task["tokens"].as_u64().unwrap() > 5);
    let text = task["text"].as_str().unwrap();
    assert!(PLAN.contains(text), "the text is verbatim");
    assert!(text.contains("Send the token by mail. B-CANARY."));
}

#[test]
fn waves_write_sets_and_prices_are_shown() {
    let (bench, plan) = shop();
    let out = bench.run(&["plan", &plan]).out;
    for expected in [
        "native plan: 3 tasks in 2 waves, 0 done",
        "wave 1",
        "create src/token.rs",
        "needs a",
        "anthropic/claude-sonnet-5",
    ] {
        assert!(out.contains(expected), "{expected:?} is missing in:\n{out}");
    }
}

#[test]
fn all_faults_come_at_once_with_their_source_lines() {
    let bench = Bench::with(&[("a.txt", "x\n")]);
    let plan = "---\nsequester: 1\n---\n# P\n\n## [a] One\n\n```task\nneeds: [zzz]\n```\n\nText.\n\n## [a] Two\n\n```task\nfiles: {modify: [gone.txt]}\n```\n\nText.\n";
    fs::write(bench.path("plan.md"), plan).unwrap();
    let path = bench.path("plan.md").display().to_string();
    let answer = bench.run(&["plan", &path]);
    assert_eq!(answer.code, Some(2));
    for expected in ["SQ0105", "SQ0106", "SQ0112", "needs: [zzz]", "plan.md:9:", "help"] {
        assert!(answer.out.contains(expected), "{expected:?} is missing in:\n{}", answer.out);
    }
    let faults = bench.run(&["plan", &path, "--json"]).json()["faults"].clone();
    assert_eq!(faults.as_array().unwrap().len(), 3, "{faults}");
    for fault in faults.as_array().unwrap() {
        for key in ["code", "message", "line", "column", "hint"] {
            assert!(!fault[key].is_null(), "{key} in {fault}");
        }
    }
}

#[test]
fn a_plan_comes_from_standard_input_too() {
    let (bench, _) = shop();
    let answer = bench.run_with_input(&["plan", "-", "--json"], PLAN.as_bytes());
    assert_eq!(answer.code, Some(0), "{answer:?}");
    assert_eq!(answer.json()["tasks"].as_array().unwrap().len(), 3);
    let empty = bench.run(&["plan", "-", "--json"]);
    assert_eq!(empty.json()["faults"][0]["code"], "SQ0101");
}

#[test]
fn ten_thousand_tasks_are_an_ordinary_plan() {
    let bench = Bench::with(&[("a.txt", "x\n")]);
    let mut plan = String::from("# Big\n\n**Goal:** Many.\n\n");
    for at in 1..=10_000 {
        let _ = write!(plan, "### Task {at}: Part {at}\n\n- [ ] **Step 1:** Do part {at}.\n\n");
    }
    fs::write(bench.path("plan.md"), plan).unwrap();
    let path = bench.path("plan.md").display().to_string();
    let shown = bench.run(&["plan", &path, "--json"]).json();
    assert_eq!(shown["tasks"].as_array().unwrap().len(), 10_000);
    assert_eq!(shown["tasks"][9_999]["wave"], 10_000);
}
