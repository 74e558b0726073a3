//! What `literal` said of a run's tasks, with the lines of the plan's file.

use std::collections::BTreeSet;

use sequester_core::id::TaskId;
use sequester_core::limits::Limits;
use sequester_core::plan::Whereabouts;
use sequester_core::run::{LITERAL, RunState, RunView, TaskView};

use super::PlanFile;
use super::runs::Runs;

pub(crate) struct Placed {
    whereabouts: Whereabouts,
    /// Tasks that `literal` had last: what others say of lines is of other lines.
    scripted: BTreeSet<TaskId>,
}

impl Placed {
    /// By the plan as the run has it. One that cannot be read places nothing.
    pub(crate) fn of(runs: &Runs, state: &RunState) -> Self {
        let plan = &state.started.plan;
        let whereabouts = runs.blob(&state.run, &plan.text).map(|source| {
            PlanFile::recorded(plan, &runs.root, source, &Limits::default()).whereabouts()
        });
        let tasks = state.tasks.iter();
        let scripted =
            tasks.filter(|task| task.tried().next_back().is_some_and(|last| last.model == LITERAL));
        let scripted = scripted.map(|task| task.spec.id.clone()).collect();
        Self { whereabouts: whereabouts.unwrap_or_default(), scripted }
    }

    pub(crate) fn tell(&self, task: &TaskId, said: &str) -> String {
        if !self.scripted.contains(task) {
            return said.to_owned();
        }
        self.whereabouts.place(task, said)
    }

    pub(crate) fn task(&self, task: &mut TaskView) {
        let whose = task.blocked_by.as_ref().unwrap_or(&task.id);
        task.reason = task.reason.as_deref().map(|said| self.tell(whose, said));
    }

    pub(crate) fn run(&self, run: &mut RunView) {
        for task in &mut run.tasks {
            self.task(task);
        }
    }
}
