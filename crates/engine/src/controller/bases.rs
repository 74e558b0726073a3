//! What a task starts from: the run's start and what the tasks that it builds on changed, in the order of the branch.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use sequester_core::id::{TaskId, TreeId};
use sequester_core::repository::{self, Merge, Repository};
use sequester_core::run::RunState;

/// What is laid on what.
pub(crate) struct Recipe {
    start: TreeId,
    layers: Vec<Layer>,
}

/// What a task changed, with the base that it changed.
struct Layer {
    task: TaskId,
    base: TreeId,
    result: TreeId,
}

impl Recipe {
    fn of(run: &RunState, ground: Vec<usize>) -> Self {
        let layer = |at: usize| {
            let task = &run.tasks[at];
            let (base, result) = task.base.clone().zip(task.result().cloned())?;
            Some(Layer { task: task.spec.id.clone(), base, result })
        };
        let layers = ground.into_iter().filter_map(layer).collect();
        Self { start: run.started.base.tree.clone(), layers }
    }
}

pub(crate) enum Made {
    Base {
        tree: TreeId,
        /// What it was before each layer.
        below: Vec<TreeId>,
    },
    /// What this task left does not fit what stands before it.
    Conflict { task: TaskId, result: TreeId, paths: Vec<String> },
}

#[derive(Default)]
pub(crate) struct Bases {
    /// Merges that were made before.
    merges: Mutex<HashMap<[TreeId; 3], Merge>>,
    /// The ground of a wave that was found to fit together last.
    firm: Mutex<Option<(usize, u64)>>,
}

impl Bases {
    /// The recipe of a task's base: its start, and what is laid on it in turn, each with the base that it was made on.
    pub(crate) fn recipe(run: &RunState, at: usize) -> Recipe {
        Recipe::of(run, run.foundation(at))
    }

    /// What has to fit together before a task begins, and by what that is known; its own base comes last.
    pub(super) fn recipes(&self, run: &RunState, at: usize) -> (Vec<Recipe>, (usize, u64)) {
        let wave = run.ground_of_wave(at);
        if *locked(&self.firm) == Some(wave) {
            return (vec![Self::recipe(run, at)], wave);
        }
        let grounds = run.grounds(at).into_iter();
        (grounds.map(|ground| Recipe::of(run, ground)).collect(), wave)
    }

    /// The last of them, if all can be made. May take its time.
    pub(super) fn make_all(
        &self,
        repository: &dyn Repository,
        (recipes, wave): (Vec<Recipe>, (usize, u64)),
    ) -> Result<Option<Made>, repository::Error> {
        let mut last = None;
        for recipe in recipes {
            last = Some(self.make(repository, recipe)?);
            if let Some(Made::Conflict { .. }) = last {
                return Ok(last);
            }
        }
        *locked(&self.firm) = Some(wave);
        Ok(last)
    }

    /// May take its time.
    pub(crate) fn make(
        &self,
        repository: &dyn Repository,
        recipe: Recipe,
    ) -> Result<Made, repository::Error> {
        let (mut tree, mut below) = (recipe.start, Vec::new());
        for Layer { task, base, result } in recipe.layers {
            match self.merge(repository, &base, &tree, &result)? {
                Merge::Clean(merged) => below.push(std::mem::replace(&mut tree, merged)),
                Merge::Conflict(paths) => return Ok(Made::Conflict { task, result, paths }),
            }
        }
        Ok(Made::Base { tree, below })
    }

    pub(super) fn merge(
        &self,
        repository: &dyn Repository,
        base: &TreeId,
        ours: &TreeId,
        theirs: &TreeId,
    ) -> Result<Merge, repository::Error> {
        if ours == base {
            return Ok(Merge::Clean(theirs.clone()));
        }
        let key = [base.clone(), ours.clone(), theirs.clone()];
        if let Some(merge) = locked(&self.merges).get(&key) {
            return Ok(merge.clone());
        }
        let merge = repository.merge(base, ours, theirs)?;
        locked(&self.merges).insert(key, merge.clone());
        Ok(merge)
    }
}

fn locked<T>(one: &Mutex<T>) -> MutexGuard<'_, T> {
    one.lock().unwrap_or_else(PoisonError::into_inner)
}
