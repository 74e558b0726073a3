//! Workflows as people see them.

use std::fmt::Write as _;
use std::ops::Range;

use sequester_core::report::{FieldType, Phase};
use sequester_core::run::{Step, Workflow};
use sequester_core::source::Origin;
use serde::Serialize;

use super::profiles::origin;
use super::{table, terminal};

/// The JSON shape of a workflow: its file's fields, with the phase of each step.
#[derive(Serialize)]
pub(crate) struct ShownWorkflow {
    #[serde(flatten)]
    workflow: Workflow,
    /// Of each step; nothing for one that checks.
    step_phases: Vec<Option<Phase>>,
    #[serde(skip)]
    groups: Vec<Range<usize>>,
    origin: Origin,
}

impl ShownWorkflow {
    pub(crate) fn new(
        workflow: Workflow,
        step_phases: Vec<Option<Phase>>,
        groups: Vec<Range<usize>>,
        origin: Origin,
    ) -> Self {
        Self { workflow, step_phases, groups, origin }
    }

    /// Where the steps end that run together with this one: checks always do.
    fn together(&self, at: usize) -> usize {
        let checks = self.workflow.steps[at..].iter().take_while(|step| step.agent.is_none());
        self.groups[at].end.max(at + checks.count())
    }

    /// `research → write → check → validate`; steps that run side by side stand in brackets.
    fn road(&self) -> String {
        let mut road: Vec<String> = Vec::new();
        let mut at = 0;
        let name = |step: &Step| match step.when {
            Some(when) => format!("{} ({})", step.id, format!("{when:?}").to_lowercase()),
            None => step.id.clone(),
        };
        while at < self.workflow.steps.len() {
            let end = self.together(at);
            let ids: Vec<String> = self.workflow.steps[at..end].iter().map(name).collect();
            road.push(if ids.len() == 1 { ids.concat() } else { format!("[{}]", ids.join(" | ")) });
            at = end;
        }
        road.join(" → ")
    }
}

pub(crate) fn list(all: &[ShownWorkflow], width: usize) -> String {
    let row = |one: &ShownWorkflow| {
        [
            one.workflow.name.clone(),
            origin(&one.origin),
            one.road(),
            one.workflow.description.clone(),
        ]
    };
    let rows: Vec<_> = all.iter().map(row).collect();
    let told =
        "`sequester workflows NAME` shows one; `sequester run PLAN --workflow NAME` uses it.";
    table::render(["name", "from", "steps", "description"], &rows, width)
        + "\n"
        + &terminal::fold(told, width)
}

pub(crate) fn one(shown: &ShownWorkflow, width: usize) -> String {
    let workflow = &shown.workflow;
    let mut out = format!("{}: {}\n\n", workflow.name, workflow.description);
    let steps = workflow.steps.iter().zip(&shown.step_phases).zip(&shown.groups);
    let row = |((step, phase), group): ((&Step, &Option<Phase>), &Range<usize>)| {
        let beside = workflow.steps[group.clone()].iter().filter(|other| other.id != step.id);
        let beside: Vec<&str> = beside.map(|other| other.id.as_str()).collect();
        [
            step.id.clone(),
            step.agent.clone().unwrap_or_else(|| "the runtime".to_owned()),
            phase.map_or_else(|| kinds(step), |phase| phase.as_str().to_owned()),
            step.needs().join(", "),
            beside.join(", "),
            conditions(step),
        ]
    };
    let rows: Vec<_> = steps.map(row).collect();
    let heads = ["step", "by", "phase or checks", "needs", "side by side with", "when"];
    out += &table::render(heads, &rows, width);
    for (name, own) in &workflow.phases {
        let judges = if own.judges { ", judges" } else { "" };
        let _ = writeln!(out, "\nphase {name}{judges}");
        let fields = own.findings.0.iter().map(|(name, field)| (name.as_str(), word(*field)));
        for (name, field) in fields {
            let _ = writeln!(out, "  {name}: {field}");
        }
    }
    terminal::fold(&terminal::clean(&out), width)
}

fn kinds(step: &Step) -> String {
    let kinds: Vec<&str> = step.check.iter().map(|kind| kind.as_str()).collect();
    if kinds.is_empty() { "evidence".to_owned() } else { kinds.join(", ") }
}

fn conditions(step: &Step) -> String {
    let when = step.when.map(|when| format!("the task is {}", format!("{when:?}").to_lowercase()));
    when.unwrap_or_default()
}

fn word(field: FieldType) -> &'static str {
    match field {
        FieldType::Text => "text",
        FieldType::Number => "number",
        FieldType::Boolean => "boolean",
        FieldType::Texts => "list of texts",
    }
}
