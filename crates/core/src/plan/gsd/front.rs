//! The front matter of one plan.

use std::ops::Range;

use super::super::yaml::{self, Node, Value};

/// What the front matter of a plan says.
#[derive(Debug, Default)]
pub(super) struct PlanFront {
    pub(super) phase: String,
    /// Such as `04-01`: the numbers of its phase and of itself.
    pub(super) id: Option<String>,
    /// Ids of plans.
    pub(super) depends_on: Vec<String>,
    pub(super) truths: Vec<String>,
    pub(super) superseded: bool,
    /// Why it could not be read, and where.
    pub(super) unread: Option<(usize, String)>,
}

impl PlanFront {
    pub(super) fn title(&self, file_name: &str) -> String {
        match (&self.id, self.phase.as_str()) {
            (Some(id), phase) if !phase.is_empty() => format!("{id} ({phase})"),
            (Some(id), _) => id.clone(),
            (None, _) => file_name.to_owned(),
        }
    }
}

pub(super) fn read(source: &str, range: &Range<usize>) -> PlanFront {
    let mut front = PlanFront::default();
    let text = &source[range.clone()];
    let Some(body) = text.trim_start().strip_prefix("---\n") else { return front };
    let Some(end) = body.find("\n---") else { return front };
    let at = range.start + (text.len() - text.trim_start().len()) + "---\n".len();
    let entries = match yaml::read(&body[..end]) {
        Ok(entries) => entries,
        Err(error) => {
            front.unread = Some((at + error.at, error.message));
            return front;
        }
    };
    let mut plan = String::new();
    for (_, key, node) in entries {
        match (key.as_str(), node.value) {
            ("phase", Value::Text(phase)) => front.phase = phase,
            ("plan", Value::Text(number)) => plan = number,
            ("status", Value::Text(status)) => {
                front.superseded = status.eq_ignore_ascii_case("superseded");
            }
            ("depends_on", Value::List(plans)) => front.depends_on = texts(plans),
            ("must_haves", Value::Map(parts)) => {
                let truths = parts.into_iter().find(|(_, key, _)| key == "truths");
                if let Some((_, _, Node { value: Value::List(truths), .. })) = truths {
                    front.truths = texts(truths);
                }
            }
            _ => {}
        }
    }
    let phase = numbers(&front.phase).next().unwrap_or_default().to_owned();
    front.id = (!plan.is_empty()).then(|| plan_id(&plan, &phase));
    front.depends_on = front.depends_on.iter().map(|plan| plan_id(plan, &phase)).collect();
    front
}

fn texts(nodes: Vec<Node>) -> Vec<String> {
    let text = |node: Node| match node.value {
        Value::Text(text) => Some(text),
        _ => None,
    };
    nodes.into_iter().filter_map(text).collect()
}

/// `04-01` of `04-01-PLAN.md`, `01` in phase 04, or `1` there.
fn plan_id(named: &str, phase: &str) -> String {
    let parts: Vec<&str> = numbers(named).collect();
    match parts[..] {
        [phase, plan, ..] => format!("{phase}-{plan:0>2}"),
        [plan] if !phase.is_empty() => format!("{phase}-{plan:0>2}"),
        [plan] => plan.to_owned(),
        [] => named.to_owned(),
    }
}

/// The numbers that a name begins with, such as `04` and `01`.
fn numbers(name: &str) -> impl Iterator<Item = &str> {
    let is_number = |part: &&str| {
        !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
    };
    name.split('-').take_while(is_number)
}
