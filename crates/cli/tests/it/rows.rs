//! Every row of the table of what happens and what the controller does about it, through the built program with a model played by
//! script; then bad luck, which loses nothing.

mod by_person;
mod contradictions;
mod cost;
mod disk;
mod editing;
mod endings;
mod hosts;
mod liars;
mod limits;
mod luck;
mod mending;
mod merging;
mod own_edit;
mod prose;
mod questions;

use std::fs;
use std::process::Command;
use std::sync::Arc;

use sequester_core::message::Message;
use sequester_testkit::model::{Request, Script, Server, Setup, Turn};
use serde_json::{Value, json};

use crate::command::{Answer, Bench};
use crate::scripted::program;

/// The first model and the next.
pub(crate) const A: &str = "openai/gpt-5";
const BOTH: &str = "openai/gpt-5,anthropic/claude-sonnet-5";

/// A repository with a plan beside it, and the model.
pub(crate) struct Row {
    pub(crate) bench: Arc<Bench>,
    pub(crate) server: Server,
}

/// What an invocation told as JSON lines.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    /// Of the run that it was about.
    pub(crate) run: String,
    pub(crate) events: Vec<Value>,
}

impl Row {
    pub(crate) fn new(plan: &str, play: impl Fn(&Request) -> Turn + Send + Sync + 'static) -> Self {
        Self::set(bench("", plan), Setup::new(Script::new(play)))
    }

    pub(crate) fn set(bench: Arc<Bench>, setup: Setup) -> Self {
        Self { bench, server: setup.start_blocking().unwrap() }
    }

    pub(crate) fn plan(&self) -> String {
        self.bench.path("plan.md").display().to_string()
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        program(&self.bench, &self.server, arguments)
    }

    /// The plan with two at once and the first model alone, or as is named.
    pub(crate) fn run(&self, more: &[&str]) -> Ran {
        let plan = self.plan();
        let mut arguments = vec!["run", &plan, "--json", "--yes"];
        for (flag, value) in [("--jobs", "2"), ("--model", A)] {
            if !more.contains(&flag) {
                arguments.extend([flag, value]);
            }
        }
        arguments.extend(more);
        self.tell(&arguments)
    }

    pub(crate) fn resume(&self, run: &str) -> Ran {
        self.tell(&["resume", run, "--json"])
    }

    pub(crate) fn tell(&self, arguments: &[&str]) -> Ran {
        Ran::of(&Answer::of(&self.command(arguments).output().unwrap()))
    }

    pub(crate) fn json(&self, arguments: &[&str]) -> Value {
        let mut command = self.command(&[arguments, &["--json"]].concat());
        let answer = Answer::of(&command.output().unwrap());
        assert_eq!(answer.code, Some(0), "{arguments:?}: {answer:?}");
        answer.json()
    }

    /// Each attempt of a task: its step, why it was made, by which model and how it ended.
    pub(crate) fn tried(&self, run: &str, task: &str) -> Vec<String> {
        let shown = self.json(&["show", run, task]);
        let attempts = shown["attempts"].as_array().unwrap().iter();
        let model = |attempt: &Value| match attempt["model"].as_str() {
            Some(A) => "a",
            _ => "b",
        };
        let word = |attempt: &Value, key: &str| attempt[key].as_str().unwrap_or("-").to_owned();
        let line = attempts.map(|one| {
            let [step, purpose, outcome] = ["step", "purpose", "outcome"].map(|key| word(one, key));
            format!("{step} {purpose} {} {outcome}", model(one))
        });
        line.collect()
    }

    /// How a task stands, with the reason.
    pub(crate) fn state(&self, run: &str, task: &str) -> (String, String) {
        let shown = self.json(&["show", run, task]);
        let word = |key: &str| shown[key].as_str().unwrap_or_default().to_owned();
        (word("state"), word("reason"))
    }

    /// Prompts of what the model was asked about a task, one for each attempt and model that began.
    pub(crate) fn prompts(&self, task: &str) -> Vec<String> {
        let requests = self.server.requests();
        let posted = requests.iter().filter(|one| one.method == "POST");
        let asked = posted.map(|one| one.request().unwrap());
        let begun = asked.filter(|one| one.turn == 0 && own(one) == task);
        begun.map(|one| one.prompt().to_owned()).collect()
    }

    /// Paths that `diff` names.
    pub(crate) fn changed(&self, run: &str, task: &str) -> Vec<String> {
        let diff = self.json(&["diff", run, task]);
        let files = diff["files"].as_array().unwrap().iter();
        files.map(|file| file["path"].as_str().unwrap().to_owned()).collect()
    }

    fn git(&self, arguments: &[&str]) -> String {
        crate::waves::git(&self.bench, arguments)
    }

    /// A file as it stands on the branch.
    pub(crate) fn file(&self, run: &str, path: &str) -> String {
        self.git(&["show", &format!("sequester/{run}:{path}")])
    }

    /// The audit finds nothing, and something to look at.
    pub(crate) fn is_proved(&self, run: &str) {
        let audit = self.json(&["audit", run]);
        assert_eq!((&audit["ok"], &audit["breaches"]), (&json!(true), &json!([])), "{audit}");
        assert!(audit["contexts"].as_u64().unwrap() > 0, "{audit}");
        assert!(audit["requests"].as_u64().unwrap() > 0, "{audit}");
    }

    /// The only question there is.
    fn question(&self) -> Value {
        let inbox = self.json(&["inbox"]);
        assert_eq!(inbox.as_array().map(Vec::len), Some(1), "{inbox}");
        inbox[0].clone()
    }

    /// Answers it; what was printed.
    fn answer(&self, words: &str) -> String {
        let question = self.question()["id"].as_str().unwrap().to_owned();
        let output = self.command(&["answer", &question, words]).output().unwrap();
        let answer = Answer::of(&output);
        assert_eq!(answer.code, Some(0), "{answer:?}");
        answer.out
    }
}

impl Ran {
    fn of(answer: &Answer) -> Self {
        let read = |line: &str| serde_json::from_str(line).unwrap_or_else(|_| panic!("{answer:?}"));
        let events: Vec<Value> = answer.out.lines().map(read).collect();
        let run = events.iter().find_map(|event| event["run"].as_str());
        assert!(!answer.err.contains("panicked"), "{answer:?}");
        Self { code: answer.code, run: run.unwrap_or_default().to_owned(), events }
    }

    /// It ended so, and said so last.
    pub(crate) fn ended(&self, code: i32, outcome: &str) -> &str {
        let last = self.events.last().unwrap();
        assert_eq!((self.code, &last["outcome"]), (Some(code), &json!(outcome)), "{self:?}");
        &self.run
    }

    /// It could not go on, and said why.
    pub(crate) fn failed(&self, code: i32, error: &str, words: &str) -> Value {
        let told = self.events.last().unwrap()["error"].clone();
        assert_eq!((self.code, &told["code"]), (Some(code), &json!(error)), "{self:?}");
        assert!(told["message"].as_str().unwrap().contains(words), "`{words}` in {told}");
        assert!(!told["hint"].as_str().unwrap().is_empty(), "{told}");
        told
    }
}

pub(crate) fn bench(configuration: &str, plan: &str) -> Arc<Bench> {
    let mut files = vec![("README.md", "Letters\n")];
    if !configuration.is_empty() {
        files.push(("sequester.toml", configuration));
    }
    let bench = Bench::with(&files);
    fs::write(bench.path("plan.md"), plan).unwrap();
    Arc::new(bench)
}

/// A plan of tasks, each with its id, its block and its text.
pub(crate) fn plan(workflow: &str, tasks: &[(&str, &str, &str)]) -> String {
    let head = format!("---\nsequester: 1\nworkflow: {workflow}\n---\n# Letters\n");
    let task = |(id, block, text): &(&str, &str, &str)| {
        format!("\n## [{id}] Write {id}\n\n```task\n{block}\n```\n\n{text}\n")
    };
    head + &tasks.iter().map(task).collect::<String>()
}

/// One task that creates `a.txt`, which must say `right`.
pub(crate) fn one(workflow: &str) -> String {
    let block = "files: {create: [a.txt]}\nchecks: [\"grep right a.txt\"]";
    plan(workflow, &[("a", block, "Write the right letter.")])
}

/// Whose task it is.
pub(crate) fn own(request: &Request) -> &str {
    let id = request.prompt().split("**Task ID:** ").nth(1);
    id.and_then(|rest| rest.lines().next()).unwrap_or_default()
}

/// Which agent is asked, by what it is told to be.
pub(crate) fn role(request: &Request) -> &'static str {
    let roles = [
        ("You review one change", "reviewer"),
        ("You judge one thing: whether", "spec-reviewer"),
        ("You judge one thing: how", "quality-reviewer"),
        ("You validate one change", "validator"),
        ("You verify that", "verifier"),
        ("You turn a goal into a plan", "planner"),
        ("You carry out one step", "executor"),
        ("You implement one task", "writer"),
    ];
    let found = roles.into_iter().find(|(words, _)| request.system.contains(words));
    found.map_or("researcher", |(_, role)| role)
}

fn is_first_model(request: &Request) -> bool {
    request.model.contains("gpt")
}

fn is_fix(request: &Request) -> bool {
    request.prompt().contains("mend this and nothing else")
}

/// What the last calls brought.
pub(crate) fn results(request: &Request) -> String {
    match request.messages.last() {
        Some(Message::Results(results)) => results.iter().map(|one| one.text.as_str()).collect(),
        _ => String::new(),
    }
}

pub(crate) fn write(path: &str, content: &str) -> Turn {
    Turn::call("Write", json!({ "file_path": path, "content": content }))
}

pub(crate) fn bash(command: &str) -> Turn {
    Turn::call("Bash", json!({ "command": command }))
}

/// Writes a file, then says that it is done.
pub(crate) fn deliver(request: &Request, path: &str, content: &str) -> Turn {
    let line = format!("printf %s '{content}' > {path}");
    if request.turn == 0 { bash(&line) } else { Turn::report(wrote(request)) }
}

/// A report that goes on.
pub(crate) fn report(request: &Request, phase: &str, findings: &Value) -> Value {
    json!({
        "task_id": own(request), "phase": phase, "status": "complete", "decision": "PROCEED",
        "findings": findings, "context_summary": format!("Did {}.", own(request)),
        "issues": [], "questions": [], "artifacts": [], "notes": [],
        "self_review": [{ "item": "It is there", "ok": true }],
    })
}

pub(crate) fn wrote(request: &Request) -> Value {
    let phase = if role(request) == "executor" { "execute" } else { "write" };
    report(request, phase, &json!({ "files_changed": [], "tests_written": [] }))
}

pub(crate) fn researched(request: &Request) -> Value {
    let findings = json!({
        "existing_implementations": [], "conflicts": [], "patterns_found": [],
        "recommendations": ["Keep it short."],
    });
    report(request, "research", &findings)
}

pub(crate) fn reviewed(request: &Request, spec: &Value, quality: &Value) -> Value {
    report(request, "review", &json!({ "spec": spec, "quality": quality }))
}

pub(crate) fn pass() -> Value {
    json!({ "verdict": "pass", "findings": [] })
}

/// The report of whoever is asked, as if all were well.
pub(crate) fn content(request: &Request) -> Value {
    match role(request) {
        "planner" => report(request, "plan", &json!({ "steps": ["Write it."] })),
        "reviewer" | "spec-reviewer" | "quality-reviewer" => reviewed(request, &pass(), &pass()),
        "validator" => {
            let errors = json!({ "passed": true, "errors": [] });
            let checks = json!({
                "types": errors, "lint": errors, "tests": { "passed": true },
                "security": { "passed": true, "issues": [] },
            });
            report(request, "validate", &json!({ "checks": checks }))
        }
        "verifier" => {
            let met = json!({ "text": "It is right.", "met": true, "proof": "a.txt:1" });
            report(request, "verify", &json!({ "requirements": [met] }))
        }
        "researcher" => researched(request),
        _ => wrote(request),
    }
}

/// The same, stopped.
pub(crate) fn stopped(mut report: Value, status: &str, reason: &str, resolution: &str) -> Turn {
    report["status"] = status.into();
    report["decision"] = "STOP".into();
    report["reason"] = reason.into();
    report["resolution"] = resolution.into();
    Turn::report(report)
}
