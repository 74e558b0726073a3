//! Schemas of the report: what a model is asked for, what is accepted, what is published.

use std::sync::LazyLock;

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use super::wire::Wire;
use super::{
    Analysis, Change, Decision, Draft, Phase, ReportForm, Research, Review, SUMMARY_TOKENS, Status,
    Steps, Validation, Verification,
};

/// What a model is asked for: every field is there, what is optional may be null, and nothing else is allowed.
/// The id and the phase are constants.
pub fn asked<'a>(task_id: &str, form: impl Into<ReportForm<'a>>) -> Value {
    static ASKED: LazyLock<Vec<Value>> =
        LazyLock::new(|| Phase::ALL.iter().map(|phase| ask((*phase).into())).collect());
    let form = form.into();
    let known = Phase::ALL.iter().position(|phase| *phase == form.phase);
    let known = known.and_then(|at| ASKED.get(at).cloned());
    let mut schema = known.unwrap_or_else(|| ask(form));
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        properties.insert("task_id".to_owned(), json!({ "type": "string", "const": task_id }));
        let most = form.sizes.summary_tokens;
        let summary =
            properties.get_mut("context_summary").and_then(|one| one.get_mut("description"));
        if let Some(Value::String(told)) = summary.filter(|_| most != SUMMARY_TOKENS) {
            *told = told.replace(&format!("{SUMMARY_TOKENS} tokens"), &format!("{most} tokens"));
        }
    }
    schema
}

/// What a model is held to that reported wrongly again and again: `{"report": ...}`, where only legal pairs of status
/// and decision can be written, and where even the longest report ends within `tokens`. What other tools keep is not
/// asked for. The union is not at the root, since no strict dialect takes it there.
pub fn bounded<'a>(task_id: &str, form: impl Into<ReportForm<'a>>, tokens: u32) -> Value {
    let form = form.into();
    let reports: Vec<Value> = [Decision::Proceed, Decision::Stop, Decision::Clarify]
        .into_iter()
        .map(|decision| branch(asked(task_id, form), form.phase, decision, tokens))
        .collect();
    json!({
        "type": "object",
        "properties": { "report": { "anyOf": reports } },
        "required": ["report"],
        "additionalProperties": false,
    })
}

/// The reports with one decision.
fn branch(mut schema: Value, phase: Phase, decision: Decision, tokens: u32) -> Value {
    let Some(Value::Object(properties)) = schema.get_mut("properties") else { return schema };
    for name in ["artifacts", "notes"] {
        properties.remove(name);
    }
    if !phase.changes_files() {
        properties.remove("self_review");
    } else if let (Decision::Proceed, Some(review)) = (decision, properties.get_mut("self_review"))
    {
        review["minItems"] = 1.into();
    }
    properties.insert("decision".to_owned(), json!({ "type": "string", "const": decision }));
    let statuses = match decision {
        Decision::Proceed => &[Status::Complete][..],
        Decision::Stop => &[Status::Complete, Status::Partial, Status::Blocked],
        Decision::Clarify => &[Status::Partial, Status::Blocked],
    };
    properties.insert("status".to_owned(), json!({ "type": "string", "enum": statuses }));
    let text = json!({ "type": "string", "minLength": 1 });
    if decision == Decision::Stop {
        properties.insert("reason".to_owned(), text.clone());
    } else {
        properties.remove("reason");
        properties.remove("resolution");
    }
    if decision == Decision::Clarify {
        let questions = json!({ "type": "array", "items": text, "minItems": 1 });
        properties.insert("questions".to_owned(), questions);
    } else {
        properties.remove("questions");
    }
    // Dense text has two characters to a token, and names, braces and blanks take their part.
    let summary = (tokens / 2).clamp(80, 1_000);
    let context_summary = json!({ "type": "string", "minLength": 1, "maxLength": summary });
    properties.insert("context_summary".to_owned(), context_summary);
    let items = (tokens / 400).clamp(1, 20);
    let length = tokens / texts(&schema, items).max(1);
    bound(&mut schema, length.clamp(20, 1_000), items);
    tighten(&mut schema);
    schema
}

/// How many free texts there may be with lists of this length.
fn texts(schema: &Value, items: u32) -> u32 {
    let mut schema = schema.clone();
    let Value::Object(map) = &mut schema else { return 0 };
    let own = u32::from(is(map, "string") && is_free(map));
    let times = if is(map, "array") { items } else { 1 };
    let mut below = 0_u32;
    each_below(map, &mut |one| below = below.saturating_add(texts(one, items)));
    own.saturating_add(below.saturating_mul(times))
}

fn bound(schema: &mut Value, length: u32, items: u32) {
    let Value::Object(map) = schema else { return };
    if is(map, "string") && is_free(map) {
        map.insert("maxLength".to_owned(), length.into());
    }
    if is(map, "array") {
        map.insert("maxItems".to_owned(), items.into());
    }
    each_below(map, &mut |below| bound(below, length, items));
}

fn is(map: &Map<String, Value>, name: &str) -> bool {
    match map.get("type") {
        Some(Value::Array(types)) => types.iter().any(|kind| kind == name),
        Some(kind) => kind == name,
        None => false,
    }
}

/// Whether a text is neither fixed nor bounded yet.
fn is_free(map: &Map<String, Value>) -> bool {
    ["const", "enum", "maxLength"].iter().all(|key| !map.contains_key(*key))
}

/// What is accepted: as asked for, but what is optional may be absent.
pub(super) fn accepted(ReportForm { phase, fields, .. }: ReportForm<'_>) -> Value {
    let mut schema = match phase {
        Phase::Research => schema_of::<Wire<Research>>(),
        Phase::Write | Phase::Execute => schema_of::<Wire<Change>>(),
        Phase::Validate => schema_of::<Wire<Validation>>(),
        Phase::Analyze => schema_of::<Wire<Analysis>>(),
        Phase::Plan => schema_of::<Wire<Steps>>(),
        Phase::Review => schema_of::<Wire<Review>>(),
        Phase::Verify => schema_of::<Wire<Verification>>(),
        Phase::Draft => schema_of::<Wire<Draft>>(),
        Phase::Own(_) => schema_of::<Wire<Map<String, Value>>>(),
    };
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        if let Some(fields) = fields {
            properties.insert("findings".to_owned(), fields.schema());
        }
        properties.insert("phase".to_owned(), json!({ "type": "string", "const": phase.as_str() }));
    }
    schema
}

fn ask(form: ReportForm<'_>) -> Value {
    let mut schema = accepted(form);
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        // The runtime counts; nobody is asked.
        properties.remove("tokens_used");
    }
    tighten(&mut schema);
    schema
}

fn proceeds() -> Value {
    let decision = json!({ "const": Decision::Proceed });
    json!({ "properties": { "decision": decision }, "required": ["decision"] })
}

/// The report as it is printed and stored, for other programs: one shape per phase, only the legal pairs.
pub fn published() -> Value {
    // What the runtime adds beside a report is no fault of it.
    let open = |phase: &Phase| {
        let mut shape = accepted((*phase).into());
        if let Value::Object(map) = &mut shape {
            map.remove("additionalProperties");
            if phase.changes_files() {
                let review = json!({ "self_review": { "minItems": 1 } });
                map.insert("if".to_owned(), proceeds());
                let then = json!({ "properties": review, "required": ["self_review"] });
                map.insert("then".to_owned(), then);
            }
        }
        shape
    };
    let shapes: Vec<Value> = Phase::ALL.iter().map(open).collect();
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
