//! A model over the network, behind the port `Provider`.

mod carried;
mod metered;
mod reply;
mod request;
#[cfg(test)]
mod tests;
mod watch;

use std::sync::Arc;

use genai::chat::{ChatStream, ReasoningEffort};
use genai::resolver::{AuthData, Endpoint};
use genai::{Headers, ModelIden, ServiceTarget};
use sequester_core::future::BoxFuture;
use sequester_core::provider::{Deltas, Error, Kind, Powers, Provider, Reply, Request};
use serde_json::{Map, Value, json};

use crate::error::Teller;
use crate::name::Target;
use crate::pool::Pool;
use crate::service::Wire;
use reply::Turn;
use watch::Watch;

/// A model that is asked over the network, always by a stream.
///
/// A reply whose usage the server did not tell has zeros for it.
#[derive(Debug)]
pub struct Remote {
    pool: Pool,
    target: Target,
    name: String,
    server: String,
    destination: ServiceTarget,
    /// The model reasons before it replies.
    thinks: bool,
    /// Fields of the request that genai would set otherwise.
    fields: Option<Value>,
}

impl Remote {
    pub fn new(pool: &Pool, target: Target) -> Self {
        let Target { service, model, .. } = &target;
        let thinks = service.wire == Wire::Responses
            && !["gpt-3", "gpt-4", "chatgpt-"].iter().any(|old| model.starts_with(old));
        let mut fields = Map::new();
        // With the encrypted reasoning genai asks for a summary, which only verified organisations may have.
        if thinks {
            fields.insert("reasoning".to_owned(), json!({}));
        }
        let hidden = hidden(model);
        if hidden.is_some() && service.wire != Wire::Gemini {
            fields.insert("model".to_owned(), model.as_str().into());
        }
        let destination = ServiceTarget {
            endpoint: Endpoint::from_owned(target.address.as_str()),
            auth: auth(&target, hidden.is_some()),
            model: ModelIden::new(service.kind, hidden.as_deref().unwrap_or(model)),
        };
        let fields = (!fields.is_empty()).then_some(Value::Object(fields));
        let server = reqwest::Url::parse(&target.address);
        let server = server.map(|url| url.origin().ascii_serialization()).unwrap_or_default();
        let (pool, name) = (pool.clone(), target.name());
        Self { pool, target, name, server, destination, thinks, fields }
    }

    /// Whether the provider's own search can be listed as a tool named `WebSearch` without parameters.
    ///
    /// Anthropic's cannot: genai breaks off at the first frame of a search.
    pub fn can_search(&self) -> bool {
        matches!(self.target.service.wire, Wire::Responses | Wire::Gemini)
    }

    fn teller(&self) -> Teller<'_> {
        let Target { service, key, .. } = &self.target;
        Teller { service: service.name, server: &self.server, key: key.as_ref() }
    }

    async fn ask(&self, request: Request<'_>, deltas: &dyn Deltas) -> Result<Reply, Error> {
        let service = self.target.service;
        let teller = self.teller();
        if !self.can_search() && request.tools.iter().any(request::is_hosted) {
            return Err(teller.tell(Kind::BadRequest, "has no web search of its own."));
        }
        let watch = Arc::new(Watch::new(service.wire));
        let stream = self.open(&request, &watch).await.map_err(|error| teller.explain(&error))?;
        let turn = Turn { service, teller, number: request.messages.len() };
        reply::read(stream, &watch, turn, deltas).await
    }

    /// Apart from reading, so that nothing of the request is held while the model answers.
    async fn open(&self, request: &Request<'_>, watch: &Arc<Watch>) -> genai::Result<ChatStream> {
        let service = self.target.service;
        let refused = request::refused(service, &self.target.address);
        let mut options = request::options(request, service, self.thinks, refused);
        options.stream_header_timeout = Some(self.pool.timeouts.headers);
        options.stream_read_timeout = Some(self.pool.timeouts.read);
        options.extra_body.clone_from(&self.fields);
        options.raw_frame_sink = Some(watch.clone());
        let converted = request::convert(request, service);
        let destination = self.destination.clone();
        let opened = self.pool.genai(&self.target.address).exec_chat_stream(
            destination,
            converted,
            Some(&options),
        );
        Ok(opened.await?.stream)
    }
}

/// What genai is told instead of a name that it would not send as it is: it takes an end such as `-max` for an effort to
/// reason, and what stands before `::` for a service.
fn hidden(model: &str) -> Option<String> {
    let is_taken = ReasoningEffort::from_model_name(model).0.is_some() || model.contains("::");
    is_taken.then(|| format!("{}-", model.replace("::", ":")))
}

/// Without a key no header is sent at all: genai would send an empty one, or refuse. Gemini's model is in its address, so
/// that is made here as well where the name is `hidden`.
fn auth(target: &Target, hidden: bool) -> AuthData {
    let Target { service, address, model, key } = target;
    let (url, headers) = match (service.wire, key) {
        (Wire::Gemini, Some(key)) if hidden => {
            (gemini(address, model), Headers::from(("x-goog-api-key", key.reveal())))
        }
        (_, Some(key)) => return AuthData::from_single(key.reveal()),
        (Wire::Messages, None) => {
            (format!("{address}messages"), Headers::from(("anthropic-version", "2023-06-01")))
        }
        (Wire::Chat, None) => (format!("{address}chat/completions"), Headers::default()),
        (Wire::Responses, None) => (format!("{address}responses"), Headers::default()),
        (Wire::Gemini, None) => (gemini(address, model), Headers::default()),
    };
    AuthData::RequestOverride { url, headers }
}

fn gemini(address: &str, model: &str) -> String {
    format!("{address}models/{model}:streamGenerateContent?alt=sse")
}

impl Provider for Remote {
    fn model(&self) -> &str {
        &self.name
    }

    fn powers(&self) -> Powers {
        Powers { schema: self.target.service.schema, free: self.target.is_free(), scripted: false }
    }

    fn complete<'a>(
        &'a self,
        request: Request<'a>,
        deltas: &'a dyn Deltas,
    ) -> BoxFuture<'a, Result<Reply, Error>> {
        Box::pin(self.ask(request, deltas))
    }
}
