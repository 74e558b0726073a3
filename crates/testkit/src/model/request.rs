//! A request in one form for all wires.

use sequester_core::message::Message;
use serde_json::Value;

use super::conversation::{Conversation, string};
use super::hash::hash;
use super::{anthropic, chat, responses};

/// The APIs that the server speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Wire {
    /// Anthropic Messages.
    Anthropic,
    /// OpenAI Chat Completions.
    Chat,
    /// OpenAI Responses.
    Responses,
}

impl Wire {
    pub const ALL: [Self; 3] = [Self::Anthropic, Self::Chat, Self::Responses];

    pub fn path(self) -> &'static str {
        match self {
            Self::Anthropic => "/v1/messages",
            Self::Chat => "/v1/chat/completions",
            Self::Responses => "/v1/responses",
        }
    }

    pub(super) fn at(path: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|wire| wire.path() == path)
    }
}

/// Whether the model must call a tool.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Choice {
    #[default]
    Auto,
    None,
    Any,
    Tool(String),
}

/// What was asked.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    pub wire: Wire,
    pub model: String,
    pub system: String,
    /// Reasoning that came back stands in `carried`, as a list of the wire's own blocks.
    pub messages: Vec<Message>,
    /// The names of the tools that are listed.
    pub tools: Vec<String>,
    pub choice: Choice,
    /// Of the structured output.
    pub schema: Option<Value>,
    pub stream: bool,
    /// Messages of the assistant so far.
    pub turn: usize,
    /// Length of the body.
    pub bytes: usize,
    pub(super) digest: u64,
    pub(super) include: Include,
}

/// What is only sent to who asks for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Include {
    /// Chat: usage at the end of a stream.
    pub(super) usage: bool,
    /// Responses: what was thought, as a summary.
    pub(super) summary: bool,
    /// Responses: what was thought, to be carried back.
    pub(super) encrypted: bool,
}

/// What a wire's reader finds.
pub(super) struct Read {
    pub(super) conversation: Conversation,
    pub(super) tools: Vec<String>,
    pub(super) choice: Choice,
    pub(super) schema: Option<Value>,
    pub(super) include: Include,
}

impl Request {
    /// Reads a body, or says what the real API would not accept.
    pub fn read(wire: Wire, body: &[u8]) -> Result<Self, String> {
        let value: Value = serde_json::from_slice(body)
            .map_err(|error| format!("The body is no JSON: {error}."))?;
        let read = match wire {
            Wire::Anthropic => anthropic::read(&value),
            Wire::Chat => chat::read(&value),
            Wire::Responses => responses::read(&value),
        }?;
        read.conversation.check()?;
        if let Choice::Tool(name) = &read.choice
            && !read.tools.contains(name)
        {
            return Err(format!("The tool `{name}` is demanded and not listed."));
        }
        Ok(Self {
            wire,
            model: string(&value, "model")?.to_owned(),
            turn: read.conversation.turns(),
            system: read.conversation.system,
            messages: read.conversation.messages,
            tools: read.tools,
            choice: read.choice,
            schema: read.schema,
            stream: value["stream"].as_bool().unwrap_or(false),
            bytes: body.len(),
            digest: hash(&[body]),
            include: read.include,
        })
    }

    /// The text of the first message: where a test puts its marker.
    pub fn prompt(&self) -> &str {
        match self.messages.first() {
            Some(Message::User(text)) => text,
            _ => "",
        }
    }

    /// Lets go of what a waiting reply does not need.
    pub(super) fn forget_text(&mut self) {
        self.system = String::new();
        self.messages = Vec::new();
        self.tools = Vec::new();
        self.schema = None;
    }
}

/// Names of tools under a pointer of each entry.
pub(super) fn tool_names(value: &Value, pointer: &str) -> Result<Vec<String>, String> {
    let Some(tools) = value["tools"].as_array() else { return Ok(Vec::new()) };
    let name = |tool: &Value| {
        let name = tool.pointer(pointer).or_else(|| tool.get("type")).and_then(Value::as_str);
        name.map(str::to_owned).ok_or_else(|| "A tool has no name.".to_owned())
    };
    tools.iter().map(name).collect()
}
