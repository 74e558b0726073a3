//! What a task starts from: the run's start and what the tasks that it builds on changed, in the plan's order.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use sequester_core::id::{TaskId, TreeId};
use sequester_core::repository::{self, Merge, Repository};
use sequester_core::run::{RunState, TaskRun};

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

pub(crate) enum Made {
    Base {
        tree: TreeId,
        /// What it was before each layer.
        below: Vec<TreeId>,
    },
    /// What this task left does not fit what stands before it in the plan.
    Conflict { task: TaskId, result: TreeId, paths: Vec<String> },
}

/// Merges that were made before.
#[derive(Default)]
pub(crate) struct Bases(Mutex<HashMap<[TreeId; 3], Merge>>);

impl Bases {
    /// The recipe of a task's base: its start, and what is laid on it in turn, each with the base that it was made on.
    pub(crate) fn recipe(run: &RunState, at: usize) -> Recipe {
        let layer = |task: &TaskRun| {
            let (base, result) = task.base.clone().zip(task.result().cloned())?;
            Some(Layer { task: task.spec.id.clone(), base, result })
        };
        let foundation = run.foundation(at).into_iter().map(|one| &run.tasks[one]);
        let layers = foundation.filter_map(layer).collect();
        Recipe { start: run.started.base.tree.clone(), layers }
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
        let known = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(merge) = known().get(&key) {
            return Ok(merge.clone());
        }
        let merge = repository.merge(base, ours, theirs)?;
        known().insert(key, merge.clone());
        Ok(merge)
    }
}
