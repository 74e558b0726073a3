use serde_json::json;

use super::*;

fn call(id: &str, arguments: Value) -> ToolCall {
    ToolCall {
        call_id: id.to_owned(),
        fn_name: "Read".to_owned(),
        fn_arguments: arguments,
        thought_signatures: None,
    }
}

#[test]
fn every_call_gets_an_id_of_its_own() {
    let calls = ["", "a", "a", "call_3_0", "a"].map(|id| call(id, json!({})));
    let ids: Vec<String> = identify(calls.into(), 3).into_iter().map(|call| call.id).collect();
    assert_eq!(ids, ["call_3_0", "a", "a#2", "call_3_0#3", "a#4"]);
}

#[test]
fn arguments_become_json_or_stay_what_was_written() {
    let cases = [
        (json!("{\"a\":1}"), json!({"a": 1}), true),
        (json!("[1]"), json!([1]), false),
        (json!("{\"a\":"), json!("{\"a\":"), false),
        (json!(""), json!({}), false),
        (json!(null), json!({}), true),
        (json!({"a": 1}), json!({"a": 1}), true),
    ];
    for (written, expected, whole) in cases {
        let mut arguments = written.clone();
        assert_eq!((close(&mut arguments), arguments), (whole, expected), "{written}");
    }
}

#[test]
fn usage_never_falls_below_what_the_cache_gave() {
    let counted: Counted = serde_json::from_value(json!({
        "prompt_tokens": 10,
        "completion_tokens": -3,
        "prompt_tokens_details": {"cached_tokens": 40, "cache_creation_tokens": 5},
    }))
    .unwrap();
    let expected = Usage { input: 45, cache_read: 40, cache_write: 5, output: 0 };
    assert_eq!(count(&counted), expected);
}

#[test]
fn a_refusal_says_what_the_model_said() {
    let filtered =
        |text: &str| stop(Some(StopReason::from("refusal".to_owned())), String::new(), text);
    assert_eq!(filtered("I cannot."), Stop::Refused("I cannot.".to_owned()));
    assert_eq!(filtered(""), Stop::Refused("refusal".to_owned()));
    assert_eq!(stop(None, "No.".to_owned(), ""), Stop::Refused("No.".to_owned()));
    assert_eq!(stop(None, String::new(), ""), Stop::End);
}
