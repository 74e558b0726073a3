//! Which agent takes a step, in which phase, and on which models.

use super::super::event::Agent;
use super::walk::Walk;
use crate::report::Phase;

impl Walk<'_> {
    /// Whether the task names an agent that changes nothing in the place of the one that would: there is nothing to check.
    pub(super) fn is_read_only(&self) -> bool {
        let mut steps = 0..self.steps().len();
        let would_write = steps.clone().any(|at| self.is_writing_step(at));
        would_write && !steps.any(|at| self.phase(at).is_some_and(Phase::changes_files))
    }

    pub(super) fn is_writing_step(&self, at: usize) -> bool {
        let named = self.steps()[at].agent.as_deref();
        let known = named.and_then(|named| self.started.agents.get(named));
        known.is_some_and(|agent| agent.phase.changes_files())
    }

    /// Who takes a step: the task may name who writes.
    pub(super) fn agent(&self, at: usize) -> Option<&str> {
        let named = self.steps()[at].agent.as_deref()?;
        let chosen = self.task.spec.agent.as_deref().filter(|_| self.is_writing_step(at));
        Some(chosen.unwrap_or(named))
    }

    pub(super) fn role(&self, at: usize) -> Option<&Agent> {
        self.started.agents.get(self.agent(at)?)
    }

    pub(super) fn phase(&self, at: usize) -> Option<Phase> {
        match &self.steps()[at].phase {
            Some(own) => Phase::named(own),
            None => self.role(at).map(|role| role.phase),
        }
    }

    pub(super) fn judges(&self, at: usize) -> bool {
        self.workflow.is_judging(&self.steps()[at], self.phase(at))
    }

    pub(super) fn models(&self, at: usize) -> &[String] {
        match self.role(at) {
            _ if !self.task.spec.models.is_empty() => &self.task.spec.models,
            Some(role) => &role.models,
            None => &[],
        }
    }

    /// The one that a step was left with.
    pub(super) fn model(&self, at: usize) -> Option<&str> {
        self.models(at).get(self.rungs[at]).map(String::as_str)
    }
}
