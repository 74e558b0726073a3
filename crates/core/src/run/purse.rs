//! Who may spend how much of the run's budget. A task's part depends on the plan and on what was spent for those that it needs, never
//! on who else is at work: it is the same however many are worked on at once.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::attempts::Tried;
use super::cost::Cost;
use super::decide::{left, own_left};
use super::event::Ended;
use super::plan::Cap;
use super::state::{RunState, TaskRun};
use super::workflow::Step;
use crate::budget::Limit;
use crate::id::TaskId;

/// One task, in parts that can be divided.
const WHOLE: u64 = 1 << 20;

/// What a task's part is reckoned by since the budget was parted last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Stake {
    /// Its own work and, as far as it is the way there, that of those that need it.
    weight: u64,
    /// What it had cost by then.
    before: Cost,
}

impl RunState {
    /// Parts what is left of the budget anew, among the tasks that are open. Not for who only takes up a run that was killed: that
    /// changes nobody's part.
    pub(super) fn part(&mut self) {
        self.parted = self.cost;
        for at in (0..self.tasks.len()).rev() {
            let task = &self.tasks[at];
            let own = if task.ended.is_none() && task.spec.left_out.is_none() { WHOLE } else { 0 };
            let above = self.claims(at);
            self.tasks[at].stake = Stake { weight: own + above, before: self.tasks[at].cost };
        }
    }

    /// What it may use in all, with what it may use from now on where a person says so anew.
    pub(super) fn endowed(&self, anew: Option<Cap>) -> Cap {
        let above = |anew: Cap| anew.above(self.cost.usage.total(), self.cost.price);
        anew.map_or(self.started.settings.budget, above)
    }

    /// Tasks that ended because their part of the run's budget was used up: more of it helps these, and no others.
    pub fn poor(&self) -> Vec<TaskId> {
        let (purses, left) = (self.purses(), left(self));
        let tasks = self.tasks.iter().zip(purses);
        let poor = tasks.filter(|(task, purse)| self.is_poor(task, purse.min(left)));
        poor.map(|(task, _)| task.spec.id.clone()).collect()
    }

    /// Whether an attempt that stopped a task ended by what the run had for it, of which so much is left: no less than of what the task
    /// itself or its agent may use.
    fn is_poor(&self, task: &TaskRun, run: Cap) -> bool {
        let has_failed = task.ended.as_ref().is_some_and(|ended| ended.state == Ended::Failed);
        let groups = self.side_by_side(task);
        let by_run = |(tried, limit): (&Tried, Limit)| {
            let group = groups.iter().find(|group| group.iter().any(|one| one.id == tried.step));
            let used = task.used(tried.number);
            let attempt = tried.cap.minus(used.usage.total(), used.price);
            let (Some(run), Some(attempt)) = (run.of(limit), attempt.of(limit)) else {
                return false;
            };
            let own = own_left(task).of(limit);
            match group {
                None => run <= attempt && own.is_none_or(|own| own > attempt),
                Some(group) => {
                    let part = task.part_of_group(group, limit, run);
                    tried.cap.of(limit) >= part && own.is_none_or(|own| own > run)
                }
            }
        };
        has_failed && task.exhausted().any(by_run)
    }

    /// What those that need a task want of what it leaves.
    fn claims(&self, at: usize) -> u64 {
        self.queue.dependants(at).iter().map(|one| self.tasks[*one].claim()).sum()
    }

    /// What each task may still spend of the run's budget, if all that it needs has ended. Who needs nothing has a part of the whole, by
    /// weight; what a task leaves goes to those that need it.
    pub(super) fn purses(&self) -> Vec<Cap> {
        let budget = self.started.settings.budget;
        if budget == Cap::default() {
            return vec![budget; self.tasks.len()];
        }
        let all = budget.minus(self.parted.usage.total(), self.parted.price);
        let first = self.tasks.iter().filter(|task| task.needs.is_empty());
        let weights = first.map(|task| task.stake.weight).sum();
        let claims: Vec<u64> = (0..self.tasks.len()).map(|at| self.claims(at)).collect();
        let mut purses: Vec<Cap> = Vec::with_capacity(self.tasks.len());
        for task in &self.tasks {
            let from = |need: &usize| purses[*need].part(task.claim(), claims[*need]);
            let given = match task.needs.iter().map(from).reduce(Cap::plus) {
                Some(given) => given,
                None => all.part(task.stake.weight, weights),
            };
            let before = task.stake.before;
            let tokens = task.cost.usage.total().saturating_sub(before.usage.total());
            purses.push(given.minus(tokens, task.cost.price.saturating_sub(before.price)));
        }
        purses
    }
}

impl TaskRun {
    /// What each of the steps side by side had of the run's budget, of which so much is left.
    fn part_of_group(&self, group: &[Step], limit: Limit, left: u64) -> Option<u64> {
        let is_in_group = |tried: &&Tried| group.iter().any(|step| step.id == tried.step);
        let tried: Vec<&Tried> = self.tried_since_answer().filter(is_in_group).collect();
        let steps: BTreeSet<&str> = tried.iter().map(|one| one.step.as_str()).collect();
        let mut used = Cost::default();
        for one in &tried {
            used.add(&self.used(one.number));
        }
        let whole = Cap { tokens: Some(left), price: Some(left) };
        let whole = whole.above(used.usage.total(), used.price);
        whole.part(1, steps.len() as u64).of(limit)
    }

    /// What it wants of each that it needs.
    fn claim(&self) -> u64 {
        self.stake.weight / self.needs.len().max(1) as u64
    }
}
