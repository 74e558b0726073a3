//! The order in which changes come onto the branch of a run, and what has to be settled before a task begins.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::reach::waves;
use super::state::{RunState, TaskRun};
use crate::context::Share;

/// The plan's order; where all earlier waves are shared, wave after wave, each in the plan's order. No task stands before one that
/// it needs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Line {
    order: Vec<usize>,
    /// Where each task stands in it.
    ranks: Vec<usize>,
    /// How many of the line must be settled before each task begins: all of earlier waves, where those are shared.
    gates: Vec<usize>,
}

impl Line {
    pub(super) fn of(tasks: &[TaskRun], share: Share) -> Self {
        let waves = match share {
            Share::AllEarlier => waves(tasks),
            Share::Needs | Share::None => vec![0; tasks.len()],
        };
        let mut order: Vec<usize> = (0..tasks.len()).collect();
        order.sort_by_key(|at| waves[*at]);
        let (mut ranks, mut gates) = (vec![0; order.len()], vec![0; order.len()]);
        let mut gate = 0;
        for (rank, at) in order.iter().enumerate() {
            if rank > 0 && waves[order[rank - 1]] < waves[*at] {
                gate = rank;
            }
            (ranks[*at], gates[*at]) = (rank, gate);
        }
        Self { order, ranks, gates }
    }

    pub(super) fn rank(&self, at: usize) -> usize {
        self.ranks[at]
    }

    /// So many, from the first.
    pub(super) fn first(&self, count: usize) -> &[usize] {
        &self.order[..count.min(self.order.len())]
    }

    /// All but so many.
    pub(super) fn rest(&self, count: usize) -> &[usize] {
        &self.order[count.min(self.order.len())..]
    }

    /// All of earlier waves, where those are shared.
    pub(super) fn earlier(&self, at: usize) -> &[usize] {
        self.first(self.gates[at])
    }
}

impl RunState {
    /// After tasks came or went: what they stand on is for others to say.
    pub(super) fn line_up(&mut self) {
        self.line = Line::of(&self.tasks, self.started.settings.share);
        self.lined = self.seq;
        self.landed = self.on_branch();
        self.settled = 0;
        self.settle();
    }

    /// Whose changes are on the branch, as [`Self::landed`].
    pub(super) fn on_branch(&self) -> BTreeMap<usize, u64> {
        let there = |(at, task): (usize, &TaskRun)| {
            task.committed.as_ref().map(|_| (self.line.rank(at), task.ended_at))
        };
        self.tasks.iter().enumerate().filter_map(there).collect()
    }

    /// After one is left out, which may bring others into an earlier wave.
    pub(super) fn close_up(&mut self) {
        if self.line != Line::of(&self.tasks, self.started.settings.share) {
            let on_top = self.on_top();
            self.line_up();
            self.stand_on(&on_top);
        }
    }

    pub(super) fn settle(&mut self) {
        while let Some(at) = self.line.rest(self.settled).first() {
            if self.tasks[*at].ended.is_none() || self.comes(*at) {
                break;
            }
            self.settled += 1;
        }
    }

    /// Whether nothing that all earlier waves left can be withdrawn any more because it does not fit.
    pub(super) fn is_in_turn(&self, at: usize) -> bool {
        self.settled >= self.line.earlier(at).len()
    }
}
