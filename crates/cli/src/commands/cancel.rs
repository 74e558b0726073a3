//! `sequester cancel`: a run ends for good, by whoever carries it out, or here where nobody does.

use std::collections::{BTreeMap, BTreeSet};
use std::process::ExitCode;

use sequester_core::agent::Kept;
use sequester_core::run::{Entry, Event, Now, RunState, RunView, Scope, State, decide};
use sequester_core::store::{Batch, ErrorKind, Lease, Letter, RunStore as _};
use serde_json::json;

use crate::Outcome;
use crate::args::{Args, CancelArgs};
use crate::failure::Failure;
use crate::output;
use crate::render::run as view;
use crate::wire::find_root;
use crate::wire::owner::{self, Heard};
use crate::wire::runs::{self, Runs, failed_run};

pub(crate) fn run(args: &Args, given: &CancelArgs) -> Outcome {
    let root = find_root(args)?;
    let (runs, run) = Runs::seek_writing(&root, Some(&given.run))?;
    let by = runs::person(&root);
    let mut ended = false;
    let heard = match runs.store.lease(&run) {
        Ok(lease) => {
            let state = runs.state(&run)?;
            ended = !end(lease.as_ref(), state, by)?;
            drop(lease);
            Heard::Recorded
        }
        Err(error) if error.kind == ErrorKind::Held => {
            let letter = Letter::Cancel { by };
            owner::post(&runs, &run, &letter, |state| state.is_cancelled)?
        }
        Err(error) => return Err(failed_run(&error, &run)),
    };
    let status = runs.view(&run)?;
    if args.json {
        let mut value = json!(status);
        value["delivered"] = json!(heard);
        output::print_json(&value)?;
    } else {
        output::print(&tell(&status, heard, ended))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn tell(status: &RunView, heard: Heard, ended: bool) -> String {
    let run = &status.run;
    match heard {
        Heard::Recorded if ended => {
            let state = status.state.as_str().replace('_', " ");
            format!("Run `{run}` has ended already: {state}. There is nothing to cancel.\n")
        }
        Heard::Recorded => {
            let state = status.state.as_str().replace('_', " ");
            let tally = view::tally(status);
            if status.state == State::Stopped {
                return format!(
                    "Run `{run}` is cancelled: {tally}. What is done comes onto its branch with `sequester resume {run}`.\n"
                );
            }
            format!("Run `{run}` is {state}: {tally}.\n")
        }
        Heard::Taken => format!("Run `{run}` is cancelled; what is under way ends now.\n"),
        Heard::Left => format!(
            "The word was left for the process that carries run `{run}` out, which has not taken it yet.\n"
        ),
    }
}

/// Ends a run that nobody carries out. Whether there was anything to end; else it stays as it is.
fn end(lease: &dyn Lease, mut state: RunState, by: String) -> Result<bool, Failure> {
    if state.ended.is_some() && state.tasks.iter().all(|task| task.ended.is_some()) {
        return Ok(false);
    }
    let mut batch = Batch::default();
    let whole = |event| Entry { scope: Scope::default(), event };
    if state.ended.is_some() {
        batch.entries.push(whole(Event::RunResumed { retry: Vec::new(), budget: None }));
    }
    batch.entries.push(whole(Event::RunCancelled { by }));
    let kept = batch.keep(serde_json::to_vec(&Kept::default()).unwrap_or_default());
    for task in &state.tasks {
        for running in task.running.values() {
            let scope = Scope {
                task: Some(task.spec.id.clone()),
                phase: Some(running.phase),
                attempt: Some(running.number),
            };
            let event = Event::AttemptEnded(Box::new(running.cut_off(kept.clone())));
            batch.entries.push(Entry { scope, event });
        }
    }
    write(lease, &mut state, batch)?;
    while state.ended.is_none() {
        let (at, busy, stuck) = (runs::now(), BTreeMap::new(), BTreeSet::new());
        let decision =
            decide(&state, Now { at, jobs: 1, busy: &busy, stuck: &stuck, stopping: true });
        if decision.entries.is_empty() {
            break;
        }
        write(lease, &mut state, Batch { entries: decision.entries, blobs: Vec::new() })?;
    }
    Ok(true)
}

fn write(lease: &dyn Lease, state: &mut RunState, batch: Batch) -> Result<(), Failure> {
    for recorded in owner::write(lease, batch)? {
        state.fold(&recorded).map_err(|misfit| owner::misfit(lease.run(), misfit.why))?;
    }
    Ok(())
}
