//! `sequester workflows`: how a task is worked on, step by step.

use sequester_core::report::Phase;
use sequester_core::run::Workflow;

use crate::Outcome;
use crate::args::{Args, NameArgs};
use crate::commands::agents;
use crate::render::terminal;
use crate::render::workflows::{self as view, ShownWorkflow};
use crate::wire::{Agents, Project};

pub(crate) fn run(args: &Args, given: &NameArgs) -> Outcome {
    let project = Project::open(args)?;
    let known = &project.agents;
    let Some(name) = &given.name else {
        let shown: Vec<ShownWorkflow> =
            known.workflows().iter().map(|workflow| shown(known, workflow)).collect();
        let wrong: Vec<_> = known.workflow_faults().collect();
        return agents::list(args, known, &wrong, &shown, || view::list(&shown, terminal::width()));
    };
    let one = shown(known, known.workflow(name)?);
    agents::show(args, &one, || view::one(&one, terminal::width()))
}

/// As a run takes it, with the checks that every workflow gets.
fn shown(agents: &Agents, workflow: &Workflow) -> ShownWorkflow {
    let phase = |agent: &str| agents.registry().find(agent).map(|role| role.phase);
    let completed = workflow.completed(phase);
    let step_phase = |at: usize| {
        let step = completed.steps.get(at)?;
        let own = step.phase.as_deref().and_then(Phase::named);
        own.or_else(|| step.agent.as_deref().and_then(phase))
    };
    let groups = (0..completed.steps.len()).map(|at| completed.side_by_side(at, step_phase));
    let groups = groups.collect();
    let phases = (0..completed.steps.len()).map(step_phase).collect();
    ShownWorkflow::new(completed, phases, groups, agents.workflow_origin(&workflow.name))
}
