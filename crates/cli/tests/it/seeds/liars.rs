//! A lying writer, a lying validator and a lying reviewer never land red code as done.

use std::fs;
use std::sync::Arc;

use sequester_testkit::model::{Request, Script, Setup, Turn};

use super::{CONFIGURATION, TASK, TESTS};
use crate::command::Bench;
use crate::rows::{Row, bash, content, plan, report, role};

/// With a workflow of the project's own beside the built-in ones.
const OWN: &str = "name: own\nsteps:\n  - {id: write, agent: writer}\n  - {id: review, agent: reviewer, needs: [write]}\n";

fn bench(workflow: &str) -> Arc<Bench> {
    let bench = Bench::with(&[
        ("sequester.toml", CONFIGURATION),
        ("tests.sh", TESTS),
        ("src/auth.py", "def login(): pass\n"),
        (".sequester/workflows/own.yaml", OWN),
    ]);
    fs::write(bench.path("plan.md"), plan(workflow, &[TASK])).unwrap();
    Arc::new(bench)
}

/// All say that all is well, and the code is broken.
fn lie(request: &Request) -> Turn {
    let analysis = || report(request, "analyze", &serde_json::json!({ "complexity": "simple" }));
    match role(request) {
        _ if request.system.contains("You judge how complex") => Turn::report(analysis()),
        _ if request.system.contains("You make one small change") && request.turn == 0 => {
            bash("echo broken >> src/auth.py")
        }
        _ if request.system.contains("You make one small change") => {
            let found = serde_json::json!({ "files_changed": [], "tests_written": [] });
            Turn::report(report(request, "write", &found))
        }
        "writer" | "executor" if request.turn == 0 => bash("echo broken >> src/auth.py"),
        _ => Turn::report(content(request)),
    }
}

#[test]
fn lying_writers_validators_and_reviewers_never_land_red_code_as_done() {
    for workflow in ["solo", "chain", "pipeline", "build", "adaptive", "own"] {
        let row = Row::set(bench(workflow), Setup::new(Script::new(lie)));
        let ran = row.run(&["--unattended"]);
        let run = ran.ended(1, "failed");
        assert_eq!(row.state(run, "login").0, "failed", "{workflow}");
        let shown = row.json(&["show", run, "login"]);
        let red = shown["checks"].as_array().unwrap().iter().filter(|one| one["passed"] == false);
        assert!(red.count() > 0, "{workflow}: {}", shown["checks"]);
        let branches = crate::waves::git(&row.bench, &["branch", "--list"]);
        assert!(!branches.contains(run), "{workflow}: nothing is on a branch: {branches}");
    }
    // No model is asked at all: the commands decide.
    let bench = bench("parallel");
    bench.write("src/auth.py", "broken\n");
    bench.commit("broken");
    let row = Row::set(bench, Setup::new(Script::new(lie)));
    row.run(&["--unattended"]).ended(1, "failed");
}

#[test]
fn what_was_red_before_is_no_fault_of_the_task() {
    let bench = bench("chain");
    bench.write("src/old.py", "broken\n");
    bench.commit("red already");
    let play = |request: &Request| super::writes(request, "echo fine >> src/auth.py");
    let row = Row::set(bench, Setup::new(Script::new(play)));
    row.run(&[]).ended(0, "done");
}
