//! What a person meets first: which run is meant, what was applied, what is asked before something goes.

use std::process::Command;

use serde_json::{Value, json};

use crate::command::{Answer, Bench};
use crate::ledger::Ledger;
use crate::terminal::run_in_terminal;

const SPELLED_OUT: &str = "---\nsequester: 1\nworkflow: solo\n---\n# Letters\n\n## [a] Thank them\n\n\
    ```task\nfiles: {create: [a.txt]}\n```\n\nCreate `a.txt`:\n\n```\none\n```\n";

fn bench(plan: &str) -> (Bench, String) {
    let bench = Bench::with(&[("README.md", "Letters\n")]);
    std::fs::write(bench.path("plan.md"), plan).unwrap();
    let plan = bench.path("plan.md").display().to_string();
    (bench, plan)
}

fn run(bench: &Bench, plan: &str) -> String {
    let answer = bench.run(&["run", plan, "--model", "literal", "--json"]);
    assert_eq!(answer.code, Some(0), "{answer:?}");
    let first: Value = serde_json::from_str(answer.out.lines().next().unwrap()).unwrap();
    first["run"].as_str().unwrap().to_owned()
}

#[test]
fn without_an_id_the_newest_run_with_a_branch_is_meant_and_status_says_what_was_applied() {
    let (bench, plan) = bench(SPELLED_OUT);
    let made = run(&bench, &plan);
    // Newer, and without a change.
    bench.run(&["task", "Look around.", "--model", "literal"]);
    let told = format!("note: This is run `{made}` (`");
    for arguments in [&["show"][..], &["diff"], &["audit"], &["apply"]] {
        let answer = bench.run(arguments);
        assert_eq!(answer.code, Some(0), "{arguments:?}: {answer:?}");
        assert!(answer.err.contains(&told), "{arguments:?}: {answer:?}");
    }
    let listed = bench.run(&["status", "--json"]).json();
    let of = |run: &str| listed.as_array().unwrap().iter().find(|one| one["run"] == run).cloned();
    assert_eq!(of(&made).unwrap()["applied"], true, "{listed}");
    assert_eq!(listed[0]["applied"], false, "{listed}");
    assert!(bench.run(&["status"]).out.contains("done, applied"));
    assert!(bench.run(&["status", &made]).err.contains("is applied: HEAD has its commits."));
}

#[test]
fn a_plan_that_is_started_twice_is_told_of_its_first_run() {
    let ask = "Ask: Which one?\n- This\n- That\n\nCreate `a.txt`:";
    let (bench, plan) = bench(&SPELLED_OUT.replace("Create `a.txt`:", ask));
    let start = || bench.run(&["run", &plan, "--model", "literal"]);
    let first = start();
    assert_eq!(first.code, Some(3), "{first:?}");
    assert!(!first.err.contains("is not finished"), "{first:?}");
    let waiting = bench.run(&["status", "--json"]).json()[0]["run"].as_str().unwrap().to_owned();
    let told = format!("`sequester resume {waiting}` continues the first.");
    assert!(start().err.replace('\n', " ").contains(&told));
}

#[test]
fn old_runs_are_named_before_they_go() {
    let (bench, _) = bench(SPELLED_OUT);
    drop(Ledger::waiting(&bench, "0abcdef1"));
    let preview = bench.run(&["gc", "0abcdef1", "--dry-run"]);
    assert!(preview.out.contains("Would remove 1 run: `0abcdef1`."), "{preview:?}");
    let data = bench.run(&["gc", "0abcdef1", "--dry-run", "--json"]).json();
    assert_eq!(data, json!({"would_remove": ["0abcdef1"], "held": []}));
    let asked = "Remove 1 run for good: `0abcdef1`? [y/N]";
    let refused = run_in_terminal(&bench, 100, "n", &["gc", "0abcdef1"]);
    assert!(refused.out.contains(asked), "{refused:?}");
    assert!(refused.out.contains("Nothing was removed."), "{refused:?}");
    assert_eq!(bench.run(&["status", "--json"]).json().as_array().unwrap().len(), 1);
    // Without a terminal nobody is asked.
    assert_eq!(bench.run(&["gc", "0abcdef1"]).code, Some(0));
    assert_eq!(bench.run(&["status", "--json"]).json(), json!([]));
}

#[test]
fn an_option_stands_only_in_the_help_of_commands_that_it_means_something_for() {
    let (bench, _) = bench(SPELLED_OUT);
    let has = |command: &str| bench.run(&[command, "--help"]).out.contains("--include-dirty");
    for command in ["plan", "context", "run", "task"] {
        assert!(has(command), "{command}");
    }
    for command in ["gc", "answer", "cancel", "apply", "status"] {
        assert!(!has(command), "{command}");
    }
    // It did no harm there, and does none now.
    assert_eq!(bench.run(&["status", "--include-dirty"]).code, Some(0));
}

#[test]
fn a_plan_tells_prices_only_of_models_that_may_be_asked_and_an_unknown_workflow() {
    let (bench, plan) = bench(SPELLED_OUT);
    let plain = |bench: &Bench| {
        let mut command = bench.command(&["plan", &plan]);
        for name in ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY"] {
            command.env_remove(name);
        }
        Answer::of(&command.output().unwrap())
    };
    bench.write("sequester.toml", "model = \"literal\"\nworkflow = \"nope\"\n");
    let free = plain(&bench);
    assert!(!free.out.contains('$'), "{free:?}");
    let told = free.out.replace('\n', " ");
    assert!(told.contains("note: `workflow` in the configuration:"), "{free:?}");
    let problems = bench.run(&["doctor", "--no-checks", "--json"]).json()["problems"].to_string();
    assert!(problems.contains("nope"), "{problems}");
    bench.write("sequester.toml", "model = \"openai/gpt-5\"\n");
    let priced = plain(&bench);
    let rows: Vec<&str> = priced.out.lines().filter(|line| line.contains('$')).collect();
    assert!(matches!(rows[..], [row] if row.contains("openai/gpt-5 ")), "{priced:?}");
    let data = bench.run(&["plan", &plan, "--json"]).json();
    assert_eq!(data["estimate"]["dollars"].as_object().unwrap().len(), 9, "{data}");
}

#[test]
fn where_no_task_is_found_no_format_is_told() {
    let (bench, plan) = bench("Nothing to do.\n");
    assert_eq!(bench.run(&["plan", &plan, "--json"]).json()["format"], Value::Null);
}

#[test]
fn a_person_grants_a_protected_name_to_one_run() {
    let text = SPELLED_OUT.replace("a.txt", ".claude/skills/a.md");
    let (bench, plan) = bench(&text);
    let start = ["run", plan.as_str(), "--model", "literal", "--unattended"];
    let refused = bench.run(&start);
    assert!(refused.err.contains("which it may not: `.claude` is protected"), "{refused:?}");
    let granted = bench.run(&[&start[..], &["--grant", ".claude/skills"]].concat());
    assert_eq!(granted.code, Some(0), "{granted:?}");
    assert!(!granted.err.contains("which it may not"), "{granted:?}");
    let files = bench.run(&["diff", "--json"]).json()["files"].clone();
    assert_eq!(files[0]["path"], ".claude/skills/a.md", "{files}");
    for name in [".git/hooks", "sequester.toml", "src"] {
        let answer = bench.run(&[&start[..], &["--grant", name]].concat());
        assert_eq!(answer.code, Some(2), "{name}: {answer:?}");
    }
}

#[test]
fn the_built_in_writer_is_told_of_short_functions_only_where_a_person_wants_it() {
    let (bench, plan) = bench(SPELLED_OUT);
    let told = || bench.run(&["context", &plan, "a"]).out.contains("Keep functions under");
    assert!(!told());
    bench.write("sequester.toml", "function_lines = 40\n");
    assert!(told());
    bench.write("sequester.toml", "function_lines = 0\n");
    assert_eq!(bench.run(&["plan", &plan]).code, Some(2));
}

#[test]
fn the_first_plan_of_the_readme_runs_to_its_end_without_a_model() {
    let examples = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");
    let bench = Bench::plain();
    let shortener = format!("{examples}/shortener/.");
    let repo = bench.repo();
    assert!(Command::new("cp").args(["-R", &shortener]).arg(&repo).status().unwrap().success());
    bench.git(&["init", "--quiet"]);
    bench.commit("start");
    let plan = format!("{examples}/first-plan.md");
    let answer = bench.run(&["run", &plan, "--model", "literal"]);
    assert_eq!(answer.code, Some(0), "{answer:?}");
    assert!(answer.out.contains("done (2 done, 0 failed, 0 blocked, 0 waiting)"), "{answer:?}");
    assert!(!answer.err.contains(" fails"), "{answer:?}");
}

#[test]
fn a_plan_that_was_edited_meanwhile_keeps_nothing_from_being_applied() {
    let plan =
        "---\nsequester: 1\n---\n# P\n\n## [a] Greet\n\nCreate `a.txt`:\n\n```\nHello.\n```\n";
    let bench = Bench::with(&[("plan.md", plan), ("b.txt", "b\n")]);
    let ran = bench.run(&["run", "plan.md", "--model", "literal", "--yes"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    bench.write("plan.md", format!("{plan}\nA word of mine.\n"));
    bench.write("b.txt", "mine\n");
    assert_eq!(bench.run(&["apply"]).code, Some(1), "another file is not committed either");
    bench.write("b.txt", "b\n");
    let applied = bench.run(&["apply"]);
    assert_eq!(applied.code, Some(0), "{applied:?}");
    assert_eq!(std::fs::read_to_string(bench.repo().join("a.txt")).unwrap(), "Hello.\n");
    assert!(std::fs::read_to_string(bench.repo().join("plan.md")).unwrap().contains("of mine"));
}
