//! Servers that number, tear or repeat as they like.

use sequester_core::provider::{Kind, Reply};
use sequester_llm::Timeouts;
use serde_json::json;

use crate::raw::{events, serve};
use crate::stage::{KEY, answered, ask, plain, prompt, remote};

async fn chat(frames: &[&str]) -> Result<Reply, Kind> {
    let (address, _) = serve(vec![events(frames)]);
    let remote = remote("openai/m", &address, KEY, Timeouts::default());
    ask(&remote, &prompt()).await.map_err(|error| error.kind)
}

fn call(index: u64, id: &str) -> String {
    let call = json!({"index": index, "id": id, "function": {"name": "Read", "arguments": "{}"}});
    json!({"choices": [{"delta": {"tool_calls": [call]}}]}).to_string()
}

const STOP: &str = r#"{"choices":[{"delta":{},"finish_reason":"tool_calls"}]}"#;

#[tokio::test]
async fn an_index_from_one_or_from_nowhere_neither_doubles_a_call_nor_fills_the_memory() {
    for index in [1, 2, 4_294_967_295, u64::MAX] {
        let reply = chat(&[&call(index, "a"), STOP, "[DONE]"]).await.unwrap();
        assert_eq!(reply.said.calls.len(), 1, "{index}");
    }
    let reply = chat(&[&call(0, "a"), &call(0, "b"), STOP, "[DONE]"]).await.unwrap();
    assert_eq!(reply.said.calls.len(), 2);
}

#[tokio::test]
async fn ids_are_made_where_there_are_none() {
    let reply = chat(&[&call(0, ""), &call(1, ""), STOP, "[DONE]"]).await.unwrap();
    let ids: Vec<&str> = reply.said.calls.iter().map(|call| call.id.as_str()).collect();
    assert_eq!(ids, ["call_1_0", "call_1_1"]);
}

#[tokio::test]
async fn a_torn_last_frame_is_a_cut_and_a_torn_frame_before_others_is_malformed() {
    let text = r#"{"choices":[{"delta":{"content":"Hello"}}]}"#;
    for name in ["openai/m", "openai-responses/m", "anthropic/m", "gemini/m"] {
        let mut body = events(&[]);
        body.extend_from_slice(b"event: content_block_delta\ndata: {\"type\": \"content_blo");
        let (address, _) = serve(vec![body]);
        let error = ask(&remote(name, &address, KEY, Timeouts::default()), &prompt()).await;
        assert_eq!(error.map_err(|error| error.kind), Err(Kind::Cut), "{name}");
    }
    assert_eq!(chat(&[text]).await, Err(Kind::Cut));
    assert_eq!(chat(&[]).await, Err(Kind::Cut));
    assert_eq!(chat(&[text, "{\"choices\":", text, STOP, "[DONE]"]).await, Err(Kind::Malformed));
    let error = r#"{"error":{"message":"Busy.","code":503}}"#;
    assert_eq!(chat(&[text, error, "[DONE]"]).await, Err(Kind::Overloaded));
}

#[tokio::test]
async fn a_server_that_tells_no_usage_has_none() {
    let text = r#"{"choices":[{"delta":{"content":"Hello"},"finish_reason":"stop"}]}"#;
    let reply = plain(chat(&[text, "[DONE]"]).await.unwrap());
    assert_eq!((reply.said.text.as_str(), reply.usage.total()), ("Hello", 0));
}

#[tokio::test]
async fn a_redirect_is_not_followed_with_the_key() {
    let body = b"HTTP/1.1 307 Moved\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n";
    for name in ["anthropic/m", "openai/m"] {
        let (address, _) = serve(vec![body.to_vec()]);
        let remote = remote(name, &address, KEY, Timeouts::default());
        let error = ask(&remote, &prompt()).await.unwrap_err();
        assert_eq!(error.kind, Kind::BadRequest);
        assert!(error.message.ends_with("answered 307."), "{error}");
    }
}

#[tokio::test]
async fn redacted_reasoning_goes_back_as_it_came() {
    let block = json!({"type": "redacted_thinking", "data": "b3BhcXVl"});
    let call = json!({"type": "tool_use", "id": "t1", "name": "Read", "input": {}});
    let frames = [
        ("message_start", json!({"message": {"usage": {"input_tokens": 1}}})),
        ("content_block_start", json!({"content_block": block})),
        ("content_block_stop", json!({})),
        ("content_block_start", json!({"content_block": call})),
        ("content_block_stop", json!({})),
        ("message_delta", json!({"delta": {"stop_reason": "tool_use"}})),
        ("message_stop", json!({})),
    ];
    let mut body = events(&[]);
    for (event, data) in frames {
        body.extend_from_slice(format!("event: {event}\ndata: {data}\n\n").as_bytes());
    }
    let (address, asked) = serve(vec![body.clone(), body]);
    let remote = remote("anthropic/m", &address, KEY, Timeouts::default());
    let said = ask(&remote, &prompt()).await.unwrap().said;
    ask(&remote, &answered(prompt(), said)).await.unwrap();
    let second = asked.iter().nth(1).unwrap();
    let sent: serde_json::Value =
        serde_json::from_str(second.split_once("\r\n\r\n").unwrap().1).unwrap();
    assert_eq!(sent["messages"][1]["content"], json!([block, call]));
}
