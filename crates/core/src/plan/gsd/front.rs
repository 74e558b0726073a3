//! The front matter of one plan.

use std::ops::Range;

use super::super::markdown::split_front;
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

/// Reads the front matter of the plan in a range; a plan of a phase directory has a file name.
pub(super) fn read(source: &str, range: &Range<usize>, file_name: &str) -> PlanFront {
    let mut front = PlanFront::default();
    let text = &source[range.clone()];
    let is_lead = |c: char| c.is_whitespace() || c == '\u{feff}';
    let lead = text.len() - text.trim_start_matches(is_lead).len();
    let (body, _) = split_front(&text[lead..]);
    let body = body.map_or(lead..lead, |body| lead + body.start..lead + body.end);
    let entries = match yaml::read(&text[body.clone()]) {
        Ok(entries) => entries,
        Err(error) => {
            front.unread = Some((range.start + body.start + error.at, error.message));
            Vec::new()
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
            ("depends_on", Value::Text(plans)) => {
                let plans = plans.split(',').map(|plan| plan.trim().to_owned());
                front.depends_on = plans.filter(|plan| !plan.is_empty()).collect();
            }
            ("must_haves", Value::Map(parts)) => {
                let truths = parts.into_iter().find(|(_, key, _)| key == "truths");
                if let Some((_, _, Node { value: Value::List(truths), .. })) = truths {
                    front.truths = texts(truths);
                }
            }
            _ => {}
        }
    }
    front.name_plan(&plan, file_name);
    front
}

impl PlanFront {
    /// Gives the plan its id: by its file, which no other has, else by its own number.
    fn name_plan(&mut self, plan: &str, file_name: &str) {
        let by_file: Vec<&str> = numbers(file_name).collect();
        let phase =
            numbers(&self.phase).next().or(by_file.first().copied().filter(|_| by_file.len() > 1));
        let phase = phase.unwrap_or_default().to_owned();
        self.id = match (by_file.len(), plan) {
            (0, "") if file_name.is_empty() => None,
            (0, "") => Some(file_name.split_whitespace().collect::<Vec<_>>().join("-")),
            (0 | 1, plan) if !plan.is_empty() => Some(plan_id(plan, &phase)),
            _ => Some(plan_id(file_name, &phase)),
        };
        self.depends_on.retain(|plan| !["", "-", "none"].contains(&plan.to_lowercase().trim()));
        self.depends_on = self.depends_on.iter().map(|plan| plan_id(plan, &phase)).collect();
    }
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
        [phase, plan, ..] => format!("{}-{}", padded(phase), padded(plan)),
        [plan] if !phase.is_empty() => format!("{}-{}", padded(phase), padded(plan)),
        [plan] => plan.to_owned(),
        [] => named.split_whitespace().collect::<Vec<_>>().join("-"),
    }
}

/// A number with two digits before its point.
fn padded(number: &str) -> String {
    let digits = number.split('.').next().map_or(0, str::len);
    format!("{}{number}", "0".repeat(2_usize.saturating_sub(digits)))
}

/// The numbers that a name begins with, such as `04` and `01`.
fn numbers(name: &str) -> impl Iterator<Item = &str> {
    let is_number = |part: &&str| {
        !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
    };
    name.split('-').take_while(is_number)
}
