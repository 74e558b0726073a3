//! What a person is told of a run: in which words, and of what.

use serde_json::Value;

use crate::command::{Answer, Bench, FILES};
use crate::ledger::{Ledger, PLAN};

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
    assert!(
        line.contains(
            ".claude/a.json, `.claude` is protected (Claude Code runs its hooks and commands)."
        ),
        "{shown}"
    );
    let log = bench.run(&["log", &run]).out;
    assert!(log.contains("Not taken: `.claude/a.json`."), "{log}");
}

#[test]
fn files_that_instruct_agents_or_that_git_runs_are_named_where_a_change_is_looked_at_and_taken() {
    let plan = "---\nsequester: 1\nworkflow: solo\n---\n# Settings\n\n## [a] Write \u{1b}[31mall\u{202e}\n\n\
        Run: `mkdir -p ci/hooks && echo x > AGENTS.md && echo y > ci/hooks/pre-commit && echo z > a.txt`\n";
    let bench = bench(plan);
    assert_eq!(run(&bench, &[]).code, Some(0));
    bench.git(&["config", "core.hooksPath", "ci/hooks"]);
    let shown = newest(&bench);
    let run = shown["run"].as_str().unwrap().to_owned();
    let wanted = serde_json::json!([
        {"path": "AGENTS.md", "reason": "it gives orders to most coding agents"},
        {"path": "ci/hooks/pre-commit", "reason": "`core.hookspath` of git names it"},
    ]);
    assert_eq!(shown["to_read"], wanted);
    let of_task = bench.run(&["show", &run, "a"]).out;
    assert!(of_task.contains("AGENTS.md gives orders to most coding agents"), "{of_task}");
    let told = "note: Read `AGENTS.md` before you use it: it gives orders to most coding agents.";
    for arguments in
        [&["show", &run][..], &["diff", &run], &["diff", &run, "--stat"], &["apply", &run]]
    {
        let answer = bench.run(arguments);
        assert!(answer.err.replace('\n', " ").contains(told), "{arguments:?}: {answer:?}");
    }
    let mut log = std::process::Command::new("git");
    let log =
        log.args(["log", "--format=%B", "-n", "3"]).current_dir(bench.repo()).output().unwrap();
    let log = String::from_utf8(log.stdout).unwrap();
    assert!(log.contains("all"), "{log}");
    assert!(!log.contains(['\u{1b}', '\u{202e}']), "{log:?}");
}

#[test]
fn a_change_that_is_made_and_not_on_the_branch_yet_is_told_of_as_such() {
    let bench = bench(PLAN);
    drop(Ledger::early(&bench, "0abcdef1"));
    let status = bench.run(&["status", "0abcdef1", "--json"]).json();
    let two = &status["tasks"][1];
    assert_eq!((&two["state"], &two["off_branch"]), (&"done".into(), &true.into()), "{two}");
    assert_eq!(two["comes_after"], "1", "{two}");
    let text = bench.run(&["status", "0abcdef1"]).out;
    assert!(text.contains("sequester/0abcdef1, once something is on it"), "{text}");
    let diff = bench.run(&["diff", "0abcdef1"]);
    assert!(diff.err.contains("`2` is done. Its change is not on the branch yet"), "{diff:?}");
    assert!(bench.run(&["diff", "0abcdef1", "2", "--stat"]).out.contains("goodbye.txt"));
    let apply = bench.run(&["apply", "0abcdef1", "--json"]);
    let error = &apply.json()["error"];
    assert_eq!((apply.code, &error["place"]), (Some(1), &"run 0abcdef1".into()), "{apply:?}");
    assert!(error["message"].as_str().unwrap().contains("after `1`"), "{apply:?}");
    assert!(error["hint"].as_str().unwrap().contains("sequester diff 0abcdef1 2"), "{apply:?}");
}

#[test]
fn only_tasks_that_are_done_are_counted_as_applied() {
    let plan = "---\nsequester: 1\nworkflow: solo\n---\n# Letters\n\n\
        ## [a] Write a\n\nCreate `a.txt`:\n\n```\na\n```\n\n\
        ## [b] Write b\n\n```task\noptional: true\n```\n\nCreate `b.txt`:\n\n```\nb\n```\n\n\
        ## [c] Fail\n\nRun: `false`\n";
    let bench = bench(plan);
    assert_eq!(run(&bench, &["--unattended"]).code, Some(1));
    let applied = bench.run(&["apply"]);
    assert_eq!(applied.code, Some(0), "{applied:?}");
    assert!(applied.err.contains("Only what is done is applied: 1 of 2 tasks."), "{applied:?}");
}

#[test]
fn a_line_that_cannot_be_carried_out_is_told_as_a_line_of_the_plan() {
    let plan = "---\nsequester: 1\nworkflow: solo\n---\n# Letters\n\n\
        ## [a] Write a\n\nCreate `a.txt`:\n\n```\na\n```\n\n\
        ## [b] Do something\n\nUpdate the tests accordingly.\n";
    let bench = bench(plan);
    let line = plan.lines().position(|line| line.starts_with("Update")).unwrap() + 1;
    let answer = run(&bench, &["--unattended"]);
    let file = bench.path("plan.md").display().to_string();
    let told = format!("Line {line} of `{file}`");
    assert!(answer.err.contains(&told), "{answer:?}");
    let run = newest(&bench)["run"].as_str().unwrap().to_owned();
    for arguments in [&["status", &run][..], &["show", &run], &["show", &run, "b"]] {
        let shown = bench.run(arguments);
        let words: String = shown.out.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains(&told), "{arguments:?}: {shown:?}");
    }
}

#[test]
fn where_there_is_no_git_the_way_that_works_is_named() {
    let bench = Bench::plain();
    std::fs::write(bench.repo().join("b.txt"), "b\n").unwrap();
    let text = "Create `a.txt`:\n\n```\na\n```\n";
    let answer = bench.run(&["task", text, "--model", "literal"]);
    assert_eq!(answer.code, Some(0), "{answer:?}");
    assert!(!answer.out.contains("apply"), "{answer:?}");
    assert!(answer.out.contains("| patch -p1"), "{answer:?}");
    let run = newest(&bench)["run"].as_str().unwrap().to_owned();
    let status = bench.run(&["status", &run]).out;
    assert!(!status.contains("apply") && status.contains("| patch -p1"), "{status}");
}

#[test]
fn tests_first_is_told_as_red_and_green() {
    let plan = "---\nsequester: 1\nworkflow: solo\n---\n# Letters\n\n## [a] Write a\n\n```task\ntdd: true\n\
        files: {create: [a.txt], test: [tests/test_a.sh]}\nchecks: [\"sh tests/test_a.sh\"]\n```\n\n\
        Create `tests/test_a.sh`:\n\n```sh\n#!/bin/sh\ntest -e a.txt && exit 0\necho there is no a\nexit 1\n```\n\nCreate `a.txt`:\n\n```\na\n```\n";
    let bench = bench(plan);
    let answer = run(&bench, &[]);
    assert_eq!(answer.code, Some(0), "{answer:?}");
    let red = "red: `sh tests/test_a.sh` fails with the new tests alone, as it should";
    assert!(answer.err.contains(red), "{answer:?}");
    let run = newest(&bench)["run"].as_str().unwrap().to_owned();
    let shown = bench.run(&["show", &run, "a"]).out;
    let words = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    let told = "red: the new tests fail without the change; green: they pass with it";
    assert!(words.contains(told), "{shown}");
}

#[test]
fn a_run_is_exported_as_one_value_where_that_is_asked_for() {
    let bench = bench(PLAN);
    drop(Ledger::waiting(&bench, "0abcdef1"));
    let lines = bench.run(&["export", "0abcdef1"]).out;
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(bench.run(&["export", "0abcdef1", "--json"]).json(), Value::Array(lines));
}

#[test]
fn branches_that_stay_when_their_runs_go_are_named() {
    let bench = bench(PLAN);
    drop(Ledger::waiting(&bench, "0abcdef1"));
    let gone = bench.run(&["gc", "0abcdef1"]);
    assert!(gone.out.contains("`git branch -D sequester/0abcdef1`"), "{gone:?}");
}

#[test]
fn all_faults_of_a_configuration_are_told_at_once() {
    let bench = bench(PLAN);
    bench.write("sequester.toml", "jbos = 3\nreveiw = \"x\"\n");
    let plan = bench.path("plan.md").display().to_string();
    let answer = bench.run(&["plan", &plan]);
    assert_eq!(answer.code, Some(2), "{answer:?}");
    assert!(answer.err.contains("`jbos`") && answer.err.contains("`reveiw`"), "{answer:?}");
}

#[test]
fn what_is_left_of_a_run_that_stopped_is_counted() {
    let plan = "---\nsequester: 1\nworkflow: solo\n---\n# Letters\n\n\
        ## [a] Ask\n\nAsk: Which colour?\n- Red\n- Blue\n\nCreate `a.txt`:\n\n```\na\n```\n\n\
        ## [b] Write b\n\n```task\nneeds: [a]\n```\n\nCreate `b.txt`:\n\n```\nb\n```\n";
    let bench = bench(plan);
    let answer = run(&bench, &[]);
    let counts = "(0 done, 0 failed, 0 blocked, 1 waiting, 1 pending)";
    assert!(answer.out.contains(counts), "{answer:?}");
}

#[test]
fn a_task_that_is_named_alone_is_that_of_the_newest_run_that_has_it() {
    let bench = bench(PLAN);
    drop(Ledger::waiting(&bench, "0abcdef1"));
    for command in ["show", "log", "status", "diff"] {
        let answer = bench.run(&[command, "2"]);
        assert_eq!(answer.code, Some(0), "{command}: {answer:?}");
        assert!(answer.err.contains("`2` is a task of run `0abcdef1`"), "{command}: {answer:?}");
    }
    let unknown = bench.run(&["show", "nowhere"]);
    assert_eq!(unknown.code, Some(2), "{unknown:?}");
    assert!(unknown.err.contains("No run is called `nowhere`"), "{unknown:?}");
}

#[test]
fn a_context_of_a_run_without_a_task_names_the_tasks() {
    let bench = bench(PLAN);
    drop(Ledger::waiting(&bench, "0abcdef1"));
    let answer = bench.run(&["context", "--run", "0abcdef1"]);
    assert_eq!(answer.code, Some(2), "{answer:?}");
    for part in ["Its tasks are `1`, `2`.", "sequester context --run 0abcdef1 1"] {
        assert!(answer.err.contains(part), "{answer:?}");
    }
    let nothing = bench.run(&["context"]);
    assert_eq!(nothing.code, Some(2), "{nothing:?}");
    assert!(nothing.err.contains("PLAN"), "{nothing:?}");
}

#[test]
fn a_check_that_fails_is_told_once() {
    let plan = "---\nsequester: 1\nworkflow: solo\n---\n# P\n\n## [a] Write\n\n\
        ```task\nchecks: [\"exit 3\"]\n```\n\nCreate `a.txt`:\n\n```\na\n```\n";
    let bench = bench(plan);
    let answer = run(&bench, &["--unattended"]);
    let told = answer.err.lines().filter(|line| line.starts_with("a Write: "));
    let told: Vec<&str> = told.filter(|line| line.contains("exit 3")).collect();
    let wanted = ["a Write: `exit 3` fails", "a Write: `exit 3` fails without the change"];
    assert_eq!(told, wanted, "{answer:?}");
    let shown = bench.run(&["show", "a"]).out;
    let check = "failed with exit code 3, as it did before: exit 3";
    assert!(shown.contains(check), "{shown}");
    assert!(!shown.lines().any(|line| line.trim_start().starts_with("against")), "{shown}");
}

#[test]
fn a_log_names_lines_of_the_plan_as_everybody_else_does() {
    let plan = "---\nsequester: 1\nworkflow: solo\n---\n# P\n\n## [a] Vague\n\nMake it nice.\n";
    let bench = bench(plan);
    let answer = run(&bench, &["--unattended"]);
    assert!(answer.err.contains("Line 9 of `"), "{answer:?}");
    let log = bench.run(&["log"]).out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(log.contains("Line 9 of `"), "{log}");
    assert!(!log.contains("Line 1 "), "{log}");
}

/// All of it at once, by processes of which none is too large by itself. Whichever is ended, the first ends the same way.
const HOARD: &str = "import os, time\nfor _ in range(6):\n    if os.fork() == 0:\n        held = bytearray(b'x') * (40 << 20)\n        time.sleep(3)\n        os._exit(0)\nheld = bytearray(b'x') * (40 << 20)\nfor _ in range(6):\n    if os.wait()[1] == 9: os.kill(os.getpid(), 9)\n";

#[test]
fn who_uses_more_memory_than_he_may_is_told_the_limit_and_who_set_it() {
    let limits = "[limits]\nmemory = \"150M\"\n";
    let bench = Bench::with(&[("sequester.toml", limits), ("hoard.py", HOARD)]);
    let answer = bench.run(&["task", "Run: `python3 hoard.py`", "--model", "literal"]);
    assert_eq!(answer.code, Some(1), "{answer:?}");
    let told = answer.out.split_whitespace().collect::<Vec<_>>().join(" ");
    let limit = "limit was memory (150 MiB, set in the configuration)";
    assert!(told.contains(limit), "{answer:?}");
    let words = ["sandbox", "--profile", "read-only", "--", "python3", "hoard.py"];
    let answer = bench.run(&words);
    assert_eq!(answer.code, Some(137), "{answer:?}");
    assert!(answer.err.contains(limit), "{answer:?}");
    let own = ["sandbox", "--profile", "read-only", "--", "sh", "-c", "kill -9 $$"];
    let answer = bench.run(&own);
    assert_eq!((answer.code, answer.err.as_str()), (Some(137), ""), "{answer:?}");
}
