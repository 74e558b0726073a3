//! Artifacts and backpacks on their way from task to task, in real jails, with a model that is played by script.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

use sequester_core::agent::CUT_OFF;
use sequester_core::message::Message;
use sequester_testkit::model::{Request, Script, Server, Turn};
use serde_json::{Value, json};

use crate::command::{Answer, Bench};
use crate::scripted::{self, found, program};

/// `a` leaves things; `b` builds on it and takes one of them out; `c` stands beside; `d` builds on `b`, `e` on `a` alone.
fn plan() -> String {
    let mut plan = "---\nsequester: 1\nworkflow: solo\n---\n# Letters\n".to_owned();
    for (id, needs, text) in [
        ("a", "", "Write the letter."),
        ("b", "a", "Count the stamps of the postmaster, then write of them."),
        ("c", "", "Write another one."),
        ("d", "b", "Write the last one."),
        ("e", "a", "Write one more."),
    ] {
        let _ = write!(
            plan,
            "\n## [{id}] Letter {id}\n\n```task\nneeds: [{needs}]\nfiles: {{create: [{id}.txt]}}\n```\n\n{text}\n"
        );
    }
    plan
}

fn task(request: &Request) -> &str {
    let id = request.prompt().split("**Task ID:** ").nth(1);
    id.and_then(|rest| rest.lines().next()).unwrap_or_default()
}

/// What was called and answered, by the first word of its arguments.
fn done(messages: &[Message]) -> BTreeSet<String> {
    let mut done = BTreeSet::new();
    for pair in messages.windows(2) {
        let [Message::Assistant(said), Message::Results(results)] = pair else { continue };
        for (call, result) in said.calls.iter().zip(results) {
            let names = ["file_path", "content", "item"];
            let name = names.iter().find_map(|name| call.arguments[*name].as_str());
            if result.text != CUT_OFF {
                done.extend(name.map(str::to_owned));
            }
        }
    }
    done
}

fn artifact(label: &str, content: &str, refs: &[&str]) -> (&'static str, Value) {
    let refs: Vec<&str> = refs.to_vec();
    (
        "record_artifact",
        json!({"type": label, "content": content, "relevance": "post", "refs": refs}),
    )
}

fn pack(item: &str, priority: &str) -> (&'static str, Value) {
    ("add_to_backpack", json!({"item": item, "category": "facts", "priority": priority}))
}

/// What each task's subagent does, call by call.
fn steps(task: &str) -> Vec<(&'static str, Value)> {
    let file = format!("{task}.txt");
    let mut steps = vec![("Write", json!({"file_path": file, "content": "Dear all\n"}))];
    match task {
        "a" => steps.extend([
            artifact("FINDING", "The printer prints in blue.", &["a.txt"]),
            artifact("TODO", "Count the stamps of the postmaster.", &["finding-1"]),
            artifact("TODO", "Ask the mayor about the bridge.", &[]),
            pack("Stamps cost 80 cents.", "high"),
            pack("The printer is broken.", "low"),
        ]),
        "b" => steps.extend([
            ("remove_from_backpack", json!({"item": "a/pack-2"})),
            artifact("DECISION", "There are 12 stamps.", &["a/todo-1", "b.txt"]),
            pack("The postmaster is called Ada.", "normal"),
        ]),
        _ => {}
    }
    steps
}

fn play(request: &Request) -> Turn {
    let (task, done) = (task(request), done(&request.messages));
    let next = steps(task).into_iter().find(|(_, arguments)| {
        let names = ["file_path", "content", "item"];
        let name = names.iter().find_map(|name| arguments[*name].as_str());
        !done.contains(name.unwrap_or_default())
    });
    match next {
        Some((name, arguments)) => Turn::call(name, arguments),
        None => Turn::report(json!({
            "task_id": task, "phase": "write", "status": "complete", "decision": "PROCEED",
            "findings": {"files_changed": [], "tests_written": []},
            "context_summary": format!("The letter {task} is written."), "issues": [], "questions": [],
            "artifacts": [], "notes": [], "self_review": [{"item": "It is there", "ok": true}],
        })),
    }
}

struct World {
    bench: Bench,
    server: Server,
}

impl World {
    fn new(settings: &str) -> Self {
        let bench = Bench::with(&[("README.md", "Letters\n"), ("sequester.toml", settings)]);
        fs::write(bench.path("plan.md"), plan()).unwrap();
        Self { bench, server: Server::start_blocking(Script::new(play)).unwrap() }
    }

    fn start(&self) -> Command {
        let plan = self.bench.path("plan.md").display().to_string();
        let words = ["run", &plan, "--model", "openai/gpt-5", "--yes", "--json"];
        program(&self.bench, &self.server, &words)
    }

    /// The first request of a task's subagent.
    fn first(&self, id: &str) -> Request {
        let all = self.server.requests();
        let mut all = all.iter().map(|one| one.request().unwrap());
        all.find(|request| task(request) == id).unwrap()
    }
}

fn run_of(line: &str) -> String {
    let event: Value = serde_json::from_str(line).unwrap();
    event["run"].as_str().unwrap().to_owned()
}

const ON: &str = "[records]\nartifacts = true\nbackpack = true\n";

fn ids(records: &Value) -> Vec<&str> {
    records.as_array().unwrap().iter().map(|one| one["id"].as_str().unwrap()).collect()
}

#[test]
fn what_a_task_leaves_reaches_those_that_build_on_it_and_nobody_else() {
    let world = World::new(ON);
    let answer = Answer::of(&world.start().output().unwrap());
    assert_eq!(answer.code, Some(0), "{answer:?}");
    let run = run_of(answer.out.lines().next().unwrap());

    for request in world.server.requests().iter().map(|one| one.request().unwrap()) {
        let results = request.messages.iter().filter_map(|message| match message {
            Message::Results(results) => Some(results),
            _ => None,
        });
        let refused = results.flatten().find(|result| result.failed);
        assert!(refused.is_none(), "{refused:?}");
    }
    let prompt = |id: &str| world.first(id).prompt().to_owned();
    let has = |id: &str, text: &str| prompt(id).contains(text);
    let (stamps, printer) =
        ("- a/pack-1 (facts) Stamps cost 80 cents.\n", "The printer is broken.");
    assert!(has("b", stamps) && has("b", printer), "{}", prompt("b"));
    let todo = "## To do\n\nAn artifact, quoted:\n\n```\na/todo-1\npost\n";
    assert!(has("b", todo), "{}", prompt("b"));
    for text in ["Stamps cost", printer, "of the postmaster", "a/"] {
        assert!(!has("c", text) && !has("a", text), "{}", prompt("c"));
    }
    assert!(prompt("c").contains("# Backpack\n\nNone.\n"), "{}", prompt("c"));
    // What `b` took out is gone for `d`, which builds on it, and there for `e`, which does not.
    assert!(has("d", stamps) && has("d", "Ada") && !has("d", printer), "{}", prompt("d"));
    assert!(has("e", stamps) && has("e", printer) && !has("e", "Ada"), "{}", prompt("e"));

    // Who is handed nothing was shown what was said before.
    let plan = world.bench.path("plan.md").display().to_string();
    let said = world.bench.run(&["context", &plan, "a", "--json"]).json();
    let shown = world.bench.run(&["context", "--run", &run, "a", "--json"]).json();
    assert_eq!(said["digest"], shown["digest"]);

    let last: Value = serde_json::from_str(answer.out.lines().last().unwrap()).unwrap();
    assert_eq!((&last["event"], ids(&last["todos"])), (&json!("run_ended"), vec!["a/todo-2"]));
    let status = world.bench.run(&["status", &run, "--json"]).json();
    assert_eq!(ids(&status["todos"]), ["a/todo-2"]);
    for command in ["status", "show"] {
        let told = world.bench.run(&[command, &run]).out;
        assert!(told.contains("Ask the mayor about the bridge."), "{told}");
        assert!(!told.contains("a/todo-1"), "{told}");
    }
    let records = world.bench.run(&["records", &run, "--kind", "artifact", "--json"]).json();
    assert_eq!(ids(&records), ["a/finding-1", "a/todo-1", "a/todo-2", "b/decision-1"]);
    assert_eq!(records[3]["refs"], json!(["a/todo-1", "b.txt"]));
    let ended_at = |task: &str| {
        let mut events =
            answer.out.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let ended = events.find(|one| one["event"] == "attempt_ended" && one["task"] == task);
        ended.unwrap()["at"].clone()
    };
    let fields = |at: usize| {
        ["label", "type", "title", "relevance", "at"].map(|name| records[at][name].clone())
    };
    let wanted = |word: &str, label: &str, task: &str| {
        [json!(word), json!(label), json!("post"), json!("post"), ended_at(task)]
    };
    assert_eq!(fields(0), wanted("finding", "FINDING", "a"));
    assert_eq!(fields(3), wanted("decision", "DECISION", "b"));
    assert_eq!(
        (&records[1]["refs"], &records[1]["paths"]),
        (&json!(["a/finding-1"]), &json!(["a.txt"]))
    );
    let records = world.bench.run(&["records", &run, "--kind", "backpack", "--json"]).json();
    assert_eq!(ids(&records), ["a/pack-1", "a/pack-2", "b/pack-1"]);
    let audit = world.bench.run(&["audit", &run, "--json"]);
    assert_eq!((audit.code, &audit.json()["breaches"]), (Some(0), &json!([])), "{audit:?}");
}

#[test]
fn by_default_neither_artifacts_nor_backpacks_are_offered() {
    let world = World::new("[records]\nnotes = true\n");
    let answer = Answer::of(&world.start().output().unwrap());
    assert_eq!(answer.code, Some(0), "{answer:?}");
    let request = world.first("b");
    let is_off = |tool: &String| tool != "record_artifact" && !tool.ends_with("_backpack");
    assert!(request.tools.iter().all(is_off), "{:?}", request.tools);
    assert!(!request.prompt().contains("# Backpack"), "{}", request.prompt());
}

#[test]
fn a_run_that_is_killed_goes_on_with_the_backpack_that_it_had() {
    let whole = World::new(ON);
    let all = Answer::of(&whole.start().output().unwrap()).out.lines().count();
    for step in 1..4 {
        let world = World::new(ON);
        let mut child = world.start().stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let told: Vec<String> = lines.take(all * step / 4).map(Result::unwrap).collect();
        child.kill().unwrap();
        child.wait().unwrap();
        let run = run_of(&told[0]);
        let mut resume = program(&world.bench, &world.server, &["resume", &run, "--json"]);
        let answer = Answer::of(&resume.output().unwrap());
        assert_eq!(answer.code, Some(0), "after {step} of 4: {answer:?}");
        let last: Value = serde_json::from_str(answer.out.lines().last().unwrap()).unwrap();
        assert_eq!(ids(&last["todos"]), ["a/todo-2"], "after {step} of 4");
        assert_eq!(world.bench.run(&["audit", &run]).code, Some(0), "after {step} of 4");
    }
}

#[test]
fn a_researcher_that_leaves_no_finding_is_asked_for_one_and_a_forgotten_one_is_read_out() {
    let play = |request: &Request| {
        let is_told = request.messages.iter().any(|message| match message {
            Message::Results(results) => results[0].text.contains("You owe a FINDING"),
            _ => false,
        });
        let mut report = found("It is in src/mail.rs.");
        if !is_told {
            let none: [&str; 0] = [];
            report["findings"] = json!({
                "existing_implementations": none, "conflicts": none, "patterns_found": none,
                "recommendations": ["Look again."],
            });
        }
        Turn::report(report)
    };
    for (settings, turns) in [(ON, 2), ("", 1)] {
        let bench = Bench::with(&[("README.md", "Letters\n"), ("sequester.toml", settings)]);
        let server = Server::start_blocking(Script::new(play)).unwrap();
        let words = ["Find the mail.", "--agent", "researcher", "--model", "openai/gpt-5"];
        let answer = scripted::task(&bench, &server, &words);
        assert_eq!((answer.code, server.asked()), (Some(0), turns), "{answer:?}");
        let left = &answer.json()["kept"]["artifacts"];
        let wanted = match turns {
            2 => vec!["src/mail.rs:2 `send`", "one module per thing"],
            _ => Vec::new(),
        };
        let left: Vec<&str> =
            left.as_array().unwrap().iter().map(|one| one["content"].as_str().unwrap()).collect();
        assert_eq!(left, wanted);
    }
}

#[test]
fn a_researcher_may_find_nothing_and_says_so_to_those_that_come_after() {
    let play = |_: &Request| {
        let mut report = found("No mail is sent anywhere in src.");
        let none: [&str; 0] = [];
        report["findings"] = json!({
            "existing_implementations": none, "conflicts": none, "patterns_found": none,
            "recommendations": none,
        });
        Turn::report(report)
    };
    let bench = Bench::with(&[("README.md", "Letters\n"), ("sequester.toml", ON)]);
    let server = Server::start_blocking(Script::new(play)).unwrap();
    let words = ["Find the mail.", "--agent", "researcher", "--model", "openai/gpt-5"];
    let answer = scripted::task(&bench, &server, &words);
    assert_eq!((answer.code, server.asked()), (Some(0), 1), "{answer:?}");
    let left = answer.json()["kept"]["artifacts"].clone();
    let content = "Nothing found: No mail is sent anywhere in src.";
    assert_eq!(
        left,
        json!([{"id": "finding-1", "type": "FINDING", "content": content, "relevance": "research", "refs": []}])
    );
}
