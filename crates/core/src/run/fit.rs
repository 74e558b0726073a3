//! What has to fit together when a change comes onto the branch, so that nobody's base fails on what is there.

use std::collections::BTreeMap;

use super::state::RunState;
use crate::id::TaskId;

/// Which of the changes that are laid on each other, by their places there.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Marks(Vec<u64>);

impl Marks {
    fn none(count: usize) -> Self {
        Self(vec![0; count.div_ceil(64)])
    }

    pub(super) fn all(count: usize) -> Self {
        let mut all = Self::none(count);
        (0..count).for_each(|place| all.set(place));
        all
    }

    fn set(&mut self, place: usize) {
        self.0[place / 64] |= 1 << (place % 64);
    }

    pub(super) fn has(&self, place: usize) -> bool {
        self.0[place / 64] & (1 << (place % 64)) != 0
    }

    fn add(&mut self, others: &Self) {
        self.0.iter_mut().zip(&others.0).for_each(|(own, other)| *own |= other);
    }
}

/// A change that is awaited on the branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Awaited {
    task: TaskId,
    ended_at: u64,
}

impl RunState {
    /// What these tasks will be built on, of what is laid in this order: each ground once, with those who will be built on it.
    pub(super) fn grounds(&self, tasks: &[usize], order: &[usize]) -> BTreeMap<Marks, Vec<usize>> {
        let part: Vec<usize> = self.with_below(tasks.to_vec()).into_iter().collect();
        let mut places = vec![None; self.tasks.len()];
        order.iter().enumerate().for_each(|(place, at)| places[*at] = Some(place));
        let mut below = vec![Marks::default(); self.tasks.len()];
        let at = |rank: &usize| self.line.rest(*rank)[0];
        for one in part.iter().map(at) {
            below[one] = Marks::none(order.len());
        }
        let mut goes_on = true;
        while goes_on {
            goes_on = false;
            for one in part.iter().map(at) {
                let before = std::mem::take(&mut below[one]);
                let mut own = before.clone();
                for under in self.under(one) {
                    own.add(&below[under]);
                    places[under].into_iter().for_each(|place| own.set(place));
                }
                // Those before it in the line are known; those after it may not be yet.
                goes_on |= own != before && !self.tasks[one].ahead.is_empty();
                below[one] = own;
            }
        }
        let mut grounds: BTreeMap<Marks, Vec<usize>> = BTreeMap::new();
        for task in tasks {
            grounds.entry(below[*task].clone()).or_default().push(*task);
        }
        grounds
    }

    /// The first of these changes that is not on the branch and can still come there: until then it may be withdrawn because it
    /// does not fit.
    pub fn awaits(&self, ground: &[usize]) -> Option<Awaited> {
        let one = ground.iter().find(|one| self.comes(**one))?;
        let task = &self.tasks[*one];
        Some(Awaited { task: task.spec.id.clone(), ended_at: task.ended_at })
    }

    /// Whether it is still the same change, and not on the branch.
    pub fn is_awaited(&self, Awaited { task, ended_at }: &Awaited) -> bool {
        let at = self.position(task);
        at.is_some_and(|at| self.comes(at) && self.tasks[at].ended_at == *ended_at)
    }

    /// Whether its change is made, not on the branch, and can come there.
    pub(super) fn comes(&self, at: usize) -> bool {
        self.tasks[at].is_off_branch() && self.sunk_by(at).is_none()
    }

    /// Whether others that come after it in the line are on the branch.
    pub(super) fn is_late(&self, at: usize) -> bool {
        self.landed.last_key_value().is_some_and(|(last, _)| *last > self.line.rank(at))
    }

    /// The task and those after it in the line whose changes come onto the branch together: up to the first that has not ended,
    /// comes late or was done again.
    pub fn row(&self, first: &TaskId, most: usize) -> Vec<usize> {
        let Some(first) = self.position(first).filter(|at| self.can_land(*at)) else {
            return Vec::new();
        };
        let has_ended = |at: &usize| self.tasks[*at].ended.is_some();
        let is_plain = |at: &usize| !self.is_late(*at) && !self.is_on_top(*at);
        let rest = self.line.rest(self.line.rank(first) + 1).iter().copied();
        let rest = rest.take_while(has_ended).filter(|at| self.can_land(*at)).take_while(is_plain);
        let most = if self.is_late(first) || self.has_waiting(first) { 1 } else { most };
        [first].into_iter().chain(rest).take(most).collect()
    }

    /// Whether one after it in the line is to be done again on top of all before it.
    fn has_waiting(&self, at: usize) -> bool {
        let mut later = self.line.rest(self.line.rank(at) + 1).iter();
        later.any(|one| self.tasks[*one].committed.is_none() && self.is_on_top(*one))
    }

    fn can_land(&self, at: usize) -> bool {
        self.tasks[at].is_off_branch() && self.is_founded(&self.tasks[at])
    }

    /// Whether it was done again on top of others, or will be.
    pub(super) fn is_on_top(&self, at: usize) -> bool {
        let task = &self.tasks[at];
        task.over.is_some() || !task.ahead.is_empty()
    }

    /// What comes onto the branch while one waits to be done again comes into its base too.
    pub(super) fn put_ahead(&mut self, at: usize) {
        let (rank, settled) = (self.line.rank(at), self.settled);
        let waits = |one: &usize| {
            let task = &self.tasks[*one];
            task.ended.is_none() && task.over.is_some_and(|over| settled < over)
        };
        let before = self.line.first(rank).iter().skip(settled).copied();
        let waiting: Vec<usize> = before.filter(waits).collect();
        if waiting.is_empty() {
            return;
        }
        let below = self.foundation(at);
        for one in waiting.into_iter().filter(|one| !below.contains(one)) {
            self.tasks[one].ahead.insert(at);
        }
    }
}
