//! Statements of the documents that the product came from, each tried on the built program. A test is named after its statement.

mod chain;
mod delegation;
mod handoff;
mod liars;
mod memory;
mod parallel;
mod tools;

use sequester_testkit::model::{Request, Turn};
use serde_json::Value;

use crate::rows::{Row, bash, content, role};

/// A project whose tests are green, and that says so.
const CONFIGURATION: &str = "[checks]\ntests = \"sh tests.sh\"\ntypes = false\nlint = false\n";
const TESTS: &str = "! grep -rq broken src && echo '1 passed, 0 failed'\n";

/// A task that asks for a login.
const TASK: (&str, &str, &str) =
    ("login", "files: {modify: [src/auth.py]}", "Add user authentication.");

/// The first turn writes, the second reports; all others are content.
fn writes(request: &Request, command: &str) -> Turn {
    match role(request) {
        "writer" | "executor" if request.turn == 0 => bash(command),
        _ => Turn::report(content(request)),
    }
}

/// The contexts that were shown, by their phase.
fn context(row: &Row, run: &str, task: &str, phase: &str) -> Value {
    row.json(&["context", "--run", run, task, "--phase", phase])
}

fn prompt(row: &Row, run: &str, task: &str, phase: &str) -> String {
    context(row, run, task, phase)["prompt"].as_str().unwrap().to_owned()
}

fn tokens(row: &Row, run: &str, task: &str, phase: &str) -> u64 {
    context(row, run, task, phase)["tokens"].as_u64().unwrap()
}
