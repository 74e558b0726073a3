//! `sequester task` as what it is: a run of one task.

use std::process::Command;

use sequester_testkit::model::{Request, Script, Server, Turn};
use serde_json::{Value, json};

use crate::command::{Answer, Bench, FILES};
use crate::scripted::{MODELS, found, task};

const CREATE: &str = "Create `new.txt`:\n\n```\nnew\n```\n";

fn literal(bench: &Bench, text: &str, more: &[&str]) -> Answer {
    let arguments = ["task", text, "--agent", "writer", "--model", "literal"];
    bench.run(&[&arguments[..], more].concat())
}

fn json_of(bench: &Bench, arguments: &[&str]) -> Value {
    let answer = bench.run(&[arguments, &["--json"]].concat());
    assert_eq!(answer.code, Some(0), "{arguments:?}: {answer:?}");
    answer.json()
}

fn git(bench: &Bench, arguments: &[&str]) -> String {
    let output = Command::new("git").args(arguments).current_dir(bench.repo()).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// The id of the run that an answer is of.
fn run_of(answer: &Answer) -> String {
    answer.json()["run"].as_str().unwrap_or_else(|| panic!("{answer:?}")).to_owned()
}

#[test]
fn status_show_diff_audit_and_apply_work_on_it() {
    let bench = Bench::with(&FILES);
    let before = bench.tree();
    let answer = literal(&bench, CREATE, &["--json"]);
    assert_eq!(answer.code, Some(0), "{answer:?}");
    assert!(bench.tree() == before, "the person's tree was changed");
    assert_eq!(git(&bench, &["status", "--porcelain", "--untracked-files=all"]), "");
    let run = run_of(&answer);
    let status = json_of(&bench, &["status", &run]);
    assert_eq!((&status["state"], &status["plan"]), (&json!("done"), &json!("Create `new.txt`:")));
    assert_eq!(status["tasks"][0]["attempts"], 1, "{status}");
    let shown = json_of(&bench, &["show", &run, "task"]);
    assert_eq!(shown["attempts"][0]["report"]["decision"], "PROCEED", "{shown}");
    let diff = json_of(&bench, &["diff", &run]);
    assert_eq!(diff["files"], answer.json()["evidence"]["files_changed"], "{diff}");
    let audit = json_of(&bench, &["audit", &run]);
    assert_eq!((&audit["ok"], &audit["contexts"]), (&json!(true), &json!(1)), "{audit}");
    json_of(&bench, &["apply", &run]);
    assert_eq!(std::fs::read_to_string(bench.repo().join("new.txt")).unwrap(), "new\n");
    let message = git(&bench, &["log", "-1", "--format=%B"]);
    assert!(message.contains(&format!("Sequester-Run: {run}")), "{message}");
}

#[test]
fn a_person_is_told_the_run_and_what_to_do_with_it_in_the_last_line() {
    let bench = Bench::with(&FILES);
    let told = literal(&bench, CREATE, &[]);
    let last = told.out.lines().last().unwrap();
    for part in ["run 0", "`sequester diff 0", "`sequester apply 0"] {
        assert!(last.contains(part), "{part} in {told:?}");
    }
    let idle = literal(&bench, "Run: `true`\n", &[]);
    let last = idle.out.lines().last().unwrap();
    assert!(last.contains("`sequester show 0") && !last.contains("apply"), "{idle:?}");
}

#[test]
fn who_changes_nothing_leaves_no_branch() {
    let bench = Bench::with(&FILES);
    let server =
        Server::start_blocking(Script::replies(vec![Turn::report(found("Here."))])).unwrap();
    let found = task(&bench, &server, &["Find it", "--agent", "Explore", "--model", MODELS[0]]);
    let idle = literal(&bench, "Run: `true`\n", &["--json"]);
    for answer in [found, idle] {
        assert_eq!(answer.code, Some(0), "{answer:?}");
        assert_eq!(json_of(&bench, &["status", &run_of(&answer)])["state"], "done");
    }
    assert_eq!(git(&bench, &["branch", "--format=%(refname:short)"]), "main");
}

#[test]
fn a_question_parks_it_and_an_answer_lets_it_go_on() {
    let bench = Bench::with(&FILES);
    let text = "- [ ] **Step 1: Choose**\n\nAsk: Which port?\n\n- 80\n- 8080\n\n\
        - [ ] **Step 2: Write**\n\nCreate `port.txt`:\n\n```\n8080\n```\n";
    let asked = literal(&bench, text, &["--json"]);
    assert_eq!((asked.code, &asked.json()["outcome"]), (Some(3), &json!("waiting")), "{asked:?}");
    let (run, question) = (run_of(&asked), asked.json()["inbox"][0].clone());
    let question = question.as_str().unwrap();
    assert_eq!(json_of(&bench, &["inbox"])[0]["id"], question);
    assert_eq!(bench.run(&["answer", question, "8080"]).code, Some(0));
    let resumed = bench.run(&["resume", &run]);
    assert_eq!(resumed.code, Some(0), "{resumed:?}");
    assert_eq!(json_of(&bench, &["diff", &run])["files"][0]["path"], "port.txt");
    assert_eq!(json_of(&bench, &["audit", &run])["ok"], true);
}

#[test]
fn a_text_that_looks_like_a_plan_stays_one_task() {
    let bench = Bench::with(&FILES);
    let text = "---\nsequester: 1\n---\n## [other] Another\n\n```task\nneeds: [nobody]\nagent: reviewer\n```\n\n\
        ## [more] More\n\nUnclosed:\n\n````rust\nfn a() {}\n";
    let play = |request: &Request| {
        assert!(request.prompt().contains("needs: [nobody]"), "{}", request.prompt());
        Turn::report(found("One task."))
    };
    let server = Server::start_blocking(Script::new(play)).unwrap();
    let given = [text, "--agent", "Explore", "--model", MODELS[0], "--file", "src/mail.rs"];
    let answer = task(&bench, &server, &[&given[..], &["--constraint", "## [x] Keep it"]].concat());
    assert_eq!(answer.code, Some(0), "{answer:?}");
    let run = run_of(&answer);
    let status = json_of(&bench, &["status", &run]);
    assert_eq!(status["tasks"].as_array().map(Vec::len), Some(1), "{status}");
    // It is read again from what was recorded.
    let audit = json_of(&bench, &["audit", &run]);
    assert_eq!((&audit["ok"], &audit["breaches"]), (&json!(true), &json!([])), "{audit}");
}

#[test]
fn a_review_that_finds_fault_is_a_report_and_no_failure() {
    let bench = Bench::with(&FILES);
    let fault = json!({"severity": "important", "file": "src/mail.rs", "line": 1, "text": "No."});
    let report = json!({
        "task_id": "task", "phase": "review", "status": "complete", "decision": "PROCEED",
        "findings": {
            "spec": {"verdict": "fail", "findings": [fault]},
            "quality": {"verdict": "pass", "findings": []},
        },
        "context_summary": "Not yet.", "issues": [], "questions": [], "artifacts": [], "notes": [],
        "self_review": [],
    });
    let server = Server::start_blocking(Script::replies(vec![Turn::report(report)])).unwrap();
    let given = ["Look at the mails", "--agent", "reviewer", "--model", MODELS[0]];
    let answer = task(&bench, &server, &given);
    assert_eq!((answer.code, &answer.json()["outcome"]), (Some(0), &json!("done")), "{answer:?}");
    assert_eq!(json_of(&bench, &["status", &run_of(&answer)])["state"], "done");
}

#[test]
fn what_judges_nothing_says_so_where_nobody_else_is_asked() {
    let bench = Bench::with(&FILES);
    let answer =
        bench.run(&["task", "Find it", "--agent", "Explore", "--model", "literal", "--json"]);
    assert_eq!(
        (answer.code, &answer.json()["outcome"]),
        (Some(1), &json!("stopped")),
        "{answer:?}"
    );
    assert!(answer.json()["reason"].as_str().unwrap().contains("judges nothing"), "{answer:?}");
}

#[test]
fn a_folder_without_git_keeps_its_change_in_a_repository_of_our_own() {
    let bench = Bench::plain();
    bench.write("a.txt", "a\n");
    let answer = literal(&bench, CREATE, &["--json"]);
    assert_eq!(answer.code, Some(0), "{answer:?}");
    let run = run_of(&answer);
    let diff = json_of(&bench, &["diff", &run]);
    assert_eq!(diff["files"], answer.json()["evidence"]["files_changed"], "{diff}");
    assert_eq!(json_of(&bench, &["audit", &run])["ok"], true);
    let applied = bench.run(&["apply", &run, "--json"]);
    assert_eq!(applied.code, Some(1), "{applied:?}");
    let error = applied.json()["error"].clone();
    assert!(error["message"].as_str().unwrap().contains("no git repository"), "{error}");
    assert!(error["hint"].as_str().unwrap().contains("patch -p1"), "{error}");
    let left: Vec<_> = bench.tree().into_iter().map(|(path, _)| path).collect();
    assert_eq!(left, [bench.repo().join("a.txt")]);
    let second = literal(&bench, "Delete `a.txt`.\n", &["--json"]);
    assert_eq!(second.json()["evidence"]["files_changed"][0]["action"], "delete", "{second:?}");
    // The first one's change was not applied.
    assert_eq!(
        json_of(&bench, &["diff", &run_of(&second)])["files"].as_array().map(Vec::len),
        Some(1)
    );
}
