use sequester_core::message::{Answered, Call, Message, Said};
use sequester_core::provider::Stop;
use sequester_core::usage::Usage;
use sequester_testkit::model::{Choice, Script, Server, Setup, Turn, Wire};
use serde_json::{Value, json};

use crate::asking::{ask, first, send};

const USAGE: Usage = Usage { input: 1_000, cache_read: 600, cache_write: 300, output: 50 };

/// Thought, text and two calls at once.
fn rich() -> Turn {
    Turn::text("Grüße, I look at both files.")
        .thinking("Two files, so two calls.")
        .and_call("Read", json!({"path": "src/lib.rs", "limit": 20}))
        .and_call("Read", json!({"path": "src/main.rs"}))
        .costing(USAGE)
}

fn play(turn: Turn) -> Server {
    Server::start_blocking(Script::replies(vec![turn])).unwrap()
}

#[test]
fn anthropic_streams_blocks_between_start_and_stop() {
    let came = ask(&play(rich()), Wire::Anthropic, &first(Wire::Anthropic, true));
    assert_eq!((came.status, came.proper), (200, true));
    let block = ["content_block_start", "content_block_delta", "content_block_stop"];
    let mut expected = vec!["message_start", "content_block_start", "ping"];
    expected.extend(&block[1..]);
    expected.extend(block.repeat(3));
    expected.extend(["message_delta", "message_stop"]);
    assert_eq!(came.sequence(), expected);
    let data = came.data();
    assert!(came.events().iter().zip(&data).all(|((name, _), data)| data["type"] == **name));
    let usage = &data[0]["message"]["usage"];
    assert_eq!(usage["input_tokens"], 100);
    assert_eq!(usage["cache_read_input_tokens"], 600);
    assert_eq!(usage["cache_creation_input_tokens"], 300);
    let delta = &data[data.len() - 2];
    assert_eq!(
        (&delta["delta"]["stop_reason"], &delta["usage"]["output_tokens"]),
        (&json!("tool_use"), &json!(50))
    );
    // Put together, the stream says what the reply in one piece says.
    let whole = ask(&play(rich()), Wire::Anthropic, &first(Wire::Anthropic, false)).json();
    assert_eq!(anthropic_content(&data), whole["content"].as_array().unwrap().clone());
    assert_eq!(whole["usage"]["output_tokens"], 50);
    assert_eq!(whole["stop_reason"], "tool_use");
}

fn anthropic_content(data: &[Value]) -> Vec<Value> {
    let mut blocks: Vec<Value> = Vec::new();
    let mut inputs = vec![String::new(); 8];
    for event in data {
        let index = event["index"].as_u64().unwrap_or_default() as usize;
        match event["type"].as_str().unwrap() {
            "content_block_start" => blocks.push(event["content_block"].clone()),
            "content_block_delta" => {
                for (field, piece) in event["delta"].as_object().unwrap() {
                    match field.as_str() {
                        "type" => {}
                        "partial_json" => inputs[index] += piece.as_str().unwrap(),
                        field => {
                            let so_far = blocks[index][field].as_str().unwrap().to_owned();
                            blocks[index][field] = (so_far + piece.as_str().unwrap()).into();
                        }
                    }
                }
            }
            "content_block_stop" if blocks[index]["type"] == "tool_use" => {
                blocks[index]["input"] = serde_json::from_str(&inputs[index]).unwrap();
            }
            _ => {}
        }
    }
    blocks
}

#[test]
fn chat_streams_chunks_up_to_done() {
    let came = ask(&play(rich()), Wire::Chat, &first(Wire::Chat, true));
    assert_eq!((came.status, came.proper), (200, true));
    assert_eq!(came.events().last().unwrap().1, "[DONE]");
    assert!(came.body.contains(": keep-alive\n\n"));
    let data = came.data();
    assert_eq!(data[0]["choices"][0]["delta"]["role"], "assistant");
    let mut message = json!({"content": "", "reasoning_content": "", "tool_calls": [{}, {}]});
    let mut arguments = [String::new(), String::new()];
    for choice in data.iter().flat_map(|chunk| chunk["choices"].as_array().unwrap()) {
        for field in ["content", "reasoning_content"] {
            if let Some(piece) = choice["delta"][field].as_str() {
                message[field] = (message[field].as_str().unwrap().to_owned() + piece).into();
            }
        }
        for call in choice["delta"]["tool_calls"].as_array().into_iter().flatten() {
            let index = call["index"].as_u64().unwrap() as usize;
            arguments[index] += call["function"]["arguments"].as_str().unwrap();
            if call["id"].is_string() {
                message["tool_calls"][index] = call.clone();
            }
        }
    }
    let whole = ask(&play(rich()), Wire::Chat, &first(Wire::Chat, false)).json();
    let said = &whole["choices"][0]["message"];
    for index in 0..2 {
        message["tool_calls"][index]["function"]["arguments"] = arguments[index].as_str().into();
        assert_eq!(
            message["tool_calls"][index].as_object_mut().unwrap().remove("index"),
            Some(json!(index))
        );
    }
    assert_eq!(message["tool_calls"], said["tool_calls"]);
    assert_eq!(message["content"], said["content"]);
    assert_eq!(message["reasoning_content"], said["reasoning_content"]);
    let usage = &data.last().unwrap()["usage"];
    assert_eq!(usage, &whole["usage"]);
    assert_eq!(usage["prompt_tokens"], 1_000);
    assert_eq!(usage["prompt_tokens_details"]["cached_tokens"], 600);
    assert_eq!(whole["choices"][0]["finish_reason"], "tool_calls");
    assert_eq!(data[data.len() - 2]["choices"][0]["finish_reason"], "tool_calls");
}

#[test]
fn chat_tells_usage_in_a_stream_only_to_who_asks() {
    let mut request = first(Wire::Chat, true);
    request.as_object_mut().unwrap().remove("stream_options");
    let came = ask(&play(rich()), Wire::Chat, &request);
    assert!(!came.body.contains("usage"), "{}", came.body);
}

#[test]
fn responses_streams_items_with_numbered_events() {
    let came = ask(&play(rich()), Wire::Responses, &first(Wire::Responses, true));
    assert_eq!((came.status, came.proper), (200, true));
    let mut expected =
        vec!["response.created", "response.in_progress", "", "response.output_item.added"];
    expected.extend([
        "response.reasoning_summary_part.added",
        "response.reasoning_summary_text.delta",
        "response.reasoning_summary_text.done",
        "response.reasoning_summary_part.done",
        "response.output_item.done",
        "response.output_item.added",
        "response.content_part.added",
        "response.output_text.delta",
        "response.output_text.done",
        "response.content_part.done",
        "response.output_item.done",
    ]);
    expected.extend(
        [
            "response.output_item.added",
            "response.function_call_arguments.delta",
            "response.function_call_arguments.done",
            "response.output_item.done",
        ]
        .repeat(2),
    );
    expected.push("response.completed");
    assert_eq!(came.sequence(), expected);
    let data = came.data();
    let numbers: Vec<u64> =
        data.iter().map(|event| event["sequence_number"].as_u64().unwrap()).collect();
    assert!(numbers.iter().copied().eq(0..numbers.len() as u64));
    let whole = ask(&play(rich()), Wire::Responses, &first(Wire::Responses, false)).json();
    let done = data.iter().filter(|event| event["type"] == "response.output_item.done");
    let items: Vec<Value> = done.map(|event| event["item"].clone()).collect();
    assert_eq!(data.last().unwrap()["response"]["output"], Value::from(items.clone()));
    // Only the ids are of the one reply or the other.
    let without_id = |item: &Value| {
        let mut item = item.clone();
        item["id"].take();
        item
    };
    let output = whole["output"].as_array().unwrap();
    assert!(items.iter().map(without_id).eq(output.iter().map(without_id)));
    assert_eq!(whole["usage"]["input_tokens_details"]["cached_tokens"], 600);
    assert!(whole["output"][0]["encrypted_content"].is_string());
    let pieces = data.iter().filter(|event| {
        event["type"] == "response.function_call_arguments.delta" && event["output_index"] == 2
    });
    let text: Vec<&str> = pieces.map(|event| event["delta"].as_str().unwrap()).collect();
    assert!(text.len() > 1);
    assert_eq!(text.concat(), items[2]["arguments"].as_str().unwrap());
}

#[test]
fn every_wire_says_why_it_stopped() {
    let reason = |wire, turn| {
        let body = ask(&play(turn), wire, &first(wire, false)).json();
        match wire {
            Wire::Anthropic => body["stop_reason"].clone(),
            Wire::Chat => body["choices"][0]["finish_reason"].clone(),
            Wire::Responses => body["status"].clone(),
        }
    };
    let reasons = |turn: &Turn| Wire::ALL.map(|wire| reason(wire, turn.clone()));
    assert_eq!(reasons(&Turn::text("Hello.")), ["end_turn", "stop", "completed"]);
    let long = Turn::text("Once upon").stopping(Stop::Length);
    assert_eq!(reasons(&long), ["max_tokens", "length", "incomplete"]);
    assert_eq!(reasons(&Turn::refusal("No.")), ["refusal", "stop", "completed"]);
    let chat = ask(&play(Turn::refusal("No.")), Wire::Chat, &first(Wire::Chat, false)).json();
    assert_eq!(chat["choices"][0]["message"]["refusal"], "No.");
    let sequence =
        ask(&play(Turn::refusal("No.")), Wire::Responses, &first(Wire::Responses, true)).sequence();
    assert!(sequence.contains(&"response.refusal.delta".to_owned()), "{sequence:?}");
}

/// The same second request over each wire: after two calls, with their results and a word of the user.
fn second(wire: Wire, server: &Server) -> Value {
    let reply = ask(server, wire, &first(wire, false)).json();
    let mut request = first(wire, false);
    match wire {
        Wire::Anthropic => {
            let results = [("toolu_00_00", "one"), ("toolu_00_01", "two")].map(
                |(id, text)| json!({"type": "tool_result", "tool_use_id": id, "content": text}),
            );
            let messages = request["messages"].as_array_mut().unwrap();
            messages.push(json!({"role": "assistant", "content": reply["content"]}));
            messages.push(json!({"role": "user", "content": results}));
        }
        Wire::Chat => {
            let messages = request["messages"].as_array_mut().unwrap();
            messages.push(reply["choices"][0]["message"].clone());
            for (id, text) in [("call_00_00", "one"), ("call_00_01", "two")] {
                messages.push(json!({"role": "tool", "tool_call_id": id, "content": text}));
            }
        }
        Wire::Responses => {
            let input = request["input"].as_array_mut().unwrap();
            input.extend(reply["output"].as_array().unwrap().clone());
            for (id, text) in [("call_00_00", "one"), ("call_00_01", "two")] {
                input.push(json!({"type": "function_call_output", "call_id": id, "output": text}));
            }
        }
    }
    request
}

#[test]
fn a_conversation_reads_the_same_over_all_wires() {
    for wire in Wire::ALL {
        let server =
            Server::start_blocking(Script::replies(vec![rich(), Turn::text("Done.")])).unwrap();
        let request = second(wire, &server);
        let came = ask(&server, wire, &request);
        assert_eq!(came.status, 200, "{}", came.body);
        assert!(came.body.contains("Done."));
        let read = server.requests()[1].request().unwrap();
        assert_eq!((read.turn, read.prompt()), (1, "Say hello."));
        let prefix = if wire == Wire::Anthropic { "toolu" } else { "call" };
        let ids = [format!("{prefix}_00_00"), format!("{prefix}_00_01")];
        let call = |index: usize, arguments: Value| Call {
            id: ids[index].clone(),
            name: "Read".to_owned(),
            arguments,
        };
        let Message::Assistant(said) = &read.messages[1] else { panic!("{:?}", read.messages) };
        assert!(said.carried.is_some());
        let expected = Said {
            text: "Grüße, I look at both files.".to_owned(),
            calls: vec![
                call(0, json!({"path": "src/lib.rs", "limit": 20})),
                call(1, json!({"path": "src/main.rs"})),
            ],
            carried: said.carried.clone(),
        };
        assert_eq!(said, &expected);
        let answered = |index: usize, text: &str| Answered {
            call: ids[index].clone(),
            name: "Read".to_owned(),
            text: text.to_owned(),
            failed: false,
        };
        assert_eq!(
            read.messages[2],
            Message::Results(vec![answered(0, "one"), answered(1, "two")])
        );
        assert_eq!(server.rejected(), Vec::<String>::new());
    }
}

#[test]
fn a_call_without_its_result_is_rejected() {
    for wire in Wire::ALL {
        let server = play(rich());
        let mut request = second(wire, &server);
        let field = if wire == Wire::Responses { "input" } else { "messages" };
        let messages = request[field].as_array_mut().unwrap();
        if wire == Wire::Anthropic {
            messages.last_mut().unwrap()["content"].as_array_mut().unwrap().pop();
        } else {
            messages.pop();
        }
        let came = ask(&server, wire, &request);
        assert_eq!(came.status, 400);
        assert!(server.rejected()[0].contains("_00_01"), "{:?}", server.rejected());
    }
}

#[test]
fn altered_reasoning_is_rejected() {
    let server = play(rich());
    let mut request = second(Wire::Anthropic, &server);
    request["messages"][1]["content"][0]["thinking"] = "Another thought.".into();
    assert_eq!(ask(&server, Wire::Anthropic, &request).status, 400);
    let mut request = second(Wire::Responses, &server);
    request["input"][1]["encrypted_content"] = "EqQB00".into();
    assert_eq!(ask(&server, Wire::Responses, &request).status, 400);
}

#[test]
fn a_report_comes_as_the_request_wants_it() {
    let report = json!({"status": "done"});
    let server = play(Turn::report(report.clone()));
    let called = ask(&server, Wire::Chat, &first(Wire::Chat, false)).json();
    assert_eq!(called["choices"][0]["message"]["tool_calls"][0]["function"]["name"], "report");
    let mut request = first(Wire::Anthropic, false);
    request["output_config"] = json!({"format": {"type": "json_schema", "schema": {}}});
    let written = ask(&server, Wire::Anthropic, &request).json();
    assert_eq!(written["content"][0]["text"], report.to_string());
}

#[test]
fn a_script_sees_tools_choice_and_system() {
    let script = Script::new(|request| {
        assert_eq!(
            (request.system.as_str(), request.tools.as_slice()),
            ("Be brief.", &["Read".to_owned()][..])
        );
        assert_eq!(request.choice, Choice::Tool("Read".to_owned()));
        Turn::text("Seen.")
    });
    let server = Server::start_blocking(script).unwrap();
    for wire in Wire::ALL {
        let mut request = first(wire, false);
        let (system, tool, choice) = match wire {
            Wire::Anthropic => {
                ("system", json!({"name": "Read"}), json!({"type": "tool", "name": "Read"}))
            }
            Wire::Chat => (
                "",
                json!({"type": "function", "function": {"name": "Read"}}),
                json!({"type": "function", "function": {"name": "Read"}}),
            ),
            Wire::Responses => {
                let named = json!({"type": "function", "name": "Read"});
                ("instructions", named.clone(), named)
            }
        };
        if system.is_empty() {
            let message = json!({"role": "system", "content": "Be brief."});
            request["messages"].as_array_mut().unwrap().insert(0, message);
        } else {
            request[system] = "Be brief.".into();
        }
        request["tools"] = json!([tool]);
        request["tool_choice"] = choice;
        let came = ask(&server, wire, &request);
        assert!(came.body.contains("Seen."), "{came:?}");
    }
}

#[test]
fn keys_models_and_paths_are_checked() {
    let server = Setup::new(Script::replies(vec![Turn::text("Hello.")]))
        .key("other")
        .models(&["m"])
        .start_blocking()
        .unwrap();
    for wire in Wire::ALL {
        assert_eq!(ask(&server, wire, &first(wire, true)).status, 401);
    }
    let server = Setup::new(Script::replies(vec![Turn::text("Hello.")]))
        .key("k")
        .models(&["small"])
        .start_blocking()
        .unwrap();
    for wire in Wire::ALL {
        assert_eq!(ask(&server, wire, &first(wire, true)).status, 404);
    }
    let listed = send(&server, "GET", "/v1/models", "").json();
    assert_eq!(listed["data"][0]["id"], "small");
    assert_eq!(send(&server, "GET", "/elsewhere", "").status, 404);
    let recorded = &server.requests()[0];
    assert_eq!((recorded.method.as_str(), recorded.path.as_str()), ("POST", "/v1/messages"));
    assert_eq!(recorded.header("authorization"), Some("Bearer k"));
    assert_eq!(recorded.json(), first(Wire::Anthropic, true));
}

#[test]
fn a_script_that_ran_out_says_so() {
    let server = play(rich());
    let request = second(Wire::Chat, &server);
    assert_eq!(ask(&server, Wire::Chat, &request).status, 400);
    assert_eq!(server.rejected(), ["The script has no turn 1."]);
}
