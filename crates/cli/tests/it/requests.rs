//! Files that git ignores, asked for by a subagent and granted by a person, in real jails.

use std::fs;

use sequester_testkit::model::{Request, Script, Server, Turn};
use serde_json::{Value, json};

use crate::command::{Answer, Bench};
use crate::scripted::program;

const PLAN: &str = "---\nsequester: 1\nworkflow: solo\n---\n# Letters\n\n\
## [a] Write a\n\n```task\nfiles: {create: [a.txt]}\n```\n\nWrite the letter a.\n\n\
## [b] Write b\n\n```task\nneeds: [a]\nfiles: {create: [b.txt]}\n```\n\nWrite the letter b.\n";

const CANARY: &str = "let canary = 'IGNORED-CANARY';";

fn report(task: &str) -> Turn {
    Turn::report(json!({
        "task_id": task, "phase": "write", "status": "complete", "decision": "PROCEED",
        "findings": {"files_changed": [], "tests_written": []},
        "context_summary": "Written.", "issues": [], "questions": [], "artifacts": [],
        "notes": [], "self_review": [{"item": "It is there", "ok": true}],
    }))
}

/// `a` asks for two files until somebody says something to that; then each writes its letter.
fn play(request: &Request) -> Turn {
    let prompt = request.prompt();
    let task = prompt.split("**Task ID:** ").nth(1).and_then(|rest| rest.lines().next()).unwrap();
    if task == "a" && prompt.contains("# Clarifications\n\nNone.") {
        let paths = ["dist/app.js", "dist/link.js"];
        return Turn::call("request_files", json!({"paths": paths, "reason": "I need them."}));
    }
    if request.messages.len() > 1 {
        return report(task);
    }
    let path = format!("{task}.txt");
    Turn::call("Write", json!({"file_path": path, "content": format!("the letter {task}\n")}))
}

#[test]
fn a_file_that_a_person_grants_is_read_when_the_run_goes_on_and_shown_to_its_task_alone() {
    let bench = Bench::with(&[("README.md", "Letters\n"), (".gitignore", "dist/\n")]);
    bench.write("dist/app.js", "let old = 1;\n");
    bench.write("dist/link.js", "let old = 2;\n");
    let plan = bench.path("plan.md").display().to_string();
    fs::write(&plan, PLAN).unwrap();
    let server = Server::start_blocking(Script::new(play)).unwrap();
    let sequester =
        |arguments: &[&str]| Answer::of(&program(&bench, &server, arguments).output().unwrap());
    let answer = sequester(&["run", &plan, "--model", "openai/gpt-5", "--yes", "--json"]);
    assert_eq!(answer.code, Some(3), "{answer:?}");
    let first: Value = serde_json::from_str(answer.out.lines().next().unwrap()).unwrap();
    let run = first["run"].as_str().unwrap();
    let inbox = sequester(&["inbox", "--json"]).json();
    assert_eq!(inbox[0]["options"][0]["label"], "Yes", "{inbox}");
    assert_eq!(sequester(&["answer", inbox[0]["id"].as_str().unwrap(), "yes"]).code, Some(0));

    // As they are when the run goes on: one has other contents, one became a link to what is outside.
    bench.write("dist/app.js", format!("{CANARY}\n"));
    bench.write("../outside/secret.js", "let outside = 'OUTSIDE-CANARY';\n");
    fs::remove_file(bench.repo().join("dist/link.js")).unwrap();
    std::os::unix::fs::symlink("../../outside/secret.js", bench.repo().join("dist/link.js"))
        .unwrap();
    let answer = sequester(&["resume", run, "--json"]);
    assert_eq!(answer.code, Some(0), "{answer:?}");
    assert!(answer.out.contains("\"event\":\"files_granted\""), "{answer:?}");

    for request in server.requests().iter().map(|one| one.request().unwrap()) {
        let prompt = request.prompt();
        let is_granted = prompt.contains("**Task ID:** a") && !prompt.contains("ions\n\nNone.");
        assert_eq!(prompt.contains(CANARY), is_granted, "{prompt}");
        assert_eq!(prompt.contains("`dist/link.js`\n\nNot shown: "), is_granted, "{prompt}");
        assert!(!prompt.contains("OUTSIDE-CANARY"), "{prompt}");
    }
    let manifest = sequester(&["context", "--run", run, "a", "--manifest"]);
    assert!(manifest.out.contains("granted to this task"), "{manifest:?}");
    let audit = sequester(&["audit", run]);
    assert_eq!(audit.code, Some(0), "{audit:?}");
}
