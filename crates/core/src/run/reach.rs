//! Whose records may reach a task, by the order of the run.

use super::state::{RunState, TaskRun};
use crate::context::Share;

impl RunState {
    /// Places of the tasks whose records a task may see, in the plan's order.
    pub fn visible(&self, at: usize) -> Vec<usize> {
        match self.started.settings.share {
            Share::None => Vec::new(),
            Share::Needs => self.ancestors(at),
            Share::AllEarlier => {
                let mut earlier = self.line.earlier(at).to_vec();
                earlier.sort_unstable();
                earlier
            }
        }
    }

    /// Places of what a task needs itself.
    pub fn needs(&self, at: usize) -> &[usize] {
        &self.tasks[at].needs
    }

    /// All that a task needs, near and far.
    fn ancestors(&self, at: usize) -> Vec<usize> {
        let mut seen = vec![false; self.tasks.len()];
        let mut open = self.tasks[at].needs.clone();
        while let Some(one) = open.pop() {
            if !std::mem::replace(&mut seen[one], true) {
                open.extend(&self.tasks[one].needs);
            }
        }
        (0..seen.len()).filter(|one| seen[*one]).collect()
    }
}

impl TaskRun {
    /// Where those that it needs stand in the plan's order.
    pub fn needs(&self) -> &[usize] {
        &self.needs
    }

    /// The event by which it ended last: what is done again ends by another.
    pub fn ended_at(&self) -> u64 {
        self.ended_at
    }
}

/// How many tasks stand one after the other before each, but for those that are no part of the run. No task stands before one
/// that it needs.
pub(super) fn waves(tasks: &[TaskRun]) -> Vec<usize> {
    let mut waves: Vec<usize> = Vec::with_capacity(tasks.len());
    for task in tasks {
        let after = |need: &usize| {
            let is_part = tasks[*need].spec.left_out.is_none();
            Some(waves.get(*need)? + usize::from(is_part))
        };
        let wave = task.needs.iter().filter_map(after).max().unwrap_or(0);
        waves.push(wave);
    }
    waves
}
