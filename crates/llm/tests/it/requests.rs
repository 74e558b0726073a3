//! What is sent is what was asked, and nothing else.

use std::sync::Arc;

use sequester_core::message::{Answered, Message};
use sequester_core::provider::{Answer, Provider, Request};
use sequester_core::tool::{Effect, Spec};
use sequester_testkit::model::{Choice, Turn, Wire};
use serde_json::{Value, json};

use crate::stage::{
    Heard, KEY, PROMPT, SYSTEM, answered, ask, last_body, over, play, prompt, request, tool,
};

/// Every text in the body that is none of the API's own words.
fn texts(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::String(text) => found.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| texts(item, found)),
        Value::Object(fields) => fields.values().for_each(|field| texts(field, found)),
        _ => {}
    }
}

#[tokio::test]
async fn a_request_holds_the_context_and_nothing_else_of_content() {
    for wire in Wire::ALL {
        let server = play(vec![Turn::text("Yes.")]).await;
        ask(&over(wire, &server), &prompt()).await.unwrap();
        let seen = server.requests()[0].request().unwrap();
        assert_eq!((seen.system.as_str(), seen.prompt()), (SYSTEM, PROMPT), "{wire:?}");
        assert_eq!(seen.tools, ["Read", "Grep", "report"], "{wire:?}");
        assert_eq!((seen.messages.len(), seen.choice, seen.stream), (1, Choice::Auto, true));

        let mut body = last_body(&server);
        body["tools"] = Value::Null;
        let mut found = Vec::new();
        texts(&body, &mut found);
        found.retain(|text| !text.starts_with("sequester-"));
        found.sort();
        let mut expected = match wire {
            Wire::Anthropic => vec![
                "claude-sonnet-5",
                "ephemeral",
                "ephemeral",
                "text",
                "text",
                "user",
                SYSTEM,
                PROMPT,
            ],
            Wire::Chat => vec!["gpt-5", "system", "user", SYSTEM, PROMPT],
            Wire::Responses => {
                vec!["gpt-5", "reasoning.encrypted_content", "user", SYSTEM, PROMPT]
            }
        };
        expected.sort_unstable();
        assert_eq!(found, expected, "{wire:?}");
    }
}

#[tokio::test]
async fn tools_go_out_as_they_are_and_the_report_is_strict() {
    for wire in Wire::ALL {
        let server = play(vec![Turn::text("Yes.")]).await;
        ask(&over(wire, &server), &prompt()).await.unwrap();
        let tools = last_body(&server)["tools"].clone();
        let (schema, strict) = match wire {
            Wire::Anthropic => ("/input_schema", "/strict"),
            Wire::Chat => ("/function/parameters", "/function/strict"),
            Wire::Responses => ("/parameters", "/strict"),
        };
        for place in 0..3 {
            assert_eq!(
                tools[place].pointer(schema),
                Some(tool("Read").parameters.as_ref()),
                "{wire:?}"
            );
        }
        assert_eq!(tools[2].pointer(strict), Some(&json!(true)), "{wire:?}");
        assert_ne!(tools[0].pointer(strict), Some(&json!(true)), "{wire:?}");
    }
}

#[tokio::test]
async fn a_report_whose_schema_is_a_union_is_not_made_strict() {
    for wire in Wire::ALL {
        let server = play(vec![Turn::text("Yes.")]).await;
        let mut report = tool("report");
        Arc::make_mut(&mut report.parameters)["properties"]["path"] =
            json!({"oneOf": [{"type": "null"}]});
        let (messages, tools) = (prompt(), [report]);
        over(wire, &server).complete(request(&messages, &tools), &Heard::default()).await.unwrap();
        assert!(!last_body(&server)["tools"].to_string().contains("\"strict\":true"), "{wire:?}");
    }
}

#[tokio::test]
async fn the_cache_gets_a_breakpoint_after_the_prefix_and_one_that_moves() {
    let server = play(vec![Turn::call("Read", json!({"path": "a"})), Turn::text("Yes.")]).await;
    let remote = over(Wire::Anthropic, &server);
    let said = ask(&remote, &prompt()).await.unwrap().said;
    ask(&remote, &answered(prompt(), said)).await.unwrap();
    let mark = json!({"type": "ephemeral"});
    let [first, second] = [0, 1].map(|index: usize| server.requests()[index].json());
    for body in [&first, &second] {
        assert_eq!(body["system"][0]["cache_control"], mark);
    }
    assert_eq!(first["messages"][0]["content"][0]["cache_control"], mark);
    assert_eq!(second["messages"][2]["content"][0]["cache_control"], mark);
    assert_eq!(second.to_string().matches("cache_control").count(), 2);

    for wire in [Wire::Chat, Wire::Responses] {
        let server = play(vec![Turn::text("Yes.")]).await;
        let remote = over(wire, &server);
        ask(&remote, &prompt()).await.unwrap();
        ask(&remote, &prompt()).await.unwrap();
        let keys =
            [0, 1].map(|index: usize| server.requests()[index].json()["prompt_cache_key"].clone());
        assert!(keys[0].is_string() && keys[0] == keys[1], "{wire:?}");
    }
}

#[tokio::test]
async fn an_answer_can_be_demanded_as_a_call_or_as_json() {
    let schema = json!({
        "type": "object",
        "properties": {"summary": {"type": "string"}},
        "required": ["summary"],
        "additionalProperties": false,
    });
    let (messages, tools) = (prompt(), [tool("Read"), tool("report")]);
    for wire in Wire::ALL {
        let server = play(vec![Turn::report(json!({"summary": "s"}))]).await;
        let remote = over(wire, &server);
        let free = request(&messages, &tools);
        let call = Request { answer: Answer::Call("report"), ..free };
        let reply = remote.complete(call, &Heard::default()).await.unwrap();
        assert_eq!(reply.said.calls[0].arguments, json!({"summary": "s"}), "{wire:?}");
        let json = Request { answer: Answer::Json(&schema), tools: &[], ..free };
        let reply = remote.complete(json, &Heard::default()).await.unwrap();
        assert_eq!(reply.said.text, "{\"summary\":\"s\"}", "{wire:?}");

        let seen = server.requests().iter().map(|each| each.request().unwrap()).collect::<Vec<_>>();
        assert_eq!(seen[0].choice, Choice::Tool("report".to_owned()), "{wire:?}");
        assert_eq!((seen[1].schema.as_ref(), seen[1].tools.len()), (Some(&schema), 0), "{wire:?}");
    }
}

#[tokio::test]
async fn results_of_parallel_calls_go_back_in_order_and_say_what_failed() {
    for wire in Wire::ALL {
        let turn = Turn::call("Read", json!({"path": "a"})).and_call("Grep", json!({"path": "b"}));
        let server = play(vec![turn, Turn::text("Yes.")]).await;
        let remote = over(wire, &server);
        let said = ask(&remote, &prompt()).await.unwrap().said;
        let mut messages = answered(prompt(), said);
        let Some(Message::Results(results)) = messages.last_mut() else { panic!() };
        results[1].failed = true;
        let expected: Vec<(String, bool)> = results
            .iter()
            .map(|result: &Answered| {
                (result.text.clone(), result.failed && wire == Wire::Anthropic)
            })
            .collect();
        ask(&remote, &messages).await.unwrap();
        let seen = server.requests()[1].request().unwrap();
        let Some(Message::Results(seen)) = seen.messages.last() else { panic!("{wire:?}") };
        let seen: Vec<_> = seen.iter().map(|result| (result.text.clone(), result.failed)).collect();
        assert_eq!(seen, expected, "{wire:?}");
    }
}

#[tokio::test]
async fn the_key_is_in_its_header_and_nowhere_else() {
    for wire in Wire::ALL {
        let server = play(vec![Turn::text("Yes.")]).await;
        ask(&over(wire, &server), &prompt()).await.unwrap();
        let recorded = server.requests().pop().unwrap();
        let holders: Vec<&str> = recorded
            .headers
            .iter()
            .filter(|(_, value)| value.contains(KEY))
            .map(|(name, _)| name.as_str())
            .collect();
        let expected = if wire == Wire::Anthropic { "x-api-key" } else { "authorization" };
        assert_eq!(holders, [expected], "{wire:?}");
        assert!(!recorded.path.contains(KEY) && !recorded.json().to_string().contains(KEY));
    }
}

#[tokio::test]
async fn the_providers_own_search_is_listed_where_there_is_one() {
    let hosted = Spec {
        name: "WebSearch".into(),
        description: "".into(),
        parameters: Value::Null.into(),
        effect: Effect::Reads,
    };
    for wire in Wire::ALL {
        let server = play(vec![Turn::text("Yes.")]).await;
        let remote = over(wire, &server);
        let (messages, tools) = (prompt(), [hosted.clone()]);
        let reply = remote.complete(request(&messages, &tools), &Heard::default()).await;
        assert_eq!(reply.is_ok(), wire == Wire::Responses, "{wire:?}");
        assert_eq!(remote.can_search(), wire == Wire::Responses);
        if remote.can_search() {
            assert_eq!(last_body(&server)["tools"], json!([{"type": "web_search"}]));
        }
    }
}
