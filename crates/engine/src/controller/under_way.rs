//! What of a run is under way, or is done by an event.

use sequester_core::id::TaskId;
use sequester_core::run::{Ended, Entry, Event, RunState, Running, TaskRun};

/// The task, if this is how one is done.
pub(super) fn done(Entry { scope, event }: &Entry) -> Option<TaskId> {
    let is_done = matches!(event, Event::TaskEnded(ended) if ended.state == Ended::Done);
    scope.task.clone().filter(|_| is_done)
}

/// Tasks with attempts under way that count no more.
pub(super) fn void(run: &RunState) -> Vec<TaskId> {
    let is_void =
        |task: &&TaskRun| task.running.values().any(|running| task.is_void(running.number));
    run.tasks.iter().filter(is_void).map(|task| task.spec.id.clone()).collect()
}

/// Attempts that another process left under way.
pub(super) fn open(run: &RunState) -> Vec<(TaskId, Running)> {
    let tasks = run.tasks.iter().filter(|task| task.ended.is_none());
    let own = tasks.flat_map(|task| {
        let running = task.running.values().filter(|one| one.started.parent.is_none());
        running.map(|one| (task.spec.id.clone(), one.clone()))
    });
    own.collect()
}
