//! The texts of parents: every task beneath has a copy, so together they are bounded.

use super::Parent;
use crate::fault::{Code, Fault, Place};

/// Past this, parents keep their titles only.
const BYTES: usize = 64 << 20;

/// Counts what parents' texts take together.
#[derive(Default)]
pub(super) struct Shelf {
    spent: usize,
}

impl Shelf {
    /// The parents of the task at `place`; without their texts, and with a fault, once there is no more room.
    pub(super) fn keep(
        &mut self,
        mut parents: Vec<Parent>,
        place: Place,
        faults: &mut Vec<Fault>,
    ) -> Vec<Parent> {
        let before = self.spent;
        self.spent += parents.iter().map(|parent| parent.text.len()).sum::<usize>();
        if self.spent <= BYTES {
            return parents;
        }
        for parent in &mut parents {
            parent.text.clear();
        }
        if before <= BYTES {
            faults.push(Fault::new(
                Code::PlanTooLarge,
                place,
                "What stands above so many tasks is too large: each task is given a copy.",
                "Shorten what stands between a parent and its first task.",
            ));
        }
        parents
    }
}
