//! One reply of the played model, the same for every wire.

use sequester_core::agent::REPORT;
use sequester_core::provider::Stop;
use sequester_core::usage::Usage;
use serde_json::Value;

use super::hash::sign;
use super::request::Request;

/// What the model says when it is its turn.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Turn {
    pub text: String,
    /// Signed; it must come back as it was.
    pub reasoning: String,
    pub calls: Vec<Spoken>,
    /// Estimated from the sizes when absent.
    pub usage: Option<Usage>,
    pub stop: Stop,
    report: Option<Value>,
}

/// A tool call as the model writes it. The arguments are text: a model may well write something that is no JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spoken {
    pub name: String,
    pub arguments: String,
}

impl Turn {
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    #[expect(clippy::needless_pass_by_value, reason = "it is written as `json!({..})` in place")]
    pub fn call(name: &str, arguments: Value) -> Self {
        Self::default().and_raw_call(name, &arguments.to_string())
    }

    /// A report in the way the request asks for it: as JSON text where it gives a schema, else by a call of `report`.
    pub fn report(report: Value) -> Self {
        Self { report: Some(report), ..Self::default() }
    }

    /// The model declines.
    pub fn refusal(words: &str) -> Self {
        Self { stop: Stop::Refused(words.to_owned()), ..Self::default() }
    }

    /// Neither text nor call.
    pub fn silence() -> Self {
        Self::default()
    }

    #[must_use]
    #[expect(clippy::needless_pass_by_value, reason = "it is written as `json!({..})` in place")]
    pub fn and_call(self, name: &str, arguments: Value) -> Self {
        self.and_raw_call(name, &arguments.to_string())
    }

    /// A call whose arguments need not be JSON.
    #[must_use]
    pub fn and_raw_call(mut self, name: &str, arguments: &str) -> Self {
        self.calls.push(Spoken { name: name.to_owned(), arguments: arguments.to_owned() });
        self
    }

    #[must_use]
    pub fn saying(mut self, text: impl Into<String>) -> Self {
        self.text = text.into();
        self
    }

    #[must_use]
    pub fn thinking(mut self, reasoning: impl Into<String>) -> Self {
        self.reasoning = reasoning.into();
        self
    }

    #[must_use]
    pub fn costing(mut self, usage: Usage) -> Self {
        self.usage = Some(usage);
        self
    }

    #[must_use]
    pub fn stopping(mut self, stop: Stop) -> Self {
        self.stop = stop;
        self
    }

    /// The turn with all that depends on the request decided.
    pub(super) fn settle(mut self, request: &Request) -> Self {
        if let Some(report) = self.report.take() {
            if request.schema.is_some() {
                self.text = report.to_string();
            } else {
                self = self.and_call(REPORT, report);
            }
        }
        let estimate = Usage {
            input: request.bytes as u64 / 4 + 1,
            output: self.output_bytes() as u64 / 4 + 1,
            ..Usage::default()
        };
        self.usage.get_or_insert(estimate);
        self
    }

    pub(super) fn usage(&self) -> Usage {
        self.usage.unwrap_or_default()
    }

    /// Of the output: what was thought.
    pub(super) fn reasoning_tokens(&self) -> u64 {
        (self.reasoning.len() as u64 / 4).min(self.usage().output)
    }

    pub(super) fn signature(&self) -> String {
        sign(&self.reasoning)
    }

    pub(super) fn refused(&self) -> Option<&str> {
        match &self.stop {
            Stop::Refused(words) => Some(words),
            Stop::End | Stop::Length => None,
        }
    }

    fn output_bytes(&self) -> usize {
        let calls = self.calls.iter().map(|call| call.name.len() + call.arguments.len());
        self.text.len() + self.reasoning.len() + calls.sum::<usize>()
    }
}

impl Spoken {
    pub(super) fn value(&self) -> Value {
        serde_json::from_str(&self.arguments)
            .unwrap_or_else(|_| Value::String(self.arguments.clone()))
    }
}
