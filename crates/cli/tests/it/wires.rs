//! One task over three wires: the same report, and nothing sent but the context, the tools and the conversation.

use std::collections::{BTreeMap, BTreeSet};

use sequester_core::agent::{find, own_specs};
use sequester_core::cache::Forgetful;
use sequester_core::companion::Companions;
use sequester_core::context::{Builder, IsolatedContext, Request as Wanted, Shelf};
use sequester_core::graph::TaskGraph;
use sequester_core::id::TaskId;
use sequester_core::limits::Limits;
use sequester_core::message::{Answered, Message};
use sequester_core::plan::Plan;
use sequester_core::record::Switches;
use sequester_core::report::Phase;
use sequester_core::repository::Redacted;
use sequester_core::tool::{Spec, Toolbox};
use sequester_core::usage::Usage;
use sequester_engine::{Requests, Standing};
use sequester_survey::detect_checks;
use sequester_survey::{Folder, Index, Outlines};
use sequester_testkit::model::{Recorded, Script, Server, Setup, Turn};
use serde_json::{Value, json};

use crate::command::{Answer, Bench, FILES};
use crate::scripted::{MODELS, found, key, task};

const TEXT: &str = "Find where mails are sent";
const SPOKEN: &str = "I look at the mails and at who hashes.";
const THOUGHT: &str = "Both can be read at once.";

fn usage(input: u64) -> Usage {
    Usage { input, cache_read: input / 2, cache_write: 0, output: 10 }
}

fn exploration() -> Script {
    Script::replies(vec![
        Turn::call("Read", json!({"file_path": "src/mail.rs"}))
            .and_call("Grep", json!({"pattern": "fn hash", "output_mode": "content"}))
            .saying(SPOKEN)
            .thinking(THOUGHT)
            .costing(usage(1_000)),
        Turn::call("Bash", json!({"command": "wc -l < README.md; exit 3"})).costing(usage(2_000)),
        Turn::report(found("Mails are sent in `src/mail.rs`.")).costing(usage(3_000)),
    ])
}

/// What the tools gave back, in the order of the calls.
const READ: &str = "     1\t/// Sends one mail.\n     2\tpub fn send(to: &str, body: &str) {\n     3\t    drop((to, body));\n     4\t}\n";
const GREP: &str = "src/lib.rs:3:pub fn hash(text: &str) -> u64 {\n";
const BASH: &str = "3\nexit code: 3";

/// One run of the exploration over a wire.
fn explore(bench: &Bench, model: &str) -> (Answer, Vec<Recorded>) {
    let server = Setup::new(exploration()).key(&key()).start_blocking().unwrap();
    let answer = task(bench, &server, &[TEXT, "--agent", "Explore", "--model", model]);
    assert_eq!(answer.code, Some(0), "{answer:?}");
    assert_eq!(server.rejected(), Vec::<String>::new(), "{answer:?}");
    (answer, server.requests())
}

/// The context as the library builds it, from the folder instead of from git.
fn context(bench: &Bench, text: &str, agent: &str) -> IsolatedContext {
    let limits = Limits::default();
    let base = Folder::list(&bench.repo()).unwrap();
    let index = Index::open(&base, None, &Forgetful, &limits);
    let checks = detect_checks(&base, &BTreeMap::new(), &|_| false).into_iter();
    let checks = checks.filter_map(|one| Some((one.kind, one.command?))).collect();
    let architecture = sequester_survey::architecture(&Redacted::new(&base), &limits);
    let architecture = architecture.with_checks(&checks).render(limits.architecture);
    let shelf = Shelf::new(&base, &Outlines, &limits);
    let plan = Plan::single(text, Vec::new(), Vec::new());
    let (graph, companions) = (TaskGraph::new(&plan).0, Companions::default());
    let builder = Builder::new(&plan, &graph, &architecture, &shelf, &index, &limits, &companions);
    let role = find(agent).unwrap();
    let request = Wanted::new(&plan.tasks[0].id, role);
    builder.build(&request).unwrap()
}

/// What the subagent of a profile is listed: our own tools, those of the profile, requests for files and records.
fn listed(phase: Phase, granted: &[&str]) -> Vec<Value> {
    let mut specs = own_specs(&TaskId::new("task"), phase, Switches::default());
    let granted = |spec: &Spec| granted.contains(&spec.name.as_ref());
    specs.extend(sequester_tools::specs().into_iter().filter(granted));
    specs.extend(Requests::new(|_| Standing::Absent).specs());
    let row = |spec: &Spec| json!([spec.name, spec.description, spec.parameters]);
    let recall = json!([
        "recall",
        "Looks for records of the work that yours builds on: summaries, interfaces, findings of earlier phases and what else was kept.",
        {
            "type": "object",
            "properties": {"query": {
                "type": "string",
                "description": "What you want to know, in words that a record about it would have.",
            }},
            "required": ["query"],
            "additionalProperties": false,
        },
    ]);
    specs.iter().map(row).chain([recall]).collect()
}

/// Name, description and schema of each tool that was sent.
fn sent(request: &Value) -> Vec<Value> {
    let row = |tool: &Value| {
        let tool = tool.get("function").unwrap_or(tool);
        let schema = tool.get("input_schema").unwrap_or(&tool["parameters"]);
        json!([tool["name"], tool["description"], schema])
    };
    request["tools"].as_array().unwrap().iter().map(row).collect()
}

#[test]
fn the_same_task_gives_the_same_report_over_all_three_wires() {
    let bench = Bench::with(&FILES);
    let mut reports = BTreeSet::new();
    for model in MODELS {
        let mut value = explore(&bench, model).0.json();
        assert_eq!(value["model"], model);
        assert_eq!(value["outcome"], "done");
        assert!(
            value["usage"]["elapsed_ms"].is_u64() && value["usage"]["price"].is_u64(),
            "{value}"
        );
        assert!(value["run"].is_string(), "{value}");
        // Which run it was, what the model is called, how long it took and what it costs are not the wire's to say.
        value["run"] = Value::Null;
        value["model"] = Value::Null;
        value["usage"]["elapsed_ms"] = Value::Null;
        value["usage"]["price"] = Value::Null;
        reports.insert(value.to_string());
    }
    assert_eq!(reports.len(), 1, "{reports:#?}");
    let report: Value = serde_json::from_str(&reports.pop_first().unwrap()).unwrap();
    assert_eq!(report["findings"], found("")["findings"]);
    assert_eq!(report["context_summary"], "Mails are sent in `src/mail.rs`.");
    assert_eq!(report["tokens_used"], 6_030);
    let usage = json!({
        "turns": 3, "calls": 3, "retries": 0, "input": 6_000, "cache_read": 3_000, "cache_write": 0,
        "output": 30, "price": null, "elapsed_ms": null,
    });
    assert_eq!(report["usage"], usage);
    assert_eq!(report["evidence"], json!({"files_changed": [], "refused": [], "patch": ""}));
    assert_eq!(report["digest"], context(&bench, TEXT, "Explore").digest);
}

#[test]
fn what_is_sent_is_the_contexts_bytes_the_tools_and_what_was_said_since() {
    let bench = Bench::with(&FILES);
    let context = context(&bench, TEXT, "Explore");
    let tools = listed(Phase::Research, &["Read", "Grep", "Glob", "Bash"]);
    for model in MODELS {
        let (answer, requests) = explore(&bench, model);
        assert_eq!(requests.len(), 3, "{model}");
        for (turn, recorded) in requests.iter().enumerate() {
            let request = recorded.request().unwrap();
            assert_eq!(request.system, &*context.system, "{model}");
            assert_eq!(request.prompt(), context.prompt, "{model}");
            let digest = IsolatedContext::digest_of(&request.system, request.prompt());
            assert_eq!(answer.json()["digest"], digest, "{model}");
            assert_eq!(conversation(&request.messages[1..]), said_until(turn), "{model} {turn}");
            let body = recorded.json();
            assert_eq!(sent(&body), tools, "{model}");
            assert_eq!(foreign(&body, &context, turn), Vec::<String>::new(), "{model} {turn}");
        }
    }
}

/// The messages after the prompt, without what is the wire's own: ids and carried reasoning.
fn conversation(messages: &[Message]) -> Vec<Value> {
    let row = |message: &Message| match message {
        Message::User(text) => json!(["user", text]),
        Message::Assistant(said) => {
            let calls: Vec<Value> =
                said.calls.iter().map(|call| json!([call.name, call.arguments])).collect();
            json!(["assistant", said.text, calls])
        }
        Message::Results(results) => {
            let row = |one: &Answered| json!([one.name, one.text]);
            json!(["results", results.iter().map(row).collect::<Vec<_>>()])
        }
    };
    messages.iter().map(row).collect()
}

fn said_until(turn: usize) -> Vec<Value> {
    let (read, grep) = (
        json!({"file_path": "src/mail.rs"}),
        json!({"pattern": "fn hash", "output_mode": "content"}),
    );
    let all = [
        json!(["assistant", SPOKEN, [["Read", read], ["Grep", grep]]]),
        json!(["results", [["Read", READ], ["Grep", GREP]]]),
        json!(["assistant", "", [["Bash", {"command": "wc -l < README.md; exit 3"}]]]),
        json!(["results", [["Bash", BASH]]]),
    ];
    all[..turn * 2].to_vec()
}

/// Every text of a request that is neither the context, nor a tool, nor of the conversation, nor a word of the API.
fn foreign(body: &Value, context: &IsolatedContext, turn: usize) -> Vec<String> {
    const WORDS: [&str; 18] = [
        "assistant",
        "claude-sonnet-5",
        "ephemeral",
        "function",
        "function_call",
        "function_call_output",
        "gpt-5",
        "message",
        "output_text",
        "reasoning",
        "reasoning.encrypted_content",
        "system",
        "text",
        "thinking",
        "tool",
        "tool_result",
        "tool_use",
        "user",
    ];
    let mut body = body.clone();
    body["tools"].take();
    let mut texts = Vec::new();
    leaves(&body, &mut texts);
    let said = json!(said_until(turn));
    let mut known = vec![context.system.to_string(), context.prompt.clone(), THOUGHT.to_owned()];
    leaves(&said, &mut known);
    // Arguments travel as objects or as their JSON.
    let calls = said.as_array().unwrap().iter().filter_map(|row| row[2].as_array()).flatten();
    known.extend(calls.map(|call| call[1].to_string()));
    let is_mark = |text: &str| {
        let marks = ["toolu_", "call_", "fc_", "rs_", "msg_", "sequester-", "EqQB"];
        text.len() < 64 && !text.contains(' ') && marks.iter().any(|mark| text.starts_with(mark))
    };
    texts.retain(|text| !known.contains(text) && !WORDS.contains(&text.as_str()) && !is_mark(text));
    texts
}

fn leaves(value: &Value, texts: &mut Vec<String>) {
    match value {
        Value::String(text) => texts.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| leaves(item, texts)),
        Value::Object(fields) => fields.values().for_each(|field| leaves(field, texts)),
        _ => {}
    }
}

#[test]
fn the_key_is_in_its_header_and_nowhere_else() {
    let bench = Bench::with(&FILES);
    for (model, header) in MODELS.into_iter().zip(["x-api-key", "authorization", "authorization"]) {
        // That it is in none of the outputs is seen by every run.
        for recorded in explore(&bench, model).1 {
            let holding = recorded.headers.iter().filter(|(_, value)| value.contains(&key()));
            let names: Vec<&str> = holding.map(|(name, _)| name.as_str()).collect();
            assert_eq!(names, [header], "{model}");
            let body = String::from_utf8(recorded.body.to_vec()).unwrap();
            assert!(!body.contains(&key()) && !recorded.path.contains(&key()), "{model}");
        }
    }
}

#[test]
fn a_writers_evidence_is_what_it_did_and_not_what_it_says() {
    let bench = Bench::with(&FILES);
    let report = json!({
        "task_id": "task", "phase": "write", "status": "complete", "decision": "PROCEED",
        "findings": {"files_changed": ["src/never.rs"], "tests_written": []},
        "context_summary": "Subjects are there.", "self_review": [{"item": "builds", "ok": true}],
    });
    let edit = json!({"file_path": "src/mail.rs", "old_string": "body: &str", "new_string": "subject: &str"});
    let script = Script::replies(vec![
        Turn::call("Edit", edit).saying("The prompt has the whole file."),
        Turn::call("Read", json!({"file_path": "src/mail.rs"})),
        Turn::call("Glob", json!({"pattern": "src/*"}))
            .and_call(
                "Write",
                json!({"file_path": "docs/mail.md", "content": "# Mail\n\nSubjects.\n"}),
            )
            .and_call("Bash", json!({"command": "rm README.md; cat docs/mail.md; exit 7"})),
        Turn::report(report),
    ]);
    let server = Server::start_blocking(script).unwrap();
    let mut seen = BTreeSet::new();
    for model in MODELS {
        let answer =
            task(&bench, &server, &["Give mails a subject", "--agent", "writer", "--model", model]);
        assert_eq!(
            (answer.code, &answer.json()["outcome"]),
            (Some(0), &json!("done")),
            "{answer:?}"
        );
        seen.insert(answer.json()["evidence"].to_string());
        let changed = json!(["README.md", "docs/mail.md", "src/mail.rs"]);
        assert_eq!(answer.json()["findings"]["files_changed"], changed, "{answer:?}");
        let recorded = server.requests().pop().unwrap().request().unwrap();
        let results: Vec<&Answered> =
            recorded.messages.iter().filter_map(results).flatten().collect();
        let texts: Vec<&str> = results.iter().map(|one| one.text.as_str()).collect();
        assert!(texts[0].starts_with("Edited `src/mail.rs`"), "{texts:?}");
        assert_eq!(texts[1], READ.replace("body: &str", "subject: &str"));
        assert_eq!(texts[3], "Created `docs/mail.md`: 18 bytes, 3 lines.");
        assert_eq!(texts[4], "# Mail\n\nSubjects.\nexit code: 7");
    }
    assert_eq!(server.rejected(), Vec::<String>::new());
    assert_eq!(seen.len(), 1, "{seen:#?}");
    let evidence: Value = serde_json::from_str(&seen.pop_first().unwrap()).unwrap();
    let plain = Some("100644");
    let row = |path: &str, action: &str, lines: [usize; 2], modes: [Option<&str>; 2]| {
        json!({
            "path": path, "action": action, "added": lines[0], "removed": lines[1],
            "in_patch": true, "old_mode": modes[0], "new_mode": modes[1],
        })
    };
    let changed = [
        row("README.md", "delete", [0, 3], [plain, None]),
        row("docs/mail.md", "create", [3, 0], [None, plain]),
        row("src/mail.rs", "modify", [1, 1], [plain, plain]),
    ];
    assert_eq!(evidence, json!({"files_changed": changed, "refused": [], "patch": PATCH}));
}

fn results(message: &Message) -> Option<&Vec<Answered>> {
    match message {
        Message::Results(results) => Some(results),
        _ => None,
    }
}

const PATCH: &str = "\
diff --git a/README.md b/README.md
deleted file mode 100644
--- a/README.md
+++ /dev/null
@@ -1,3 +0,0 @@
-# Shop
-
-A small shop.
diff --git a/docs/mail.md b/docs/mail.md
new file mode 100644
--- /dev/null
+++ b/docs/mail.md
@@ -0,0 +1,3 @@
+# Mail
+
+Subjects.
diff --git a/src/mail.rs b/src/mail.rs
--- a/src/mail.rs
+++ b/src/mail.rs
@@ -1,4 +1,4 @@
 /// Sends one mail.
-pub fn send(to: &str, body: &str) {
+pub fn send(to: &str, subject: &str) {
     drop((to, body));
 }
";
