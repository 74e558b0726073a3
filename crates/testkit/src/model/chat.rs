//! OpenAI Chat Completions, with the reasoning that compatible servers add to it.

use sequester_core::provider::Stop;
use serde_json::{Value, json};

use super::conversation::{Conversation, arguments, list, string, text_of};
use super::request::{Choice, Include, Read, Request, tool_names};
use super::sse::{Frame, pieces};
use super::turn::Turn;

/// No clock here: all replies are of one moment.
pub(super) const CREATED: u64 = 1_790_000_000;

pub(super) fn read(value: &Value) -> Result<Read, String> {
    let mut conversation = Conversation::default();
    for message in list(value, "messages")? {
        let text = text_of(&message["content"], &["text", "refusal"])?;
        match string(message, "role")? {
            "system" | "developer" => conversation.system += &text,
            "user" => conversation.user(&text),
            "assistant" => read_assistant(&mut conversation, message, text)?,
            "tool" => conversation.result(string(message, "tool_call_id")?, text, false),
            role => return Err(format!("Invalid value: '{role}' in `messages`.")),
        }
    }
    let usage = value["stream_options"]["include_usage"].as_bool().unwrap_or(false);
    let format = &value["response_format"];
    let schema = match format["type"].as_str() {
        Some("json_schema") => Some(format["json_schema"]["schema"].clone()),
        Some("json_object") => Some(json!({"type": "object"})),
        _ => None,
    };
    Ok(Read {
        conversation,
        tools: tool_names(value, "/function/name")?,
        choice: read_choice(&value["tool_choice"], "/function/name")?,
        schema,
        include: Include { usage, ..Include::default() },
    })
}

fn read_assistant(
    conversation: &mut Conversation,
    message: &Value,
    text: String,
) -> Result<(), String> {
    conversation.assistant();
    conversation.said().text = text;
    if let Some(reasoning) = message.get("reasoning_content") {
        conversation.carried(json!({"reasoning_content": reasoning}));
    }
    for call in message["tool_calls"].as_array().into_iter().flatten() {
        let function = &call["function"];
        let (id, name) = (string(call, "id")?, string(function, "name")?);
        conversation.call(id, name, arguments(string(function, "arguments")?))?;
    }
    Ok(())
}

/// Shared with Responses; only the place of the name differs.
pub(super) fn read_choice(value: &Value, pointer: &str) -> Result<Choice, String> {
    match value.as_str() {
        Some("auto") => Ok(Choice::Auto),
        Some("none") => Ok(Choice::None),
        Some("required") => Ok(Choice::Any),
        None if value.is_null() => Ok(Choice::Auto),
        other => {
            let name = value.pointer(pointer).and_then(Value::as_str);
            let unknown = || format!("Invalid value for `tool_choice`: {other:?}.");
            name.map(|name| Choice::Tool(name.to_owned())).ok_or_else(unknown)
        }
    }
}

/// The reply that is not streamed.
pub(super) fn body(turn: &Turn, request: &Request) -> Value {
    let calls = turn.calls.iter().enumerate().map(|(index, call)| {
        json!({
            "id": call_id(request, index),
            "type": "function",
            "function": {"name": call.name, "arguments": call.arguments},
        })
    });
    let mut message = json!({
        "role": "assistant",
        "content": (!turn.text.is_empty()).then_some(&turn.text),
        "refusal": turn.refused(),
        "annotations": [],
    });
    if !turn.calls.is_empty() {
        message["tool_calls"] = calls.collect();
    }
    if !turn.reasoning.is_empty() {
        message["reasoning_content"] = turn.reasoning.as_str().into();
    }
    let mut body = envelope("chat.completion", request);
    body["choices"] = json!([
        {"index": 0, "message": message, "logprobs": null, "finish_reason": finish_reason(turn)}
    ]);
    body["usage"] = usage(turn);
    body
}

/// The reply as a stream.
pub(super) fn frames(turn: &Turn, request: &Request) -> Vec<Frame> {
    let content = if turn.text.is_empty() { Value::Null } else { "".into() };
    let first = json!({"role": "assistant", "content": content, "refusal": null});
    let mut frames = vec![Frame::bare(chunk(request, &first, None)), Frame::comment()];
    let mut say = |field: &str, text: &str| {
        let delta = |piece| Frame::delta(&chunk_value(request, &json!({field: piece}), None));
        frames.extend(pieces(text).map(delta));
    };
    say("reasoning_content", &turn.reasoning);
    say("content", &turn.text);
    say("refusal", turn.refused().unwrap_or_default());
    for (index, call) in turn.calls.iter().enumerate() {
        let opened = json!({
            "index": index,
            "id": call_id(request, index),
            "type": "function",
            "function": {"name": call.name, "arguments": ""},
        });
        frames.push(Frame::bare(chunk(request, &json!({"tool_calls": [opened]}), None)));
        frames.extend(pieces(&call.arguments).map(|piece| {
            let grown = json!({"index": index, "function": {"arguments": piece}});
            Frame::delta(&chunk_value(request, &json!({"tool_calls": [grown]}), None))
        }));
    }
    frames.push(Frame::bare(chunk(request, &json!({}), Some(finish_reason(turn)))));
    if request.include.usage {
        let mut last = envelope("chat.completion.chunk", request);
        last["choices"] = json!([]);
        last["usage"] = usage(turn);
        frames.push(Frame::bare(last.to_string()));
    }
    frames.push(Frame::bare("[DONE]"));
    frames
}

fn chunk(request: &Request, delta: &Value, finish: Option<&str>) -> String {
    chunk_value(request, delta, finish).to_string()
}

fn chunk_value(request: &Request, delta: &Value, finish: Option<&str>) -> Value {
    let mut chunk = envelope("chat.completion.chunk", request);
    chunk["choices"] =
        json!([{"index": 0, "delta": delta, "logprobs": null, "finish_reason": finish}]);
    if request.include.usage {
        chunk["usage"] = Value::Null;
    }
    chunk
}

fn envelope(object: &str, request: &Request) -> Value {
    json!({
        "id": format!("chatcmpl-{:016x}", request.digest),
        "object": object,
        "created": CREATED,
        "model": request.model,
        "service_tier": "default",
        "system_fingerprint": "fp_scripted",
    })
}

fn call_id(request: &Request, index: usize) -> String {
    format!("call_{:02}_{index:02}", request.turn)
}

fn finish_reason(turn: &Turn) -> &'static str {
    match turn.stop {
        Stop::Length => "length",
        Stop::End if !turn.calls.is_empty() => "tool_calls",
        Stop::End | Stop::Refused(_) => "stop",
    }
}

fn usage(turn: &Turn) -> Value {
    let usage = turn.usage();
    json!({
        "prompt_tokens": usage.input,
        "completion_tokens": usage.output,
        "total_tokens": usage.total(),
        "prompt_tokens_details": {
            "cached_tokens": usage.cache_read,
            "cache_write_tokens": usage.cache_write,
            "audio_tokens": 0,
        },
        "completion_tokens_details": {
            "reasoning_tokens": turn.reasoning_tokens(),
            "audio_tokens": 0,
            "accepted_prediction_tokens": 0,
            "rejected_prediction_tokens": 0,
        },
    })
}
