use serde_json::json;

use super::*;

fn chat(frames: &[Value]) -> Seen {
    let mut seen = Seen::default();
    for frame in frames {
        seen.chat(&frame.to_string());
    }
    seen
}

fn delta(calls: &Value) -> Value {
    json!({"choices": [{"index": 0, "delta": {"tool_calls": calls}}]})
}

fn calls(seen: &Seen) -> Vec<(&str, &str, &str)> {
    seen.calls.iter().map(|call| (&*call.id, &*call.name, &*call.arguments)).collect()
}

#[test]
fn pieces_of_parallel_calls_find_together() {
    let seen = chat(&[
        delta(&json!([{"index": 0, "id": "a", "function": {"name": "Read", "arguments": ""}}])),
        delta(&json!([{"index": 1, "id": "b", "function": {"name": "Grep", "arguments": "{"}}])),
        delta(&json!([{"index": 0, "function": {"arguments": "{\"p\":1}"}}])),
        delta(&json!([{"index": 1, "function": {"arguments": "}"}}])),
    ]);
    assert_eq!(calls(&seen), [("a", "Read", "{\"p\":1}"), ("b", "Grep", "{}")]);
}

#[test]
fn whatever_a_server_numbers_no_call_is_lost_or_doubled() {
    let whole = |index: Value, id: &str| json!({"index": index, "id": id, "function": {"name": "Read", "arguments": "{}"}});
    for numbers in
        [[json!(0), json!(0)], [json!(1), json!(2)], [json!(4_294_967_295_u32), json!(7)]]
    {
        let [one, two] = numbers;
        let seen = chat(&[delta(&json!([whole(one, "a"), whole(two, "b")]))]);
        assert_eq!(calls(&seen), [("a", "Read", "{}"), ("b", "Read", "{}")]);
    }
    let unnumbered = json!({"id": "a", "function": {"name": "Read", "arguments": {"p": 1}}});
    let seen = chat(&[delta(&json!([unnumbered]))]);
    assert_eq!(calls(&seen), [("a", "Read", "{\"p\":1}")]);
}

#[test]
fn a_call_of_another_shape_makes_the_reply_malformed() {
    assert!(chat(&[delta(&json!("none"))]).malformed);
    assert!(chat(&[delta(&json!([{"index": "0"}]))]).malformed);
    assert!(!chat(&[delta(&json!(null)), json!({"choices": []})]).malformed);
    let many: Vec<Value> = (0..=CALLS).map(|index| json!({"index": index})).collect();
    let seen = chat(&[delta(&json!(many))]);
    assert!(seen.malformed && seen.calls.len() == CALLS);
}

#[test]
fn refusals_and_failures_are_seen_on_every_wire() {
    let refused = json!({"choices": [{"delta": {"refusal": "I will not."}}]});
    assert_eq!(chat(&[refused]).refusal, "I will not.");

    let mut seen = Seen::default();
    seen.responses(r#"{"type":"response.refusal.delta","delta":"No."}"#);
    let failed =
        json!({"type": "response.failed", "response": {"error": {"code": "server_error"}}});
    seen.responses(&failed.to_string());
    assert_eq!(seen.refusal, "No.");
    assert_eq!(seen.failed, Some(json!({"code": "server_error"})));
    // A text that only speaks of it.
    let text = json!({"type": "response.output_text.delta", "delta": "\"response.failed\""});
    let mut quiet = Seen::default();
    quiet.responses(&text.to_string());
    assert!(quiet.failed.is_none() && !quiet.malformed);
    quiet.responses("{\"type\":");
    assert!(quiet.malformed);

    let mut seen = Seen::default();
    seen.gemini(r#"{"promptFeedback":{"blockReason":"SAFETY"}}"#);
    assert_eq!(seen.refusal, "SAFETY");
}
