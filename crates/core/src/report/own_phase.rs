//! Phases that a workflow declares itself, with the fields of their findings.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{LazyLock, Mutex, PoisonError};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::Phase;
use crate::limits::HandoverSizes;

/// Characters of a name.
const NAME: usize = 32;
/// Names that one process knows at most: they stay in memory for good.
const KNOWN: usize = 10_000;

/// The field by which a judging phase says whether the work may stand.
pub const PASSED: &str = "passed";

/// A phase of a workflow's own.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnPhase {
    /// Whether it says of other work that it may stand.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub judges: bool,
    pub findings: FindingFields,
}

/// The fields of a phase's findings, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct FindingFields(pub BTreeMap<String, FieldType>);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FieldType {
    Text,
    Number,
    Boolean,
    /// A list of texts.
    Texts,
}

impl FindingFields {
    /// As a schema: every field is required and no other is allowed.
    pub(super) fn schema(&self) -> Value {
        let properties: Map<String, Value> =
            self.0.iter().map(|(name, field)| (name.clone(), field.schema())).collect();
        let required: Vec<&String> = self.0.keys().collect();
        json!({
            "type": "object", "properties": properties, "required": required,
            "additionalProperties": false,
        })
    }
}

impl FieldType {
    fn schema(self) -> Value {
        match self {
            Self::Text => json!({ "type": "string" }),
            Self::Number => json!({ "type": "number" }),
            Self::Boolean => json!({ "type": "boolean" }),
            Self::Texts => json!({ "type": "array", "items": { "type": "string" } }),
        }
    }
}

/// The form of a report: its phase, the fields of its findings where a workflow declares them, and how large it may be.
#[derive(Clone, Copy, Debug)]
pub struct ReportForm<'a> {
    pub phase: Phase,
    pub fields: Option<&'a FindingFields>,
    pub sizes: HandoverSizes,
}

impl From<Phase> for ReportForm<'_> {
    fn from(phase: Phase) -> Self {
        Self { phase, fields: None, sizes: HandoverSizes::default() }
    }
}

/// The name of an own phase, kept once; nothing where it cannot be one.
pub(super) fn intern(name: &str) -> Option<&'static str> {
    static NAMES: LazyLock<Mutex<BTreeSet<&'static str>>> = LazyLock::new(Mutex::default);
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if name.is_empty() || name.len() > NAME || !name.chars().all(fits) {
        return None;
    }
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = names.get(name) {
        return Some(known);
    }
    if names.len() >= KNOWN {
        return None;
    }
    let kept: &'static str = Box::leak(name.to_owned().into_boxed_str());
    names.insert(kept);
    Some(kept)
}
