//! The program with a model that is played by script.

use std::fs;
use std::process::{Command, Stdio};

use sequester_testkit::model::Server;
use serde_json::{Value, json};

use crate::command::{Answer, Bench};

/// Like nothing that would be redacted for its looks.
pub(crate) const KEY: &str = "the key of this test 4711";

/// Models, one for each wire.
pub(crate) const MODELS: [&str; 3] =
    ["anthropic/claude-sonnet-5", "openai/gpt-5", "openai-responses/gpt-5"];

/// The key as it can stand in a header.
pub(crate) fn key() -> String {
    KEY.replace(' ', "-")
}

/// `sequester task --json`.
pub(crate) fn command(bench: &Bench, server: &Server, arguments: &[&str]) -> Command {
    program(bench, server, &[&["task", "--json"], arguments].concat())
}

/// With nothing of the caller's environment but the programs.
pub(crate) fn program(bench: &Bench, server: &Server, arguments: &[&str]) -> Command {
    let temporary = bench.path("tmp");
    fs::create_dir_all(&temporary).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_sequester"));
    command
        .args(arguments)
        .current_dir(bench.repo())
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", bench.path("home"))
        .env("TMPDIR", temporary)
        .env("ANTHROPIC_BASE_URL", format!("http://{}", server.address()))
        .env("OPENAI_BASE_URL", server.base_url())
        .env("ANTHROPIC_API_KEY", key())
        .env("OPENAI_API_KEY", key())
        .stdin(Stdio::null());
    command
}

/// Runs it. Standard output is one JSON value, what is the person's is untouched, no workspace is left and no key told.
pub(crate) fn task(bench: &Bench, server: &Server, arguments: &[&str]) -> Answer {
    run(bench, &mut command(bench, server, arguments))
}

pub(crate) fn run(bench: &Bench, command: &mut Command) -> Answer {
    let before = bench.tree();
    let answer = Answer::of(&command.output().unwrap());
    assert!(answer.json().is_object() && answer.out.ends_with("}\n"), "{answer:?}");
    assert_eq!(answer.out.lines().count(), 1, "{answer:?}");
    assert!(!answer.err.contains("panicked"), "{answer:?}");
    assert!(!answer.out.contains(&key()) && !answer.err.contains(&key()), "{answer:?}");
    assert!(bench.tree() == before, "the person's tree was changed: {answer:?}");
    assert_eq!(fs::read_dir(bench.path("tmp")).unwrap().count(), 0, "a workspace is left");
    answer
}

/// A report that can be taken from an agent that explores.
pub(crate) fn found(summary: &str) -> Value {
    json!({
        "task_id": "task", "phase": "research", "status": "complete", "decision": "PROCEED",
        "findings": {
            "existing_implementations": ["src/mail.rs:2 `send`"], "conflicts": [],
            "patterns_found": ["one module per thing"], "recommendations": [],
        },
        "context_summary": summary, "issues": [], "questions": [], "artifacts": [], "notes": [],
        "self_review": [],
    })
}
