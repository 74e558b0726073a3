//! A model on a played server, and what it is asked.

use std::sync::Mutex;

use sequester_core::message::{Answered, Message, Said};
use sequester_core::protected::Grants;
use sequester_core::provider::{Answer, Deltas, Error, Provider, Reply, Request};
use sequester_core::tool::{Effect, Spec};
use sequester_llm::{Models, Named, Pool, Remote, Sources, Timeouts, resolve};
use sequester_testkit::model::{Script, Server, Turn, Wire};
use serde_json::{Value, json};

pub(crate) const KEY: &str = "made-up-key-f00d-0451";
pub(crate) const SYSTEM: &str = "You look for things.\n\n  Ünd \"quotes\", too.\n";
pub(crate) const PROMPT: &str = "Find where sessions expire.\n\tExactly these bytes: \u{1f50d}\r\n";

pub(crate) fn remote(name: &str, address: &str, key: &str, timeouts: Timeouts) -> Remote {
    let environment = |variable: &str| match variable {
        "OPENAI_BASE_URL" => Some(format!("{address}/v1")),
        "ANTHROPIC_BASE_URL" | "GOOGLE_GEMINI_BASE_URL" | "OLLAMA_HOST" => Some(address.to_owned()),
        "OPENAI_API_KEY" | "ANTHROPIC_API_KEY" | "GEMINI_API_KEY" => Some(key.to_owned()),
        _ => None,
    };
    let models = Models::default();
    let sources = Sources { models: &models, environment: &environment, command: &|_| None };
    let Ok(Named::Target(target)) = resolve(name, &sources) else { panic!("{name}") };
    Remote::new(&Pool::new(timeouts).unwrap(), target)
}

pub(crate) fn over(wire: Wire, server: &Server) -> Remote {
    with(wire, server, KEY, Timeouts::default())
}

pub(crate) fn with(wire: Wire, server: &Server, key: &str, timeouts: Timeouts) -> Remote {
    let name = match wire {
        Wire::Anthropic => "anthropic/claude-sonnet-5",
        Wire::Chat => "openai/gpt-5",
        Wire::Responses => "openai-responses/gpt-5",
    };
    remote(name, &format!("http://{}", server.address()), key, timeouts)
}

pub(crate) fn tool(name: &'static str) -> Spec {
    Spec {
        name: name.into(),
        description: "Does it.".into(),
        parameters: json!({
            "type": "object",
            "properties": {"path": {"type": "string"}},
            "required": ["path"],
            "additionalProperties": false,
        })
        .into(),
        effect: Effect::Reads,
    }
}

pub(crate) fn prompt() -> Vec<Message> {
    vec![Message::User(PROMPT.into())]
}

pub(crate) fn request<'a>(messages: &'a [Message], tools: &'a [Spec]) -> Request<'a> {
    Request {
        system: SYSTEM,
        messages,
        tools,
        answer: Answer::Free,
        output_limit: 4_096,
        turns: 80,
        task: "",
        grants: Grants::none(),
    }
}

/// What came while it was generated.
#[derive(Default)]
pub(crate) struct Heard(pub(crate) Mutex<String>);

impl Deltas for Heard {
    fn text(&self, piece: &str) {
        self.0.lock().unwrap().push_str(piece);
    }
}

pub(crate) async fn ask(remote: &Remote, messages: &[Message]) -> Result<Reply, Error> {
    let tools = [tool("Read"), tool("Grep"), tool("report")];
    remote.complete(request(messages, &tools), &Heard::default()).await
}

pub(crate) async fn play(turns: Vec<Turn>) -> Server {
    Server::start(Script::replies(turns)).await.unwrap()
}

/// The conversation after a reply whose calls were all answered.
pub(crate) fn answered(mut messages: Vec<Message>, said: Said) -> Vec<Message> {
    let results = said.calls.iter().map(|call| Answered {
        call: call.id.clone(),
        name: call.name.clone(),
        text: format!("result of {}", call.name),
        failed: false,
    });
    let results = results.collect();
    messages.push(Message::Assistant(said));
    messages.push(Message::Results(results));
    messages
}

/// The reply without what each wire has its own of.
pub(crate) fn plain(mut reply: Reply) -> Reply {
    for (place, call) in reply.said.calls.iter_mut().enumerate() {
        call.id = place.to_string();
    }
    reply.said.carried = None;
    reply
}

pub(crate) fn last_body(server: &Server) -> Value {
    server.requests().last().unwrap().json()
}
