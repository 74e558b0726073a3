//! Phases that a workflow's file declares.

use std::collections::BTreeMap;

use super::super::Workflow;
use crate::plan::yaml::{Node, Value};
use crate::report::{FieldType, FindingFields, OwnPhase, PASSED, Phase};
use crate::source::Reader;

const HINT: &str = "Write `phases: {threats: {findings: {threats: [text], worst: text}}}`.";
/// More is a mistake.
const FIELDS: usize = 32;

pub(super) fn read(reader: &mut Reader<'_>, node: Node) -> BTreeMap<String, OwnPhase> {
    let mut phases = BTreeMap::new();
    let Value::Map(entries) = node.value else {
        reader.bad(node.at, "`phases` must be a mapping.", HINT);
        return phases;
    };
    for (at, name, node) in entries {
        if Phase::parse(&name).is_some() {
            let message = format!("The phase `{name}` is built in.");
            reader.bad(at, message, "Choose another name.");
        } else if Phase::named(&name).is_none() {
            let hint = "Use at most 32 lower-case letters, digits and hyphens.";
            reader.bad(at, format!("`{name}` cannot be the name of a phase."), hint);
        }
        let phase = read_phase(reader, at, node);
        phases.insert(name, phase);
    }
    phases
}

fn read_phase(reader: &mut Reader<'_>, at: usize, node: Node) -> OwnPhase {
    let mut phase = OwnPhase::default();
    let Value::Map(entries) = node.value else {
        reader.bad(at, "A phase must be keys and values.", HINT);
        return phase;
    };
    let mut has_fields = false;
    for (at, key, node) in entries {
        match key.as_str() {
            "judges" => match node.value {
                Value::Bool(judges) => phase.judges = judges,
                _ => reader.bad(node.at, "`judges` is true or false.", "Write `judges: true`."),
            },
            "findings" => {
                has_fields = true;
                phase.findings = read_fields(reader, node);
            }
            _ => reader.unknown(at, &key, &["judges", "findings"]),
        }
    }
    let fields = &phase.findings.0;
    if !has_fields {
        reader.bad(at, "A phase needs fields for its findings.", HINT);
    } else if phase.judges && fields.get(PASSED) != Some(&FieldType::Boolean) {
        let hint = format!("Add `{PASSED}: boolean` to its findings.");
        reader.bad(at, "A judging phase must say whether the work may stand.", hint);
    }
    phase
}

fn read_fields(reader: &mut Reader<'_>, node: Node) -> FindingFields {
    let mut fields = FindingFields::default();
    let Value::Map(entries) = node.value else {
        reader.bad(node.at, "`findings` must be a mapping of fields.", HINT);
        return fields;
    };
    if entries.len() > FIELDS {
        let message = format!("A phase has at most {FIELDS} fields.");
        reader.bad(node.at, message, "Put what belongs together into one list.");
    }
    for (_, name, node) in entries {
        if let Some(field) = field_type(&node) {
            fields.0.insert(name, field);
        } else {
            let hint = "Write `text`, `number`, `boolean` or `[text]`.";
            reader.bad(node.at, format!("The field `{name}` has no such type."), hint);
        }
    }
    fields
}

fn field_type(node: &Node) -> Option<FieldType> {
    match &node.value {
        Value::Text(text) => match text.as_str() {
            "text" => Some(FieldType::Text),
            "number" => Some(FieldType::Number),
            "boolean" => Some(FieldType::Boolean),
            _ => None,
        },
        Value::List(items) => match &items[..] {
            [Node { value: Value::Text(text), .. }] if text == "text" => Some(FieldType::Texts),
            _ => None,
        },
        _ => None,
    }
}

/// Steps name phases that are declared, and have an agent for them.
pub(super) fn check(reader: &mut Reader<'_>, workflow: &Workflow) {
    for step in &workflow.steps {
        let Some(phase) = &step.phase else { continue };
        if !workflow.phases.contains_key(phase) {
            let message = format!(
                "The step `{}` has the phase `{phase}`, which `phases` does not declare.",
                step.id
            );
            reader.bad(
                0,
                message,
                "Declare it, or leave `phase` out: an agent has a phase of its own.",
            );
        }
        if step.agent.is_none() {
            let message = format!("The step `{}` has a phase and no agent.", step.id);
            reader.bad(0, message, "Write `agent: ...`.");
        }
    }
}
