//! What a model is shown and what it says: the conversation of one attempt.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One step of the conversation. The system part stands apart; it never changes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Message {
    /// The context's prompt, or a word of the runtime: a report's fault, the last turn.
    User(Arc<str>),
    Assistant(Said),
    /// The results of all calls of the reply before, in their order.
    Results(Vec<Answered>),
}

/// What a model said in one reply.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Said {
    pub text: String,
    pub calls: Vec<Call>,
    /// What the provider wants back word for word in the next request, such as signed reasoning. Opaque to all others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub carried: Option<Value>,
}

/// A model asks for a tool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Call {
    /// As the provider named it; it comes back with the result.
    pub id: String,
    pub name: String,
    /// As the model wrote them: any JSON, or a string where it was none.
    pub arguments: Value,
}

impl Call {
    /// What is said of arguments that are nested deeper than anybody could read back.
    pub const TOO_DEEP: &str = "The arguments are nested deeper than 64 levels.";

    pub fn is_too_deep(&self) -> bool {
        is_deeper(&self.arguments, 64)
    }
}

/// Looks no deeper than `depth`.
fn is_deeper(value: &Value, depth: usize) -> bool {
    match (value, depth) {
        (Value::Array(_) | Value::Object(_), 0) => true,
        (Value::Array(items), _) => items.iter().any(|item| is_deeper(item, depth - 1)),
        (Value::Object(fields), _) => fields.values().any(|field| is_deeper(field, depth - 1)),
        _ => false,
    }
}

/// What a call brought, as the model reads it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answered {
    /// The call's id.
    pub call: String,
    pub name: String,
    pub text: String,
    pub failed: bool,
}
