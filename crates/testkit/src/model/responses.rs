//! OpenAI Responses.

use sequester_core::provider::Stop;
use serde_json::{Value, json};

use super::chat::{CREATED, read_choice};
use super::conversation::{Conversation, arguments, string, text_of};
use super::hash::is_signature;
use super::request::{Choice, Include, Read, Request, tool_names};
use super::sse::{Frame, pieces};
use super::turn::{Spoken, Turn};

pub(super) fn read(value: &Value) -> Result<Read, String> {
    let mut conversation = Conversation::default();
    conversation.system = text_of(&value["instructions"], &[])?;
    match &value["input"] {
        Value::String(text) => conversation.user(text),
        Value::Array(items) => {
            items.iter().try_for_each(|item| read_item(&mut conversation, item))?;
        }
        _ => return Err("Missing required parameter: 'input'.".to_owned()),
    }
    let asked = |wanted: &str| {
        value["include"].as_array().is_some_and(|list| list.iter().any(|entry| entry == wanted))
    };
    let format = &value["text"]["format"];
    let schema = match format["type"].as_str() {
        Some("json_schema") => Some(format["schema"].clone()),
        Some("json_object") => Some(json!({"type": "object"})),
        _ => None,
    };
    let choice: Choice = read_choice(&value["tool_choice"], "/name")?;
    Ok(Read {
        conversation,
        tools: tool_names(value, "/name")?,
        choice,
        schema,
        include: Include {
            summary: value["reasoning"]["summary"].is_string(),
            encrypted: asked("reasoning.encrypted_content"),
            usage: true,
        },
    })
}

fn read_item(conversation: &mut Conversation, item: &Value) -> Result<(), String> {
    match item["type"].as_str().unwrap_or("message") {
        "message" => read_message(conversation, item)?,
        "function_call" => {
            let (id, name) = (string(item, "call_id")?, string(item, "name")?);
            conversation.call(id, name, arguments(string(item, "arguments")?))?;
        }
        "function_call_output" => {
            let text = text_of(&item["output"], &["input_text", "output_text"])?;
            conversation.result(string(item, "call_id")?, text, false);
        }
        "reasoning" => {
            if !item["encrypted_content"].as_str().is_none_or(is_signature) {
                return Err("The encrypted content could not be verified.".to_owned());
            }
            conversation.carried(item.clone());
        }
        kind => return Err(format!("Invalid value: '{kind}' in `input`.")),
    }
    Ok(())
}

fn read_message(conversation: &mut Conversation, item: &Value) -> Result<(), String> {
    let role = string(item, "role")?;
    let types: &[&str] =
        if role == "assistant" { &["output_text", "refusal"] } else { &["input_text"] };
    let text = text_of(&item["content"], types)?;
    match role {
        "system" | "developer" => conversation.system += &text,
        "user" => conversation.user(&text),
        "assistant" => conversation.said().text += &text,
        role => return Err(format!("Invalid value: '{role}' in `input`.")),
    }
    Ok(())
}

/// The reply that is not streamed.
pub(super) fn body(turn: &Turn, request: &Request) -> Value {
    let mut response = opening(request, ending(turn));
    let items = items(turn, request);
    response["output"] = items.iter().map(|item| item.value(item.status(turn))).collect();
    if turn.stop == Stop::Length {
        response["incomplete_details"] = json!({"reason": "max_output_tokens"});
    }
    response["usage"] = usage(turn);
    response
}

/// The reply as a stream.
pub(super) fn frames(turn: &Turn, request: &Request) -> Vec<Frame> {
    let mut events = Events::default();
    let started = opening(request, "in_progress");
    events.push("response.created", json!({"response": started}));
    events.push("response.in_progress", json!({"response": started}));
    events.frames.push(Frame::comment());
    for (index, item) in items(turn, request).iter().enumerate() {
        events.item(index, item, turn);
    }
    events.push(&format!("response.{}", ending(turn)), json!({"response": body(turn, request)}));
    events.frames
}

/// What ends a stream that failed after `sequence` frames.
pub(super) fn failure(request: &Request, sequence: usize, code: &str, message: &str) -> Vec<Frame> {
    let mut events = Events { frames: Vec::new(), sequence };
    events.push("error", json!({"code": code, "message": message, "param": null}));
    events.push("response.failed", json!({"response": failed(request, code, message)}));
    events.frames
}

/// A reply that failed when all was well with the request.
pub(super) fn failed(request: &Request, code: &str, message: &str) -> Value {
    let mut response = opening(request, "failed");
    response["error"] = json!({"code": code, "message": message});
    response
}

#[derive(Default)]
struct Events {
    frames: Vec<Frame>,
    sequence: usize,
}

impl Events {
    fn push(&mut self, event: &str, mut data: Value) {
        data["type"] = event.into();
        data["sequence_number"] = self.sequence.into();
        self.sequence += 1;
        self.frames.push(Frame::named(event, &data));
    }

    fn item(&mut self, index: usize, item: &Item<'_>, turn: &Turn) {
        let opened = item.opened();
        self.push("response.output_item.added", json!({"output_index": index, "item": opened}));
        match item {
            Item::Reasoning { summary, .. } => self.reasoning(index, item, summary),
            Item::Message { text, refusal, .. } => self.message(index, item, text, *refusal),
            Item::Call { call, .. } => self.call(index, item, call),
        }
        let done = item.value(item.status(turn));
        self.push("response.output_item.done", json!({"output_index": index, "item": done}));
    }

    fn reasoning(&mut self, index: usize, item: &Item<'_>, summary: &str) {
        if summary.is_empty() {
            return;
        }
        let at = |mut data: Value| {
            data["item_id"] = item.id().into();
            data["output_index"] = index.into();
            data["summary_index"] = 0.into();
            data
        };
        let part = |text: &str| json!({"part": {"type": "summary_text", "text": text}});
        self.push("response.reasoning_summary_part.added", at(part("")));
        for piece in pieces(summary) {
            self.push("response.reasoning_summary_text.delta", at(json!({"delta": piece})));
        }
        self.push("response.reasoning_summary_text.done", at(json!({"text": summary})));
        self.push("response.reasoning_summary_part.done", at(part(summary)));
    }

    fn message(&mut self, index: usize, item: &Item<'_>, text: &str, refusal: bool) {
        let at = |mut data: Value| {
            data["item_id"] = item.id().into();
            data["output_index"] = index.into();
            data["content_index"] = 0.into();
            if !refusal && data.get("part").is_none() {
                data["logprobs"] = json!([]);
            }
            data
        };
        let (name, field) = if refusal { ("refusal", "refusal") } else { ("output_text", "text") };
        self.push("response.content_part.added", at(json!({"part": part("", refusal)})));
        for piece in pieces(text) {
            self.push(&format!("response.{name}.delta"), at(json!({"delta": piece})));
        }
        self.push(&format!("response.{name}.done"), at(json!({field: text})));
        self.push("response.content_part.done", at(json!({"part": part(text, refusal)})));
    }

    fn call(&mut self, index: usize, item: &Item<'_>, call: &Spoken) {
        let at = |mut data: Value| {
            data["item_id"] = item.id().into();
            data["output_index"] = index.into();
            data
        };
        for piece in pieces(&call.arguments) {
            self.push("response.function_call_arguments.delta", at(json!({"delta": piece})));
        }
        let done = json!({"name": call.name, "arguments": call.arguments});
        self.push("response.function_call_arguments.done", at(done));
    }
}

/// One item of the output.
enum Item<'a> {
    Reasoning { id: String, summary: &'a str, encrypted: Option<String> },
    Message { id: String, text: &'a str, refusal: bool, last: bool },
    Call { id: String, call_id: String, call: &'a Spoken, last: bool },
}

fn items<'a>(turn: &'a Turn, request: &Request) -> Vec<Item<'a>> {
    let id = |kind: &str, index: usize| format!("{kind}_{:016x}{index:02}", request.digest);
    let mut items = Vec::new();
    if !turn.reasoning.is_empty() {
        let summary = if request.include.summary { turn.reasoning.as_str() } else { "" };
        let encrypted = request.include.encrypted.then(|| turn.signature());
        items.push(Item::Reasoning { id: id("rs", 0), summary, encrypted });
    }
    let says = [(turn.text.as_str(), false), (turn.refused().unwrap_or_default(), true)];
    for (index, (text, refusal)) in
        says.into_iter().enumerate().filter(|(_, (text, _))| !text.is_empty())
    {
        items.push(Item::Message {
            id: id("msg", index),
            text,
            refusal,
            last: turn.calls.is_empty(),
        });
    }
    items.extend(turn.calls.iter().enumerate().map(|(index, call)| Item::Call {
        id: id("fc", index),
        call_id: format!("call_{:02}_{index:02}", request.turn),
        call,
        last: index + 1 == turn.calls.len(),
    }));
    items
}

impl Item<'_> {
    fn id(&self) -> &str {
        match self {
            Self::Reasoning { id, .. } | Self::Message { id, .. } | Self::Call { id, .. } => id,
        }
    }

    /// The last item of a reply that reached its limit is left unfinished.
    fn status(&self, turn: &Turn) -> &'static str {
        match self {
            Self::Message { last: true, .. } | Self::Call { last: true, .. }
                if turn.stop == Stop::Length =>
            {
                "incomplete"
            }
            _ => "completed",
        }
    }

    fn opened(&self) -> Value {
        let mut value = self.value("in_progress");
        match self {
            Self::Reasoning { .. } => value["summary"] = json!([]),
            Self::Message { .. } => value["content"] = json!([]),
            Self::Call { .. } => value["arguments"] = "".into(),
        }
        value
    }

    fn value(&self, status: &str) -> Value {
        match self {
            Self::Reasoning { id, summary, encrypted } => {
                let parts = [summary].into_iter().filter(|text| !text.is_empty());
                let summary: Vec<Value> =
                    parts.map(|text| json!({"type": "summary_text", "text": text})).collect();
                let mut value = json!({"id": id, "type": "reasoning", "summary": summary});
                if let Some(encrypted) = encrypted {
                    value["encrypted_content"] = encrypted.as_str().into();
                }
                value
            }
            Self::Message { id, text, refusal, .. } => json!({
                "id": id,
                "type": "message",
                "status": status,
                "role": "assistant",
                "content": [part(text, *refusal)],
            }),
            Self::Call { id, call_id, call, .. } => json!({
                "id": id,
                "type": "function_call",
                "status": status,
                "arguments": call.arguments,
                "call_id": call_id,
                "name": call.name,
            }),
        }
    }
}

fn part(text: &str, refusal: bool) -> Value {
    if refusal {
        return json!({"type": "refusal", "refusal": text});
    }
    json!({"type": "output_text", "annotations": [], "logprobs": [], "text": text})
}

fn opening(request: &Request, status: &str) -> Value {
    json!({
        "id": format!("resp_{:016x}", request.digest),
        "object": "response",
        "created_at": CREATED,
        "status": status,
        "background": false,
        "error": null,
        "incomplete_details": null,
        "instructions": null,
        "max_output_tokens": null,
        "metadata": {},
        "model": request.model,
        "output": [],
        "parallel_tool_calls": true,
        "previous_response_id": null,
        "reasoning": {"effort": null, "summary": null},
        "service_tier": "default",
        "store": false,
        "temperature": 1.0,
        "text": {"format": {"type": "text"}},
        "tool_choice": "auto",
        "tools": [],
        "top_p": 1.0,
        "truncation": "disabled",
        "usage": null,
        "user": null,
    })
}

fn ending(turn: &Turn) -> &'static str {
    if turn.stop == Stop::Length { "incomplete" } else { "completed" }
}

fn usage(turn: &Turn) -> Value {
    let usage = turn.usage();
    json!({
        "input_tokens": usage.input,
        "input_tokens_details": {
            "cached_tokens": usage.cache_read,
            "cache_write_tokens": usage.cache_write,
        },
        "output_tokens": usage.output,
        "output_tokens_details": {"reasoning_tokens": turn.reasoning_tokens()},
        "total_tokens": usage.total(),
    })
}
