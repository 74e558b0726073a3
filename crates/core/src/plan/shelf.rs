//! The texts of parents: every task beneath has a copy, so together they are bounded.

use super::Parent;
use crate::fault::{Code, Fault, Place};

/// Past this, tasks are given no parents.
const BYTES: usize = 64 << 20;

/// Counts what parents' texts take together.
#[derive(Default)]
pub(super) struct Shelf {
    spent: usize,
}

impl Shelf {
    /// The parents of the task at `place`; none, and once a fault, when there is no more room.
    pub(super) fn keep(
        &mut self,
        parents: impl FnOnce() -> Vec<Parent>,
        place: Place,
        faults: &mut Vec<Fault>,
    ) -> Vec<Parent> {
        if self.spent > BYTES {
            return Vec::new();
        }
        let parents = parents();
        self.spent +=
            parents.iter().map(|parent| parent.title.len() + parent.text.len()).sum::<usize>();
        if self.spent <= BYTES {
            return parents;
        }
        faults.push(Fault::new(
            Code::PlanTooLarge,
            place,
            "What stands above so many tasks is too large: each task is given a copy.",
            "Shorten what stands between a parent and its first task.",
        ));
        Vec::new()
    }
}
