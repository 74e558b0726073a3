//! Subagents that give work to subagents, in real jails, with a model that is played by script.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

use sequester_core::agent::CUT_OFF;
use sequester_core::message::Message;
use sequester_testkit::model::{Request, Script, Server, Turn};
use serde_json::{Value, json};

use crate::command::{Answer, Bench};
use crate::scripted::key;

const PLAN: &str = "---\nsequester: 1\nworkflow: solo\n---\n# Letters\n\n\
## [a] Thank them\n\n```task\nprofile: full-access\nfiles: {create: [a.txt]}\nchecks: [\"grep -q thanks a.txt\"]\n```\n\n\
Thank every guest of the summer for having come so far in spite of the weather.\n";

/// What was called and answered, by file, command or description.
fn done(messages: &[Message]) -> BTreeSet<String> {
    let mut done = BTreeSet::new();
    for pair in messages.windows(2) {
        let [Message::Assistant(said), Message::Results(results)] = pair else { continue };
        for (call, result) in said.calls.iter().zip(results) {
            let names = ["file_path", "command", "description"];
            let name = names.iter().find_map(|name| call.arguments[*name].as_str());
            if result.text != CUT_OFF {
                done.extend(name.map(str::to_owned));
            }
        }
    }
    done
}

fn report(phase: &str, findings: &Value, summary: &str) -> Turn {
    Turn::report(json!({
        "task_id": "a", "phase": phase, "status": "complete", "decision": "PROCEED",
        "findings": findings, "context_summary": summary, "issues": [], "questions": [],
        "artifacts": [], "notes": [], "self_review": [{"item": "It is there", "ok": true}],
    }))
}

fn wrote(summary: &str) -> Turn {
    report("write", &json!({"files_changed": [], "tests_written": []}), summary)
}

fn found(summary: &str) -> Turn {
    let none: [&str; 0] = [];
    let findings = json!({
        "existing_implementations": none, "conflicts": none, "patterns_found": none,
        "recommendations": none,
    });
    report("research", &findings, summary)
}

fn give(agent: &str, description: &str, prompt: &str) -> Value {
    json!({"subagent_type": agent, "description": description, "prompt": prompt})
}

fn title(request: &Request) -> &str {
    let title = request.prompt().split("**Title:** ").nth(1);
    title.and_then(|rest| rest.lines().next()).unwrap_or_default()
}

fn play(request: &Request) -> Turn {
    let done = done(&request.messages);
    let has = |name: &str| done.contains(name);
    let bash = |command: &str| Turn::call("Bash", json!({"command": command}));
    match title(request) {
        "Thank them" if !has("echo mine > notes.txt") => bash("echo mine > notes.txt"),
        "Thank them" if !has("look at README") => {
            let readme = give("Explore", "look at README", "Say what `README.md` holds.");
            let notes = give("Explore", "look at notes", "Say what `notes.txt` holds.");
            Turn::call("Task", readme).and_call("Task", notes)
        }
        "Thank them" if !has("write it") => {
            Turn::call("Task", give("general-purpose", "write it", "Put thanks into `a.txt`."))
        }
        "Thank them" if !has("cat a.txt notes.txt") => bash("cat a.txt notes.txt"),
        "Thank them" => wrote("Thanked them."),
        "look at README" if !has("cat README.md") => bash("cat README.md"),
        "look at README" => found("It names the letters."),
        "look at notes" if !has("cat notes.txt") => bash("cat notes.txt"),
        "look at notes" => found("They are mine."),
        "write it" if !has("a.txt") => {
            Turn::call("Write", json!({"file_path": "a.txt", "content": "many thanks\n"}))
        }
        "write it" => wrote("It is written."),
        other => panic!("nobody gave `{other}`"),
    }
}

struct World {
    bench: Bench,
    server: Server,
}

impl World {
    fn new() -> Self {
        let bench = Bench::with(&[("README.md", "ALPHA and OMEGA\n")]);
        fs::write(bench.path("plan.md"), PLAN).unwrap();
        Self { bench, server: Server::start_blocking(Script::new(play)).unwrap() }
    }

    fn plan(&self) -> String {
        self.bench.path("plan.md").display().to_string()
    }

    fn trust(&self) {
        assert_eq!(self.bench.run(&["trust", &self.plan(), "--yes"]).code, Some(0));
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.bench.command(arguments);
        command.env("OPENAI_BASE_URL", self.server.base_url()).env("OPENAI_API_KEY", key());
        command
    }

    fn start(&self) -> Command {
        self.command(&["run", &self.plan(), "--model", "openai/gpt-5", "--yes", "--json"])
    }

    fn git(&self, arguments: &[&str]) -> String {
        let output =
            Command::new("git").args(arguments).current_dir(self.bench.repo()).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// How often each request came.
    fn times(&self) -> BTreeMap<String, usize> {
        let mut times = BTreeMap::new();
        for request in self.server.requests() {
            *times.entry(request.json()["messages"].to_string()).or_default() += 1;
        }
        times
    }
}

fn run_of(line: &str) -> String {
    let event: Value = serde_json::from_str(line).unwrap();
    event["run"].as_str().unwrap().to_owned()
}

#[test]
fn a_subagent_that_a_person_trusts_with_full_access_delegates() {
    let world = World::new();
    let refused = Answer::of(&world.start().output().unwrap());
    assert_eq!(refused.code, Some(5), "{refused:?}");
    assert_eq!(world.server.asked(), 0);
    world.trust();
    let answer = Answer::of(&world.start().output().unwrap());
    assert_eq!(answer.code, Some(0), "{answer:?}");
    let run = run_of(answer.out.lines().next().unwrap());
    let show = |path: &str| world.git(&["show", &format!("sequester/{run}:{path}")]);
    assert_eq!((show("a.txt").as_str(), show("notes.txt").as_str()), ("many thanks\n", "mine\n"));

    let requests: Vec<Request> =
        world.server.requests().iter().map(|one| one.request().unwrap()).collect();
    for request in &requests {
        let said = serde_json::to_string(&request.messages).unwrap();
        let is_parent = title(request) == "Thank them";
        assert_eq!(request.tools.iter().any(|tool| tool == "Task"), is_parent);
        assert_eq!(said.contains("every guest of the summer"), is_parent, "{said}");
        assert!(!is_parent || !said.contains("OMEGA"), "what another read stays with it");
        let explores = title(request).starts_with("look");
        assert_eq!(request.tools.iter().any(|tool| tool == "Write"), !explores);
    }
    let last = serde_json::to_string(&requests.last().unwrap().messages).unwrap();
    for told in ["It names the letters.", "They are mine.", "It is written.", "many thanks\\nmine"]
    {
        assert!(last.contains(told), "{told}: {last}");
    }

    let shown = world.bench.run(&["show", &run, "a"]);
    assert!(shown.out.contains("attempt 1: look at README"), "{}", shown.out);
    let shown = world.bench.run(&["show", &run, "a", "--json"]).json();
    assert_eq!(shown["attempts"][3]["parent"]["attempt"], 1);
    let log = world.bench.run(&["log", &run, "a"]);
    assert!(log.out.contains("delegated by attempt 1: write it"), "{}", log.out);
    let audit = world.bench.run(&["audit", &run, "--json"]);
    assert_eq!((audit.code, &audit.json()["contexts"]), (Some(0), &4.into()), "{audit:?}");
}

#[test]
fn a_run_that_is_killed_while_others_work_for_a_subagent_goes_on_with_them() {
    let whole = World::new();
    whole.trust();
    let answer = Answer::of(&whole.start().output().unwrap());
    let all = answer.out.lines().count();
    for step in 1..6 {
        let world = World::new();
        world.trust();
        let mut child = world.start().stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let told: Vec<String> = lines.take(all * step / 6).map(Result::unwrap).collect();
        child.kill().unwrap();
        child.wait().unwrap();
        let run = run_of(&told[0]);
        let answer = Answer::of(&world.command(&["resume", &run, "--json"]).output().unwrap());
        assert_eq!(answer.code, Some(0), "after {step} of 6: {answer:?}");
        let tree = world.git(&["ls-tree", &format!("sequester/{run}")]);
        assert!(tree.contains("a.txt") && tree.contains("notes.txt"), "after {step} of 6");
        let log = world.bench.run(&["export", &run]);
        let attempts = log.out.lines().filter(|line| line.contains("\"attempt_started\"")).count();
        assert_eq!(attempts, 4, "no attempt is begun anew after {step} of 6");
        // Two may have been under way, and nobody knows what came of them.
        let again = world.times().values().filter(|times| **times > 1).count();
        assert!(again <= 2, "{again} turns were paid again after {step} of 6");
        assert_eq!(world.bench.run(&["audit", &run]).code, Some(0), "after {step} of 6");
    }
}

#[test]
fn progress_names_what_each_subagent_was_given() {
    let world = World::new();
    world.trust();
    let mut command = world.command(&["run", &world.plan(), "--model", "openai/gpt-5", "--yes"]);
    let answer = Answer::of(&command.output().unwrap());
    assert_eq!(answer.code, Some(0), "{answer:?}");
    for line in ["[Explore] look at README - done (1 tool", "[general-purpose] write it - done"] {
        assert!(answer.err.contains(line), "{line}: {}", answer.err);
    }
}
