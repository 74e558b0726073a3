//! The port to models: messages and tools in, one reply out.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::future::BoxFuture;
use crate::message::{Message, Said};
use crate::protected::Grants;
use crate::tool::Spec;
use crate::usage::Usage;

/// One question to a model. It borrows: what thousands of subagents share is held once.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The shared prefix; a provider with a cache gets its breakpoint after it.
    pub system: &'a str,
    pub messages: &'a [Message],
    pub tools: &'a [Spec],
    pub answer: Answer<'a>,
    /// The most tokens the reply may have.
    pub output_limit: u32,
    /// How many replies the attempt may have in all, the report included.
    pub turns: u32,
    /// The task's own text, a part of the first message: for a provider that carries it out word for word.
    pub task: &'a str,
    /// What of the protected names that text may change, for the same provider.
    pub grants: &'a Grants,
}

/// What the reply may be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Answer<'a> {
    /// Text, or calls of the tools that are listed.
    Free,
    /// A call of this tool and nothing else.
    Call(&'a str),
    /// JSON by this schema, by the provider's structured output. Tools are listed only if the conversation holds calls.
    Json(&'a Value),
}

/// One reply, whole. A reply that was cut off is an error, never half a reply.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Reply {
    pub said: Said,
    pub usage: Usage,
    pub stop: Stop,
}

/// Why the model stopped.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stop {
    /// It had said all, or waits for its calls' results.
    #[default]
    End,
    /// The reply reached its limit of tokens.
    Length,
    /// The provider or the model declined, and what it said of it.
    Refused(String),
}

/// Where text goes while it is generated. A side channel: the reply alone counts.
pub trait Deltas: Send + Sync {
    fn text(&self, piece: &str);
}

/// What a provider can do beside text and tools.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Powers {
    /// It keeps to a JSON schema that comes with the request.
    pub schema: bool,
    /// It costs nothing per token.
    pub free: bool,
    /// Its calls are spelled out by the task, each as often as it stands there: the same call again is no loop.
    #[serde(default)]
    pub scripted: bool,
}

/// A model that can be asked.
pub trait Provider: Send + Sync {
    /// As a person names it: `anthropic/claude-sonnet-5`, `literal`.
    fn model(&self) -> &str;

    fn powers(&self) -> Powers;

    fn complete<'a>(
        &'a self,
        request: Request<'a>,
        deltas: &'a dyn Deltas,
    ) -> BoxFuture<'a, Result<Reply, Error>>;
}

/// A reply that could not be had.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Error {
    pub kind: Kind,
    /// One sentence, without keys and without what was sent.
    pub message: String,
    /// How long the provider itself asks to wait.
    pub retry_after: Option<Duration>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Kind {
    /// 429.
    RateLimited,
    /// 503, 529 and other 5xx.
    Overloaded,
    /// The connection could not be made or broke before the reply began.
    Network,
    /// The stream ended before the reply did.
    Cut,
    /// What came is not what the API promises: wrong content type, broken frames.
    Malformed,
    /// Nothing came for too long.
    TimedOut,
    /// The reply is larger than anything a model should say.
    TooLarge,
    /// The request does not fit in the model's window.
    ContextTooLong,
    /// There is no key for this provider.
    NoKey,
    /// The provider does not accept the key.
    Authentication,
    /// The account has no credit or may not use this model.
    Forbidden,
    UnknownModel,
    /// The provider did not understand the request.
    BadRequest,
}

impl Kind {
    /// Whether the same request may well succeed a little later.
    pub fn is_passing(self) -> bool {
        matches!(
            self,
            Self::RateLimited
                | Self::Overloaded
                | Self::Network
                | Self::Cut
                | Self::Malformed
                | Self::TimedOut
        )
    }

    pub fn as_str(self) -> &'static str {
        match self {
            Self::RateLimited => "rate_limited",
            Self::Overloaded => "overloaded",
            Self::Network => "network",
            Self::Cut => "cut",
            Self::Malformed => "malformed",
            Self::TimedOut => "timed_out",
            Self::TooLarge => "too_large",
            Self::ContextTooLong => "context_too_long",
            Self::NoKey => "no_key",
            Self::Authentication => "authentication",
            Self::Forbidden => "forbidden",
            Self::UnknownModel => "unknown_model",
            Self::BadRequest => "bad_request",
        }
    }

    /// What a person can do about it.
    pub fn hint(self) -> &'static str {
        match self {
            Self::RateLimited => "Wait, run fewer subagents at once, or name a further model.",
            Self::Overloaded | Self::Cut | Self::Malformed | Self::TimedOut => {
                "Try again later, or name a further model."
            }
            Self::Network => "Check the network and the provider's base URL.",
            Self::TooLarge | Self::BadRequest => "Try another model.",
            Self::ContextTooLong => "Split the task, or take a model with a larger window.",
            Self::NoKey => "Set the provider's key in its environment variable.",
            Self::Authentication => "Check the key in the provider's environment variable.",
            Self::Forbidden => "Check the account's credit and which models it may use.",
            Self::UnknownModel => "Check the model's name: `provider/model`.",
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl std::error::Error for Error {}
