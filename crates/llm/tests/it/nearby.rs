//! Servers nearby: what `auto` finds, and a search endpoint.

use sequester_core::message::Call;
use sequester_core::tool::{Invocation, Outcome, Toolbox as _};
use sequester_llm::{Endpoint, Models, Named, Pool, Sources, Tier, Timeouts, choose};
use sequester_testkit::model::{Script, Setup, Turn};
use serde_json::{Value, json};

use crate::raw::serve;

#[tokio::test]
async fn auto_finds_a_server_that_needs_no_key_and_takes_its_first_model() {
    let setup = Setup::new(Script::replies(vec![Turn::text("Hi.")]));
    let server = setup.models(&["nomic-embed-text", "qwen3"]).start().await.unwrap();
    let address = format!("http://{}", server.address());
    let models = Models::default();
    let pool = Pool::new(Timeouts::default()).unwrap();
    for (variable, value, expected) in [
        ("OLLAMA_HOST", address.clone(), "ollama/qwen3"),
        ("OPENAI_BASE_URL", format!("{address}/v1"), "openai/qwen3"),
    ] {
        // Nothing listens on the lowest port.
        let environment = |wanted: &str| match wanted {
            _ if wanted == variable => Some(value.clone()),
            "OLLAMA_HOST" => Some("http://127.0.0.1:1".to_owned()),
            _ => None,
        };
        let sources = Sources { models: &models, environment: &environment, command: &|_| None };
        let choice = choose(Tier::Default, &sources, &pool).await;
        let Named::Target(target) = &choice.model else { panic!("{choice:?}") };
        assert_eq!((target.name().as_str(), target.is_free()), (expected, true));
        assert_eq!(choice.passed[0].provider, "anthropic");
    }
}

async fn search(body: &[u8], arguments: Value) -> (Outcome, String) {
    let (address, asked) = serve(vec![body.to_vec()]);
    let pool = Pool::new(Timeouts::default()).unwrap();
    let template = format!("{address}/search?q={{query}}&format=json");
    let endpoint = Endpoint::new(&pool, &template).unwrap();
    let call = Call { id: "1".to_owned(), name: "WebSearch".to_owned(), arguments };
    let invocation = Invocation { call, seen: std::collections::BTreeMap::default() };
    let returned = endpoint.call(&invocation).await;
    (returned.outcome, asked.try_recv().unwrap_or_default())
}

#[tokio::test]
async fn a_search_is_one_request_and_a_short_list() {
    let json = br#"{"results":[{"title":"T","url":"http://t/","content":"About."}]}"#;
    let head = b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n";
    let (outcome, asked) = search(&[&head[..], json].concat(), json!({"query": "a b"})).await;
    assert_eq!(outcome, Outcome::Output("- T\n  http://t/\n  About.\n".to_owned()));
    assert!(asked.starts_with("GET /search?q=a%20b&format=json HTTP/1.1"), "{asked}");
}

#[tokio::test]
async fn a_search_that_fails_says_so_in_words_for_the_model() {
    let failures: [(&[u8], Value); 5] = [
        (b"HTTP/1.1 500 No\r\ncontent-length: 0\r\n\r\n", json!({"query": "a"})),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\n<html>", json!({"query": "a"})),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 60\r\n\r\n{", json!({"query": "a"})),
        (b"", json!({"query": ""})),
        (b"", json!({"query": ["a"]})),
    ];
    for (body, arguments) in failures {
        let (outcome, _) = search(body, arguments).await;
        assert!(matches!(&outcome, Outcome::Failed(words) if words.ends_with('.')), "{outcome:?}");
    }
}
