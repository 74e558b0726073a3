//! `sequester resume`: a run taken up where it stopped, by whatever it was stopped.

use std::sync::Arc;

use sequester_core::id::TaskId;
use sequester_core::limits::Limits;
use sequester_core::run::{Entry, Event, RunState, Scope, Source, TaskSpec};
use sequester_core::store::Batch;
use sequester_engine::{Log, block_on};

use super::run::{Manner, Place, Signal, Wall, conduct, finish, jobs};
use crate::Outcome;
use crate::args::{Args, Reading, ResumeArgs};
use crate::failure::Failure;
use crate::output;
use crate::render::onlooker::Onlooker;
use crate::wire::runs::{self, Runs};
use crate::wire::{PlanFile, Project, Staff};

pub(crate) fn run(args: &Args, given: &ResumeArgs) -> Outcome {
    let project = Arc::new(Project::open(args)?);
    let (runs, id) = Runs::seek_writing(&project.root, given.run.as_deref())?;
    let state = runs.state(&id)?;
    let retry = retried(&state, &given.retry)?;
    let recorded = recorded(&runs, &state)?;
    let (file, changed) = match &given.plan {
        Some(path) => {
            let source = &state.started.plan;
            let format = source.format.as_deref().and_then(sequester_core::plan::Format::parse);
            let reading = Reading { plan: path.clone(), format, parallel: source.parallel };
            let file = PlanFile::read(&reading, &Limits::default())?;
            super::context::refuse_faulty(&file, &project)?;
            let changed = changed(&state, &recorded, &file);
            (file, Some(changed))
        }
        None => (recorded, None),
    };
    let file = Arc::new(file);
    let place = Place::find(&project)?;
    let staff = Staff::new(
        Arc::clone(&project),
        Arc::clone(&file),
        Arc::clone(&place.trees),
        &state.started.base.tree,
        &state.started.settings,
    )?;
    let store = Arc::new(runs.store);
    let world = place.world(Arc::clone(&store), staff)?;
    let onlooker = Onlooker::taken_up(args.json, &state);
    let jobs = jobs(given.jobs, &project);
    let conducted = async {
        let log = Log::open(store.as_ref(), Arc::new(Wall), &id, Arc::clone(&onlooker) as _);
        let log = Arc::new(log.map_err(|error| runs::failed_run(&error, &id))?);
        let mut batch = Batch::default();
        let scope = Scope::default();
        batch.entries.push(Entry { scope: scope.clone(), event: Event::RunResumed { retry } });
        if let Some(tasks) = changed {
            let text = batch.keep(file.source.as_slice());
            let plan = Source { path: file.name.clone(), text, ..state.started.plan.clone() };
            batch.entries.push(Entry { scope, event: Event::PlanChanged { plan, tasks } });
        }
        log.append(batch).await.map_err(|error| runs::failed_run(&error, &id))?;
        let manner = Manner { jobs, json: args.json, signal: Signal::Parks };
        conduct(world, log, &onlooker, manner).await
    };
    let ended = block_on(conducted).map_err(|error| Failure::no_runtime(&error))??;
    finish(args, &store, &id, ended)
}

/// The tasks that were named must be there.
fn retried(state: &RunState, named: &[String]) -> Result<Vec<TaskId>, Failure> {
    named.iter().map(|name| runs::task_of(state, name)).collect()
}

/// The plan as the run has it.
fn recorded(runs: &Runs, state: &RunState) -> Result<PlanFile, Failure> {
    let plan = &state.started.plan;
    let source = runs.blob(&state.run, &plan.text)?;
    Ok(PlanFile::recorded(plan, source, &Limits::default()))
}

/// What the plan says now. What is done stays as it is, and is named where its text is another one.
fn changed(state: &RunState, old: &PlanFile, file: &PlanFile) -> Vec<TaskSpec> {
    let mut specs = Vec::with_capacity(file.plan.tasks.len());
    for task in &file.plan.tasks {
        let fresh = TaskSpec::of(task, &file.graph);
        let known = state.task(&task.id);
        if let Some(done) = known.filter(|one| one.is_done() && one.spec.text != fresh.text) {
            output::tell(&format!(
                "`{}` is done, though its text is another one now; it stays as it is.",
                done.spec.id
            ));
        }
        // Who works on it and how was decided at the start.
        let spec = match known {
            Some(known) => TaskSpec {
                workflow: known.spec.workflow.clone(),
                models: known.spec.models.clone(),
                tdd: known.spec.tdd,
                budget: known.spec.budget,
                left_out: known.spec.left_out.clone(),
                ..fresh
            },
            None => TaskSpec { workflow: default_workflow(state), ..fresh },
        };
        specs.push(spec);
    }
    for gone in old.plan.tasks.iter().filter(|task| file.plan.task(&task.id).is_none()) {
        output::tell(&format!("`{}` is no longer in the plan.", gone.id));
    }
    specs
}

/// What most tasks of the run have.
fn default_workflow(state: &RunState) -> String {
    let first = state.started.workflows.keys().next();
    first.cloned().unwrap_or_else(|| sequester_core::run::workflow::DEFAULT.to_owned())
}
