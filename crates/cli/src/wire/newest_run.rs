//! Which run is meant where none is named, and whether a plan has one that is not finished.

use std::path::Path;

use sequester_core::id::{RunId, TaskId};
use sequester_core::run::{Outcome, RunState};

use super::runs::{Runs, none};
use crate::failure::Failure;
use crate::output;

impl Runs {
    /// The run that is meant by what needs a branch.
    pub(crate) fn seek_with_branch(
        root: &Path,
        named: Option<&str>,
    ) -> Result<(Self, RunId), Failure> {
        let runs = Self::look(root)?.ok_or_else(|| none(root))?;
        let newest = newest_with_branch(&runs, named)?;
        let run = runs.find(newest.as_deref().or(named))?;
        Ok((runs, run))
    }

    /// The same for what needs a branch.
    pub(crate) fn seek_task_with_branch(
        root: &Path,
        run: Option<&str>,
        task: Option<&str>,
    ) -> Result<(Self, RunState, Option<TaskId>), Failure> {
        let runs = Self::look(root)?.ok_or_else(|| none(root))?;
        let newest = newest_with_branch(&runs, run)?;
        runs.seek_task_in(newest.as_deref().or(run), task)
    }

    /// The newest run of a plan that is not finished, and whether a process carries it out.
    pub(crate) fn unfinished_of(&self, plan: &str) -> Result<Option<(RunId, bool)>, Failure> {
        for run in self.list()?.into_iter().take(MOST_LOOKED_AT) {
            // One that cannot be read hides no other.
            let Ok(state) = self.state(&run) else { continue };
            let is_open = !state.ended.is_some_and(Outcome::is_final);
            if is_open && state.started.plan.path == plan {
                let live = self.is_held(&run)?;
                return Ok(Some((run, live)));
            }
        }
        Ok(None)
    }
}

/// Runs that are looked at for one of a plan.
const MOST_LOOKED_AT: usize = 50;

/// The newest run that may have a branch, where none is named. One of a single task, as `task` and `draft` make them, has
/// one only with a change; it is passed over without, and that is said.
fn newest_with_branch(runs: &Runs, named: Option<&str>) -> Result<Option<String>, Failure> {
    if named.is_some() {
        return Ok(None);
    }
    for (at, run) in runs.list()?.into_iter().enumerate() {
        let Ok(state) = runs.state(&run) else { continue };
        if state.tip.is_none() && state.started.plan.path.is_empty() {
            continue;
        }
        if at > 0 {
            let plan = &state.started.plan.path;
            output::tell(&format!("This is run `{run}` (`{plan}`), the newest with a branch."));
        }
        return Ok(Some(run.to_string()));
    }
    Ok(None)
}
