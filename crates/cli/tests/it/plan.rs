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
    bench.write("sequester.toml", "model = \"anthropic/claude-sonnet-5\"\n");
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
    for expected in [
        "error[SQ0105]",
        "SQ0106",
        "warning[SQ0112]",
        "1 warning",
        "needs: [zzz]",
        "plan.md:9:",
        "help",
    ] {
        assert!(answer.out.contains(expected), "{expected:?} is missing in:\n{}", answer.out);
    }
    let json = bench.run(&["plan", &path, "--json"]).json();
    let (faults, warnings) =
        (json["faults"].as_array().unwrap(), json["warnings"].as_array().unwrap());
    assert_eq!((faults.len(), warnings.len()), (2, 1), "{json}");
    for fault in faults.iter().chain(warnings) {
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

#[test]
fn what_a_task_asks_for_is_checked_where_it_stands() {
    let bench = Bench::with(&[("a.txt", "x\n")]);
    let plan = "---\nsequester: 1\nmodel: litral\n---\n# P\n\n## [a] One\n\n```task\nagent: writr\nprofile: writr\nbudget: lots\n\
        workflow: ../up\n```\n\nText.\n\n## [b] Two\n\n```task\nmodel: a/b, cheap\nprofile: writer\nbudget: 200k\nworkflow: tdd\n```\n\nText.\n\n## [c] Three\n\nText.\n";
    fs::write(bench.path("plan.md"), plan).unwrap();
    let answer = bench.run(&["plan", "../plan.md", "--json"]);
    let faults = answer.json()["faults"].as_array().unwrap().clone();
    let told: Vec<String> = faults
        .iter()
        .map(|fault| format!("{}:{} {}", fault["line"], fault["column"], fault["message"]))
        .collect();
    let lines: Vec<&str> = told.iter().map(|one| one.split(' ').next().unwrap()).collect();
    let places = ["3:8", "10:8", "11:10", "12:9", "13:11", "24:11"];
    assert_eq!(lines, places, "{told:#?}\n{faults:#?}");
    assert!(told[5].contains("Task `b` asks for the workflow `tdd`, which does not exist."));
    assert!(told[0].contains("The plan asks for a model that is none."), "{told:?}");
    assert!(told[2].contains("Task `a` asks for the profile `writr`"), "{told:?}");
    assert_eq!(faults[0]["hint"], "Perhaps `literal` is meant.");
    assert!(faults[2]["hint"].as_str().unwrap().contains("Perhaps `writer` is meant."));
}

#[test]
fn a_workflow_that_the_plan_sets_for_all_and_nobody_knows_is_one_fault() {
    let bench = Bench::with(&[("a.txt", "x\n")]);
    let plan = "---\nsequester: 1\nworkflow: biuld\n---\n# P\n\n## [a] One\n\nText.\n\n## [b] Two\n\nText.\n";
    fs::write(bench.path("plan.md"), plan).unwrap();
    let faults = bench.run(&["plan", "../plan.md", "--json"]).json()["faults"].clone();
    let [fault] = &faults.as_array().unwrap()[..] else { panic!("{faults}") };
    assert_eq!((&fault["code"], &fault["line"]), (&"SQ0258".into(), &3.into()));
    assert_eq!(fault["hint"], "Perhaps `build` is meant.");
}

#[test]
fn files_that_are_to_be_created_and_are_there_are_told_of() {
    let bench = Bench::with(&[("a.txt", "x\n"), ("b.txt", "x\n")]);
    let task = |id: &str| {
        format!("## [{id}] One\n\n```task\nfiles: {{create: [{id}.txt]}}\n```\n\nText.\n\n")
    };
    let plan = format!("---\nsequester: 1\n---\n# P\n\n{}{}", task("a"), task("c"));
    fs::write(bench.path("plan.md"), plan).unwrap();
    let told = bench.run(&["plan", "../plan.md"]);
    assert_eq!(told.code, Some(0), "{told:?}");
    let words = told.out.split_whitespace().collect::<Vec<_>>().join(" ");
    let note =
        "note: To be created, and there already: `a.txt` (task `a`). If the plan has been run";
    assert!(words.contains(note), "{told:?}");
}

#[test]
fn an_empty_standard_input_is_called_so() {
    let (bench, _) = shop();
    let answer = bench.run(&["plan", "-"]);
    assert_eq!(answer.code, Some(2), "{answer:?}");
    assert!(answer.out.contains("Standard input is empty."), "{answer:?}");
}

#[test]
fn a_slip_in_a_tasks_id_is_found() {
    let (bench, plan) = shop();
    let text = fs::read_to_string(&plan).unwrap().replace("[c]", "[readme]");
    fs::write(&plan, text).unwrap();
    let answer = bench.run(&["context", &plan, "raedme"]);
    assert!(answer.err.contains("Perhaps `readme` is meant."), "{answer:?}");
}

#[test]
fn what_holds_for_all_tasks_has_the_plan_as_its_source() {
    let (bench, plan) = shop();
    let text = fs::read_to_string(&plan).unwrap();
    let text = text.replacen("sequester: 1\n", "sequester: 1\nchecks: [\"make all\"]\n", 1);
    let text = text.replacen("needs: [a]\n", "needs: [a]\nchecks: [\"make mail\"]\n", 1);
    fs::write(&plan, text).unwrap();
    for (task, check, source) in [("a", "make all", "plan: checks"), ("b", "make mail", "task b")] {
        let context = bench.run(&["context", &plan, task, "--json"]).json();
        let prompt = context["prompt"].as_str().unwrap();
        let at = prompt.find(check).unwrap() as u64;
        let holds = |row: &&serde_json::Value| {
            row["part"] == "prompt"
                && (row["start"].as_u64().unwrap()..row["end"].as_u64().unwrap()).contains(&at)
        };
        let row = context["fragments"].as_array().unwrap().iter().find(holds).unwrap();
        assert_eq!(row["source"], source);
    }
}

#[test]
fn what_is_in_a_circle_or_behind_one_is_in_no_wave() {
    let bench = Bench::plain();
    let task = |id: &str, need: &str| {
        format!("## [{id}] {id}\n\n```task\nneeds: [{need}]\n```\n\nDo.\n\n")
    };
    let tasks = [task("a", "c"), task("b", "a"), task("c", "b"), task("d", ""), task("e", "c")];
    bench.write("plan.md", format!("---\nsequester: 1\n---\n# Circle\n\n{}", tasks.concat()));
    let shown = bench.run(&["plan", "plan.md", "--json"]);
    assert_eq!(shown.code, Some(2), "{shown:?}");
    let plan = shown.json();
    let tasks = plan["tasks"].as_array().unwrap().iter();
    let waves: Vec<u64> = tasks.map(|task| task["wave"].as_u64().unwrap()).collect();
    assert_eq!(waves, [0, 0, 0, 1, 0]);
    let message = plan["faults"][0]["message"].as_str().unwrap();
    assert!(["`a` needs `c`", "`b` needs `a`"].iter().all(|part| message.contains(part)), "{plan}");
    let text = bench.run(&["plan", "plan.md"]).out;
    assert!(text.contains("5 tasks in 1 wave, 0 done"), "{text}");
    let (waves, held) =
        text.split_once("in no wave: in a circle of needs, or behind one\n").unwrap();
    assert!(waves.contains("  d  ") && held.contains("  e  "), "{text}");
}
