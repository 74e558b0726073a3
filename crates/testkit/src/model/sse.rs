//! Frames of a stream of server-sent events.

use hyper::body::Bytes;
use serde_json::Value;

/// One event of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Frame {
    event: Option<String>,
    data: String,
    /// A piece of what the model says: where a stream hurts most when it breaks.
    pub(super) delta: bool,
}

impl Frame {
    pub(super) fn named(event: &str, data: &Value) -> Self {
        let delta = event.ends_with("delta") && event != "message_delta";
        Self { event: Some(event.to_owned()), data: data.to_string(), delta }
    }

    pub(super) fn bare(data: impl Into<String>) -> Self {
        Self { event: None, data: data.into(), delta: false }
    }

    pub(super) fn delta(data: &Value) -> Self {
        Self { event: None, data: data.to_string(), delta: true }
    }

    /// A line that says nothing but that the server lives.
    pub(super) fn comment() -> Self {
        Self { event: None, data: String::new(), delta: false }
    }

    pub(super) fn bytes(&self) -> Bytes {
        if self.data.is_empty() {
            return Bytes::from_static(b": keep-alive\n\n");
        }
        let event = self.event.iter().map(|event| format!("event: {event}\n"));
        format!("{}data: {}\n\n", event.collect::<String>(), self.data).into()
    }

    /// Changes the data, where it is JSON.
    pub(super) fn change(&mut self, change: impl Fn(&mut Value)) {
        if let Ok(mut data) = serde_json::from_str(&self.data) {
            change(&mut data);
            self.data = data.to_string();
        }
    }

    /// The frame with only the first half of its data: no JSON any more.
    pub(super) fn torn(&self) -> Self {
        let half = floor(&self.data, self.data.len() / 2);
        Self { data: self.data[..half].to_owned(), ..self.clone() }
    }
}

/// A text in the pieces in which it is streamed: several, but not more than some hundreds.
pub(super) fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let size = (text.len() / 3).clamp(1, 24).max(text.len() / 400);
    let mut rest = text;
    std::iter::from_fn(move || {
        let end = floor(rest, size).max(rest.chars().next().map_or(0, char::len_utf8));
        let (piece, after) = rest.split_at(end);
        rest = after;
        (!piece.is_empty()).then_some(piece)
    })
}

/// The last place at or before `index` where a character begins.
fn floor(text: &str, index: usize) -> usize {
    text.floor_char_boundary(index)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_put_together_are_the_text() {
        for text in ["", "a", "äöü", "{\"path\":\"src/lib.rs\"}", &"日本語".repeat(5_000)] {
            let parts: Vec<&str> = pieces(text).collect();
            assert_eq!(parts.concat(), text);
            assert!(parts.len() <= 500, "{}", parts.len());
        }
        assert!(pieces("{\"path\":\"a\"}").count() >= 3);
    }

    #[test]
    fn a_torn_frame_is_no_json() {
        let torn = Frame::delta(&serde_json::json!({"text": "grüße"})).torn();
        assert!(serde_json::from_str::<Value>(&torn.data).is_err(), "{torn:?}");
    }
}
