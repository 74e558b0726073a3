//! What an attempt of a run was really shown, from its records.

use sequester_core::context::IsolatedContext;
use sequester_core::fault::Code;
use sequester_core::id::TaskId;
use sequester_core::report::Phase;
use sequester_core::run::{AttemptStarted, Event, RunState};
use sequester_core::secret::SecretSet;

use crate::args::{Args, ContextArgs};
use crate::failure::Failure;
use crate::output;
use crate::wire::find_root;
use crate::wire::runs::{Runs, task_of, tasks_of};

/// The context with the task's title.
pub(super) fn read(
    args: &Args,
    given: &ContextArgs,
    run: &str,
) -> Result<(IsolatedContext, String), Failure> {
    let named = only_task(given)?;
    let (runs, run) = Runs::seek(&find_root(args)?, Some(run))?;
    let state = runs.state(&run)?;
    if named.is_empty() {
        return Err(which(&state));
    }
    let task = task_of(&state, &named)?;
    let mut last = None;
    runs.each(&run, |recorded| {
        let scope = &recorded.entry.scope;
        let is_meant = scope.task.as_ref() == Some(&task)
            && given.phase.is_none_or(|phase| scope.phase == Some(phase))
            && given.attempt.is_none_or(|attempt| scope.attempt == Some(attempt));
        if let (true, Some(attempt), Event::AttemptStarted(started)) =
            (is_meant, scope.attempt, recorded.entry.event)
        {
            last = Some((attempt, scope.phase, started));
        }
        Ok(())
    })?;
    let Some((attempt, phase, started)) = last else { return Err(none(&state, &task, given)) };
    let phase = phase.map_or("", Phase::as_str);
    output::tell(&format!("attempt {attempt} of `{task}`, phase {phase}, on {}", started.model));
    let title = state.task(&task).map(|task| task.spec.title.clone()).unwrap_or_default();
    Ok((context(&runs, &state, &task, *started)?, title))
}

/// With a run there is no plan: what stands first is the task.
fn only_task(given: &ContextArgs) -> Result<String, Failure> {
    match &given.task {
        None => Ok(given.reading().plan.to_string_lossy().into_owned()),
        Some(task) => {
            let message = "A run has its own plan; none is read beside it.";
            let hint = format!("Leave the plan out: `sequester context --run RUN {task}`.");
            Err(Failure::input(Code::BadArguments, "command line", message, hint))
        }
    }
}

/// Nobody said which task is meant.
fn which(state: &RunState) -> Failure {
    let run = &state.run;
    let tasks = tasks_of(state);
    let first = state.tasks.first().map_or("TASK", |task| task.spec.id.as_str());
    let message = format!("No task of run `{run}` is named. Its tasks are {tasks}.");
    let hint = format!("Name one, as in `sequester context --run {run} {first}`.");
    Failure::input(Code::BadArguments, "command line", message, hint)
}

fn context(
    runs: &Runs,
    state: &RunState,
    task: &TaskId,
    started: AttemptStarted,
) -> Result<IsolatedContext, Failure> {
    let text = |digest| {
        let bytes = runs.blob(&state.run, digest)?;
        Ok::<_, Failure>(String::from_utf8_lossy(&bytes).into_owned())
    };
    let shown = &started.context;
    let manifest = serde_json::from_str(&text(&shown.manifest)?).map_err(|error| {
        let message = format!("The manifest of the attempt cannot be read: {error}.");
        let hint = "`sequester audit` says what else is wrong with the run's records.";
        Failure::work(Code::StoreDamaged, format!("run {}", state.run), message, hint)
    })?;
    let handoff = started.handoff.as_ref().map(text).transpose()?;
    Ok(IsolatedContext {
        handoff: handoff.and_then(|text| serde_json::from_str(&text).ok()),
        secrets: SecretSet::default(),
        task: task.clone(),
        agent: started.agent,
        digest: shown.digest.to_string(),
        tokens: shown.tokens,
        system: text(&shown.system)?.into(),
        prompt: text(&shown.prompt)?,
        manifest,
    })
}

fn none(state: &RunState, task: &TaskId, given: &ContextArgs) -> Failure {
    let narrowed = given.phase.is_some() || given.attempt.is_some();
    let such = if narrowed { "such attempt" } else { "attempt yet" };
    let message = format!("`{task}` has no {such} in run `{}`.", state.run);
    let hint = format!("`sequester show {} {task}` lists its attempts.", state.run);
    Failure::input(Code::UnknownTask, task.as_str(), message, hint)
}
