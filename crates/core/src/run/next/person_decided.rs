//! How a task goes on by a person's word.

use super::super::event::{About, Ended, Purpose, TaskEnded};
use super::super::fact::Fact;
use super::super::offer::{ChangeOffer, GIVE_UP, RetryScope, offer};
use super::super::person::{PersonChoice, PersonDecision};
use super::walk::{FixCounts, StepTries, Walk};
use super::{Next, failed};
use crate::change::Refused;
use crate::id::TreeId;
use crate::report::Phase;

impl Walk<'_> {
    /// Whether the change conflicts with others, or could not be accepted as it is.
    fn is_uncommittable(&self) -> bool {
        let is_change = |fact: &&Fact| match fact {
            Fact::Tried(tried) => tried.phase.changes_files(),
            Fact::HandedBack { .. } | Fact::Reopened | Fact::Withdrawn { .. } => true,
            _ => false,
        };
        let mut since = self.task.facts.iter().rev().take_while(|fact| !is_change(fact));
        since.any(|fact| matches!(fact, Fact::AcceptRefused { .. } | Fact::Conflicted { .. }))
    }

    pub(super) fn answered(&mut self, about: &About, answer: &str) -> Option<Next> {
        match about {
            // It was carried out when it was given.
            About::Plan(_) => None,
            About::Failure => {
                if let Some(why) = given_up(answer) {
                    return Some(failed(why, None));
                }
                self.fix_counts = FixCounts::default();
                self.tries.fill(StepTries::default());
                if self.person.take().is_some() { self.write_again() } else { self.go_on() }
            }
            // All of a group that asked are tried once more.
            About::Clarification | About::Files(_) if self.group(self.last).len() > 1 => {
                self.attempts.fill_with(Vec::new);
                None
            }
            About::Clarification | About::Files(_) => {
                let at = self.last;
                if self.phase(at)?.changes_files() {
                    self.restart(at);
                }
                self.attempt(at, Purpose::Answered)
            }
        }
    }

    /// A person wants it tried again: the steps that stopped, else the work that something speaks against.
    fn go_on(&mut self) -> Option<Next> {
        let stopped = std::mem::take(&mut self.stopped);
        if stopped.is_empty() {
            let at = self.target(self.steps().len()).unwrap_or(self.last);
            self.restart(at);
            return self.attempt(at, Purpose::Answered);
        }
        self.attempts.fill_with(Vec::new);
        for at in stopped {
            if self.phase(at).is_some_and(Phase::changes_files) {
                self.restart(at);
            }
            self.again[at] = Some(Purpose::Answered);
        }
        None
    }

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
                let change = if self.is_uncommittable() {
                    ChangeOffer::Neither
                } else {
                    ChangeOffer::Accept
                };
                offer(&why, None, RetryScope::Change, change)
            }
        }
    }

    pub(super) fn accepted(&mut self, tree: &TreeId, left_out: &[Refused]) -> Option<Next> {
        let accepted = |one: &&mut PersonDecision| one.choice == PersonChoice::Accepted;
        // Otherwise the person handed back an edit meanwhile.
        let person = self.person.as_mut().filter(accepted)?;
        person.left_out = left_out.to_vec();
        self.tree = Some(tree.clone());
        Some(Next::Finish { tree: self.tree.clone(), person: self.person.clone() })
    }

    pub(super) fn accept_refused(&mut self, why: &str) -> Option<Next> {
        self.person.take_if(|one| one.choice == PersonChoice::Accepted)?;
        let why = format!("The change cannot be accepted: {why}");
        Some(offer(&why, None, RetryScope::Change, ChangeOffer::Edit))
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

/// Why the task has failed, where the answer gives it up. A reason follows the label and a colon.
fn given_up(answer: &str) -> Option<String> {
    let rest = answer.strip_prefix(GIVE_UP)?;
    if rest.is_empty() {
        return Some("A person gave it up.".to_owned());
    }
    let why = rest.strip_prefix(':')?.trim().trim_end_matches('.');
    Some(format!("A person gave it up: {why}."))
}
