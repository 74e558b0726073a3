//! A look at the raw frames, for what genai 0.7 drops, doubles or makes up: refusals, the reason of a failure, broken
//! frames of Responses, and the calls of Chat Completions (it sizes a list by the index that the server sends, fills
//! gaps with copies, and drops a call without an index).

#[cfg(test)]
mod tests;

use std::sync::{Mutex, MutexGuard, PoisonError};

use genai::chat::{ChatFrameSink, FrameCtx, RawFrameRef};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;
use serde_json::value::RawValue;

use super::reply::LARGEST;
use crate::service::Wire;

/// The most calls one reply may have.
const CALLS: usize = 1_000;
/// Frames wrap each word in some hundred bytes.
const RAW: usize = 16 * LARGEST;

#[derive(Debug)]
pub(super) struct Watch {
    wire: Wire,
    seen: Mutex<Seen>,
}

/// What the frames so far have told.
#[derive(Debug, Default)]
pub(super) struct Seen {
    /// How many came, with data or without.
    pub(super) frames: u64,
    pub(super) data: bool,
    pub(super) refusal: String,
    /// A frame could not be read, though genai went on.
    pub(super) malformed: bool,
    /// The error of `response.failed`.
    pub(super) failed: Option<Value>,
    pub(super) calls: Vec<Partial>,
    /// Of what is kept and told by no event.
    pub(super) size: usize,
    /// Of all frames, whatever is in them.
    raw: usize,
}

/// A call as far as it got.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Partial {
    index: Option<u64>,
    pub(super) id: String,
    pub(super) name: String,
    pub(super) arguments: String,
}

impl Watch {
    pub(super) fn new(wire: Wire) -> Self {
        Self { wire, seen: Mutex::default() }
    }

    pub(super) fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ChatFrameSink for Watch {
    fn on_frame(&self, _: &FrameCtx, frame: RawFrameRef<'_>) {
        let mut seen = self.seen();
        seen.frames += 1;
        // Even a comment is something.
        seen.raw += frame.data.len() + 64;
        if frame.data.is_empty() {
            return;
        }
        seen.data = true;
        match self.wire {
            Wire::Messages => seen.messages(frame.data),
            Wire::Chat => seen.chat(frame.data),
            Wire::Responses => seen.responses(frame.data),
            Wire::Gemini => seen.gemini(frame.data),
        }
    }
}

impl Seen {
    pub(super) fn is_endless(&self) -> bool {
        self.size > LARGEST || self.raw > RAW
    }

    /// Blocks begin with what is never told in pieces, such as redacted reasoning; why a reply was refused stands beside the
    /// reason of its end.
    fn messages(&mut self, data: &str) {
        if data.contains("\"content_block\"") {
            self.size += data.len();
        }
        if data.contains("\"stop_details\"")
            && let Ok(event) = serde_json::from_str::<Value>(data)
        {
            let why = event.pointer("/delta/stop_details/explanation");
            self.refuse(why.and_then(Value::as_str).unwrap_or_default());
        }
    }

    /// Only frames of calls and refusals are read a second time.
    fn chat(&mut self, data: &str) {
        #[derive(Deserialize)]
        struct Chunk<'a> {
            #[serde(borrow, default)]
            choices: Vec<Choice<'a>>,
        }
        #[derive(Deserialize)]
        struct Choice<'a> {
            #[serde(borrow)]
            delta: Option<Delta<'a>>,
        }
        #[derive(Deserialize)]
        struct Delta<'a> {
            refusal: Option<String>,
            #[serde(borrow)]
            tool_calls: Option<Vec<Piece<'a>>>,
        }
        if !data.contains("\"tool_calls\"") && !data.contains("\"refusal\"") {
            return;
        }
        let Ok(chunk) = serde_json::from_str::<Chunk<'_>>(data) else {
            self.malformed = true;
            return;
        };
        let first = chunk.choices.into_iter().next();
        let Some(delta) = first.and_then(|choice| choice.delta) else { return };
        self.refuse(delta.refusal.as_deref().unwrap_or_default());
        for piece in delta.tool_calls.into_iter().flatten() {
            self.add(piece);
        }
    }

    fn responses(&mut self, data: &str) {
        const MARKS: [&str; 3] =
            ["\"response.refusal.delta\"", "\"response.failed\"", "\"response.incomplete\""];
        #[derive(Deserialize)]
        struct Event {
            #[serde(rename = "type")]
            kind: String,
            #[serde(default)]
            delta: String,
            #[serde(default)]
            response: Value,
        }
        // genai passes over a frame that it cannot parse, and what was in it is lost.
        if data != "[DONE]" && serde_json::from_str::<IgnoredAny>(data).is_err() {
            self.malformed = true;
            return;
        }
        if is_kept(data) {
            self.size += data.len();
        }
        if !MARKS.iter().any(|mark| data.contains(mark)) {
            return;
        }
        let Ok(Event { kind, delta, response }) = serde_json::from_str(data) else { return };
        match kind.as_str() {
            "response.refusal.delta" => self.refuse(&delta),
            "response.failed" => self.failed = response.get("error").cloned(),
            "response.incomplete" => {
                let reason = response.pointer("/incomplete_details/reason");
                if reason.and_then(Value::as_str) == Some("content_filter") {
                    self.refuse("content_filter");
                }
            }
            _ => {}
        }
    }

    fn gemini(&mut self, data: &str) {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Chunk {
            prompt_feedback: Feedback,
        }
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Feedback {
            block_reason: String,
        }
        if data.contains("\"functionCall\"") {
            self.size += data.len();
        }
        if data.contains("\"blockReason\"")
            && let Ok(Chunk { prompt_feedback }) = serde_json::from_str(data)
        {
            self.refuse(&prompt_feedback.block_reason);
        }
    }

    /// Counted on and on, but kept only as far as a reply may reach: genai makes no event of it.
    fn refuse(&mut self, words: &str) {
        self.size += words.len();
        if self.size <= LARGEST {
            self.refusal.push_str(words);
        }
    }

    /// Adds to the call that the piece belongs to: the same index, if it has one, and no other id. Servers number from
    /// one, number all calls zero, or do not number at all.
    fn add(&mut self, piece: Piece<'_>) {
        let Piece { index, id, function } = piece;
        let id = id.unwrap_or_default();
        let Function { name, arguments } = function.unwrap_or_default();
        let arguments = arguments.map(RawValue::get).unwrap_or_default();
        self.size += arguments.len();
        let known = self.calls.iter().rposition(|call| {
            (index.is_none() || call.index == index)
                && (id.is_empty() || call.id.is_empty() || call.id == id)
        });
        let place = known.unwrap_or(self.calls.len());
        if place == CALLS {
            self.malformed = true;
            return;
        }
        if known.is_none() {
            self.calls.push(Partial { index, ..Partial::default() });
        }
        let call = &mut self.calls[place];
        if !id.is_empty() {
            call.id = id;
        }
        if call.name.is_empty() {
            call.name = name.unwrap_or_default();
        }
        // A string is a piece of the arguments; anything else are the arguments.
        match serde_json::from_str::<String>(arguments) {
            Ok(text) => call.arguments.push_str(&text),
            Err(_) if arguments == "null" => {}
            Err(_) => call.arguments.push_str(arguments),
        }
    }
}

/// Whether genai keeps of a frame of Responses what no event tells: a call's beginning, encrypted reasoning. The last frame
/// repeats all and is not kept.
fn is_kept(data: &str) -> bool {
    data.contains("\"response.output_item.added\"")
        || data.contains("\"encrypted_content\"") && data.contains("\"response.output_item.done\"")
}

#[derive(Deserialize)]
struct Piece<'a> {
    index: Option<u64>,
    id: Option<String>,
    #[serde(borrow)]
    function: Option<Function<'a>>,
}

#[derive(Default, Deserialize)]
struct Function<'a> {
    name: Option<String>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
}
