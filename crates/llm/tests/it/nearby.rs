//! Servers nearby: what `auto` finds, and a search endpoint.

use sequester_core::message::Call;
use sequester_core::tool::{Invocation, Outcome, Toolbox as _};
use sequester_llm::{Endpoint, Models, Named, Passed, Pool, Sources, Tier, Timeouts, choose};
use sequester_testkit::model::{Script, Setup, Turn};
use serde_json::{Value, json};

use crate::raw::serve;
use crate::stage::KEY;

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
        let choice = choose(Tier::Default, &sources, &pool, &[]).await;
        let Named::Target(target) = &choice.model else { panic!("{choice:?}") };
        assert_eq!((target.name().as_str(), target.is_free()), (expected, true));
        assert_eq!(choice.passed[0].provider, "anthropic");
    }
}

/// What `auto` takes with these variables and nothing on the usual port of Ollama.
async fn chosen(variables: &[(&str, &str)], rejected: &[Passed]) -> (String, Vec<Passed>) {
    let environment = |wanted: &str| {
        let found = variables.iter().find(|(name, _)| *name == wanted);
        let found = found.map(|(_, value)| (*value).to_owned());
        found.or_else(|| (wanted == "OLLAMA_HOST").then(|| "http://127.0.0.1:1".to_owned()))
    };
    let models = Models::default();
    let sources = Sources { models: &models, environment: &environment, command: &|_| None };
    let pool = Pool::new(Timeouts::default()).unwrap();
    let choice = choose(Tier::Default, &sources, &pool, rejected).await;
    let name = match &choice.model {
        Named::Target(target) => target.name(),
        other => format!("{other:?}"),
    };
    (name, choice.passed.into_iter().filter(|one| one.expected).collect())
}

#[tokio::test]
async fn auto_takes_a_model_that_another_server_really_has() {
    for (listed, expected) in [(&["embed-1", "qwen3"][..], "qwen3"), (&["qwen3", "gpt-5"], "gpt-5")]
    {
        let setup = Setup::new(Script::replies(vec![Turn::text("Hi.")])).key(KEY).models(listed);
        let server = setup.start().await.unwrap();
        let base = server.base_url();
        let with = |key| [("OPENAI_BASE_URL", base.as_str()), ("OPENAI_API_KEY", key)];
        let (taken, passed) = chosen(&with(KEY), &[]).await;
        assert_eq!((taken, passed.len()), (format!("openai/{expected}"), 0));
        // A key that is not accepted, or was not before, is as good as none.
        let (taken, passed) = chosen(&with("made-up-wrong-key"), &[]).await;
        assert_eq!(
            (taken.as_str(), passed[0].why.as_str()),
            ("Literal", "It does not accept the key.")
        );
        let (taken, again) = chosen(&with(KEY), &passed[..1]).await;
        assert_eq!((taken.as_str(), again[0].provider), ("Literal", "openai"));
    }
    let gone = [("OPENAI_BASE_URL", "http://127.0.0.1:1"), ("OPENAI_API_KEY", KEY)];
    let (taken, passed) = chosen(&gone, &[]).await;
    assert_eq!(
        (taken.as_str(), passed[0].why.as_str()),
        ("Literal", "No connection could be made.")
    );
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
