//! What a person is told of a run: in which words, and of what.

use serde_json::Value;

use crate::command::{Answer, Bench, FILES};

/// A repository with a plan beside it.
fn bench(plan: &str) -> Bench {
    let bench = Bench::with(&FILES);
    std::fs::write(bench.path("plan.md"), plan).unwrap();
    bench
}

fn run(bench: &Bench, more: &[&str]) -> Answer {
    let plan = bench.path("plan.md").display().to_string();
    let mut arguments = vec!["run", plan.as_str(), "--model", "literal"];
    arguments.extend(more);
    bench.run(&arguments)
}

/// The newest run.
fn newest(bench: &Bench) -> Value {
    bench.run(&["show", "--json"]).json()
}

#[test]
fn what_a_subagent_wrote_and_no_change_may_bring_is_named_with_the_reason() {
    let plan = "---\nsequester: 1\nworkflow: solo\n---\n# Settings\n\n## [a] Write both\n\n\
        Run: `mkdir -p .claude && echo x > .claude/a.json && echo y > a.txt`\n";
    let bench = bench(plan);
    let answer = run(&bench, &[]);
    assert_eq!(answer.code, Some(0), "{answer:?}");
    assert!(answer.err.contains("not taken: `.claude/a.json`"), "{answer:?}");
    let run = newest(&bench)["run"].as_str().unwrap().to_owned();
    let shown = bench.run(&["show", &run, "a"]).out;
    let line = shown.lines().find(|line| line.trim_start().starts_with("not taken")).unwrap();
    assert!(line.contains(".claude/a.json, `.claude` is protected."), "{shown}");
    let log = bench.run(&["log", &run]).out;
    assert!(log.contains("Not taken: `.claude/a.json`."), "{log}");
}
