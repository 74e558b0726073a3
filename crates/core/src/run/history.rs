//! What happened to one task, attempt by attempt, as its events tell it. Bytes are named, not read.

use serde::Serialize;

use super::cost::Cost;
use super::event::{
    AttemptEnded, AttemptStarted, CheckEnded, Delegation, Event, Purpose, Recorded,
};
use super::said::Said;
use crate::agent;
use crate::budget::Spent;
use crate::change::Refusals;
use crate::digest::Digest;
use crate::id::{TaskId, TreeId};
use crate::moment::Moment;
use crate::price;
use crate::provider::Powers;
use crate::report::Phase;
use crate::usage::Usage;

/// One task's part of a log.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct History {
    pub attempts: Vec<Attempt>,
    pub skipped: Vec<Skipped>,
    pub checks: Vec<CheckEnded>,
    pub verifications: Vec<Verification>,
}

/// What the runtime saw at steps that check, by its digests.
#[derive(Clone, Debug, PartialEq)]
pub struct Verification {
    pub steps: Vec<String>,
    pub evidence: Digest,
    pub failing: Option<Digest>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Skipped {
    pub step: String,
    pub reason: String,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Attempt {
    pub number: u32,
    pub phase: Phase,
    pub step: String,
    pub agent: String,
    pub profile: String,
    pub model: String,
    pub purpose: Purpose,
    /// Of the context.
    pub digest: Digest,
    pub tokens: usize,
    pub tools: Vec<String>,
    pub started_at: Moment,
    /// Nothing while it is under way, or where it was cut off.
    pub outcome: Option<agent::Outcome>,
    /// Whether it judges other work and does not let it stand.
    pub objects: bool,
    pub trouble: Option<String>,
    /// What no change may bring.
    pub refused: Refusals,
    pub report: Option<Digest>,
    pub change: Option<Digest>,
    pub tree: Option<TreeId>,
    /// What the runtime saw of its change.
    pub evidence: Option<Digest>,
    /// The request that its prompt is rendered from.
    pub handoff: Option<Digest>,
    /// What spoke against it.
    pub failing: Option<Digest>,
    /// One for each reply.
    pub turns: Vec<Usage>,
    pub cost: Cost,
    powers: Powers,
    /// Nothing while it is under way.
    pub spent: Option<Spent>,
    pub parent: Option<Delegation>,
}

impl Attempt {
    fn new(recorded: &Recorded, phase: Phase, number: u32, started: &AttemptStarted) -> Self {
        Self {
            number,
            phase,
            step: started.step.clone(),
            agent: started.agent.clone(),
            profile: started.profile.clone(),
            model: started.model.clone(),
            purpose: started.purpose,
            digest: started.context.digest.clone(),
            tokens: started.context.tokens,
            tools: started.tools.clone(),
            started_at: recorded.at,
            outcome: None,
            objects: false,
            trouble: None,
            refused: Refusals::default(),
            report: None,
            change: None,
            tree: started.from.clone(),
            evidence: None,
            handoff: started.handoff.clone(),
            failing: None,
            turns: Vec::new(),
            cost: Cost::default(),
            powers: started.powers,
            spent: None,
            parent: started.parent.clone(),
        }
    }

    fn end(&mut self, ended: &AttemptEnded) {
        self.outcome = Some(ended.outcome.clone());
        self.objects = matches!(ended.said, Some(Said::Proceed { passed: Some(false), .. }));
        self.trouble.clone_from(&ended.trouble);
        self.refused.clone_from(&ended.refused);
        self.report.clone_from(&ended.report);
        self.change.clone_from(&ended.change);
        if ended.tree.is_some() {
            self.tree.clone_from(&ended.tree);
        }
        self.spent = Some(ended.spent.clone());
    }
}

impl History {
    pub fn of<'a>(events: impl IntoIterator<Item = &'a Recorded>, task: &TaskId) -> Self {
        let mut history = Self::default();
        for recorded in events {
            if recorded.entry.scope.task.as_ref() == Some(task) {
                history.add(recorded);
            }
        }
        history
    }

    /// Takes one more event of the task.
    pub fn add(&mut self, recorded: &Recorded) {
        let scope = &recorded.entry.scope;
        match &recorded.entry.event {
            Event::AttemptStarted(started) => {
                if let (Some(phase), Some(number)) = (scope.phase, scope.attempt) {
                    // Those side by side begin in any order.
                    let at = self.attempts.partition_point(|one| one.number < number);
                    self.attempts.insert(at, Attempt::new(recorded, phase, number, started));
                }
            }
            Event::TurnEnded { usage, .. } => {
                if let Some(attempt) = self.find(scope.attempt) {
                    let price = price::of(&attempt.model, attempt.powers, *usage);
                    attempt.cost.count(*usage, price);
                    attempt.turns.push(*usage);
                }
            }
            Event::CallsEnded { change: Some(change), .. } => {
                if let Some(attempt) = self.find(scope.attempt) {
                    attempt.change = Some(change.clone());
                }
            }
            Event::AttemptEnded(ended) => {
                if let Some(attempt) = self.find(scope.attempt) {
                    attempt.end(ended);
                }
            }
            Event::TaskVerified { steps, evidence, tree, failing, .. } => {
                self.verifications.push(Verification {
                    steps: steps.clone(),
                    evidence: evidence.clone(),
                    failing: failing.clone(),
                });
                let mut attempts =
                    self.attempts.iter_mut().rev().filter(|one| one.parent.is_none());
                let made = attempts.find(|one| {
                    one.phase.changes_files() && one.tree.as_ref().is_none_or(|own| own == tree)
                });
                if let Some(attempt) = made {
                    attempt.evidence = Some(evidence.clone());
                    attempt.failing.clone_from(failing);
                }
            }
            Event::CheckEnded(ended) => self.checks.push((**ended).clone()),
            Event::StepSkipped { step, reason } => {
                let (step, reason) = (step.clone(), reason.clone());
                self.skipped.push(Skipped { step, reason });
            }
            _ => {}
        }
    }

    fn find(&mut self, number: Option<u32>) -> Option<&mut Attempt> {
        self.attempts.iter_mut().rev().find(|attempt| Some(attempt.number) == number)
    }
}
