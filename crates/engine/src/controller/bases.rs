//! What a task starts from: the run's start and what the tasks that it builds on changed, in the order of the branch.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};

use sequester_core::id::{TaskId, TreeId};
use sequester_core::repository::{self, Merge, Repository};
use sequester_core::run::{Awaited, Grounds, Lay, RunState, Survey};

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
    /// Of a task's base: its start, and what is laid on it in turn, each with the base that it was made on.
    pub(crate) fn of(run: &RunState, foundation: &[usize]) -> Self {
        let layers = foundation.iter().filter_map(|at| Layer::of(run, *at)).collect();
        Self { start: run.started.base.tree.clone(), layers }
    }
}

impl Layer {
    fn of(run: &RunState, at: usize) -> Option<Self> {
        let task = &run.tasks[at];
        let (base, result) = task.base.clone().zip(task.result().cloned())?;
        Some(Self { task: task.spec.id.clone(), base, result })
    }
}

/// What a task would start from now; where that does not fit together, the task whose change does not.
pub fn base_of(
    run: &RunState,
    repository: &dyn Repository,
    task: &TaskId,
) -> Result<Result<TreeId, TaskId>, repository::Error> {
    let foundation = run.position(task).map(|at| run.foundation(at)).unwrap_or_default();
    Ok(match Bases::default().make(repository, &Recipe::of(run, &foundation))? {
        Made::Base { tree, .. } => Ok(tree),
        Made::Conflict { task, .. } => Err(task),
    })
}

/// What later tasks will be built on, and the changes that it is made of.
pub(super) struct Ground {
    start: TreeId,
    layers: HashMap<usize, Layer>,
    grounds: Grounds<TreeId>,
    survey: Survey,
    /// Trees that were made.
    pub(super) made: Vec<TreeId>,
}

impl Ground {
    /// Where the change of a row that comes next keeps apart what fits together without it. May take its time.
    pub(super) fn parts(
        &mut self,
        bases: &Bases,
        repository: &dyn Repository,
        at: usize,
    ) -> Result<Option<Vec<String>>, repository::Error> {
        let Self { start, layers, grounds, survey, made } = self;
        grounds.fit(survey, start, at, &mut Hand { bases, repository, layers, made })
    }
}

struct Hand<'a> {
    bases: &'a Bases,
    repository: &'a dyn Repository,
    layers: &'a HashMap<usize, Layer>,
    made: &'a mut Vec<TreeId>,
}

impl Lay<TreeId> for Hand<'_> {
    type Why = Vec<String>;
    type Error = repository::Error;

    fn lay(
        &mut self,
        on: &TreeId,
        at: usize,
    ) -> Result<Result<TreeId, Vec<String>>, repository::Error> {
        let Some(Layer { base, result, .. }) = self.layers.get(&at) else {
            return Ok(Ok(on.clone()));
        };
        Ok(match self.bases.merge(self.repository, base, on, result)? {
            Merge::Clean(tree) => {
                self.made.push(tree.clone());
                Ok(tree)
            }
            Merge::Conflict(paths) => Err(paths),
        })
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
    /// Tasks whose base could not be made, and what they wait for.
    stuck: Mutex<BTreeMap<TaskId, Awaited>>,
    grounds: Mutex<Grounds<TreeId>>,
}

impl Bases {
    /// What a task is built on does not fit together, and not all of it is on the branch.
    pub(super) fn keep_back(&self, task: &TaskId, awaited: Awaited) {
        locked(&self.stuck).insert(task.clone(), awaited);
    }

    /// Those that are kept back, until what they wait for is on the branch or done again.
    pub(super) fn stuck(&self, run: &RunState) -> BTreeSet<TaskId> {
        let mut stuck = locked(&self.stuck);
        stuck.retain(|_, awaited| run.is_awaited(awaited));
        stuck.keys().cloned().collect()
    }

    /// What has to fit when these changes come onto the branch.
    pub(super) fn ground(&self, run: &RunState, row: &[usize]) -> Ground {
        let mut grounds = std::mem::take(&mut *locked(&self.grounds));
        let survey = grounds.survey(run, row);
        let layer = |at: usize| Some((at, Layer::of(run, at)?));
        let layers = survey.changes().filter_map(layer).collect();
        Ground { start: run.started.base.tree.clone(), layers, grounds, survey, made: Vec::new() }
    }

    /// What was made of it is there for the next.
    pub(super) fn keep(&self, ground: Ground) {
        *locked(&self.grounds) = ground.grounds;
    }

    /// May take its time.
    pub(crate) fn make(
        &self,
        repository: &dyn Repository,
        recipe: &Recipe,
    ) -> Result<Made, repository::Error> {
        let (mut tree, mut below) = (recipe.start.clone(), Vec::new());
        for Layer { task, base, result } in &recipe.layers {
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
