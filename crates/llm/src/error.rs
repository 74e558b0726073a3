//! What went wrong, by kind, in a sentence of our own: genai's would print requests and addresses.

#[cfg(test)]
mod tests;

use std::time::Duration;

use genai::webc::StreamTimeout;
use reqwest::StatusCode;
use reqwest::header::HeaderMap;
use sequester_core::provider::{Error, Kind};
use sequester_core::secret;
use serde_json::Value;

use crate::key::Key;

/// The most characters of a message.
const LENGTH: usize = 300;

/// Of whose errors it is told, and what must not be in them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Teller<'a> {
    pub(crate) service: &'static str,
    /// Where it is: no more of its address than the server.
    pub(crate) server: &'a str,
    pub(crate) key: Option<&'a Key>,
}

impl Teller<'_> {
    /// "`anthropic` ..." as one bounded sentence without secrets.
    pub(crate) fn tell(self, kind: Kind, words: &str) -> Error {
        let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
        let words = match self.key {
            Some(key) => key.hide(&words),
            None => words,
        };
        let mut message = format!("`{}` {}", self.service, secret::redact(&words).text);
        if message.chars().count() > LENGTH {
            message = message.chars().take(LENGTH - 1).collect();
            message.push('…');
        } else if !message.ends_with(['.', '!', '?']) {
            message.push('.');
        }
        Error { kind, message, retry_after: None }
    }

    pub(crate) fn explain(self, error: &genai::Error) -> Error {
        match error {
            genai::Error::HttpError { status, body, headers, .. } => {
                self.status(*status, headers, body)
            }
            genai::Error::ChatResponse { body, .. } => self.event(body),
            genai::Error::WebStream { error, .. } => self.transport(error.as_ref()),
            genai::Error::StreamParse { .. }
            | genai::Error::JsonValueExt(_)
            | genai::Error::SerdeJson(_)
            | genai::Error::InvalidJsonResponseElement { .. }
            | genai::Error::NoChatResponse { .. } => self.malformed(),
            genai::Error::RequiresApiKey { .. }
            | genai::Error::NoAuthResolver { .. }
            | genai::Error::NoAuthData { .. }
            | genai::Error::Resolver { .. } => self.tell(Kind::NoKey, "needs a key."),
            _ => self.tell(Kind::BadRequest, "cannot be asked this over its API."),
        }
    }

    pub(crate) fn cut(self) -> Error {
        self.tell(Kind::Cut, "broke off before the reply was whole.")
    }

    pub(crate) fn malformed(self) -> Error {
        self.tell(Kind::Malformed, "sent a frame that its API does not have.")
    }

    /// What happened to the connection.
    fn transport(self, error: &(dyn std::error::Error + 'static)) -> Error {
        if let Some(inner) = error.downcast_ref::<genai::Error>() {
            return self.explain(inner);
        }
        if let Some(timeout) = error.downcast_ref::<StreamTimeout>() {
            let words = match timeout {
                StreamTimeout::Headers => "did not begin to answer in time.",
                StreamTimeout::Read => "fell silent in the middle of the reply.",
            };
            return self.tell(Kind::TimedOut, words);
        }
        match error.downcast_ref::<reqwest::Error>() {
            Some(error) if error.is_connect() => {
                self.tell(Kind::Network, &format!("could not be reached at `{}`.", self.server))
            }
            Some(error) if error.is_timeout() => {
                self.tell(Kind::TimedOut, "did not answer in time.")
            }
            Some(error) if error.is_body() || error.is_decode() => self.cut(),
            Some(error) if error.is_builder() => {
                self.tell(Kind::BadRequest, "has no usable address.")
            }
            Some(_) => self.tell(Kind::Network, "closed the connection before it answered."),
            None => self.tell(Kind::Malformed, "sent text that is not UTF-8."),
        }
    }

    /// An answer that is no success.
    pub(crate) fn status(self, status: StatusCode, headers: &HeaderMap, body: &str) -> Error {
        let json: Value = serde_json::from_str(body).unwrap_or_default();
        let said = Said::read(&json);
        let kind = said.kind_of_status(status.as_u16());
        let words = match said.message.as_str() {
            // Some repeat the beginning and end of the key.
            _ if kind == Kind::Authentication => {
                format!("answered {}: it does not accept the key.", status.as_u16())
            }
            "" => format!("answered {}.", status.as_u16()),
            message => format!("answered {}: {message}", status.as_u16()),
        };
        let retry_after = delay(headers).or_else(|| told_delay(&json));
        Error { retry_after, ..self.tell(kind, &words) }
    }

    /// An error in the middle of a stream.
    pub(crate) fn event(self, body: &Value) -> Error {
        let said = Said::read(body);
        let words = match said.message.as_str() {
            "" => "broke off with an error.".to_owned(),
            message => format!("broke off: {message}"),
        };
        Error { retry_after: told_delay(body), ..self.tell(said.kind_of_event(), &words) }
    }
}

/// What a provider said of an error, in whatever shape.
#[derive(Debug, Default)]
struct Said {
    message: String,
    /// Types, codes and states, and the message, in lower case.
    marks: String,
    code: Option<u16>,
}

impl Said {
    fn read(body: &Value) -> Self {
        let body = body.get(0).unwrap_or(body);
        let error = body.get("error").filter(|error| !error.is_null()).unwrap_or(body);
        let text = |value: &Value, field: &str| {
            value.get(field).and_then(Value::as_str).unwrap_or_default().to_owned()
        };
        let message = [
            error.as_str().unwrap_or_default().to_owned(),
            text(error, "message"),
            text(error, "detail"),
            text(body, "message"),
        ];
        let message = message.into_iter().find(|text| !text.is_empty()).unwrap_or_default();
        let mut marks = message.to_lowercase();
        for field in ["type", "code", "status"] {
            marks.push(' ');
            marks.push_str(&text(error, field).to_lowercase());
        }
        let code = error.get("code").and_then(Value::as_u64);
        Self { message, marks, code: code.and_then(|code| u16::try_from(code).ok()) }
    }

    fn has(&self, marks: &[&str]) -> bool {
        marks.iter().any(|mark| self.marks.contains(mark))
    }

    fn kind_of_status(&self, status: u16) -> Kind {
        match status {
            400..600 if self.has(&TOO_LONG) => Kind::ContextTooLong,
            413 => Kind::ContextTooLong,
            400..500 if self.has(&NO_CREDIT) => Kind::Forbidden,
            401 => Kind::Authentication,
            400 | 403 if self.has(&BAD_KEY) => Kind::Authentication,
            402 | 403 => Kind::Forbidden,
            404 => Kind::UnknownModel,
            400 | 422 if self.has(&NO_MODEL) => Kind::UnknownModel,
            408 => Kind::TimedOut,
            409 | 425 => Kind::Overloaded,
            429 => Kind::RateLimited,
            400..500 | 501 => Kind::BadRequest,
            500.. => Kind::Overloaded,
            // A redirect is not followed: the address is wrong, and stays so.
            _ => Kind::BadRequest,
        }
    }

    fn kind_of_event(&self) -> Kind {
        match self.code {
            Some(code @ 400..600) => self.kind_of_status(code),
            _ if self.has(&TOO_LONG) => Kind::ContextTooLong,
            _ if self.has(&NO_CREDIT) => Kind::Forbidden,
            _ if self.has(&["rate_limit", "resource_exhausted"]) => Kind::RateLimited,
            _ if self.has(&BAD_KEY) => Kind::Authentication,
            _ if self.has(&["permission_error", "permission_denied"]) => Kind::Forbidden,
            _ if self.has(&NO_MODEL) => Kind::UnknownModel,
            _ if self.has(&["invalid_request", "invalid_argument", "invalid_prompt"]) => {
                Kind::BadRequest
            }
            _ => Kind::Overloaded,
        }
    }
}

/// How the request's size is complained of: Anthropic, OpenAI and vLLM, Gemini, llama.cpp, Ollama, Mistral.
const TOO_LONG: [&str; 14] = [
    "prompt is too long",
    "exceed context limit",
    "request_too_large",
    "context_length_exceeded",
    "maximum context length",
    "exceeds the context window",
    "request too large",
    "string_above_max_length",
    "input token count",
    "exceed_context_size",
    "exceeds the available context",
    "exceeds the context length",
    "exceed the context",
    "too large for model with",
];
const NO_CREDIT: [&str; 4] =
    ["insufficient_quota", "credit balance is too low", "billing_", "insufficient balance"];
const BAD_KEY: [&str; 6] = [
    "authentication_error",
    "invalid_api_key",
    "api key not valid",
    "api_key_invalid",
    "incorrect api key",
    "unauthenticated",
];
const NO_MODEL: [&str; 4] =
    ["model_not_found", "not_found_error", "is not a valid model", "does not exist"];

/// The provider's own delay. A date would need a clock and is left to the caller's own delay.
fn delay(headers: &HeaderMap) -> Option<Duration> {
    let value = |name: &str| headers.get(name)?.to_str().ok();
    let milliseconds = value("retry-after-ms").and_then(|text| text.trim().parse::<u64>().ok());
    match milliseconds {
        Some(milliseconds) => Some(Duration::from_millis(milliseconds)),
        None => seconds(value("retry-after")?),
    }
}

/// Gemini's delay stands in the body: `{"@type": "...RetryInfo", "retryDelay": "34.07s"}`.
fn told_delay(body: &Value) -> Option<Duration> {
    let body = body.get(0).unwrap_or(body);
    let details = body.get("error").unwrap_or(body).get("details")?.as_array()?;
    let delay = details.iter().find_map(|detail| detail.get("retryDelay")?.as_str())?;
    seconds(delay.strip_suffix('s')?)
}

fn seconds(text: &str) -> Option<Duration> {
    Duration::try_from_secs_f64(text.trim().parse().ok()?).ok()
}
