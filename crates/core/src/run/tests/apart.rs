//! Which changes do not fit each other, by what they are and by nothing else.

use std::collections::BTreeSet;
use std::convert::Infallible;

use crate::id::TreeId;
use crate::run::{Lay, RunState, TaskRun};

/// Two tasks whose changes do not fit onto each other.
#[derive(Clone, Debug)]
pub(super) struct Apart {
    pub(super) tasks: [String; 2],
    /// Where the change of this one is there too, they fit.
    pub(super) unless: Option<String>,
    /// Some of what they may leave does fit.
    pub(super) mostly: bool,
}

/// What is laid on each other, from the start of the run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Laid(Vec<String>);

impl Laid {
    /// Whether the change of a task could be laid on it.
    pub(super) fn add(&mut self, task: &TaskRun, all: &[Apart]) -> bool {
        let Some(result) = task.result().map(TreeId::to_string) else { return true };
        let base = task.base.as_ref().map_or("", TreeId::as_str);
        let mut others = self.0.iter().filter(|one| !base.split('+').any(|known| known == *one));
        let fits = !others.any(|other| all.iter().any(|apart| self.part(apart, other, &result)));
        if fits {
            self.0.push(result);
        }
        fits
    }

    fn part(&self, apart: &Apart, other: &str, result: &str) -> bool {
        let [one, two] = &apart.tasks;
        let pair = [of(other), of(result)];
        let is_pair = pair == [one, two] || pair == [two, one];
        let is_hidden =
            || apart.unless.as_ref().is_some_and(|by| self.0.iter().any(|it| of(it) == by));
        let sum: usize = other.bytes().chain(result.bytes()).map(usize::from).sum();
        is_pair && !is_hidden() && (!apart.mostly || !sum.is_multiple_of(3))
    }
}

/// Lays the changes of a run.
pub(super) struct Hand<'a>(pub(super) &'a RunState, pub(super) &'a [Apart]);

impl Lay<Laid> for Hand<'_> {
    type Why = ();
    type Error = Infallible;

    fn lay(&mut self, on: &Laid, at: usize) -> Result<Result<Laid, ()>, Infallible> {
        let mut laid = on.clone();
        Ok(laid.add(&self.0.tasks[at], self.1).then_some(laid).ok_or(()))
    }
}

/// The first of what is laid on each other that does not fit.
pub(super) fn unfit(run: &RunState, ground: &[usize], all: &[Apart]) -> Option<usize> {
    let mut laid = Laid::default();
    ground.iter().copied().find(|at| !laid.add(&run.tasks[*at], all))
}

/// Whether a change keeps apart what fits together without it, where these are on the branch: looked up for every later task anew.
pub(super) fn parts(run: &RunState, at: usize, there: &BTreeSet<usize>, all: &[Apart]) -> bool {
    let (above, rank) = (run.above(at), run.line.rank(at));
    let there: BTreeSet<usize> = there.iter().copied().chain([rank]).collect();
    let is_part = |one: &usize| {
        let is_there = there.contains(&run.line.rank(*one));
        above[*one] && !is_there && run.tasks[*one].spec.left_out.is_none()
    };
    let ground = |one: usize| run.with_below(vec![one]).intersection(&there).copied().collect();
    let mut grounds: Vec<BTreeSet<usize>> = (0..above.len()).filter(is_part).map(ground).collect();
    grounds.extend((there.last() > Some(&rank)).then_some(there));
    grounds.into_iter().any(|mut ground| {
        let with = run.lay(ground.clone());
        ground.remove(&rank);
        unfit(run, &with, all).is_some() && unfit(run, &run.lay(ground), all).is_none()
    })
}

/// The task that left something.
fn of(result: &str) -> &str {
    result.split_once('@').map_or(result, |(task, _)| task)
}
