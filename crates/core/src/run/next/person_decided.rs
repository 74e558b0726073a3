//! How a task goes on by a person's word.

use super::super::event::{Ended, Purpose, TaskEnded};
use super::super::offer::{ChangeOffer, RetryScope, offer};
use super::super::person::{PersonChoice, PersonDecision};
use super::Next;
use super::walk::Walk;
use crate::change::Refused;
use crate::id::TreeId;

impl Walk<'_> {
    pub(super) fn person_decided(&mut self, decision: &PersonDecision) -> Next {
        match decision.choice {
            PersonChoice::Accepted => {
                self.person = Some(decision.clone());
                Next::Accept
            }
            PersonChoice::Skipped | PersonChoice::SkippedWithDependants => {
                let ended = TaskEnded::new(Ended::Skipped, Some(decision.sentence()));
                Next::End(TaskEnded { person: Some(decision.clone()), ..ended })
            }
            PersonChoice::Editing | PersonChoice::HandedBack => {
                let id = &self.task.spec.id;
                let why = format!(
                    "{} edits `{id}`; `sequester hand-back RUN {id}` takes the edit.",
                    decision.by
                );
                offer(&why, None, RetryScope::Change, ChangeOffer::Accept)
            }
        }
    }

    pub(super) fn accepted(&mut self, tree: &TreeId, left_out: &[Refused]) -> Option<Next> {
        let person = self.person.as_mut()?;
        person.left_out = left_out.to_vec();
        self.tree = Some(tree.clone());
        Some(Next::Finish { tree: self.tree.clone(), person: self.person.clone() })
    }

    pub(super) fn accept_refused(&mut self, why: &str) -> Next {
        self.person = None;
        let why = format!("The change cannot be accepted: {why}");
        offer(&why, None, RetryScope::Change, ChangeOffer::Edit)
    }

    /// The person did the work of every agent; the checks are run on it.
    pub(super) fn handed_back(&mut self, tree: &TreeId, by: &str) {
        let writer = self.writer();
        for at in 0..self.steps().len() {
            self.complete[at] = self.steps()[at].agent.as_ref().map(|_| 0);
            self.answers[at] = None;
            self.again[at] = None;
            self.trees[at] = (at == writer).then(|| tree.clone());
        }
        self.stopped.clear();
        self.tree = Some(tree.clone());
        self.person = Some(PersonDecision {
            choice: PersonChoice::HandedBack,
            by: by.to_owned(),
            why: None,
            left_out: Vec::new(),
        });
    }

    /// A subagent takes the place of the person again.
    pub(super) fn write_again(&mut self) -> Option<Next> {
        let at = self.writer();
        self.stopped.clear();
        self.restart(at);
        self.attempt(at, Purpose::Answered)
    }

    fn writer(&self) -> usize {
        let mut steps = 0..self.steps().len();
        steps.find(|at| self.is_writing_step(*at)).unwrap_or(self.last)
    }
}
