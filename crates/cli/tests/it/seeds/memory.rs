//! What passes from task to task: both worked examples, and what a subagent is asked for (002).

use std::fs;
use std::sync::Arc;

use sequester_testkit::model::{Request, Script, Setup, Turn};
use serde_json::json;

use super::prompt;
use crate::command::Bench;
use crate::rows::{Row, bash, own, wrote};

/// Each task's title, what it needs, and what it says at its end.
type Subtask = (&'static str, &'static str, &'static [&'static str], &'static str);

fn ran(subtasks: &'static [Subtask], configuration: &str) -> (Row, String) {
    let bench = Bench::with(&[("README.md", "x\n"), ("sequester.toml", configuration)]);
    let mut plan = "---\nsequester: 1\nworkflow: solo\n---\n# Work\n".to_owned();
    for (id, title, needs, _) in subtasks {
        let needs = needs.join(", ");
        let block = format!("```task\nneeds: [{needs}]\n```");
        plan = [plan, format!("## [{id}] {title}\n\n{block}\n\n{title}.\n")].join("\n");
    }
    fs::write(bench.path("plan.md"), plan).unwrap();
    let play = |request: &Request| {
        let (id, .., summary) = subtasks.iter().find(|one| one.0 == own(request)).unwrap();
        if request.turn == 0 {
            return bash(&format!("echo {id} > {id}.txt"));
        }
        let mut told = wrote(request);
        told["context_summary"] = (*summary).into();
        let lines = summary.lines().filter_map(|line| line.split_once(": "));
        let artifacts = lines.map(
            |(kind, text)| json!({ "type": kind, "content": text, "relevance": null, "refs": [] }),
        );
        told["artifacts"] = artifacts
            .filter(|one| one["type"].as_str().unwrap().chars().all(char::is_uppercase))
            .collect();
        Turn::report(told)
    };
    let row = Row::set(Arc::new(bench), Setup::new(Script::new(play)));
    let run = row.run(&["--jobs", "1"]).ended(0, "done").to_owned();
    (row, run)
}

const AUTHENTICATION: &[Subtask] = &[
    (
        "t1",
        "Analyze project structure",
        &[],
        "Project uses FastAPI framework; main entry point is server.py.",
    ),
    ("t2", "Find the endpoints", &["t1"], "Found API endpoints defined in routes/api.py."),
    (
        "t3",
        "Choose how to authenticate",
        &["t2"],
        "Decided to use JWT for auth (matches FastAPI patterns).",
    ),
    ("t4", "Add authentication to API endpoints", &["t3"], "Added."),
];

#[test]
fn smart_loading_hands_over_the_decision_that_a_task_needs() {
    let (row, run) = ran(AUTHENTICATION, "");
    let last = prompt(&row, &run, "t4", "write");
    for told in ["Found API endpoints defined in routes/api.py.", "Decided to use JWT for auth"] {
        assert!(last.contains(told), "{told} is missing in {last}");
    }
    assert!(last.contains("t2/summary") && last.contains("t3/summary"), "each names its source");
}

const ENDPOINT: &[Subtask] = &[
    ("s1", "Look at the framework", &[], "FINDING: Project uses FastAPI framework"),
    (
        "s2",
        "Look at the routes",
        &["s1"],
        "FINDING: Existing endpoints in routes/api.py\nRESOURCE: routes/api.py - API endpoint definitions",
    ),
    ("s3", "Add new API endpoint", &["s2"], "Added."),
];

#[test]
fn relevant_artifacts_are_included_and_grouped_by_type() {
    let (row, run) = ran(ENDPOINT, "[records]\nartifacts = true\n");
    let last = prompt(&row, &run, "s3", "write");
    for told in [
        "Project uses FastAPI framework",
        "Existing endpoints in routes/api.py",
        "routes/api.py - API endpoint definitions",
    ] {
        assert!(last.contains(told), "{told} is missing in {last}");
    }
    let (findings, resources) = (last.find("## Findings"), last.find("## Resources"));
    assert!(findings.is_some() && findings < resources, "{last}");
    row.is_proved(&run);
}

#[test]
fn artifact_fields_are_type_content_relevance_subtask_and_timestamp() {
    let (row, run) = ran(ENDPOINT, "[records]\nartifacts = true\n");
    let records = row.json(&["records", &run]);
    let finding = records.as_array().unwrap().iter().find(|one| one["kind"] == "artifact").unwrap();
    assert_eq!(
        (&finding["type"], &finding["task"]),
        (&json!("FINDING"), &json!("s1")),
        "{finding}"
    );
    assert!(finding["at"].as_str().unwrap().contains('T'), "{finding}");
    assert!(finding.get("relevance").is_some() && finding["text"].is_string(), "{finding}");
}

#[test]
fn summary_prompt_asks_for_findings_decisions_and_files_that_matter() {
    let (row, run) = ran(AUTHENTICATION, "");
    let first = prompt(&row, &run, "t1", "write");
    let asked = "the key findings, the decisions you made and why, and the files that matter for later work";
    assert!(first.contains(asked), "{first}");
}

const UNRELATED: &[Subtask] = &[
    ("u1", "Paint the fence", &[], "Green paint."),
    ("u2", "Water the roses", &["u1"], "Two cans."),
    ("u3", "Feed zebras", &["u2"], "Hay."),
    ("u4", "Compile kernels", &["u3"], "Done."),
];

#[test]
fn where_nothing_matches_the_last_two_of_all_ancestors_are_shown() {
    let (row, run) = ran(UNRELATED, "");
    let last = prompt(&row, &run, "u4", "write");
    assert!(last.contains("Hay.") && last.contains("Two cans."), "{last}");
    assert!(!last.contains("Green paint."), "{last}");
}

#[test]
fn auto_extraction_keeps_artifacts_of_any_report() {
    let bench =
        Bench::with(&[("README.md", "x\n"), ("sequester.toml", "[records]\nartifacts = true\n")]);
    fs::write(bench.path("plan.md"), crate::rows::plan("solo", &[("a", "", "Write a.")])).unwrap();
    let play = |request: &Request| {
        if request.turn == 0 {
            return bash("echo a > a.txt");
        }
        let mut told = wrote(request);
        told["findings"]["files_changed"] = json!(["a.txt"]);
        told["issues"] = json!(["The disk is slow."]);
        Turn::report(told)
    };
    let row = Row::set(Arc::new(bench), Setup::new(Script::new(play)));
    let run = row.run(&[]).ended(0, "done").to_owned();
    let records = row.json(&["records", &run]);
    let texts: Vec<&str> =
        records.as_array().unwrap().iter().filter_map(|one| one["text"].as_str()).collect();
    assert!(texts.contains(&"a.txt") && texts.contains(&"The disk is slow."), "{records}");
}

#[test]
fn what_was_recalled_and_cited_counts_as_used() {
    let bench = Bench::with(&[("README.md", "x\n")]);
    let plan = crate::rows::plan(
        "solo",
        &[("a", "", "Choose the colour."), ("b", "needs: [a]", "Paint.")],
    );
    fs::write(bench.path("plan.md"), plan.replace("sequester: 1", "sequester: 1\n")).unwrap();
    bench.write("sequester.toml", "relevance = \"off\"\n[records]\nsummaries = true\n");
    bench.commit("settings");
    let play = |request: &Request| match (own(request), request.turn) {
        ("b", 0) => Turn::call("recall", json!({ "query": "colour chosen" })),
        (task, 0 | 1) if task != "a" || request.turn == 0 => {
            bash(&format!("echo {task} > {task}.txt"))
        }
        _ => {
            let mut told = wrote(request);
            told["context_summary"] = match own(request) {
                "a" => "The colour chosen is green.".into(),
                _ => "Painted as a/summary says.".into(),
            };
            Turn::report(told)
        }
    };
    let row = Row::set(Arc::new(bench), Setup::new(Script::new(play)));
    let run = row.run(&["--jobs", "1"]).ended(0, "done").to_owned();
    let records = row.json(&["records", &run]);
    let summary = records.as_array().unwrap().iter().find(|one| one["id"] == "a/summary").unwrap();
    assert_eq!(summary["uses"], 1, "{summary}");
}
