//! A plan in waves, and a model played by script that carries it out over the wire.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::process::Command;

use sequester_core::agent::CUT_OFF;
use sequester_core::digest::Digest;
use sequester_core::message::Message;
use sequester_testkit::model::{Recorded, Request, Script, Server, Turn};
use serde_json::{Value, json};

use crate::command::{Answer, Bench};
use crate::scripted::program;

/// Tasks of one wave.
const WIDTH: usize = 8;

/// Each task on two of the wave before, so that the ways from one to another are many.
fn needs(at: usize) -> Vec<usize> {
    let Some(wave) = (at / WIDTH).checked_sub(1) else { return Vec::new() };
    let mut needs = vec![wave * WIDTH + at % WIDTH, wave * WIDTH + (at + 1) % WIDTH];
    needs.sort_unstable();
    needs
}

fn name(at: usize) -> String {
    format!("t{at:02}")
}

/// Its first change does not pass its check.
fn needs_a_fix(at: usize) -> bool {
    at % 7 == 3
}

/// Subjects of the commits that come of it.
pub(crate) fn titles(tasks: usize) -> Vec<String> {
    (0..tasks).map(|at| format!("Write {}", name(at))).collect()
}

pub(crate) fn plan(tasks: usize) -> String {
    let mut plan = "---\nsequester: 1\nworkflow: solo\n---\n# Waves\n".to_owned();
    for (at, title) in titles(tasks).iter().enumerate() {
        let (own, needs) = (name(at), needs(at));
        let needs: Vec<String> = needs.into_iter().map(name).collect();
        let read: Vec<String> = needs.iter().map(|need| format!("out/{need}.txt")).collect();
        let _ = write!(plan, "\n## [{own}] {title}\n\n```task\nneeds: [{}]\n", needs.join(", "));
        let _ = writeln!(plan, "files: {{create: [out/{own}.txt], read: [{}]}}", read.join(", "));
        if at % 5 == 2 {
            plan.push_str("workflow: build\n");
        }
        if needs_a_fix(at) {
            let _ = writeln!(plan, "checks: [\"grep -q mended out/{own}.txt\"]");
        }
        let _ = write!(plan, "```\n\nWrite its own name and all that it reads.\n");
    }
    plan
}

/// A repository with such a plan beside it.
pub(crate) fn bench(tasks: usize) -> Bench {
    let bench = Bench::with(&[("README.md", "Waves\n"), ("src/lib.rs", "pub fn one() {}\n")]);
    fs::write(bench.path("plan.md"), plan(tasks)).unwrap();
    bench
}

pub(crate) fn server() -> Server {
    Server::start_blocking(Script::new(play)).unwrap()
}

fn play(request: &Request) -> Turn {
    let prompt = request.prompt();
    let own = prompt.split("**Task ID:** ").nth(1).and_then(|rest| rest.lines().next());
    let own = own.unwrap_or_default();
    if !request.tools.iter().any(|tool| tool == "Write") {
        return review(own, request);
    }
    let path = format!("out/{own}.txt");
    let bash = |command: String| Turn::call("Bash", json!({ "command": command }));
    let read: Vec<String> = own
        .strip_prefix('t')
        .and_then(|number| number.parse().ok())
        .map(|at: usize| needs(at).into_iter().map(|need| format!("out/{}.txt", name(need))))
        .into_iter()
        .flatten()
        .collect();
    let is_fix = prompt.contains("What speaks against the change");
    match (done(request), is_fix) {
        // Done twice, these would leave another file.
        (0, true) => bash(format!("echo mended >> {path}")),
        (1, false) if read.is_empty() => bash(format!("echo first >> {path}")),
        (1, false) => bash(format!("cat {} >> {path}", read.join(" "))),
        (0, false) => {
            let write =
                Turn::call("Write", json!({ "file_path": path, "content": format!("{own}\n") }));
            read.iter()
                .fold(write, |turn, path| turn.and_call("Read", json!({ "file_path": path })))
        }
        _ => Turn::report(json!({
            "task_id": own, "phase": "write", "status": "complete", "decision": "PROCEED",
            "findings": { "files_changed": [path], "tests_written": [] },
            "context_summary": format!("Wrote {own}."),
            "issues": [], "questions": [], "artifacts": [], "notes": [],
            "self_review": [{ "item": "It is there", "ok": true }],
        })),
    }
}

fn review(own: &str, request: &Request) -> Turn {
    if done(request) == 0 {
        return Turn::call("Read", json!({ "file_path": format!("out/{own}.txt") }));
    }
    let pass = json!({ "verdict": "pass", "findings": [] });
    Turn::report(json!({
        "task_id": own, "phase": "review", "status": "complete", "decision": "PROCEED",
        "findings": { "spec": pass, "quality": pass },
        "context_summary": format!("Looked at {own}."),
        "issues": [], "questions": [], "artifacts": [], "notes": [], "self_review": [],
    }))
}

/// How many of its calls have happened.
fn done(request: &Request) -> usize {
    let is_whole = |message: &&Message| match message {
        Message::Results(results) => results.iter().all(|one| one.text != CUT_OFF),
        _ => false,
    };
    request.messages.iter().filter(is_whole).count()
}

/// `sequester run` on the plan.
pub(crate) fn run(bench: &Bench, server: &Server, model: &str, jobs: usize) -> Command {
    let plan = bench.path("plan.md").display().to_string();
    let jobs = jobs.to_string();
    program(bench, server, &["run", &plan, "--model", model, "--jobs", &jobs, "--json", "--yes"])
}

/// A turn of a conversation: digests of its system part and its prompt, and how many replies stood before it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    pub(crate) system: String,
    pub(crate) prompt: String,
    pub(crate) replies: usize,
}

impl Place {
    pub(crate) fn of(recorded: &Recorded) -> Self {
        let request = recorded.request().unwrap();
        let digest = |text: &str| Digest::of(text.as_bytes()).to_string();
        let (system, prompt) = (digest(&request.system), digest(request.prompt()));
        Self { system, prompt, replies: request.turn }
    }
}

/// What the model was asked, without the questions which models there are.
pub(crate) fn asked(server: &Server) -> Vec<Recorded> {
    server.requests().into_iter().filter(|one| one.method == "POST").collect()
}

/// How often a whole answer to each was handed over.
pub(crate) fn delivered(server: &Server) -> BTreeMap<Place, usize> {
    let mut times = BTreeMap::new();
    for one in server.delivered().iter().filter(|one| one.method == "POST") {
        *times.entry(Place::of(one)).or_default() += 1;
    }
    times
}

/// The last that was told of a run.
pub(crate) fn tail(printed: &str) -> String {
    let lines: Vec<&str> = printed.lines().collect();
    lines[lines.len().saturating_sub(12)..].join("\n")
}

/// The log of a run as its events were written.
pub(crate) fn export(bench: &Bench, server: &Server, run: &str) -> Vec<Value> {
    let answer = Answer::of(&program(bench, server, &["export", run]).output().unwrap());
    assert_eq!(answer.code, Some(0), "{answer:?}");
    answer.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Digests of all contexts, by task and attempt.
pub(crate) fn contexts(log: &[Value]) -> BTreeMap<String, String> {
    let started = log.iter().filter(|event| event["event"] == "attempt_started");
    let shown = started.map(|event| {
        let key = format!("{} {} {}", event["task"], event["attempt"], event["step"]);
        (key, event["context"]["digest"].as_str().unwrap().to_owned())
    });
    shown.collect()
}

pub(crate) fn git(bench: &Bench, arguments: &[&str]) -> String {
    let mut git = Command::new("git");
    git.args(["-c", "user.name=Somebody", "-c", "user.email=somebody@example.org"]);
    let output = git.args(arguments).current_dir(bench.repo()).output().unwrap();
    assert!(output.status.success(), "git {arguments:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

pub(crate) fn tree(bench: &Bench, run: &str) -> String {
    git(bench, &["rev-parse", &format!("sequester/{run}^{{tree}}")])
}
