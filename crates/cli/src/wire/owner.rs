//! Words to a run: written down by whoever owns it, be that this process or another.

use std::thread::sleep;
use std::time::Duration;

use sequester_core::fault::Code;
use sequester_core::id::RunId;
use sequester_core::run::{Entry, Recorded, RunState};
use sequester_core::store::{Batch, Lease, Letter, RunStore as _};
use serde::Serialize;

use crate::failure::Failure;
use crate::wire::runs::{self, Runs, failed_run};

/// What became of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Heard {
    /// By this process: nobody carries the run out now.
    Recorded,
    /// The process that carries the run out wrote it down.
    Taken,
    /// It will find it, or whoever takes the run up again.
    Left,
}

/// How long the owner is waited for: it looks for letters several times a second.
const PATIENCE: u32 = 30;
const STEP: Duration = Duration::from_millis(100);

/// Leaves a letter, and sees whether it was taken.
pub(crate) fn post(
    runs: &Runs,
    run: &RunId,
    letter: &Letter,
    is_taken: impl Fn(&RunState) -> bool,
) -> Result<Heard, Failure> {
    runs.store.post(run, letter).map_err(|error| failed_run(&error, run))?;
    let mut state = runs.state(run)?;
    for _ in 0..PATIENCE {
        let more = runs.store.events(run, state.seq, usize::MAX);
        for recorded in more.map_err(|error| failed_run(&error, run))? {
            if state.fold(&recorded).is_err() {
                return Ok(Heard::Left);
            }
        }
        if is_taken(&state) {
            return Ok(Heard::Taken);
        }
        sleep(STEP);
    }
    Ok(Heard::Left)
}

/// Writes to a run that is this process's own.
pub(crate) fn append(lease: &dyn Lease, entries: Vec<Entry>) -> Result<Vec<Recorded>, Failure> {
    let batch = Batch { entries, blobs: Vec::new() };
    write(lease, batch)
}

pub(crate) fn write(lease: &dyn Lease, batch: Batch) -> Result<Vec<Recorded>, Failure> {
    let written = sequester_engine::block_on(lease.append(runs::now(), batch));
    let written = written.map_err(|error| Failure::no_runtime(&error))?;
    written.map_err(|error| failed_run(&error, lease.run()))
}

/// Events that were just written and cannot be followed.
pub(crate) fn misfit(run: &RunId, why: &str) -> Failure {
    let message = format!("The log of run `{run}` cannot be followed: {why}.");
    let hint = "Look at it with `sequester log`, and report this as a bug.";
    Failure::work(Code::StoreDamaged, format!("run {run}"), message, hint)
}
