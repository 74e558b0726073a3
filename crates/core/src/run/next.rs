//! What comes next for one task: the table of what happens and what is done about it, as code.

mod answer;
mod person_decided;
mod step_agent;
mod walk;

use std::ops::Range;

use super::event::{About, Ended, Purpose, TaskEnded};
use super::person::PersonDecision;
use super::state::{RunState, TaskRun};
use super::workflow::Workflow;
use crate::check::Kind;
use crate::digest::Digest;
use crate::id::TreeId;
use crate::report::{Phase, Question};
use walk::Walk;

/// What comes next for a task whose needs are done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    Attempts(AttemptRound),
    /// The runtime looks at the change itself, or at the base where there is none.
    Verify {
        steps: Vec<String>,
        kinds: Vec<Kind>,
        tree: Option<TreeId>,
    },
    Skip {
        step: String,
        reason: String,
    },
    /// Something only a person can say.
    Ask {
        questions: Vec<(About, Question)>,
        /// What a person needs to know for them.
        details: Option<String>,
    },
    /// An answer is awaited.
    Await,
    /// All steps are complete.
    Finish {
        tree: Option<TreeId>,
        person: Option<PersonDecision>,
    },
    /// What a person accepted is looked at for what no commit may hold.
    Accept,
    End(TaskEnded),
}

/// Fresh subagents, side by side if there are several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttemptRound {
    pub orders: Vec<Order>,
    /// Attempts of the same round that have ended: all share what it may cost, however many there is room for at once.
    pub ended: Vec<u32>,
}

impl AttemptRound {
    fn alone(order: Order) -> Self {
        Self { orders: vec![order], ended: Vec::new() }
    }
}

/// An attempt to be started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Order {
    pub step: String,
    /// Where the step stands in its workflow.
    pub place: u32,
    pub agent: String,
    pub phase: Phase,
    pub purpose: Purpose,
    pub model: String,
    pub rung: usize,
    /// The change that it starts from; nothing for the clean base.
    pub from: Option<TreeId>,
    /// What speaks against the change.
    pub because: Vec<Because>,
    /// Reports of the steps before, which it builds on.
    pub findings: Vec<Digest>,
    /// What the runtime saw of the change, for an attempt that judges it.
    pub evidence: Option<Digest>,
}

/// The digest of failing checks, or the report of a subagent that judged the change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Because {
    Checks(Digest),
    Judgement(Digest),
}

/// Decides for one task by what happened to it. `None` while an attempt is under way.
pub fn next(run: &RunState, task: &TaskRun) -> Option<Next> {
    if let Some(ended) = &task.ended {
        return Some(Next::End(ended.clone()));
    }
    if !task.running.is_empty() {
        return None;
    }
    let started = &run.started;
    let Some(workflow) = started.workflows.get(&task.spec.workflow) else {
        let reason = format!("There is no workflow `{}`.", task.spec.workflow);
        return Some(failed(reason, None));
    };
    let mut walk = Walk::new(started, task, workflow);
    for fact in &task.facts {
        walk.take(fact);
    }
    Some(walk.finish())
}

/// The steps of a task, those that run side by side together.
pub(super) fn groups(run: &RunState, task: &TaskRun, workflow: &Workflow) -> Vec<Range<usize>> {
    let walk = Walk::new(&run.started, task, workflow);
    let next =
        |before: &Range<usize>| (before.end < workflow.steps.len()).then(|| walk.group(before.end));
    std::iter::successors(Some(0..0), next).skip(1).collect()
}

/// The model that carries tasks out word for word, and judges nothing.
pub const LITERAL: &str = "literal";
pub const NO_MODEL: &str = "no model";

fn failed(reason: impl Into<String>, resolution: Option<String>) -> Next {
    end(Ended::Failed, reason, resolution)
}

fn end(state: Ended, reason: impl Into<String>, resolution: Option<String>) -> Next {
    Next::End(TaskEnded { resolution, ..TaskEnded::new(state, Some(reason.into())) })
}
