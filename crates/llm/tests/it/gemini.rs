//! Gemini's wire, which the played server does not speak.

use sequester_core::message::{Call, Said};
use sequester_core::provider::{Kind, Reply, Stop};
use sequester_core::usage::Usage;
use sequester_llm::{Remote, Timeouts};
use serde_json::json;

use crate::raw::{events, serve};
use crate::stage::{KEY, SYSTEM, answered, ask, prompt, remote};

fn at(address: &str) -> Remote {
    remote("gemini/gemini-2.5-pro", address, KEY, Timeouts::default())
}

async fn reply(frames: &[&str]) -> Result<Reply, Kind> {
    let (address, _) = serve(vec![events(frames)]);
    ask(&at(&address), &prompt()).await.map_err(|error| error.kind)
}

const CALLS: &str = r#"{"candidates":[{"content":{"parts":[
    {"functionCall":{"name":"Read","args":{"path":"a"}},"thoughtSignature":"sig-1"},
    {"functionCall":{"name":"Read","args":{"path":"b"}}}]},"finishReason":"STOP"}],
    "usageMetadata":{"promptTokenCount":100,"cachedContentTokenCount":60,"candidatesTokenCount":7,"thoughtsTokenCount":3}}"#;

#[tokio::test]
async fn calls_usage_and_signatures_come_and_go_back() {
    let text = r#"{"candidates":[{"content":{"parts":[{"text":"Two."}]}}]}"#;
    let calls = CALLS.replace('\n', " ");
    let done = r#"{"candidates":[{"content":{"parts":[{"text":"Done."}]},"finishReason":"STOP"}]}"#;
    let (address, asked) = serve(vec![events(&[text, &calls]), events(&[done])]);
    let remote = at(&address);
    let reply = ask(&remote, &prompt()).await.unwrap();
    let call = |id: &str, path: &str| Call {
        id: id.to_owned(),
        name: "Read".to_owned(),
        arguments: json!({"path": path}),
    };
    let calls = vec![call("call#Read#0", "a"), call("call#Read#1", "b")];
    let Said { text, calls: seen, .. } = &reply.said;
    assert_eq!((text.as_str(), seen, &reply.stop), ("Two.", &calls, &Stop::End));
    assert_eq!(reply.usage, Usage { input: 100, cache_read: 60, cache_write: 0, output: 10 });

    ask(&remote, &answered(prompt(), reply.said)).await.unwrap();
    let first = asked.recv().unwrap();
    assert!(first.contains("x-goog-api-key") && !first.lines().next().unwrap().contains(KEY));
    let second = asked.recv().unwrap();
    let body = second.split_once("\r\n\r\n").unwrap().1;
    let body: serde_json::Value = serde_json::from_str(body).unwrap();
    assert_eq!(body["systemInstruction"]["parts"][0]["text"], SYSTEM);
    let parts = &body["contents"][1]["parts"];
    assert_eq!(parts[0], json!({"text": "Two."}));
    assert_eq!(parts[1]["thoughtSignature"], "sig-1");
    assert_eq!(parts[2].get("thoughtSignature"), None);
    let results = &body["contents"][2]["parts"];
    assert_eq!(results[1]["functionResponse"]["name"], "Read");
}

#[tokio::test]
async fn an_end_that_did_not_come_is_not_made_up() {
    let text = r#"{"candidates":[{"content":{"parts":[{"text":"Half a"}]}}]}"#;
    assert_eq!(reply(&[text]).await, Err(Kind::Cut));
}

#[tokio::test]
async fn refusals_limits_and_errors_have_their_kind() {
    let blocked = r#"{"promptFeedback":{"blockReason":"SAFETY"}}"#;
    assert_eq!(reply(&[blocked]).await.unwrap().stop, Stop::Refused("SAFETY".to_owned()));
    let filtered = r#"{"candidates":[{"finishReason":"RECITATION"}]}"#;
    assert_eq!(reply(&[filtered]).await.unwrap().stop, Stop::Refused("RECITATION".to_owned()));
    let long =
        r#"{"candidates":[{"content":{"parts":[{"text":"a"}]},"finishReason":"MAX_TOKENS"}]}"#;
    assert_eq!(reply(&[long]).await.unwrap().stop, Stop::Length);
    let error = r#"{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"Slow down."}}"#;
    assert_eq!(reply(&[error]).await, Err(Kind::RateLimited));
}
