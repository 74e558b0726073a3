//! One reply from genai's stream: whole, or an error.

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use futures_util::{FutureExt, StreamExt};
use genai::chat::{
    ChatStream, ChatStreamEvent, ContentPart, StopReason, StreamEnd, ToolCall, Usage as Counted,
};
use sequester_core::message::{Call, Said};
use sequester_core::provider::{Deltas, Error, Kind, Reply, Stop};
use sequester_core::usage::Usage;
use serde_json::{Map, Value};

use super::carried::Carried;
use super::metered::{Endless, Metered};
use super::watch::{Seen, Watch};
use crate::error::Teller;
use crate::service::{Service, Wire};

/// More than any model says in one reply: text, reasoning and arguments together.
pub(super) const LARGEST: usize = 2 << 20;

/// Whose reply it is, and to how long a conversation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Turn<'a> {
    pub(super) service: &'static Service,
    pub(super) teller: Teller<'a>,
    pub(super) number: usize,
}

/// What the events have brought so far.
#[derive(Debug, Default)]
struct Heard {
    text: String,
    calls: Vec<ToolCall>,
    size: usize,
    /// The call that is being written and how much of it there is.
    writing: (String, usize),
}

/// Reads to the end of the reply. Dropping the future closes the connection.
pub(super) async fn read(
    stream: ChatStream,
    watch: &Watch,
    turn: Turn<'_>,
    deltas: &dyn Deltas,
) -> Result<Reply, Error> {
    let Turn { service, teller, .. } = turn;
    let mut heard = Heard::default();
    let mut stream = Metered::new(stream, watch);
    while let Some(event) = stream.next().await {
        let Ok(event) = event else { return Err(endless(teller)) };
        match event {
            Ok(ChatStreamEvent::Chunk(chunk)) => {
                deltas.text(&chunk.content);
                heard.size += chunk.content.len();
                heard.text.push_str(&chunk.content);
            }
            Ok(
                ChatStreamEvent::ReasoningChunk(chunk)
                | ChatStreamEvent::ThoughtSignatureChunk(chunk),
            ) => heard.size += chunk.content.len(),
            Ok(ChatStreamEvent::ToolCallChunk(chunk)) => heard.call(chunk.tool_call, service.wire),
            Ok(ChatStreamEvent::End(end)) => {
                return finish(end, heard, &mut watch.seen(), turn);
            }
            Ok(_) => {}
            Err(error) => {
                let is_torn = matches!(error, genai::Error::StreamParse { .. })
                    && is_over(stream.next().now_or_never().as_ref());
                let seen = watch.seen();
                return if is_torn && seen.failed.is_none() {
                    Err(teller.cut())
                } else {
                    failed(&error, &seen, turn)
                };
            }
        }
        check(&heard, &watch.seen(), teller)?;
    }
    Err(ended(&watch.seen(), teller))
}

impl Heard {
    /// Messages and Responses repeat the call so far with each piece; Gemini's calls come whole.
    fn call(&mut self, call: ToolCall, wire: Wire) {
        match wire {
            Wire::Messages | Wire::Responses => {
                if self.writing.0 != call.call_id {
                    self.size += self.writing.1;
                    self.writing.0 = call.call_id;
                }
                self.writing.1 = call.fn_arguments.as_str().map_or(0, str::len);
            }
            Wire::Gemini => self.calls.push(call),
            Wire::Chat => {}
        }
    }
}

/// Whether nothing is behind a frame that cannot be read: then it is the torn last one.
fn is_over(next: Option<&Option<Result<genai::Result<ChatStreamEvent>, Endless>>>) -> bool {
    match next {
        Some(None) => true,
        Some(Some(Ok(Ok(ChatStreamEvent::End(end))))) => end.captured_stop_reason.is_none(),
        _ => false,
    }
}

/// Whether the reply may go on.
fn check(heard: &Heard, seen: &Seen, teller: Teller<'_>) -> Result<(), Error> {
    if seen.malformed {
        return Err(teller.malformed());
    }
    if seen.is_endless() || heard.size + heard.writing.1 + seen.size > LARGEST {
        return Err(endless(teller));
    }
    Ok(())
}

fn endless(teller: Teller<'_>) -> Error {
    teller.tell(Kind::TooLarge, "answers without end.")
}

/// The stream ended and the reply did not.
fn ended(seen: &Seen, teller: Teller<'_>) -> Error {
    if seen.frames > 0 && !seen.data {
        teller.tell(Kind::Malformed, "answered with something else than a stream of events.")
    } else {
        teller.cut()
    }
}

fn failed(error: &genai::Error, seen: &Seen, turn: Turn<'_>) -> Result<Reply, Error> {
    let Turn { service, teller, .. } = turn;
    if let Some(body) = &seen.failed {
        return Err(teller.event(body));
    }
    // Gemini's blocked prompt has no candidates, which genai takes for an error. Elsewhere it is one, and the refusal torn.
    let is_answer = service.wire == Wire::Gemini && !seen.refusal.is_empty();
    if is_answer && matches!(error, genai::Error::ChatResponse { .. }) {
        return Ok(Reply { stop: Stop::Refused(seen.refusal.clone()), ..Reply::default() });
    }
    Err(teller.explain(error))
}

fn finish(end: StreamEnd, heard: Heard, seen: &mut Seen, turn: Turn<'_>) -> Result<Reply, Error> {
    let Turn { service, teller, .. } = turn;
    // An end without them was made up, by genai or by a server that lost its model in the middle.
    let is_real = match service.wire {
        Wire::Responses => end.captured_response_id.is_some(),
        Wire::Gemini | Wire::Messages | Wire::Chat => end.captured_stop_reason.is_some(),
    };
    if !is_real {
        return Err(ended(seen, teller));
    }
    check(&heard, seen, teller)?;
    let usage = end.captured_usage.as_ref().map(count).unwrap_or_default();
    let reason = end.captured_stop_reason.clone();
    let (said, last_is_whole) = say(end, heard, seen, turn);
    let stop = stop(reason, std::mem::take(&mut seen.refusal), &said.text);
    let mut reply = Reply { said, usage, stop };
    if reply.stop == Stop::Length && !last_is_whole {
        reply.said.calls.pop();
    }
    Ok(reply)
}

/// What was said, and whether the last call's arguments are closed.
fn say(end: StreamEnd, heard: Heard, seen: &mut Seen, turn: Turn<'_>) -> (Said, bool) {
    let service = turn.service;
    let mut carried = Carried::new(service.name);
    let mut calls = heard.calls;
    for part in end.captured_content.into_iter().flatten() {
        match part {
            ContentPart::ToolCall(call) => calls.push(call),
            other => carried.take(other),
        }
    }
    if service.reasons_aloud
        && let Some(reasoning) = end.captured_reasoning_content
    {
        carried.reason(reasoning);
    }
    if service.wire == Wire::Gemini {
        for (place, call) in calls.iter_mut().enumerate() {
            if let Some(signatures) = call.thought_signatures.take() {
                carried.sign(place, signatures);
            }
        }
    }
    calls.extend(seen.calls.drain(..).map(|call| ToolCall {
        call_id: call.id,
        fn_name: call.name,
        fn_arguments: Value::String(call.arguments),
        thought_signatures: None,
    }));
    let mut calls = identify(calls, turn.number);
    let mut last_is_whole = true;
    for call in &mut calls {
        last_is_whole = close(&mut call.arguments);
    }
    (Said { text: heard.text, calls, carried: carried.into_value() }, last_is_whole)
}

/// Makes the arguments JSON, if they are, and says whether they are an object. Nothing at all is no arguments.
fn close(arguments: &mut Value) -> bool {
    let text = match arguments {
        Value::String(text) => text,
        Value::Null => {
            *arguments = Value::Object(Map::new());
            return true;
        }
        other => return other.is_object(),
    };
    if text.is_empty() {
        *arguments = Value::Object(Map::new());
        return false;
    }
    if let Ok(parsed) = serde_json::from_str::<Value>(text) {
        *arguments = parsed;
    }
    arguments.is_object()
}

/// No two calls of a reply have one id, and none has none.
fn identify(calls: Vec<ToolCall>, turn: usize) -> Vec<Call> {
    let mut taken = BTreeSet::new();
    let mut identified = Vec::with_capacity(calls.len());
    for (place, call) in calls.into_iter().enumerate() {
        let mut id = call.call_id;
        if id.is_empty() {
            id = format!("call_{turn}_{place}");
        }
        while !taken.insert(id.clone()) {
            id = format!("{id}#{place}");
        }
        identified.push(Call { id, name: call.fn_name, arguments: call.fn_arguments });
    }
    identified
}

fn stop(reason: Option<StopReason>, refusal: String, text: &str) -> Stop {
    match reason {
        _ if !refusal.is_empty() => Stop::Refused(refusal),
        Some(StopReason::ContentFilter(_)) if !text.is_empty() => Stop::Refused(text.to_owned()),
        Some(StopReason::ContentFilter(reason)) => Stop::Refused(reason),
        Some(StopReason::MaxTokens(_)) => Stop::Length,
        _ => Stop::End,
    }
}

/// genai has brought all to one form already: what came from a cache or went to one is part of the prompt.
fn count(counted: &Counted) -> Usage {
    let tokens = |number: Option<i32>| number.and_then(|number| u64::try_from(number).ok());
    let details = counted.prompt_tokens_details.as_ref();
    let cache_read = details.and_then(|details| tokens(details.cached_tokens)).unwrap_or(0);
    let cache_write =
        details.and_then(|details| tokens(details.cache_creation_tokens)).unwrap_or(0);
    let reasoning = counted.completion_tokens_details.as_ref();
    let reasoning = reasoning.and_then(|details| tokens(details.reasoning_tokens)).unwrap_or(0);
    Usage {
        // Gateways that forget the cache in their sum are corrected.
        input: tokens(counted.prompt_tokens).unwrap_or(0).max(cache_read + cache_write),
        cache_read,
        cache_write,
        output: tokens(counted.completion_tokens).unwrap_or(reasoning),
    }
}
