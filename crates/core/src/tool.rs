//! The port to tools: what a subagent may call, and what comes back.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::future::BoxFuture;
use crate::message::Call;
use crate::run::Cost;
use crate::secret::SecretSet;

/// A tool as a model is shown it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spec {
    pub name: Cow<'static, str>,
    pub description: Cow<'static, str>,
    /// JSON Schema of the arguments: an object without other fields than its own.
    pub parameters: Arc<Value>,
    pub effect: Effect,
}

/// What a call does to the workspace; it decides which calls may run side by side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// Looks only: runs side by side with others of its kind.
    Reads,
    /// May do anything that the jail lets it: runs alone.
    Runs,
    /// Changes a file that must have been seen as it is: runs alone, and is told what was seen.
    Edits,
    /// Gives work to another subagent, which has its own record: runs side by side with others of its kind, and one that was
    /// cut off is made again.
    Delegates,
}

/// A call on its way to a tool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Invocation {
    pub call: Call,
    /// Files that the subagent has seen, by path in the workspace, with the digest of what it saw. Empty unless the tool edits.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub seen: BTreeMap<String, String>,
}

/// What a tool gave back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Returned {
    pub outcome: Outcome,
    /// Files whose present contents the subagent knows now, by path in the workspace, with the digest of them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub seen: BTreeMap<String, String>,
    /// What other subagents used for it: the caller pays.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub used: Option<Cost>,
    /// Secrets that the tool took out of what it read: the attempt hides them from now on. Taken away before anything is
    /// recorded.
    #[serde(default, skip_serializing_if = "SecretSet::is_empty")]
    pub secrets: SecretSet,
}

/// How a call ended, in words that a model can act on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    Output(String),
    /// It was tried and went wrong, or the arguments were wrong.
    Failed(String),
    /// It is not allowed, and why.
    Refused(String),
    /// A person must say first whether these files may be seen.
    NeedsApproval {
        question: String,
        files: Vec<String>,
    },
}

impl Outcome {
    pub fn text(&self) -> &str {
        match self {
            Self::Output(text)
            | Self::Failed(text)
            | Self::Refused(text)
            | Self::NeedsApproval { question: text, .. } => text,
        }
    }

    /// The same ending with another text.
    #[must_use]
    pub fn map(self, change: impl FnOnce(String) -> String) -> Self {
        match self {
            Self::Output(text) => Self::Output(change(text)),
            Self::Failed(text) => Self::Failed(change(text)),
            Self::Refused(text) => Self::Refused(change(text)),
            Self::NeedsApproval { question, files } => {
                Self::NeedsApproval { question: change(question), files }
            }
        }
    }
}

impl From<Outcome> for Returned {
    fn from(outcome: Outcome) -> Self {
        Self { outcome, seen: BTreeMap::new(), used: None, secrets: SecretSet::default() }
    }
}

/// Tools that belong together. A toolbox wraps a toolbox: filtered, redacted, capped.
pub trait Toolbox: Send + Sync {
    /// What is there; listing costs nothing and starts nothing.
    fn specs(&self) -> Vec<Spec>;

    /// Carries out one call. A name that is not listed is refused.
    fn call<'a>(&'a self, invocation: &'a Invocation) -> BoxFuture<'a, Returned>;
}

impl<T: Toolbox + ?Sized> Toolbox for &T {
    fn specs(&self) -> Vec<Spec> {
        (**self).specs()
    }

    fn call<'a>(&'a self, invocation: &'a Invocation) -> BoxFuture<'a, Returned> {
        (**self).call(invocation)
    }
}

/// The last line of what Bash gives back, before the number.
pub const EXIT_CODE: &str = "exit code: ";
