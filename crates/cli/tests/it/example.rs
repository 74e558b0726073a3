//! The example for Rust programs, as it stands there.

#[path = "../../examples/subagent.rs"]
#[allow(dead_code, unreachable_pub, reason = "an example is a program of its own")]
mod subagent;

use sequester_core::agent::{Ending, Outcome};
use sequester_core::message::Message;
use sequester_testkit::model::{Script, Server, Turn};
use serde_json::json;

use crate::command::{Bench, FILES};
use crate::scripted::{MODELS, found, key};

fn explore(bench: &Bench, model: &str, task: &str, server: Option<&Server>) -> Ending {
    let environment = |name: &str| match (name, server?) {
        ("ANTHROPIC_BASE_URL", server) => Some(format!("http://{}", server.address())),
        ("OPENAI_BASE_URL", server) => Some(server.base_url()),
        ("ANTHROPIC_API_KEY" | "OPENAI_API_KEY", _) => Some(key()),
        _ => None,
    };
    let folder = bench.repo();
    let ending = subagent::explore(&folder, model, task, &environment);
    sequester_engine::block_on(ending).unwrap().unwrap()
}

#[test]
fn it_explores_with_any_provider_and_with_tools_that_look() {
    let bench = Bench::with(&FILES);
    bench.write(".env", "WORD=SECRET-CANARY\n");
    for model in MODELS {
        let look = Turn::call("Grep", json!({"pattern": "fn send", "output_mode": "content"}))
            .and_call("Bash", json!({"command": "touch pwned"}))
            .and_call("Read", json!({"file_path": ".env"}));
        let script = Script::replies(vec![look, Turn::report(found("In src/mail.rs."))]);
        let server = Server::start_blocking(script).unwrap();
        let ending = explore(&bench, model, "Find what sends mails", Some(&server));
        assert_eq!(ending.outcome, Outcome::Done, "{ending:?}");
        assert_eq!(ending.report.unwrap().context_summary, "In src/mail.rs.");
        let requests = server.requests();
        let second = requests[1].request().unwrap();
        let Some(Message::Results(results)) = second.messages.last() else { panic!("{second:?}") };
        let texts: Vec<&str> = results.iter().map(|result| result.text.as_str()).collect();
        assert!(texts[0].contains("src/mail.rs") && texts[0].contains("pub fn send"), "{texts:?}");
        assert!(texts[1].contains("no tool `Bash`"), "{texts:?}");
        assert!(!bench.repo().join("pwned").exists());
        let sent = String::from_utf8_lossy(&requests[1].body).into_owned();
        assert!(!sent.contains("SECRET-CANARY") && !sent.contains("WORD"), "{sent}");
    }
}

#[test]
fn it_runs_without_any_provider() {
    let bench = Bench::with(&FILES);
    let ending = explore(&bench, "literal", "Find what sends mails", None);
    assert_eq!(ending.outcome, Outcome::Stopped, "{ending:?}");
    assert!(ending.report.is_some(), "{ending:?}");
}

#[test]
fn the_page_on_subagents_shows_the_lines_of_the_example() {
    let page = include_str!("../../../../docs/subagents.md");
    let example = include_str!("../../examples/subagent.rs");
    let body = example.split("-> Result<Ending, Box<dyn Error>> {\n").nth(1).unwrap();
    let body = body.split("    Ok(drive").next().unwrap();
    assert!(page.contains(body), "the page does not have this:\n{body}");
}
