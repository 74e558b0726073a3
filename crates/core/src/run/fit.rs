//! What has to fit together when a change comes onto the branch, so that nobody's base fails on what is there.

use std::collections::BTreeSet;
use std::rc::Rc;

use super::state::RunState;

impl RunState {
    /// What has to fit together with the change of a task, each as it is laid: what others will be built on, as far as that is on
    /// the branch when the change comes there; and all that is there, where the line has another order than the branch.
    pub fn grounds(&self, at: usize) -> Vec<Vec<usize>> {
        let there = self.there(at);
        let fronts = self.fronts(at, &there);
        let is_out_of_line = self.is_out_of_line || self.is_late(at);
        if fronts.is_empty() && !is_out_of_line {
            return Vec::new();
        }
        let is_there = |one: &usize| there[*one];
        let ranks = (0..there.len()).filter(is_there).map(|one| self.line.rank(one));
        let all: BTreeSet<usize> = ranks.collect();
        let ground = |front: Rc<BTreeSet<usize>>| {
            let below = self.with_below(front.iter().copied().collect());
            below.intersection(&all).copied().collect()
        };
        let mut grounds: BTreeSet<BTreeSet<usize>> = fronts.into_iter().map(ground).collect();
        // In the order of the line it is the branch itself.
        grounds.remove(&all);
        grounds.extend(is_out_of_line.then_some(all));
        grounds.into_iter().map(|ground| self.lay(ground)).collect()
    }

    /// Whether all that a task is built on is on the branch: nothing of it is withdrawn any more because it does not fit there.
    pub fn is_grounded(&self, at: usize) -> bool {
        let mut below = self.foundation(at).into_iter();
        below.all(|one| !self.tasks[one].is_off_branch())
    }

    /// Whether others that come after it in the line are on the branch.
    pub(super) fn is_late(&self, at: usize) -> bool {
        let mut later = self.line.rest(self.line.rank(at) + 1).iter();
        later.any(|one| self.tasks[*one].committed.is_some())
    }

    /// Whose changes are on the branch once this one is: those in line before it come with it.
    fn there(&self, at: usize) -> Vec<bool> {
        let rank = self.line.rank(at);
        let is_there = |one: usize| {
            let task = &self.tasks[one];
            let comes =
                || self.line.rank(one) < rank && task.is_off_branch() && self.is_founded(task);
            one == at || task.committed.is_some() || comes()
        };
        (0..self.tasks.len()).map(is_there).collect()
    }

    /// Of what is there, the uppermost that each task above this one will be built on, where those are several. Who ended without
    /// a change, or will, has none, but what it is built on counts.
    fn fronts(&self, at: usize, there: &[bool]) -> BTreeSet<Rc<BTreeSet<usize>>> {
        let above = self.above(at);
        let is_part = |one: usize| above[one] && self.tasks[one].spec.left_out.is_none();
        let mut found = BTreeSet::new();
        if !(0..there.len()).any(|one| is_part(one) && self.tasks[one].needs.len() > 1) {
            return found;
        }
        let mut fronts: Vec<Rc<BTreeSet<usize>>> = vec![Rc::default(); there.len()];
        for one in self.line.first(there.len()).iter().copied().filter(|one| !there[*one]) {
            let mut front: Rc<BTreeSet<usize>> = Rc::default();
            for below in self.under(one) {
                if there[below] {
                    Rc::make_mut(&mut front).insert(below);
                } else if front.is_empty() {
                    front = Rc::clone(&fronts[below]);
                } else if !fronts[below].is_subset(&front) {
                    Rc::make_mut(&mut front).extend(fronts[below].iter());
                }
            }
            if is_part(one) && front.len() > 1 {
                found.insert(Rc::clone(&front));
            }
            fronts[one] = front;
        }
        found
    }
}
