//! What a provider wants back with its own reply: signed, encrypted or plain reasoning, in the order it came.

use genai::chat::{ContentPart, CustomPart};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Kept with the reply as `Said::carried`. The form is ours, so that what is stored outlives genai's.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Carried {
    /// The provider it belongs to; another one would not understand it.
    by: String,
    pieces: Vec<Piece>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Piece {
    Signature(String),
    Reasoning(String),
    /// A block that goes back as it is, such as redacted reasoning.
    Block(Value),
    /// Signatures of the call with this place among the calls.
    Call(usize, Vec<String>),
}

impl Carried {
    pub(super) fn new(by: &str) -> Self {
        Self { by: by.to_owned(), pieces: Vec::new() }
    }

    /// Takes what leads a reply; text and calls are kept elsewhere.
    pub(super) fn take(&mut self, part: ContentPart) {
        match part {
            ContentPart::ThoughtSignature(text) => self.pieces.push(Piece::Signature(text)),
            ContentPart::ReasoningContent(text) => self.reason(text),
            ContentPart::Custom(part) => self.pieces.push(Piece::Block(part.data)),
            _ => {}
        }
    }

    pub(super) fn reason(&mut self, text: String) {
        self.pieces.push(Piece::Reasoning(text));
    }

    pub(super) fn sign(&mut self, call: usize, signatures: Vec<String>) {
        self.pieces.push(Piece::Call(call, signatures));
    }

    pub(super) fn into_value(self) -> Option<Value> {
        if self.pieces.is_empty() { None } else { serde_json::to_value(self).ok() }
    }

    /// What came from this provider; anything else is nothing.
    pub(super) fn from_value(by: &str, value: Option<&Value>) -> Self {
        let carried = value.and_then(|value| Self::deserialize(value).ok());
        carried.filter(|carried| carried.by == by).unwrap_or_default()
    }

    /// The parts that lead the message, and the signatures of each call by its place.
    pub(super) fn into_parts(self) -> (Vec<ContentPart>, Vec<(usize, Vec<String>)>) {
        let mut parts = Vec::new();
        let mut signed = Vec::new();
        for piece in self.pieces {
            match piece {
                Piece::Signature(text) => parts.push(ContentPart::ThoughtSignature(text)),
                Piece::Reasoning(text) => parts.push(ContentPart::ReasoningContent(text)),
                Piece::Block(data) => {
                    parts.push(ContentPart::Custom(CustomPart { model_iden: None, data }));
                }
                Piece::Call(call, signatures) => signed.push((call, signatures)),
            }
        }
        (parts, signed)
    }
}
