//! The floors: a loop over genai that sends the same requests, and below it a client that posts the same bytes.

use std::sync::Arc;

use futures_util::StreamExt;
use genai::adapter::AdapterKind;
use genai::chat::{
    CacheControl, ChatMessage, ChatOptions, ChatRequest, ChatStreamEvent, ContentPart,
    MessageContent, MessageOptions, StreamEnd, Tool, ToolResponse,
};
use genai::resolver::{AuthData, Endpoint};
use genai::{Client, ModelIden, ServiceTarget};
use reqwest::header::CONTENT_TYPE;
use sequester_testkit::model::Wire;

use super::case::{Case, KEY, OUTPUT, result};

/// A loop that somebody would write over genai: it keeps a request, sends a copy of it and adds to it.
pub(crate) struct Bare {
    case: Case,
    client: Client,
    target: ServiceTarget,
    options: ChatOptions,
    system: Arc<str>,
    tools: Vec<Tool>,
}

impl Bare {
    pub(crate) fn new(case: Case, address: &str) -> Self {
        let system = case.system();
        let kind = match case.wire {
            Wire::Anthropic => AdapterKind::Anthropic,
            Wire::Chat => AdapterKind::OpenAI,
            Wire::Responses => AdapterKind::OpenAIResp,
        };
        let specs = case.brief(&system, 0).tools;
        let tools = specs.iter().map(|spec| {
            let tool = Tool::new(&*spec.name)
                .with_description(&*spec.description)
                .with_schema(spec.parameters.as_ref().clone());
            if spec.name == "report" { tool.with_strict(true) } else { tool }
        });
        let options = ChatOptions {
            max_tokens: Some(OUTPUT),
            capture_usage: Some(true),
            capture_content: Some(true),
            capture_tool_calls: Some(true),
            // As long as the one that the product sends.
            prompt_cache_key: (case.wire != Wire::Anthropic)
                .then(|| "sequester-0123456789abcdef".to_owned()),
            ..ChatOptions::default()
        };
        Self {
            case,
            client: Client::builder().with_reqwest(http()).build().unwrap(),
            target: ServiceTarget {
                endpoint: Endpoint::from_owned(format!("http://{address}/v1/")),
                auth: AuthData::from_single(KEY),
                model: ModelIden::new(kind, case.model()),
            },
            options,
            tools: tools.collect(),
            system,
        }
    }

    /// Whether the model called `report` in the end.
    pub(crate) async fn talk(&self, number: usize) -> bool {
        let mut request = self.open(number);
        for call in 0.. {
            let Some(end) = self.ask(self.marked(request.clone())).await else { return false };
            if is_report(&end) {
                return true;
            }
            let Some(answered) = answer(end, call) else { return false };
            request.messages.extend(answered);
        }
        false
    }

    /// The same, but thrifty: while it waits it holds the messages and nothing else.
    pub(crate) async fn talk_thriftily(&self, number: usize) -> bool {
        let mut messages = vec![ChatMessage::user(self.case.prompt(number))];
        for call in 0.. {
            let opened = {
                let request = self.marked(self.around(messages.clone()));
                self.client
                    .exec_chat_stream(self.target.clone(), request, Some(&self.options))
                    .await
            };
            let Some(end) = read(opened).await else { return false };
            if is_report(&end) {
                return true;
            }
            let Some(answered) = answer(end, call) else { return false };
            messages.extend(answered);
        }
        false
    }

    fn open(&self, number: usize) -> ChatRequest {
        self.around(vec![ChatMessage::user(self.case.prompt(number))])
    }

    fn around(&self, mut messages: Vec<ChatMessage>) -> ChatRequest {
        let mut request = ChatRequest::default();
        if self.case.wire == Wire::Anthropic {
            messages.insert(0, cached(ChatMessage::system(&*self.system)));
        } else {
            request.system = Some(self.system.to_string());
        }
        request.messages = messages;
        request.with_tools(self.tools.clone())
    }

    /// Messages is told where its cache may end.
    fn marked(&self, mut request: ChatRequest) -> ChatRequest {
        if self.case.wire == Wire::Anthropic
            && let Some(last) = request.messages.pop()
        {
            request.messages.push(cached(last));
        }
        request
    }

    async fn ask(&self, request: ChatRequest) -> Option<StreamEnd> {
        read(self.client.exec_chat_stream(self.target.clone(), request, Some(&self.options)).await)
            .await
    }
}

async fn read(opened: genai::Result<genai::chat::ChatStreamResponse>) -> Option<StreamEnd> {
    let tell = |error: genai::Error| eprintln!("the bare loop: {error:?}");
    let mut stream = opened.map_err(tell).ok()?.stream;
    while let Some(event) = stream.next().await {
        if let ChatStreamEvent::End(end) = event.map_err(tell).ok()? {
            return Some(end);
        }
    }
    None
}

fn cached(message: ChatMessage) -> ChatMessage {
    message.with_options(MessageOptions::from(CacheControl::Ephemeral))
}

fn is_report(end: &StreamEnd) -> bool {
    end.captured_tool_calls().is_some_and(|calls| calls.iter().any(|call| call.fn_name == "report"))
}

/// What the model said, and the result of its call.
fn answer(end: StreamEnd, number: usize) -> Option<[ChatMessage; 2]> {
    let content = end.captured_content?;
    let call = content.tool_calls().first().copied()?;
    let response = ToolResponse::new(call.call_id.as_str(), result(number))
        .with_fn_name(call.fn_name.as_str());
    let results = MessageContent::from_parts(vec![ContentPart::ToolResponse(response)]);
    Some([ChatMessage::assistant(content), ChatMessage::tool(results)])
}

/// Set up as the product's.
fn http() -> reqwest::Client {
    reqwest::Client::builder()
        .tcp_nodelay(true)
        .redirect(reqwest::redirect::Policy::none())
        .build()
        .unwrap()
}

/// No library for models at all: bodies that are ready are posted, and what comes back is read and dropped.
pub(crate) struct Post {
    client: reqwest::Client,
    url: String,
    bodies: Vec<String>,
}

impl Post {
    pub(crate) fn new(case: Case, address: &str, bodies: Vec<String>) -> Self {
        Self { client: http(), url: format!("http://{address}{}", case.wire.path()), bodies }
    }

    pub(crate) async fn talk(&self) -> bool {
        for body in &self.bodies {
            let request = self.client.post(&self.url).header(CONTENT_TYPE, "application/json");
            let request = request.header("anthropic-version", "2023-06-01").bearer_auth(KEY);
            let Ok(mut response) = request.body(body.clone()).send().await else { return false };
            while let Ok(Some(_)) = response.chunk().await {}
        }
        true
    }
}
