//! Our request as genai's. Each text is copied once; nothing is added to what was asked.

#[cfg(test)]
mod tests;

use genai::chat::{
    CacheControl, ChatMessage, ChatOptions, ChatRequest, ChatResponseFormat, ContentPart,
    CustomPart, JsonSpec, MessageContent, MessageOptions, Tool, ToolCall, ToolChoice, ToolResponse,
};
use sequester_core::agent::REPORT;
use sequester_core::message::{Answered, Call, Message, Said};
use sequester_core::provider::{Answer, Request};
use sequester_core::tool::Spec;
use serde_json::{Map, Value, json};

use super::carried::Carried;
use crate::service::{Service, Wire};

/// A tool of this name without parameters is the provider's own search.
pub(super) const SEARCH: &str = "WebSearch";

pub(super) fn convert(request: &Request<'_>, service: &Service) -> ChatRequest {
    let mut messages = Vec::with_capacity(request.messages.len() + 1);
    let caches = service.wire == Wire::Messages;
    if caches && !request.system.is_empty() {
        messages.push(cached(ChatMessage::system(request.system)));
    }
    messages.extend(request.messages.iter().filter_map(|each| message(each, service)));
    // The second breakpoint moves along: the next turn reads from the cache what this one wrote.
    if caches && let Some(last) = messages.pop() {
        messages.push(cached(last));
    }
    let mut converted = ChatRequest::new(messages);
    if !caches && !request.system.is_empty() {
        converted.system = Some(request.system.to_owned());
    }
    if !request.tools.is_empty() {
        converted.tools = Some(request.tools.iter().map(|spec| tool(spec, service)).collect());
    }
    converted
}

fn cached(message: ChatMessage) -> ChatMessage {
    message.with_options(MessageOptions::from(CacheControl::Ephemeral))
}

fn message(message: &Message, service: &Service) -> Option<ChatMessage> {
    match message {
        Message::User(text) => Some(ChatMessage::user(&**text)),
        Message::Assistant(said) => assistant(said, service),
        Message::Results(results) => {
            let parts = results.iter().map(|answered| result(answered, service.wire));
            Some(ChatMessage::tool(MessageContent::from_parts(parts.collect::<Vec<_>>())))
        }
    }
}

/// `None` where the model said nothing: APIs refuse an empty message.
fn assistant(said: &Said, service: &Service) -> Option<ChatMessage> {
    if said.text.is_empty() && said.calls.is_empty() {
        return None;
    }
    let carried = Carried::from_value(service.name, said.carried.as_ref());
    let (mut parts, signed) = carried.into_parts();
    if !said.text.is_empty() {
        parts.push(ContentPart::Text(said.text.clone()));
    }
    parts.extend(said.calls.iter().enumerate().map(|(place, call)| {
        let signatures = signed.iter().find(|(signed, _)| *signed == place);
        ContentPart::ToolCall(ToolCall {
            call_id: call.id.clone(),
            fn_name: call.name.clone(),
            fn_arguments: arguments(call),
            thought_signatures: signatures.map(|(_, signatures)| signatures.clone()),
        })
    }));
    Some(ChatMessage::assistant(MessageContent::from_parts(parts)))
}

/// APIs take an object only; what the model wrote instead goes back inside one.
fn arguments(call: &Call) -> Value {
    match &call.arguments {
        Value::Object(_) => call.arguments.clone(),
        Value::Null => Value::Object(Map::new()),
        other => json!({ "arguments": other }),
    }
}

fn result(answered: &Answered, wire: Wire) -> ContentPart {
    // genai's tool result has no place for the failure that Messages can be told.
    if answered.failed && wire == Wire::Messages {
        let data = json!({
            "type": "tool_result",
            "tool_use_id": answered.call,
            "content": answered.text,
            "is_error": true,
        });
        return ContentPart::Custom(CustomPart { model_iden: None, data });
    }
    let response = ToolResponse::new(answered.call.as_str(), answered.text.as_str());
    ContentPart::ToolResponse(response.with_fn_name(answered.name.as_str()))
}

fn tool(spec: &Spec, service: &Service) -> Tool {
    if is_hosted(spec) {
        return Tool::new_web_search();
    }
    let tool = Tool::new(&*spec.name)
        .with_description(&*spec.description)
        .with_schema(spec.parameters.as_ref().clone());
    // Of all tools the report alone must keep to its schema.
    if spec.name == REPORT && is_strict(&spec.parameters, service) {
        tool.with_strict(true)
    } else {
        tool
    }
}

pub(super) fn is_hosted(spec: &Spec) -> bool {
    spec.name == SEARCH && spec.parameters.is_null()
}

/// Whether the provider can hold the model to this schema. A schema beyond its dialect would be a refused request.
fn is_strict(schema: &Value, service: &Service) -> bool {
    const UNIONS: [&str; 3] = ["oneOf", "anyOf", "allOf"];
    let is_plain = schema.get("properties").is_some_and(Value::is_object)
        && UNIONS.iter().all(|union| schema.get(union).is_none());
    match service.name {
        "openai" | "openai-responses" => is_plain && lacks(schema, &[]),
        "anthropic" => is_plain && lacks(schema, &BEYOND_ANTHROPIC),
        _ => false,
    }
}

/// Keywords that no strict dialect takes.
const BEYOND: [&str; 8] = [
    "oneOf",
    "allOf",
    "not",
    "if",
    "patternProperties",
    "unevaluatedProperties",
    "dependentRequired",
    "dependentSchemas",
];
/// Bounds that Anthropic's strict dialect refuses.
const BEYOND_ANTHROPIC: [&str; 10] = [
    "minLength",
    "maxLength",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minItems",
    "maxItems",
    "uniqueItems",
];

fn lacks(schema: &Value, beyond: &[&str]) -> bool {
    match schema {
        Value::Object(fields) => fields.iter().all(|(name, value)| {
            let name = name.as_str();
            match (name, value) {
                // Names of properties are no keywords.
                ("properties" | "$defs" | "definitions", Value::Object(inner)) => {
                    inner.values().all(|value| lacks(value, beyond))
                }
                _ => !BEYOND.contains(&name) && !beyond.contains(&name) && lacks(value, beyond),
            }
        }),
        Value::Array(items) => items.iter().all(|item| lacks(item, beyond)),
        _ => true,
    }
}

/// Bounds that a service refuses in a schema. Whoever else speaks its API may keep to them, and gets them: without
/// bounds a small model may never come to an end.
pub(super) fn refused(service: &Service, address: &str) -> &'static [&'static str] {
    match service.name {
        "anthropic" => &BEYOND_ANTHROPIC,
        "openai" | "openai-responses" if address == service.address => &["minLength", "maxLength"],
        _ => &[],
    }
}

/// The schema without these keywords.
fn without(schema: &Value, keywords: &[&str]) -> Value {
    match schema {
        Value::Object(fields) => {
            let kept = fields.iter().filter(|(name, _)| !keywords.contains(&name.as_str()));
            let kept = kept.map(|(name, value)| {
                let value = match (name.as_str(), value) {
                    // Names of properties are no keywords.
                    ("properties", Value::Object(inner)) => inner
                        .iter()
                        .map(|(name, value)| (name.clone(), without(value, keywords)))
                        .collect(),
                    _ => without(value, keywords),
                };
                (name.clone(), value)
            });
            kept.collect()
        }
        Value::Array(items) => items.iter().map(|item| without(item, keywords)).collect(),
        other => other.clone(),
    }
}

/// What goes beside the messages. `thinks`: the model reasons before every reply. `refused`: what must not be in a
/// schema.
pub(super) fn options(
    request: &Request<'_>,
    service: &Service,
    thinks: bool,
    refused: &[&str],
) -> ChatOptions {
    let wire = service.wire;
    let mut options = ChatOptions {
        max_tokens: Some(request.output_limit),
        capture_usage: Some(true),
        // Text is gathered from the events. Calls too where genai would gather them wrongly, see `watch`.
        capture_content: Some(false),
        capture_tool_calls: Some(matches!(wire, Wire::Messages | Wire::Responses)),
        capture_reasoning_content: Some(match wire {
            Wire::Messages => true,
            Wire::Chat => service.reasons_aloud,
            Wire::Responses => thinks,
            // Gemini's signatures come unasked; its thoughts in words are not needed.
            Wire::Gemini => false,
        }),
        ..ChatOptions::default()
    };
    match request.answer {
        Answer::Free => {}
        Answer::Call(name) => {
            options.tool_choice = Some(ToolChoice::Tool { name: name.to_owned() });
        }
        Answer::Json(schema) => {
            let spec = JsonSpec::new(REPORT, without(schema, refused));
            options.response_format = Some(ChatResponseFormat::JsonSpec(spec));
        }
    }
    if matches!(service.name, "openai" | "openai-responses") {
        options.prompt_cache_key = Some(cache_key(request.system));
    }
    options
}

/// Requests with the same prefix find the same cache. Its ends and its length tell prefixes apart well enough.
fn cache_key(system: &str) -> String {
    const END: usize = 4_096;
    let bytes = system.as_bytes();
    let mut hasher = blake3::Hasher::new();
    hasher.update(&bytes[..bytes.len().min(END)]);
    hasher.update(&bytes[bytes.len().saturating_sub(END)..]);
    hasher.update(&(bytes.len() as u64).to_le_bytes());
    let digest = hasher.finalize().to_hex();
    format!("sequester-{}", &digest[..16])
}
