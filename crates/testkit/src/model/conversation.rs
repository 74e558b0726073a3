//! The messages of a request, put together from whatever shape a wire gives them, and held to what the real APIs demand.

use std::collections::{BTreeMap, BTreeSet};

use sequester_core::message::{Answered, Call, Message, Said};
use serde_json::Value;

#[derive(Debug, Default)]
pub(super) struct Conversation {
    pub(super) system: String,
    pub(super) messages: Vec<Message>,
    /// Tools by the id of their call.
    names: BTreeMap<String, String>,
}

impl Conversation {
    pub(super) fn user(&mut self, text: &str) {
        self.messages.push(Message::User(text.into()));
    }

    /// A new message of the assistant.
    pub(super) fn assistant(&mut self) {
        self.messages.push(Message::Assistant(Said::default()));
    }

    /// The assistant's message that is being said; a new one after anything else.
    pub(super) fn said(&mut self) -> &mut Said {
        if !matches!(self.messages.last(), Some(Message::Assistant(_))) {
            self.assistant();
        }
        match self.messages.last_mut() {
            Some(Message::Assistant(said)) => said,
            _ => unreachable!("one was pushed when there was none"),
        }
    }

    pub(super) fn carried(&mut self, block: Value) {
        let carried = self.said().carried.get_or_insert_with(|| Value::Array(Vec::new()));
        if let Value::Array(blocks) = carried {
            blocks.push(block);
        }
    }

    pub(super) fn call(&mut self, id: &str, name: &str, arguments: Value) -> Result<(), String> {
        if self.names.insert(id.to_owned(), name.to_owned()).is_some() {
            return Err(format!("The id `{id}` stands at more than one tool call."));
        }
        self.said().calls.push(Call { id: id.to_owned(), name: name.to_owned(), arguments });
        Ok(())
    }

    pub(super) fn result(&mut self, call: &str, text: String, failed: bool) {
        let name = self.names.get(call).cloned().unwrap_or_default();
        let answered = Answered { call: call.to_owned(), name, text, failed };
        if let Some(Message::Results(results)) = self.messages.last_mut() {
            results.push(answered);
        } else {
            self.messages.push(Message::Results(vec![answered]));
        }
    }

    pub(super) fn turns(&self) -> usize {
        self.messages.iter().filter(|message| matches!(message, Message::Assistant(_))).count()
    }

    /// Every call is answered once, right after the message that made it, and nothing else is answered.
    pub(super) fn check(&self) -> Result<(), String> {
        if !matches!(self.messages.first(), Some(Message::User(_))) {
            return Err("The first message must be of the user.".to_owned());
        }
        let mut open = BTreeSet::new();
        for message in &self.messages {
            match message {
                Message::Results(results) => {
                    for result in results {
                        if !open.remove(result.call.as_str()) {
                            return Err(format!(
                                "The result for `{}` answers no call.",
                                result.call
                            ));
                        }
                    }
                    no_call_is(&open)?;
                }
                Message::User(_) | Message::Assistant(_) => no_call_is(&open)?,
            }
            if let Message::Assistant(said) = message {
                open = said.calls.iter().map(|call| call.id.as_str()).collect();
            }
        }
        no_call_is(&open)
    }
}

fn no_call_is(open: &BTreeSet<&str>) -> Result<(), String> {
    open.first().map_or(Ok(()), |id| Err(format!("The call `{id}` has no result right after it.")))
}

/// The text of a message: a string, or parts that have one of these types.
pub(super) fn text_of(content: &Value, types: &[&str]) -> Result<String, String> {
    match content {
        Value::Null => Ok(String::new()),
        Value::String(text) => Ok(text.clone()),
        Value::Array(parts) => parts.iter().map(|part| part_text(part, types)).collect(),
        _ => Err("The content is neither a string nor a list of parts.".to_owned()),
    }
}

fn part_text<'a>(part: &'a Value, types: &[&str]) -> Result<&'a str, String> {
    let kind = part["type"].as_str().unwrap_or_default();
    if !types.contains(&kind) {
        return Err(format!("A part of type `{kind}` may not stand here."));
    }
    part["text"]
        .as_str()
        .or_else(|| part["refusal"].as_str())
        .ok_or_else(|| "A part has no text.".to_owned())
}

/// A field that must be a string.
pub(super) fn string<'a>(value: &'a Value, field: &str) -> Result<&'a str, String> {
    value[field].as_str().ok_or_else(|| format!("`{field}` is missing or no string."))
}

/// A field that must be a list.
pub(super) fn list<'a>(value: &'a Value, field: &str) -> Result<&'a [Value], String> {
    value[field]
        .as_array()
        .map(Vec::as_slice)
        .ok_or_else(|| format!("`{field}` is missing or no list."))
}

/// Arguments as OpenAI's wires carry them: JSON in a string.
pub(super) fn arguments(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned()))
}
