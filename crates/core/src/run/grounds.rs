//! What later tasks will be built on, made as changes come onto the branch.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::Hash;

use super::fit::Marks;
use super::state::RunState;

/// What each later task will be built on, as far as that is on the branch: carried on with each change that comes there.
#[derive(Clone, Debug)]
pub struct Grounds<T> {
    /// What is on the branch, as [`RunState::landed`], and when the line was made.
    landed: BTreeMap<usize, u64>,
    lined: u64,
    /// By task; nothing where it does not fit together.
    made: HashMap<usize, Option<T>>,
}

/// What has to be known of a run before changes come onto its branch.
#[derive(Clone, Debug)]
pub struct Survey {
    /// What is on the branch, as it is laid; where the first comes late, with it.
    order: Vec<usize>,
    /// Of that, what tasks are built on for which nothing is made yet.
    fresh: BTreeMap<Marks, Vec<usize>>,
    row: Vec<Coming>,
    is_late: bool,
}

#[derive(Clone, Debug)]
struct Coming {
    at: usize,
    rank: usize,
    ended_at: u64,
    /// Who will be built on it, and whether it is part of the run.
    upper: Vec<(usize, bool)>,
}

/// How one change is laid on others: what that leaves, or why it does not fit.
pub trait Lay<T> {
    type Why;
    type Error;

    fn lay(&mut self, on: &T, at: usize) -> Result<Result<T, Self::Why>, Self::Error>;
}

impl<T> Default for Grounds<T> {
    fn default() -> Self {
        Self { landed: BTreeMap::new(), lined: 0, made: HashMap::new() }
    }
}

impl Survey {
    /// Changes that have to be known.
    pub fn changes(&self) -> impl Iterator<Item = usize> {
        let order = if self.fresh.is_empty() && !self.is_late { &[] } else { &self.order[..] };
        order.iter().copied().chain(self.row.iter().map(|coming| coming.at))
    }
}

impl<T: Clone + Eq + Hash> Grounds<T> {
    /// Of changes that come onto the branch in a row. What is made and stands no more is forgotten.
    pub fn survey(&mut self, run: &RunState, row: &[usize]) -> Survey {
        let is_late = row.first().is_some_and(|at| run.is_late(*at));
        if is_late || self.landed != run.landed || self.lined != run.lined {
            self.made.clear();
            self.landed.clone_from(&run.landed);
            self.lined = run.lined;
        }
        for at in run.unsteady() {
            self.made.remove(&at);
        }
        let row: Vec<Coming> = row.iter().map(|at| run.coming(*at)).collect();
        let upper = row.iter().flat_map(|coming| &coming.upper).map(|(one, _)| *one);
        let new: BTreeSet<usize> = upper.filter(|one| !self.made.contains_key(one)).collect();
        let mut order = Vec::new();
        if is_late || !new.is_empty() {
            let late = row.first().filter(|_| is_late).map(|coming| coming.rank);
            order = run.lay(run.landed.keys().copied().chain(late).collect());
        }
        let new: Vec<usize> = new.into_iter().collect();
        let fresh = if new.is_empty() { BTreeMap::new() } else { run.grounds(&new, &order) };
        Survey { order, fresh, row, is_late }
    }

    /// Why the change of a row that comes next keeps apart what fits together without it, if it does. May take its time.
    pub fn fit<L: Lay<T>>(
        &mut self,
        survey: &mut Survey,
        start: &T,
        at: usize,
        hand: &mut L,
    ) -> Result<Option<L::Why>, L::Error> {
        if survey.is_late {
            return late(survey, start, at, hand);
        }
        for (ground, tasks) in std::mem::take(&mut survey.fresh) {
            let made = pile(&survey.order, |place| ground.has(place), start, hand)?.ok();
            self.made.extend(tasks.into_iter().map(|task| (task, made.clone())));
        }
        let coming = survey.row.iter().find(|coming| coming.at == at);
        match coming {
            Some(coming) => self.carry_on(coming, hand),
            None => Ok(None),
        }
    }

    fn carry_on<L: Lay<T>>(
        &mut self,
        coming: &Coming,
        hand: &mut L,
    ) -> Result<Option<L::Why>, L::Error> {
        let mut with: HashMap<&T, Option<T>> = HashMap::new();
        for (task, is_part) in &coming.upper {
            let Some(Some(below)) = self.made.get(task) else { continue };
            if !with.contains_key(below) {
                match hand.lay(below, coming.at)? {
                    Ok(made) => with.insert(below, Some(made)),
                    Err(why) if *is_part => return Ok(Some(why)),
                    Err(_) => continue,
                };
            }
        }
        let made = coming.upper.iter().map(|(task, _)| {
            let below = self.made.get(task).and_then(Option::as_ref);
            (*task, below.and_then(|below| with.get(below)?.clone()))
        });
        let made: Vec<(usize, Option<T>)> = made.collect();
        self.made.extend(made);
        self.landed.insert(coming.rank, coming.ended_at);
        Ok(None)
    }
}

/// The same of one behind which others are there already: it is laid in its place.
fn late<T: Clone, L: Lay<T>>(
    survey: &Survey,
    start: &T,
    at: usize,
    hand: &mut L,
) -> Result<Option<L::Why>, L::Error> {
    let Survey { order, fresh, row, .. } = survey;
    let is_part = |one: &usize| row.iter().any(|coming| coming.upper.contains(&(*one, true)));
    let grounds = fresh.iter().filter(|(_, tasks)| tasks.iter().any(is_part));
    let all = Marks::all(order.len());
    for ground in grounds.map(|(ground, _)| ground).chain([&all]) {
        let Err(why) = pile(order, |place| ground.has(place), start, hand)? else { continue };
        let without = |place: usize| ground.has(place) && order[place] != at;
        if pile(order, without, start, hand)?.is_ok() {
            return Ok(Some(why));
        }
    }
    Ok(None)
}

/// Some of what is laid on each other.
fn pile<T: Clone, L: Lay<T>>(
    order: &[usize],
    is_in: impl Fn(usize) -> bool,
    start: &T,
    hand: &mut L,
) -> Result<Result<T, L::Why>, L::Error> {
    let mut made = start.clone();
    for place in (0..order.len()).filter(|place| is_in(*place)) {
        match hand.lay(&made, order[place])? {
            Ok(next) => made = next,
            Err(why) => return Ok(Err(why)),
        }
    }
    Ok(Ok(made))
}

impl RunState {
    fn coming(&self, at: usize) -> Coming {
        let above = self.above(at);
        let upper = (0..above.len()).filter(|one| above[*one]);
        let upper = upper.map(|one| (one, &self.tasks[one]));
        let upper = upper.filter(|(_, task)| task.committed.is_none());
        let upper = upper.map(|(one, task)| (one, task.spec.left_out.is_none())).collect();
        Coming { at, rank: self.line.rank(at), ended_at: self.tasks[at].ended_at, upper }
    }

    /// Who is built on one that is done again: what is below them grows with all that comes onto the branch.
    fn unsteady(&self) -> BTreeSet<usize> {
        let again = |at: &usize| self.tasks[*at].committed.is_none() && self.is_on_top(*at);
        let again = (0..self.tasks.len()).filter(again);
        let above = |at: usize| {
            let above = self.above(at);
            (0..above.len()).filter(move |one| above[*one]).chain([at])
        };
        again.flat_map(above).collect()
    }
}
