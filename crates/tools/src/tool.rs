//! What a tool is: its spec, its arguments and its code in one file, listed here.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use sequester_core::tool::{Effect, Invocation, Outcome, Returned, Spec};
use serde::Deserialize as _;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::bash::Bash;
use crate::edit::Edit;
use crate::glob::Glob;
use crate::grep::Grep;
use crate::read::Read;
use crate::web_fetch::WebFetch;
use crate::workbench::Workbench;
use crate::write::Write;

/// Files that the subagent has seen, with the digest of what it saw.
pub(crate) type Seen = BTreeMap<String, String>;

pub(crate) trait Tool {
    type Args: DeserializeOwned;
    const NAME: &'static str;
    const DESCRIPTION: &'static str;
    const EFFECT: Effect;

    /// JSON Schema of [`Self::Args`].
    fn parameters() -> Value;

    /// An ending other than output may be returned as an error, which is shorter to write.
    fn run(bench: &Workbench, args: Self::Args, seen: &Seen) -> Result<Returned, Outcome>;
}

/// A tool without its type.
pub(crate) struct Entry {
    pub(crate) name: &'static str,
    pub(crate) effect: Effect,
    pub(crate) spec: fn() -> Spec,
    pub(crate) run: fn(&Workbench, &Invocation) -> Result<Returned, Outcome>,
}

const fn entry<T: Tool>() -> Entry {
    Entry { name: T::NAME, effect: T::EFFECT, spec: spec::<T>, run: run::<T> }
}

const TOOLS: [Entry; 7] = [
    entry::<Read>(),
    entry::<Write>(),
    entry::<Edit>(),
    entry::<Grep>(),
    entry::<Glob>(),
    entry::<Bash>(),
    entry::<WebFetch>(),
];

/// All tools as a model is shown them; listing starts nothing. Their schemas are made once and shared by all subagents.
pub fn specs() -> Vec<Spec> {
    static SPECS: LazyLock<Vec<Spec>> =
        LazyLock::new(|| TOOLS.iter().map(|tool| (tool.spec)()).collect());
    SPECS.clone()
}

pub(crate) fn find(name: &str) -> Option<&'static Entry> {
    const { &TOOLS }.iter().find(|tool| tool.name == name)
}

fn spec<T: Tool>() -> Spec {
    Spec {
        name: T::NAME.into(),
        description: T::DESCRIPTION.into(),
        parameters: T::parameters().into(),
        effect: T::EFFECT,
    }
}

fn run<T: Tool>(bench: &Workbench, invocation: &Invocation) -> Result<Returned, Outcome> {
    T::run(bench, parse::<T>(&invocation.call.arguments)?, &invocation.seen)
}

fn parse<T: Tool>(arguments: &Value) -> Result<T::Args, Outcome> {
    let fault = match arguments {
        Value::Object(_) => match T::Args::deserialize(arguments) {
            Ok(args) => return Ok(args),
            Err(error) => shorten(&error.to_string()),
        },
        Value::String(_) => "they are no JSON".to_owned(),
        _ => "they are no JSON object".to_owned(),
    };
    let expected = expect(&T::parameters());
    Err(Outcome::Failed(format!(
        "The arguments of `{}` do not fit: {fault}. Expected: {expected}.",
        T::NAME
    )))
}

/// The arguments in words: name, type, and whether they may be left out.
fn expect(parameters: &Value) -> String {
    let required = parameters["required"].as_array().cloned().unwrap_or_default();
    let properties = parameters["properties"].as_object().into_iter().flatten();
    let words = properties.map(|(name, property)| {
        let kind = property["type"].as_str().unwrap_or("value");
        let optional = if required.iter().any(|given| given == name) { "" } else { ", optional" };
        format!("`{name}` ({kind}{optional})")
    });
    words.collect::<Vec<_>>().join(", ")
}

/// An error may quote a value of any length.
fn shorten(message: &str) -> String {
    const MOST: usize = 300;
    match message.char_indices().nth(MOST) {
        Some((at, _)) => format!("{} ...", &message[..at]),
        None => message.to_owned(),
    }
}

#[cfg(test)]
mod tests;
