//! The product's own tools: they are steps of the machine and never enter a jail.

use std::sync::{Arc, LazyLock};

use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::kept::{Item, Kept};
use crate::id::TaskId;
use crate::message::Call;
use crate::report::{self, Artifact, Note, Phase, Question};
use crate::tool::{Effect, Spec};

pub(super) const REPORT: &str = "report";
pub(super) const ASK: &str = "ask";

/// Names that no other tool may have.
pub const OWN: [&str; 7] = [
    REPORT,
    ASK,
    "update_notes",
    "record_artifact",
    "add_to_backpack",
    "remove_from_backpack",
    "clear_backpack",
];

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Ask {
    /// What you need to know. Offer options where you can, and a default where one is sound.
    questions: Vec<Question>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Named {
    /// The item, word for word.
    item: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Nothing {}

/// What a call of an own tool leads to.
pub(super) enum Done {
    Said(Result<String, String>),
    Asked(Vec<Question>),
}

/// All of them, the report's made for this task and phase.
pub fn specs(task: &TaskId, phase: Phase) -> Vec<Spec> {
    static FIXED: LazyLock<Vec<Spec>> = LazyLock::new(fixed);
    let report = spec(
        REPORT,
        "Hands back your report and ends your work. Call it once, alone, when all is done or nothing more can be.",
        report::asked(task.as_str(), phase),
    );
    std::iter::once(report).chain(FIXED.iter().cloned()).collect()
}

fn fixed() -> Vec<Spec> {
    vec![
        spec(
            ASK,
            "Asks a person and ends your work until there is an answer. Only for what matters and cannot be found out.",
            report::schema_of::<Ask>(),
        ),
        spec(
            "update_notes",
            "Replaces a section of the project's notes, for later work.",
            report::schema_of::<Note>(),
        ),
        spec(
            "record_artifact",
            "Keeps a finding, decision, resource, error or to-do for work that builds on yours.",
            report::schema_of::<Artifact>(),
        ),
        spec(
            "add_to_backpack",
            "Puts one short fact into the backpack that work building on yours always gets.",
            report::schema_of::<Item>(),
        ),
        spec(
            "remove_from_backpack",
            "Takes an item out of the backpack.",
            report::schema_of::<Named>(),
        ),
        spec("clear_backpack", "Empties the backpack.", report::schema_of::<Nothing>()),
    ]
}

fn spec(name: &'static str, description: &'static str, parameters: Value) -> Spec {
    Spec {
        name: name.into(),
        description: description.into(),
        parameters: Arc::new(parameters),
        effect: Effect::Runs,
    }
}

/// Carries out a call of an own tool other than `report`; nothing where the name is of no own tool.
pub(super) fn carry_out(call: &Call, kept: &mut Kept) -> Option<Done> {
    let done = match call.name.as_str() {
        ASK => return Some(ask(call)),
        "update_notes" => arguments::<Note>(call).and_then(|note| kept.note(note)),
        "record_artifact" => arguments::<Artifact>(call).and_then(|one| kept.artifact(one)),
        "add_to_backpack" => arguments::<Item>(call).and_then(|item| kept.pack(item)),
        "remove_from_backpack" => {
            arguments::<Named>(call).and_then(|named| kept.unpack(&named.item))
        }
        "clear_backpack" => arguments::<Nothing>(call).map(|_| kept.clear_backpack()),
        _ => return None,
    };
    Some(Done::Said(done))
}

fn ask(call: &Call) -> Done {
    match arguments::<Ask>(call) {
        Ok(ask) if ask.questions.iter().any(|one| !one.question.trim().is_empty()) => {
            Done::Asked(ask.questions)
        }
        Ok(_) => Done::Said(Err("There is no question in `questions`.".to_owned())),
        Err(fault) => Done::Said(Err(fault)),
    }
}

fn arguments<T: DeserializeOwned>(call: &Call) -> Result<T, String> {
    T::deserialize(&call.arguments)
        .map_err(|error| format!("The arguments of `{}` cannot be read: {error}.", call.name))
}
