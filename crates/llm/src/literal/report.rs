//! The report, by the schema that comes with the request.

use sequester_core::agent::REPORT;
use sequester_core::path::RepoPath;
use sequester_core::plan::step::{self, head};
use sequester_core::tokens;
use sequester_core::tool::Spec;
use serde_json::{Map, Value, json};

use super::place;
use super::play::{Record, Row};

/// A report of a thousand rows helps nobody.
const ROWS: usize = 100;
const NOTE: usize = 300;
/// Most sentences that a report names as passed over, and how much of each.
const PASSED: usize = 10;
const SENTENCE: usize = 120;
const SUMMARY_TOKENS: usize = 300;
/// Deeper schemas are not filled in.
const DEPTH: usize = 16;

/// What helps where a step was tried and came to something else.
pub(super) const AS_SEEN: &str = "Mend the plan or the code by what was seen.";

/// What helps everywhere.
const ELSE: &str =
    "Or give this task to a model: `--model literal,auto` takes one where this is not enough.";

pub(super) enum Ending {
    Complete,
    /// No turn is left.
    Unfinished,
    Blocked {
        reason: String,
        remedy: String,
    },
}

impl Ending {
    pub(super) fn blocked(reason: String, remedy: &str) -> Self {
        Self::Blocked { reason, remedy: format!("{remedy} {ELSE}") }
    }
}

/// What the report's schema fixes.
pub(super) struct Form {
    task_id: String,
    pub(super) phase: String,
    findings: Value,
}

impl Form {
    pub(super) fn find(tools: &[Spec]) -> Option<Self> {
        let spec = tools.iter().find(|tool| tool.name == REPORT)?;
        let properties = spec.parameters.get("properties")?;
        let constant = |name: &str| {
            let schema = properties.get(name)?;
            let value = schema.get("const").or_else(|| schema.get("enum")?.get(0))?;
            value.as_str().map(str::to_owned)
        };
        let findings = properties.get("findings").cloned().unwrap_or_default();
        Some(Self { task_id: constant("task_id")?, phase: constant("phase")?, findings })
    }

    pub(super) fn changes_files(&self) -> bool {
        matches!(self.phase.as_str(), "write" | "execute")
    }

    pub(super) fn fill(&self, record: &Record<'_>, ending: &Ending) -> Value {
        let (status, decision) = match ending {
            Ending::Complete => ("complete", "PROCEED"),
            Ending::Unfinished => ("partial", "STOP"),
            Ending::Blocked { .. } => ("blocked", "STOP"),
        };
        let (reason, resolution) = match ending {
            Ending::Complete => (None, None),
            Ending::Unfinished => (
                Some("No turn was left for the steps that follow."),
                Some("Raise the limit `turns`."),
            ),
            Ending::Blocked { reason, remedy } => (Some(reason.as_str()), Some(remedy.as_str())),
        };
        json!({
            "task_id": self.task_id,
            "phase": self.phase,
            "status": status,
            "decision": decision,
            "reason": reason,
            "resolution": resolution,
            "findings": self.findings(&record.rows),
            "context_summary": summary(record, reason.is_some()),
            "issues": [],
            "questions": [],
            "artifacts": [],
            "notes": [],
            "self_review": review(&record.rows),
        })
    }

    fn findings(&self, rows: &[Row<'_>]) -> Value {
        if !self.changes_files() {
            return blank(&self.findings, DEPTH);
        }
        let mut changed: Vec<&RepoPath> =
            rows.iter().filter(|row| row.ok).flat_map(|row| row.step.action.touched()).collect();
        changed.sort();
        changed.dedup();
        let tests: Vec<&&RepoPath> = changed.iter().filter(|path| step::is_test(path)).collect();
        json!({ "files_changed": changed, "tests_written": tests })
    }
}

/// What was read and not acted on, so that nothing is dropped in silence.
pub(super) fn issues(passed: &[String], unchecked: &[String]) -> Value {
    let passed = listed(passed, "Passed over as explanation");
    passed.chain(listed(unchecked, "Not checked by `literal`")).collect()
}

fn listed(said: &[String], what: &str) -> impl Iterator<Item = String> {
    let named = if said.len() > PASSED { PASSED - 1 } else { said.len() };
    let more = said.len() - named;
    let sentences = said[..named].iter().map(|said| head(said, SENTENCE).to_owned());
    let more = (more > 0).then(|| format!("{more} more sentences."));
    sentences.chain(more).map(move |said| format!("{what}: {said}"))
}

/// A reason without what a program printed.
fn first_line(reason: &str) -> &str {
    let line = reason.lines().next().unwrap_or_default();
    line.strip_suffix(" It printed:").unwrap_or(line)
}

/// What was done. Why it stopped is the report's reason.
fn summary(record: &Record<'_>, stopped: bool) -> String {
    let done: Vec<&str> =
        record.rows.iter().filter(|row| row.ok).map(|row| row.note.as_str()).collect();
    let mut text = if stopped { "Stopped." } else { "Carried out as written." }.to_owned();
    if stopped {
        text.push_str(match (done.is_empty(), record.acted) {
            (true, false) => " Nothing was done.",
            (true, true) => {
                " No step was done to its end; what that one did before it failed stays."
            }
            (false, _) => " Done before that:",
        });
    }
    for (at, note) in done.iter().enumerate() {
        let longer = format!("{text} {note}");
        if tokens::count(&longer) > SUMMARY_TOKENS {
            return format!("{text} And {}.", more_steps(done.len() - at));
        }
        text = longer;
    }
    text
}

fn review(rows: &[Row<'_>]) -> Vec<Value> {
    let row = |row: &Row<'_>| {
        // Why a step failed is the report's reason.
        let note = row.ok.then(|| head(first_line(&row.note), NOTE));
        json!({ "item": place(row.step), "ok": row.ok, "note": note })
    };
    let mut review: Vec<Value> = rows.iter().take(ROWS).map(row).collect();
    let more = &rows[rows.len().min(ROWS)..];
    if !more.is_empty() {
        let ok = more.iter().all(|row| row.ok);
        review.push(json!({ "item": more_steps(more.len()), "ok": ok, "note": null }));
    }
    review
}

fn more_steps(count: usize) -> String {
    format!("{count} more step{}", if count == 1 { "" } else { "s" })
}

/// The least that a schema takes: what nobody looked at is empty, and judged as badly as can be.
fn blank(schema: &Value, depth: usize) -> Value {
    if depth == 0 {
        return Value::Null;
    }
    if let Some(value) = schema.get("const") {
        return value.clone();
    }
    if let Some(last) = schema.get("enum").and_then(Value::as_array).and_then(|all| all.last()) {
        return last.clone();
    }
    if let Some(any) = ["anyOf", "oneOf"].iter().find_map(|key| schema.get(*key)?.as_array()) {
        let null = any.iter().any(|one| one.get("type") == Some(&json!("null")));
        return any.last().filter(|_| !null).map_or(Value::Null, |one| blank(one, depth - 1));
    }
    let kind = schema.get("type");
    let kinds: Vec<&str> = match kind {
        Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect(),
        Some(Value::String(kind)) => vec![kind],
        _ => Vec::new(),
    };
    match kinds.as_slice() {
        ["object"] => {
            let properties = schema.get("properties").and_then(Value::as_object);
            let filled = properties
                .into_iter()
                .flatten()
                .map(|(name, schema)| (name.clone(), blank(schema, depth - 1)));
            Value::Object(filled.collect::<Map<_, _>>())
        }
        ["array"] => json!([]),
        ["string"] => json!(""),
        ["boolean"] => json!(false),
        ["integer" | "number"] => json!(0),
        _ => Value::Null,
    }
}
