//! The product's own tools: they are steps of the machine and never enter a jail.

use std::sync::{Arc, LazyLock};

use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::backpack::{self, Item};
use super::kept::Kept;
use super::run::Brief;
use crate::id::TaskId;
use crate::message::Call;
use crate::record::{Kind, Switches};
use crate::report::{self, Artifact, Note, Question, ReportForm};
use crate::tool::{Effect, Spec};

/// The tool that hands back the report.
pub const REPORT: &str = "report";
pub(super) const ASK: &str = "ask";

/// How many calls count as a subagent's work: all but its report.
pub fn count_calls(calls: &[Call]) -> u32 {
    u32::try_from(calls.iter().filter(|call| call.name != REPORT).count()).unwrap_or(u32::MAX)
}

/// Names that no other tool may have.
pub const OWN: [&str; 8] = [
    REPORT,
    ASK,
    "update_notes",
    RECORD,
    "add_to_backpack",
    "remove_from_backpack",
    "clear_backpack",
    "compact_backpack",
];
/// The tool that keeps an artifact.
pub(super) const RECORD: &str = "record_artifact";

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Ask {
    /// What you need to know. Offer options where you can, and a default where one is sound.
    questions: Vec<Question>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Named {
    /// The item, word for word, or its id where it has one.
    item: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Room {
    /// How many tokens should be free afterwards.
    #[serde(default)]
    room: Option<u32>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Nothing {}

/// Those that are there whatever is switched off, and those of the kinds of records that pass. The report's is made for this
/// task and phase.
pub fn specs<'a>(task: &TaskId, form: impl Into<ReportForm<'a>>, switches: Switches) -> Vec<Spec> {
    static FIXED: LazyLock<Vec<Spec>> = LazyLock::new(fixed);
    let report = spec(
        REPORT,
        "Hands back your report and ends your work. Call it once, alone, when all is done or nothing more can be.",
        report::asked(task.as_str(), form),
    );
    let fixed =
        FIXED.iter().filter(|spec| kind_of(&spec.name).is_none_or(|kind| switches.has(kind)));
    std::iter::once(report).chain(fixed.cloned()).collect()
}

/// What a tool leaves for later work.
fn kind_of(tool: &str) -> Option<Kind> {
    match tool {
        "update_notes" => Some(Kind::Note),
        "record_artifact" => Some(Kind::Artifact),
        _ if tool.ends_with("_backpack") => Some(Kind::Backpack),
        _ => None,
    }
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
            "Writes your part of a section of the project's notes, for later work; what others wrote stays, and what you wrote under the same heading before is replaced.",
            report::schema_of::<Note>(),
        ),
        spec(
            RECORD,
            "Keeps a finding, decision, resource, error or to-do for work that builds on yours, and tells its id.",
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
        spec(
            "compact_backpack",
            "Makes room in the backpack: takes out what is said twice, then the least important, and says what went.",
            report::schema_of::<Room>(),
        ),
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

/// Carries out a call of an own tool other than `report` and `ask`; nothing where the name is of no own tool.
pub(super) fn carry_out(
    call: &Call,
    (brief, most): (&Brief, usize),
    kept: &mut Kept,
) -> Option<Result<String, String>> {
    let inherited = &brief.inherited;
    Some(match call.name.as_str() {
        "update_notes" => arguments::<Note>(call).and_then(|note| kept.note(note)),
        RECORD => {
            arguments::<Artifact>(call).and_then(|one| kept.artifact(one, (&brief.task, inherited)))
        }
        "add_to_backpack" => {
            arguments::<Item>(call).and_then(|item| kept.pack(item, (inherited, most)))
        }
        "remove_from_backpack" => {
            arguments::<Named>(call).and_then(|named| kept.unpack(&named.item, (inherited, most)))
        }
        "clear_backpack" => arguments::<Nothing>(call).map(|_| kept.clear_backpack(inherited)),
        "compact_backpack" => arguments::<Room>(call).map(|Room { room }| {
            let room = room.map_or(backpack::ROOM, |room| room as usize);
            kept.compact(room, (inherited, most))
        }),
        _ => return None,
    })
}

/// What `ask` asks, bounded as a report is.
pub(super) fn read_questions(call: &Call) -> Result<Vec<Question>, String> {
    let mut call = call.clone();
    report::widen_questions(&mut call.arguments);
    let size = call.arguments.to_string().len();
    if size > QUESTION_BYTES {
        return Err(format!(
            "The questions have {size} bytes; at most {QUESTION_BYTES} are taken."
        ));
    }
    let questions = arguments::<Ask>(&call)?.questions;
    if questions.iter().all(|one| one.question.trim().is_empty()) {
        return Err("There is no question in `questions`.".to_owned());
    }
    Ok(questions)
}

const QUESTION_BYTES: usize = 8 << 10;

fn arguments<T: DeserializeOwned>(call: &Call) -> Result<T, String> {
    T::deserialize(&call.arguments)
        .map_err(|error| format!("The arguments of `{}` cannot be read: {error}.", call.name))
}
