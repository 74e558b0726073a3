//! What was built on a result that is withdrawn: it begins anew, and what was done for it counts no more.

use std::collections::BTreeSet;

use super::event::{Ended, Entry, Event, TaskEnded};
use super::fact::Fact;
use super::state::{RunState, TaskRun};
use crate::id::{QuestionId, TaskId};

/// Who is built on what is done again, in the plan's order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Upon {
    pub anew: Vec<TaskId>,
    pub stays: Vec<TaskId>,
}

impl RunState {
    /// Tasks, near and far, that began with what a task left last, or ended by it. What is on the branch stays there.
    pub(super) fn built_on(&self, at: usize) -> Vec<usize> {
        let found = self.above(at);
        let since = self.tasks[at].ended_at;
        let is_built = |one: &usize| {
            let task = &self.tasks[*one];
            // Whatever ended before had something else to build on.
            let stays = task.ended.as_ref().is_some_and(|ended| {
                matches!(ended.state, Ended::Skipped | Ended::Cancelled) || task.ended_at < since
            });
            let is_there = task.has_begun() || task.ended.is_some();
            found[*one] && !stays && is_there && task.committed.is_none()
        };
        (0..self.tasks.len()).filter(is_built).collect()
    }

    /// Which tasks need one, near and far.
    pub(super) fn above(&self, at: usize) -> Vec<bool> {
        let mut found = vec![false; self.tasks.len()];
        let mut open = vec![at];
        while let Some(one) = open.pop() {
            for other in self.queue.dependants(one) {
                if !std::mem::replace(&mut found[*other], true) {
                    open.push(*other);
                }
            }
        }
        found
    }

    /// What becomes of others when these are done again: who begins anew with them, and who stays as it is, done.
    pub fn upon(&self, again: &[TaskId]) -> Upon {
        let again: Vec<usize> = again.iter().filter_map(|task| self.position(task)).collect();
        let mut found = vec![false; self.tasks.len()];
        for at in &again {
            let above = self.above(*at).into_iter();
            found.iter_mut().zip(above).for_each(|(one, above)| *one |= above);
        }
        let is_open = |at: &usize| self.tasks[*at].ended.is_none();
        let anew: BTreeSet<usize> = again.iter().flat_map(|at| self.built_on(*at)).collect();
        let ids = |is: &dyn Fn(usize) -> bool| -> Vec<TaskId> {
            let others = (0..self.tasks.len()).filter(|at| found[*at] && !again.contains(at));
            others.filter(|at| is(*at)).map(|at| self.tasks[at].spec.id.clone()).collect()
        };
        Upon {
            anew: ids(&|at| anew.contains(&at) && is_open(&at)),
            stays: ids(&|at| self.tasks[at].is_done()),
        }
    }

    /// A person wants it done again.
    pub(super) fn reopen(&mut self, task: &TaskId) -> Option<()> {
        let at = self.position(task)?;
        self.settled = 0;
        self.begin_anew_on(task);
        self.tasks[at].reopen(self.seq);
        self.tasks[at].decided_at = self.seq;
        let asked = std::mem::take(&mut self.tasks[at].open);
        self.unask(asked);
        self.unblock();
        Some(())
    }

    /// A person's own edit takes the place of what attempts left. A task that had ended, or was no part of the run, is open again.
    pub(super) fn take_back_from_person(
        &mut self,
        at: usize,
        handed_back: Fact,
    ) -> Result<(), &'static str> {
        let task = self.tasks[at].spec.id.clone();
        if self.tasks[at].ended.is_some() {
            self.reopen(&task).ok_or("there is no such task")?;
        }
        let asked = std::mem::take(&mut self.tasks[at].open);
        self.unask(asked);
        if self.tasks[at].spec.left_out.is_some() {
            self.tasks[at].amend().left_out = None;
        }
        if let Fact::HandedBack { base, .. } = &handed_back {
            self.tasks[at].base = Some(base.clone());
        }
        self.tasks[at].facts.push(handed_back);
        self.tasks[at].decided_at = self.seq;
        let on_top = self.on_top();
        self.list();
        self.stand_on(&on_top);
        Ok(())
    }

    /// What was blocked may go on.
    pub(super) fn unblock(&mut self) {
        for task in &mut self.tasks {
            if task.ended.as_ref().is_some_and(TaskEnded::is_by_need) {
                task.reopen(self.seq);
            }
        }
    }

    /// What is under way on a result that a person gives up begins anew. What is done stays, also where it was built on it.
    pub(super) fn begin_anew_on(&mut self, task: &TaskId) {
        let Some(at) = self.position(task) else { return };
        let is_open = |one: &usize| self.tasks[*one].ended.is_none();
        let built: Vec<usize> = self.built_on(at).into_iter().filter(is_open).collect();
        self.withdraw(&built);
    }

    /// They begin anew once what they need is done again. Nobody needs to answer what they asked.
    pub(super) fn withdraw(&mut self, tasks: &[usize]) {
        for at in tasks {
            let open = self.tasks[*at].withdraw(self.seq);
            self.unask(open);
        }
        // Those before them last: who is placed with what it needs takes those that need itself along no more.
        for at in tasks.iter().rev() {
            self.queue.place(&self.tasks, *at);
        }
    }

    /// Whether something was said of a task while what it needs was withdrawn: whoever said it did not know yet.
    pub fn is_stale(&self, Entry { scope, event }: &Entry) -> bool {
        let goes_on = match event {
            Event::TaskVerified { .. }
            | Event::StepSkipped { .. }
            | Event::ChangeAccepted { .. }
            | Event::AcceptRefused { .. } => true,
            Event::QuestionAsked(asked) => asked.about.is_of_task(),
            Event::TaskEnded(ended) => {
                matches!(ended.state, Ended::Done | Ended::Failed) || ended.person.is_some()
            }
            _ => false,
        };
        let task = scope.task.as_ref().and_then(|task| self.task(task));
        goes_on && task.is_some_and(|task| !self.is_founded(task))
    }
}

impl TaskRun {
    /// Gives back what it asked and nobody answered.
    fn withdraw(&mut self, seq: u64) -> BTreeSet<QuestionId> {
        self.set_aside(seq);
        self.ended = None;
        self.base = None;
        if self.has_begun() {
            self.facts.push(Fact::Withdrawn { attempts: self.attempts });
        }
        std::mem::take(&mut self.open)
    }

    /// How often it had to begin anew.
    pub fn withdrawals(&self) -> usize {
        let is_one = |fact: &&Fact| matches!(fact, Fact::Withdrawn { .. });
        self.facts.iter().filter(is_one).count()
    }

    /// Whether what an attempt brings counts no more.
    pub fn is_void(&self, attempt: u32) -> bool {
        let last = self.facts.iter().rev().find_map(|fact| match fact {
            Fact::Withdrawn { attempts } => Some(*attempts),
            _ => None,
        });
        last.is_some_and(|last| attempt <= last)
    }
}
