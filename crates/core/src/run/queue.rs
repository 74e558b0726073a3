//! Which tasks something can be done for, found without a walk over all of them, and what they build on.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde::{Deserialize, Serialize};

use super::event::{Ended, TaskEnded};
use super::state::{RunState, TaskRun};
use crate::id::TaskId;

/// The tasks that have not ended, by what keeps them. Those that wait for what they need are in none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Queue {
    /// Who needs each task.
    dependants: Vec<Vec<usize>>,
    /// Something happened to them already.
    begun: BTreeSet<usize>,
    /// Nothing happened to them, and all that they need is done.
    fresh: BTreeSet<usize>,
    /// They end without anything being done for them.
    doomed: BTreeSet<usize>,
    /// They stand, and something that they are built on, near or far, is done no more.
    #[serde(default)]
    shaky: BTreeSet<usize>,
    /// Those of them below which something was done again and is lost.
    #[serde(default)]
    sunk: BTreeSet<usize>,
}

impl Queue {
    pub(super) fn of(tasks: &[TaskRun]) -> Self {
        let mut queue = Self { dependants: vec![Vec::new(); tasks.len()], ..Self::default() };
        for (at, task) in tasks.iter().enumerate() {
            for need in &task.needs {
                queue.dependants[*need].push(at);
            }
        }
        (0..tasks.len()).for_each(|at| queue.put(tasks, at));
        queue.shake(tasks, (0..tasks.len()).collect());
        queue
    }

    /// After something happened to a task.
    pub(super) fn place(&mut self, tasks: &[TaskRun], at: usize) {
        let had_ended = !self.is_open(at);
        self.put(tasks, at);
        if had_ended || tasks[at].ended.is_some() {
            let dependants = self.dependants[at].clone();
            for other in &dependants {
                self.put(tasks, *other);
            }
            self.shake(tasks, dependants.into());
        }
        self.shake(tasks, [at].into());
    }

    /// Looks anew at these, and at those built on them as far as that changes anything.
    fn shake(&mut self, tasks: &[TaskRun], mut open: VecDeque<usize>) {
        while let Some(at) = open.pop_front() {
            let stands = tasks[at].is_met();
            let below = || tasks[at].needs.iter();
            let gives_way = |need: &usize| !tasks[*need].is_met() || self.shaky.contains(need);
            let is_shaky = stands && below().any(gives_way);
            let is_sunk = stands && below().any(|need| self.is_lost(tasks, *need));
            let sinks = set(&mut self.sunk, at, is_sunk);
            if set(&mut self.shaky, at, is_shaky) || sinks {
                open.extend(&self.dependants[at]);
            }
            if sinks {
                for above in self.dependants[at].clone() {
                    self.put(tasks, above);
                }
            }
        }
    }

    /// Whether who needs it is blocked: it is lost, or it stands on what is.
    fn is_lost(&self, tasks: &[TaskRun], at: usize) -> bool {
        tasks[at].is_lost() || self.sunk.contains(&at)
    }

    fn is_open(&self, at: usize) -> bool {
        [&self.begun, &self.fresh, &self.doomed].iter().any(|set| set.contains(&at))
    }

    fn put(&mut self, tasks: &[TaskRun], at: usize) {
        for set in [&mut self.begun, &mut self.fresh, &mut self.doomed] {
            set.remove(&at);
        }
        let task = &tasks[at];
        if task.ended.is_some() {
            return;
        }
        let mut needs = task.needs.iter();
        if task.spec.left_out.is_some() || needs.any(|need| self.is_lost(tasks, *need)) {
            self.doomed.insert(at);
        } else if task.has_begun() {
            self.begun.insert(at);
        } else if task.needs.iter().all(|need| tasks[*need].is_met()) {
            self.fresh.insert(at);
        }
    }

    /// Who needs a task itself.
    pub(super) fn dependants(&self, at: usize) -> &[usize] {
        &self.dependants[at]
    }

    /// Those that must be looked at whether there is room or not.
    pub(super) fn pressing(&self) -> impl Iterator<Item = usize> {
        self.doomed.union(&self.begun).copied()
    }

    pub(super) fn begun(&self) -> impl Iterator<Item = usize> {
        self.begun.iter().copied()
    }

    pub(super) fn fresh(&self) -> impl Iterator<Item = usize> {
        self.fresh.iter().copied()
    }
}

/// Whether that changes anything.
fn set(all: &mut BTreeSet<usize>, at: usize, is_in: bool) -> bool {
    if is_in { all.insert(at) } else { all.remove(&at) }
}

impl TaskRun {
    /// Whether who needs it can begin.
    fn is_met(&self) -> bool {
        self.ended.as_ref().is_some_and(|ended| match ended.state {
            Ended::Done => true,
            Ended::Skipped => !ended.skips_dependants(),
            _ => false,
        })
    }

    fn is_lost(&self) -> bool {
        self.ended.is_some() && !self.is_met()
    }
}

impl RunState {
    /// Whether a task can begin, or go on.
    pub fn is_ready(&self, task: &TaskRun) -> bool {
        // What did not fit is done again when all before it in the line stands.
        let stands = task.over.is_none_or(|over| self.settled >= over);
        // What all earlier waves left is shown, whoever of them was faster.
        let is_in_turn = || self.position(&task.spec.id).is_none_or(|at| self.is_in_turn(at));
        stands && self.is_founded(task) && is_in_turn()
    }

    /// Whether all that a task builds on, near and far, is done: what is done stays while something below it is done again, but
    /// nobody begins on it in between, nor if that fails.
    pub fn is_founded(&self, task: &TaskRun) -> bool {
        let shaky = &self.queue.shaky;
        self.has_needs(task) && !task.needs.iter().any(|need| shaky.contains(need))
    }

    /// Whether all that a task needs is done.
    pub(super) fn has_needs(&self, task: &TaskRun) -> bool {
        task.needs.iter().all(|need| self.tasks[*need].is_met())
    }

    /// The first need of a task that will not be met, or that stands on one that will not.
    pub(super) fn lost_need(&self, task: &TaskRun) -> Option<&TaskRun> {
        let mut needs = task.needs.iter();
        let lost = needs.find(|need| self.queue.is_lost(&self.tasks, **need));
        lost.map(|need| &self.tasks[*need])
    }

    /// What a task that is lost is lost by: itself, or the first below it that did not end by another's loss.
    pub(super) fn root_of<'a>(&'a self, lost: &'a TaskRun) -> &'a TaskRun {
        let is_by_another = |task: &TaskRun| {
            let ended = task.ended.as_ref();
            task.is_met() || ended.is_some_and(TaskEnded::is_by_need)
        };
        let below = |task: &&'a TaskRun| self.lost_need(task).filter(|_| is_by_another(task));
        std::iter::successors(Some(lost), below).last().unwrap_or(lost)
    }

    /// What keeps a done task's change from the branch for good: something below it was done again and is lost.
    pub(super) fn sunk_by(&self, at: usize) -> Option<&TaskRun> {
        self.queue.sunk.contains(&at).then(|| self.root_of(&self.tasks[at]))
    }

    /// All that a task is built on: what it needs, near and far, in the order of the branch; but what a task was done again on top
    /// of comes before it.
    pub fn foundation(&self, at: usize) -> Vec<usize> {
        let mut below = self.with_below(self.under(at).collect());
        below.remove(&self.line.rank(at));
        self.lay(below)
    }

    /// These and all that they are built on, by where they stand in the line.
    pub(super) fn with_below(&self, mut open: Vec<usize>) -> BTreeSet<usize> {
        let mut found = vec![false; self.tasks.len()];
        for one in &open {
            found[self.line.rank(*one)] = true;
        }
        while let Some(one) = open.pop() {
            let is_new =
                |under: &usize| !std::mem::replace(&mut found[self.line.rank(*under)], true);
            open.extend(self.under(one).filter(is_new));
        }
        (0..found.len()).filter(|rank| found[*rank]).collect()
    }

    /// In the order in which they are laid on each other.
    pub(super) fn lay(&self, mut left: BTreeSet<usize>) -> Vec<usize> {
        let at = |rank: &usize| self.line.rest(*rank)[0];
        if left.iter().all(|rank| self.tasks[at(rank)].ahead.is_empty()) {
            return left.iter().map(at).collect();
        }
        let mut order = Vec::with_capacity(left.len());
        while let Some(first) = left.first().copied() {
            let is_left = |one: usize| left.contains(&self.line.rank(one));
            let stands = |rank: &&usize| !self.under(at(rank)).any(is_left);
            // None where tasks that were done again stand on each other.
            let next = left.iter().find(stands).copied().unwrap_or(first);
            left.remove(&next);
            order.push(at(&next));
        }
        order
    }

    /// What a task is built on, as far as it knows itself.
    pub(super) fn under(&self, at: usize) -> impl Iterator<Item = usize> {
        let task = &self.tasks[at];
        let over = self.line.first(task.over.unwrap_or(0)).iter();
        let done = over.filter(|other| self.tasks[**other].committed.is_some());
        task.needs.iter().chain(&task.ahead).chain(done).copied()
    }

    /// What tasks were done again on top of, by their ids: places change with the plan.
    pub(super) fn on_top(&self) -> BTreeMap<TaskId, BTreeSet<TaskId>> {
        let id = |at: usize| self.tasks[at].spec.id.clone();
        let again = |task: &TaskRun| task.over.is_some() || !task.ahead.is_empty();
        let on = |at: usize| {
            let under = self.under(at).filter(|one| !self.tasks[at].needs.contains(one));
            (id(at), under.map(id).collect())
        };
        (0..self.tasks.len()).filter(|at| again(&self.tasks[*at])).map(on).collect()
    }

    /// The same, in the places that tasks have now. One that is not done waits for all that stands before it now.
    pub(super) fn stand_on(&mut self, on_top: &BTreeMap<TaskId, BTreeSet<TaskId>>) {
        for (task, under) in on_top {
            let Some(at) = self.position(task) else { continue };
            let under = under.iter().filter_map(|one| self.position(one)).collect();
            let (task, rank) = (&mut self.tasks[at], self.line.rank(at));
            task.ahead = under;
            task.over = task.over.filter(|_| task.ended.is_none()).map(|_| rank);
        }
    }

    /// Tasks after it in the line that are on the branch already and not built on it.
    pub(super) fn ahead_of(&self, at: usize) -> BTreeSet<usize> {
        let later = self.line.rest(self.line.rank(at) + 1).iter().copied();
        let later = later.filter(|one| self.tasks[*one].committed.is_some());
        later.filter(|one| !self.foundation(*one).contains(&at)).collect()
    }
}
