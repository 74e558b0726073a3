//! Errors in each provider's own words: clients tell them apart by these.

use serde_json::{Value, json};

use super::request::Wire;

/// What the server answers instead of a reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    RateLimited,
    Overloaded,
    Server,
    ContextTooLong,
    Unauthorized,
    NoCredit,
    UnknownModel(String),
    Invalid(String),
}

/// Status and body.
pub(super) fn error(wire: Wire, refusal: &Refusal) -> (u16, Value) {
    match wire {
        Wire::Anthropic => anthropic(refusal),
        Wire::Chat | Wire::Responses => openai(wire, refusal),
    }
}

fn anthropic(refusal: &Refusal) -> (u16, Value) {
    let (status, kind, message) = match refusal {
        Refusal::RateLimited => {
            (429, "rate_limit_error", "This request would exceed your rate limit.".to_owned())
        }
        Refusal::Overloaded => (529, "overloaded_error", "Overloaded".to_owned()),
        Refusal::Server => (500, "api_error", "Internal server error".to_owned()),
        Refusal::ContextTooLong => {
            let message = "prompt is too long: 210000 tokens > 200000 maximum";
            (400, "invalid_request_error", message.to_owned())
        }
        Refusal::Unauthorized => (401, "authentication_error", "invalid x-api-key".to_owned()),
        Refusal::NoCredit => {
            let message = "Your credit balance is too low to access the Anthropic API.";
            (400, "invalid_request_error", message.to_owned())
        }
        Refusal::UnknownModel(model) => (404, "not_found_error", format!("model: {model}")),
        Refusal::Invalid(message) => (400, "invalid_request_error", message.clone()),
    };
    let error = json!({"details": null, "type": kind, "message": message});
    (status, json!({"type": "error", "error": error, "request_id": "req_scripted"}))
}

fn openai(wire: Wire, refusal: &Refusal) -> (u16, Value) {
    let (status, kind, code, message) = match refusal {
        Refusal::RateLimited => {
            (429, "tokens", Some("rate_limit_exceeded"), "Rate limit reached.".to_owned())
        }
        Refusal::Overloaded => {
            (503, "server_error", None, "The engine is currently overloaded.".to_owned())
        }
        Refusal::Server => {
            (500, "server_error", Some("server_error"), "The server had an error.".to_owned())
        }
        Refusal::ContextTooLong => {
            let message = match wire {
                Wire::Responses => "Your input exceeds the context window of this model.",
                _ => "This model's maximum context length is 128000 tokens.",
            };
            (400, "invalid_request_error", Some("context_length_exceeded"), message.to_owned())
        }
        Refusal::Unauthorized => {
            let message = "Incorrect API key provided.".to_owned();
            (401, "invalid_request_error", Some("invalid_api_key"), message)
        }
        Refusal::NoCredit => {
            let message = "You exceeded your current quota.".to_owned();
            (429, "insufficient_quota", Some("insufficient_quota"), message)
        }
        Refusal::UnknownModel(model) => {
            let message = format!("The model `{model}` does not exist.");
            (404, "invalid_request_error", Some("model_not_found"), message)
        }
        Refusal::Invalid(message) => (400, "invalid_request_error", None, message.clone()),
    };
    let param = match (refusal, wire) {
        (Refusal::ContextTooLong, Wire::Responses) => Some("input"),
        (Refusal::ContextTooLong, _) => Some("messages"),
        _ => None,
    };
    (status, json!({"error": {"message": message, "type": kind, "param": param, "code": code}}))
}
