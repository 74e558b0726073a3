//! What a task starts from: the run's start and what the tasks that it builds on changed, in the order of the branch.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};

use sequester_core::id::{TaskId, TreeId};
use sequester_core::repository::{self, Merge, Repository};
use sequester_core::run::RunState;

/// What is laid on what.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Recipe {
    start: TreeId,
    layers: Vec<Layer>,
}

/// What a task changed, with the base that it changed.
#[derive(Clone, PartialEq, Eq)]
struct Layer {
    task: TaskId,
    base: TreeId,
    result: TreeId,
    is_committed: bool,
}

impl Recipe {
    /// Of a task's base: its start, and what is laid on it in turn, each with the base that it was made on.
    pub(crate) fn of(run: &RunState, at: usize) -> Self {
        Self::laid(run, run.foundation(at))
    }

    /// Of what has to fit together when a task's change comes onto the branch.
    pub(super) fn grounds(run: &RunState, at: usize) -> Vec<Self> {
        run.grounds(at).into_iter().map(|ground| Self::laid(run, ground)).collect()
    }

    fn laid(run: &RunState, ground: Vec<usize>) -> Self {
        let layer = |at: usize| {
            let task = &run.tasks[at];
            let (base, result) = task.base.clone().zip(task.result().cloned())?;
            let (task, is_committed) = (task.spec.id.clone(), task.committed.is_some());
            Some(Layer { task, base, result, is_committed })
        };
        let layers = ground.into_iter().filter_map(layer).collect();
        Self { start: run.started.base.tree.clone(), layers }
    }

    fn without(&self, task: &TaskId) -> Self {
        let layers = self.layers.iter().filter(|layer| layer.task != *task);
        Self { start: self.start.clone(), layers: layers.cloned().collect() }
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
    /// Tasks whose base could not be made, and of what.
    stuck: Mutex<BTreeMap<TaskId, Recipe>>,
}

impl Bases {
    /// What a task is built on does not fit together, and not all of it is on the branch.
    pub(super) fn keep_back(&self, task: &TaskId, recipe: Recipe) {
        locked(&self.stuck).insert(task.clone(), recipe);
    }

    /// Those that are kept back, until something else is what they are built on, or more of it is on the branch.
    pub(super) fn stuck(&self, run: &RunState) -> BTreeSet<TaskId> {
        let mut stuck = locked(&self.stuck);
        stuck.retain(|task, recipe| {
            run.position(task).is_some_and(|at| Recipe::of(run, at) == *recipe)
        });
        stuck.keys().cloned().collect()
    }

    /// Where a task's change keeps apart what fits together without it. May take its time.
    pub(super) fn parts(
        &self,
        repository: &dyn Repository,
        grounds: &[Recipe],
        task: &TaskId,
    ) -> Result<Option<Vec<String>>, repository::Error> {
        for ground in grounds {
            let Made::Conflict { paths, .. } = self.make(repository, ground)? else { continue };
            if let Made::Base { .. } = self.make(repository, &ground.without(task))? {
                return Ok(Some(paths));
            }
        }
        Ok(None)
    }

    /// May take its time.
    pub(crate) fn make(
        &self,
        repository: &dyn Repository,
        recipe: &Recipe,
    ) -> Result<Made, repository::Error> {
        let (mut tree, mut below) = (recipe.start.clone(), Vec::new());
        for Layer { task, base, result, .. } in &recipe.layers {
            match self.merge(repository, base, &tree, result)? {
                Merge::Clean(merged) => below.push(std::mem::replace(&mut tree, merged)),
                Merge::Conflict(paths) => {
                    let (task, result) = (task.clone(), result.clone());
                    return Ok(Made::Conflict { task, result, paths });
                }
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
