//! Schemas of the report: what a model is asked for, what is accepted, what is published.

use std::sync::LazyLock;

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use super::wire::Wire;
use super::{Analysis, Change, Phase, Research, Review, Steps, Validation, Verification};

/// What a model is asked for: every field is there, what is optional may be null, and nothing else is allowed.
/// The id and the phase are constants.
pub fn asked(task_id: &str, phase: Phase) -> Value {
    static ASKED: LazyLock<Vec<Value>> =
        LazyLock::new(|| Phase::ALL.iter().map(|phase| ask(*phase)).collect());
    let mut schema = ASKED.get(phase as usize).cloned().unwrap_or_default();
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        properties.insert("task_id".to_owned(), json!({ "type": "string", "const": task_id }));
    }
    schema
}

/// The same with bounds on every list and text, so that a small model which is held to it comes to an end within
/// `tokens`.
pub fn bounded(task_id: &str, phase: Phase, tokens: u32) -> Value {
    let mut schema = asked(task_id, phase);
    let length = (tokens / 5).clamp(80, 4_000);
    let items = (tokens / 300).clamp(2, 50);
    bound(&mut schema, length, items);
    schema
}

fn bound(schema: &mut Value, length: u32, items: u32) {
    let Value::Object(map) = schema else { return };
    let is = |name: &str| match map.get("type") {
        Some(Value::Array(types)) => types.iter().any(|kind| kind == name),
        Some(kind) => kind == name,
        None => false,
    };
    let (text, list) = (is("string"), is("array"));
    if text && !map.contains_key("const") && !map.contains_key("enum") {
        map.insert("maxLength".to_owned(), length.into());
    }
    if list {
        map.insert("maxItems".to_owned(), items.into());
    }
    each_below(map, &mut |below| bound(below, length, items));
}

/// What is accepted: as asked for, but what is optional may be absent.
pub(super) fn accepted(phase: Phase) -> Value {
    let mut schema = match phase {
        Phase::Research => schema_of::<Wire<Research>>(),
        Phase::Write | Phase::Execute => schema_of::<Wire<Change>>(),
        Phase::Validate => schema_of::<Wire<Validation>>(),
        Phase::Analyze => schema_of::<Wire<Analysis>>(),
        Phase::Plan => schema_of::<Wire<Steps>>(),
        Phase::Review => schema_of::<Wire<Review>>(),
        Phase::Verify => schema_of::<Wire<Verification>>(),
    };
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        properties.insert("phase".to_owned(), json!({ "type": "string", "const": phase.as_str() }));
    }
    schema
}

fn ask(phase: Phase) -> Value {
    let mut schema = accepted(phase);
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        // The runtime counts; nobody is asked.
        properties.remove("tokens_used");
    }
    tighten(&mut schema);
    schema
}

/// The report as it is printed and stored, for other programs: one shape per phase, only the legal pairs.
pub fn published() -> Value {
    let shapes: Vec<Value> = Phase::ALL.iter().map(|phase| accepted(*phase)).collect();
    let pair = |decision: &str, statuses: &[&str], required: &[&str]| {
        json!({
            "properties": { "decision": { "const": decision }, "status": { "enum": statuses } },
            "required": required,
        })
    };
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Report",
        "description": "What a subagent hands back.",
        "anyOf": shapes,
        "oneOf": [
            pair("PROCEED", &["complete"], &[]),
            pair("STOP", &["complete", "partial", "blocked"], &["reason"]),
            pair("CLARIFY", &["partial", "blocked"], &["questions"]),
        ],
    })
}

/// The schema of one type, in one piece: no references, no titles, nothing that a validator does not need.
pub(crate) fn schema_of<T: JsonSchema>() -> Value {
    let settings =
        SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    strip(&mut schema);
    schema
}

/// Takes away what only documents; a property may well be called `title` or `default` and stays.
fn strip(schema: &mut Value) {
    let Value::Object(map) = schema else { return };
    for key in ["$schema", "title", "format", "default"] {
        map.remove(key);
    }
    if map.get("minimum").and_then(Value::as_f64) == Some(0.0) {
        map.remove("minimum");
    }
    each_below(map, &mut strip);
}

/// Makes every property required and allows no other, as strict tool schemas must be.
fn tighten(schema: &mut Value) {
    let Value::Object(map) = schema else { return };
    if let Some(Value::Object(properties)) = map.get("properties") {
        let names: Vec<Value> = properties.keys().cloned().map(Value::from).collect();
        map.insert("required".to_owned(), names.into());
        map.insert("additionalProperties".to_owned(), false.into());
    }
    each_below(map, &mut tighten);
}

/// Every schema right below this one.
fn each_below(map: &mut Map<String, Value>, visit: &mut dyn FnMut(&mut Value)) {
    for (key, value) in map.iter_mut() {
        match (key.as_str(), value) {
            ("properties", Value::Object(properties)) => {
                properties.values_mut().for_each(&mut *visit);
            }
            ("items", schema) => visit(schema),
            ("anyOf" | "oneOf" | "allOf", Value::Array(schemas)) => {
                schemas.iter_mut().for_each(&mut *visit);
            }
            _ => {}
        }
    }
}
