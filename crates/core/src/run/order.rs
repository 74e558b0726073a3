//! The order of a run's tasks.

use std::collections::{BTreeMap, BTreeSet};

use super::state::{RunState, TaskRun};
use crate::id::TaskId;

/// Puts every task behind all that it needs, and leaves the plan's order wherever that allows it.
pub(super) fn sort(tasks: &mut Vec<TaskRun>) {
    let index: BTreeMap<&TaskId, usize> =
        tasks.iter().enumerate().map(|(at, task)| (&task.spec.id, at)).collect();
    let needs: Vec<BTreeSet<usize>> = tasks
        .iter()
        .map(|task| task.spec.needs.iter().filter_map(|need| index.get(need).copied()).collect())
        .collect();
    if needs.iter().enumerate().all(|(at, needs)| needs.last().is_none_or(|last| *last < at)) {
        return;
    }
    let mut missing: Vec<usize> = needs.iter().map(BTreeSet::len).collect();
    let mut dependants = vec![Vec::new(); needs.len()];
    for (at, needs) in needs.iter().enumerate() {
        for need in needs {
            dependants[*need].push(at);
        }
    }
    let mut open: BTreeSet<usize> = (0..needs.len()).collect();
    let mut free: BTreeSet<usize> = (0..needs.len()).filter(|at| missing[*at] == 0).collect();
    let mut slots: Vec<Option<TaskRun>> = std::mem::take(tasks).into_iter().map(Some).collect();
    // In a circle none is free; a plan with one does not run.
    while let Some(next) = free.pop_first().or_else(|| open.first().copied()) {
        open.remove(&next);
        tasks.extend(slots[next].take());
        for dependant in &dependants[next] {
            missing[*dependant] = missing[*dependant].saturating_sub(1);
            if missing[*dependant] == 0 && open.contains(dependant) {
                free.insert(*dependant);
            }
        }
    }
}

impl RunState {
    /// What a task needs, and what still comes before those of it that are no part of the run: whoever is done already may have been
    /// done out of turn. Tasks stand after what they need.
    pub(super) fn needs_of(&self, at: usize) -> Vec<usize> {
        let direct = self.tasks[at].spec.needs.iter().filter_map(|need| self.position(need));
        let mut needs: BTreeSet<usize> = direct.collect();
        let left_out = |need: &usize| self.tasks[*need].spec.left_out.is_some();
        let done: Vec<usize> = needs.iter().copied().filter(left_out).collect();
        let behind = done.iter().flat_map(|need| &self.tasks[*need].needs);
        needs.extend(behind.filter(|need| !left_out(need)));
        needs.into_iter().collect()
    }
}
