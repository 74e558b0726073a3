//! Anthropic Messages.

use sequester_core::provider::Stop;
use serde_json::{Value, json};

use super::conversation::{Conversation, list, string, text_of};
use super::hash::sign;
use super::request::{Choice, Include, Read, Request, tool_names};
use super::sse::{Frame, pieces};
use super::turn::Turn;

pub(super) fn read(value: &Value) -> Result<Read, String> {
    if !value["max_tokens"].is_u64() {
        return Err("max_tokens: Field required".to_owned());
    }
    let mut conversation = Conversation::default();
    conversation.system = text_of(&value["system"], &["text"])?;
    for message in list(value, "messages")? {
        match string(message, "role")? {
            "user" => read_user(&mut conversation, &message["content"])?,
            "assistant" => read_assistant(&mut conversation, &message["content"])?,
            role => return Err(format!("messages: Unexpected role \"{role}\".")),
        }
    }
    let choice = match value["tool_choice"]["type"].as_str() {
        None | Some("auto") => Choice::Auto,
        Some("none") => Choice::None,
        Some("any") => Choice::Any,
        Some("tool") => Choice::Tool(string(&value["tool_choice"], "name")?.to_owned()),
        Some(other) => return Err(format!("tool_choice: Unexpected type \"{other}\".")),
    };
    Ok(Read {
        conversation,
        tools: tool_names(value, "/name")?,
        choice,
        schema: value.pointer("/output_config/format/schema").cloned(),
        include: Include::default(),
    })
}

fn read_user(conversation: &mut Conversation, content: &Value) -> Result<(), String> {
    let Value::Array(blocks) = content else {
        conversation.user(&no_empty(text_of(content, &[])?)?);
        return Ok(());
    };
    let mut text = String::new();
    for block in blocks {
        match string(block, "type")? {
            "tool_result" => {
                let said = text_of(&block["content"], &["text"])?;
                let failed = block["is_error"].as_bool().unwrap_or(false);
                conversation.result(string(block, "tool_use_id")?, said, failed);
            }
            "text" => text.push_str(&no_empty(string(block, "text")?.to_owned())?),
            kind => {
                return Err(format!("messages: A user's block of type `{kind}` is not played."));
            }
        }
    }
    if !text.is_empty() {
        conversation.user(&text);
    }
    Ok(())
}

fn read_assistant(conversation: &mut Conversation, content: &Value) -> Result<(), String> {
    conversation.assistant();
    let Value::Array(blocks) = content else {
        conversation.said().text = no_empty(text_of(content, &[])?)?;
        return Ok(());
    };
    if blocks.is_empty() {
        return Err("messages: all messages must have non-empty content".to_owned());
    }
    for block in blocks {
        match string(block, "type")? {
            "text" => conversation.said().text += &no_empty(string(block, "text")?.to_owned())?,
            "tool_use" => {
                if !block["input"].is_object() {
                    return Err("tool_use.input: Input should be a valid dictionary".to_owned());
                }
                let (id, name) = (string(block, "id")?, string(block, "name")?);
                conversation.call(id, name, block["input"].clone())?;
            }
            "thinking" => {
                if string(block, "signature")? != sign(string(block, "thinking")?) {
                    return Err("Invalid `signature` in `thinking` block".to_owned());
                }
                conversation.carried(block.clone());
            }
            kind => {
                return Err(format!(
                    "messages: An assistant's block of type `{kind}` is not played."
                ));
            }
        }
    }
    Ok(())
}

fn no_empty(text: String) -> Result<String, String> {
    if text.is_empty() {
        return Err("messages: text content blocks must be non-empty".to_owned());
    }
    Ok(text)
}

/// The reply that is not streamed.
pub(super) fn body(turn: &Turn, request: &Request) -> Value {
    let mut message = opening(turn, request);
    message["content"] = blocks(turn, request).into_iter().map(Block::whole).collect();
    message["stop_reason"] = stop_reason(turn).into();
    message["stop_details"] = stop_details(turn);
    message["usage"]["output_tokens"] = turn.usage().output.into();
    message
}

/// The reply as a stream.
pub(super) fn frames(turn: &Turn, request: &Request) -> Vec<Frame> {
    let start = json!({"type": "message_start", "message": opening(turn, request)});
    let mut frames = vec![Frame::named("message_start", &start)];
    for (index, block) in blocks(turn, request).into_iter().enumerate() {
        let start =
            json!({"type": "content_block_start", "index": index, "content_block": block.empty});
        frames.push(Frame::named("content_block_start", &start));
        if index == 0 {
            frames.push(Frame::named("ping", &json!({"type": "ping"})));
        }
        for delta in block.deltas {
            let delta = json!({"type": "content_block_delta", "index": index, "delta": delta});
            frames.push(Frame::named("content_block_delta", &delta));
        }
        let stop = json!({"type": "content_block_stop", "index": index});
        frames.push(Frame::named("content_block_stop", &stop));
    }
    let mut usage = usage(turn);
    usage["output_tokens"] = turn.usage().output.into();
    let delta = json!({
        "type": "message_delta",
        "delta": {
            "stop_reason": stop_reason(turn),
            "stop_sequence": null,
            "stop_details": stop_details(turn),
        },
        "usage": usage,
    });
    frames.push(Frame::named("message_delta", &delta));
    frames.push(Frame::named("message_stop", &json!({"type": "message_stop"})));
    frames
}

/// One block of the content: as it begins, as it grows, as it is at the end.
struct Block {
    empty: Value,
    deltas: Vec<Value>,
    filled: Value,
}

impl Block {
    fn whole(self) -> Value {
        self.filled
    }
}

fn blocks(turn: &Turn, request: &Request) -> Vec<Block> {
    let mut blocks = Vec::new();
    if !turn.reasoning.is_empty() {
        let thought = |piece| json!({"type": "thinking_delta", "thinking": piece});
        let signed = json!({"type": "signature_delta", "signature": turn.signature()});
        blocks.push(Block {
            empty: json!({"type": "thinking", "thinking": "", "signature": ""}),
            deltas: pieces(&turn.reasoning).map(thought).chain([signed]).collect(),
            filled: json!({
                "type": "thinking",
                "thinking": turn.reasoning,
                "signature": turn.signature(),
            }),
        });
    }
    if !turn.text.is_empty() {
        blocks.push(Block {
            empty: json!({"type": "text", "text": ""}),
            deltas: pieces(&turn.text)
                .map(|piece| json!({"type": "text_delta", "text": piece}))
                .collect(),
            filled: json!({"type": "text", "text": turn.text}),
        });
    }
    for (index, call) in turn.calls.iter().enumerate() {
        let id = format!("toolu_{:02}_{index:02}", request.turn);
        let grown = |piece| json!({"type": "input_json_delta", "partial_json": piece});
        blocks.push(Block {
            empty: json!({"type": "tool_use", "id": id, "name": call.name, "input": {}}),
            // The real API opens with an empty piece, too.
            deltas: std::iter::once("").chain(pieces(&call.arguments)).map(grown).collect(),
            filled: json!({"type": "tool_use", "id": id, "name": call.name, "input": call.value()}),
        });
    }
    blocks
}

fn opening(turn: &Turn, request: &Request) -> Value {
    let mut usage = usage(turn);
    usage["output_tokens"] = 1.into();
    usage["service_tier"] = "standard".into();
    json!({
        "id": format!("msg_{:016x}", request.digest),
        "type": "message",
        "role": "assistant",
        "model": request.model,
        "content": [],
        "stop_reason": null,
        "stop_sequence": null,
        "stop_details": null,
        "usage": usage,
    })
}

/// Here what came from the cache or went into it is no part of `input_tokens`.
fn usage(turn: &Turn) -> Value {
    let usage = turn.usage();
    let fresh = usage.input.saturating_sub(usage.cache_read + usage.cache_write);
    json!({
        "input_tokens": fresh,
        "cache_creation_input_tokens": usage.cache_write,
        "cache_read_input_tokens": usage.cache_read,
        "cache_creation": {
            "ephemeral_5m_input_tokens": usage.cache_write,
            "ephemeral_1h_input_tokens": 0,
        },
    })
}

fn stop_reason(turn: &Turn) -> &'static str {
    match turn.stop {
        Stop::Length => "max_tokens",
        Stop::Refused(_) => "refusal",
        Stop::End if turn.calls.is_empty() => "end_turn",
        Stop::End => "tool_use",
    }
}

fn stop_details(turn: &Turn) -> Value {
    let details = |words| json!({"type": "refusal", "category": null, "explanation": words});
    turn.refused().map_or(Value::Null, details)
}
