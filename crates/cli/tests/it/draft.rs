//! `sequester draft`: a plan that can be run, or a question, or nothing.

use std::fs;

use sequester_testkit::model::{Request, Script, Server, Turn};
use serde_json::{Value, json};

use crate::command::{Bench, FILES};
use crate::scripted::{MODELS, program, run};

const HEAD: &str = "---\nsequester: 1\n---\n# Reset\n\n**Goal:** Passwords can be reset.\n\n\
    ## [token] Make a token\n\n```task\nfiles: {create: [src/token.rs]}\n```\n\nMake it.\n\n\
    ## [mail] Send it\n\n```task\nneeds: [token";

fn report(plan: &str) -> Value {
    json!({
        "task_id": "task", "phase": "draft", "status": "complete", "decision": "PROCEED",
        "findings": {"plan": plan}, "context_summary": "Two tasks.", "issues": [],
        "questions": [], "artifacts": [], "notes": [], "self_review": [],
    })
}

#[test]
fn a_draft_with_a_fault_goes_back_and_what_is_written_can_be_run() {
    let bench = Bench::with(&FILES);
    let good = format!("{HEAD}]\n```\n\nSend it.\n");
    let (bad, plan) = (format!("{HEAD}, nobody]\n```\n\nSend it.\n"), good.clone());
    let answer = move |request: &Request| {
        Turn::call("report", report(if request.turn == 0 { &bad } else { &plan }))
    };
    let server = Server::start_blocking(Script::new(answer)).unwrap();
    let path = bench.path("drafted.md");
    let place = path.to_str().unwrap();
    let arguments =
        ["draft", "--json", "Passwords can be reset", "-o", place, "--model", MODELS[0]];
    let answer = run(&bench, &mut program(&bench, &server, &arguments));
    assert_eq!(answer.code, Some(0), "{answer:?}");
    assert_eq!(fs::read_to_string(&path).unwrap(), good);
    assert_eq!(answer.json()["plan"], good);
    assert!(answer.json()["run"].is_string(), "{answer:?}");
    let requests = server.requests();
    assert_eq!(requests.len(), 2);
    let told = format!("{:?}", requests[1].request().unwrap().messages);
    assert!(told.contains("`nobody`") && told.contains("/findings/plan"), "{told}");
    assert_eq!(bench.run(&["plan", place]).code, Some(0));
    // Nothing is asked where it could not be written.
    let again = run(&bench, &mut program(&bench, &server, &arguments));
    assert_eq!((again.code, server.requests().len()), (Some(2), 2), "{again:?}");
}

#[test]
fn a_goal_that_can_be_meant_in_two_ways_is_asked_about() {
    let bench = Bench::with(&FILES);
    let mut asks = report("");
    asks["status"] = json!("blocked");
    asks["decision"] = json!("CLARIFY");
    asks["questions"] = json!([{"question": "By mail or by phone?", "options": []}]);
    let server =
        Server::start_blocking(Script::new(move |_: &Request| Turn::call("report", asks.clone())))
            .unwrap();
    let path = bench.path("drafted.md");
    let arguments =
        ["draft", "--json", "Reset", "-o", path.to_str().unwrap(), "--model", MODELS[0]];
    let answer = run(&bench, &mut program(&bench, &server, &arguments));
    assert_eq!(answer.code, Some(3), "{answer:?}");
    assert!(!path.exists());
    assert_eq!(bench.run(&["inbox", "--json"]).json()[0]["question"], "By mail or by phone?");
}

#[test]
fn without_a_model_nothing_is_drafted_and_that_is_said() {
    let bench = Bench::with(&FILES);
    let answer = bench.run(&["draft", "Reset", "--model", "literal"]);
    assert_eq!(answer.code, Some(1), "{answer:?}");
    assert!(answer.out.contains("Give this phase to a model"), "{answer:?}");
}
