//! What is recorded outlives whoever cleans up the repository: it is held before it is written down.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sequester_core::id::{CommitId, TreeId};
use sequester_core::run::{Entry, Event, RunState, TaskRun};

use super::world::Trouble;
use super::{Controller, blocking};

/// Trees that need not be held again.
#[derive(Default)]
pub(super) struct Held(Mutex<HashSet<TreeId>>);

impl Held {
    /// Those of a run that began before: all that it names was held when it was recorded.
    pub(super) fn of(run: &RunState) -> Self {
        if is_fresh(run) {
            return Self::default();
        }
        let of_task = |task: &TaskRun| -> Vec<TreeId> {
            let made = task.all_tried().filter_map(|tried| tried.tree.clone());
            task.base.clone().into_iter().chain(made).collect()
        };
        let mut held: HashSet<TreeId> = run.tasks.iter().flat_map(of_task).collect();
        held.insert(run.started.base.tree.clone());
        Self(Mutex::new(held))
    }

    fn trees(&self) -> MutexGuard<'_, HashSet<TreeId>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether nothing was done for it yet.
fn is_fresh(run: &RunState) -> bool {
    run.tasks.iter().all(|task| task.attempts == 0)
}

impl Controller {
    /// What the run starts from, before anything is done with it.
    pub(super) async fn hold_start(&self) -> Result<(), Trouble> {
        let start = self.log.read(|run| is_fresh(run).then(|| run.started.base.clone()));
        let Some(start) = start else { return Ok(()) };
        self.retain(vec![start.tree], start.commit.into_iter().collect()).await
    }

    pub(super) async fn hold<'a>(
        &self,
        trees: impl IntoIterator<Item = &'a TreeId>,
    ) -> Result<(), Trouble> {
        let new: Vec<TreeId> = {
            let held = self.held.trees();
            trees.into_iter().filter(|tree| !held.contains(*tree)).cloned().collect()
        };
        self.retain(new, Vec::new()).await
    }

    /// The last of some commits that stand one on the other: the branch moves after they are recorded.
    pub(super) async fn hold_commit(&self, made: &[Entry]) -> Result<(), Trouble> {
        let last = made.iter().rev().find_map(|entry| match &entry.event {
            Event::TaskCommitted { commit, .. } => Some(commit.clone()),
            _ => None,
        });
        self.retain(Vec::new(), last.into_iter().collect()).await
    }

    async fn retain(&self, trees: Vec<TreeId>, commits: Vec<CommitId>) -> Result<(), Trouble> {
        if trees.is_empty() && commits.is_empty() {
            return Ok(());
        }
        let repository = Arc::clone(&self.world.repository);
        let run = self.log.read(|run| run.run.clone());
        let hold = move || repository.hold(&run, &trees, &commits).map(|()| trees);
        let trees = blocking(hold).await??;
        self.held.trees().extend(trees);
        Ok(())
    }
}
