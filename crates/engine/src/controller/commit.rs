//! A finished task's change becomes one commit on the branch of the run.

use std::sync::Arc;

use sequester_core::id::{CommitId, TaskId, TreeId};
use sequester_core::repository::{Draft, Merge};
use sequester_core::run::Event;

use super::world::Trouble;
use super::{Controller, blocking};

impl Controller {
    pub(super) async fn commit(&self, task: &TaskId) -> Result<(), Trouble> {
        let known = self.log.read(|run| {
            let done = run.task(task)?;
            let (base, result) = (done.base.clone()?, done.result()?.clone());
            let start = &run.started.base;
            let (parent, ours) = match &run.tip {
                Some((commit, tree)) => (Some(commit.clone()), tree.clone()),
                None => (start.commit.clone(), start.tree.clone()),
            };
            let message = message(&done.spec.title, run.run.as_str(), task.as_str());
            Some((base, result, parent, ours, message))
        });
        let Some((base, theirs, parent, ours, message)) = known else { return Ok(()) };
        let (bases, repository) = (Arc::clone(&self.bases), Arc::clone(&self.world.repository));
        let (at, result) = (self.log.clock().now(), theirs.clone());
        let made = blocking(move || {
            let tree = match bases.merge(repository.as_ref(), &base, &ours, &theirs)? {
                Merge::Clean(tree) => tree,
                Merge::Conflict(paths) => return Ok(Made::Conflict(paths)),
            };
            let draft = Draft { tree: tree.clone(), parent, message, author: None, at };
            let commit = repository.commit(&draft)?;
            Ok::<_, Trouble>(Made::Commit(commit, tree))
        });
        match made.await?? {
            Made::Conflict(paths) => self.clash(task, &result, paths).await,
            Made::Commit(commit, tree) => {
                self.tell(task, Event::TaskCommitted { commit, tree }).await?;
                self.move_branch().await
            }
        }
    }

    /// To the last commit that is recorded, wherever a crash left it.
    pub(super) async fn move_branch(&self) -> Result<(), Trouble> {
        let _alone = self.branch.lock().await;
        let to = self.log.read(|run| {
            run.tip.as_ref().map(|(commit, _)| (run.started.branch.clone(), commit.clone()))
        });
        let Some((branch, to)) = to else { return Ok(()) };
        let repository = Arc::clone(&self.world.repository);
        blocking(move || {
            let from = repository.branch(&branch)?;
            if from.as_ref() == Some(&to) {
                return Ok(());
            }
            repository.move_branch(&branch, from.as_ref(), &to)
        })
        .await?
        .map_err(Trouble::from)
    }
}

enum Made {
    Commit(CommitId, TreeId),
    Conflict(Vec<String>),
}

/// The task's title, and where it comes from.
fn message(title: &str, run: &str, task: &str) -> String {
    // One line, whatever the plan holds.
    let line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let title = line(title);
    let subject = if title.is_empty() { line(task) } else { title };
    format!("{subject}\n\nSequester-Run: {}\nSequester-Task: {}\n", line(run), line(task))
}
