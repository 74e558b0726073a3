//! `sequester log`: what happened, event by event.

use std::fmt::Write as _;
use std::process::ExitCode;

use sequester_core::run::{Recorded, sentence};

use crate::Outcome;
use crate::args::{Args, LogArgs};
use crate::failure::Failure;
use crate::output;
use crate::render::{run::time, terminal};
use crate::wire::find_root;
use crate::wire::runs::{Runs, task_of};

pub(crate) fn run(args: &Args, given: &LogArgs) -> Outcome {
    let (runs, run) = Runs::seek(&find_root(args)?, given.run.as_deref())?;
    let task = match &given.task {
        Some(task) => Some(task_of(&runs.state(&run)?, task)?),
        None => None,
    };
    let is_meant =
        |recorded: &Recorded| task.is_none() || recorded.entry.scope.task.as_ref() == task.as_ref();
    let mut events = Vec::new();
    runs.each(&run, |recorded| {
        match is_meant(&recorded) {
            true if args.json => events.push(recorded),
            true => tell(&recorded)?,
            false => {}
        }
        Ok(())
    })?;
    if args.json {
        output::print_json(&events)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn tell(recorded: &Recorded) -> Result<(), Failure> {
    let scope = &recorded.entry.scope;
    let mut place = String::new();
    if let Some(task) = &scope.task {
        place = format!(" [{task}");
        if let (Some(phase), Some(attempt)) = (scope.phase, scope.attempt) {
            let _ = write!(place, " {} {attempt}", phase.as_str());
        }
        place += "]";
    }
    let line = format!("{}{place} {}", time(recorded.at), sentence(&recorded.entry.event));
    output::print(&terminal::fold(&(terminal::cut(&line, usize::MAX) + "\n"), terminal::width()))
}
