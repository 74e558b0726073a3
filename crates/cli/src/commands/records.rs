//! `sequester records`: what the tasks of a run left for those that build on them.

use std::process::ExitCode;

use crate::Outcome;
use crate::args::{Args, RecordsArgs};
use crate::output;
use crate::render::records::{self, Row};
use crate::render::terminal;
use crate::wire::find_root;
use crate::wire::records::Shelves;
use crate::wire::runs::{Runs, task_of};

pub(crate) fn run(args: &Args, given: &RecordsArgs) -> Outcome {
    let (runs, run) = Runs::seek(&find_root(args)?, given.run.as_deref())?;
    let state = runs.state(&run)?;
    let task = given.task.as_ref().map(|task| task_of(&state, task)).transpose()?;
    let mut all = Shelves::of(&runs, &state)?.all();
    all.retain(|one| {
        task.as_ref().is_none_or(|task| one.record.task == *task)
            && given.kind.is_none_or(|kind| one.record.kind == kind)
    });
    let rows: Vec<Row<'_>> = all.iter().map(|one| Row::of(&run, one)).collect();
    if args.json {
        output::print_json(&rows)?;
    } else if rows.is_empty() {
        output::print(&format!("Run {run} has no such records.\n"))?;
    } else if task.is_some() {
        output::print(&records::whole(&rows, terminal::width()))?;
    } else {
        output::print(&records::list(&rows, terminal::width()))?;
    }
    Ok(ExitCode::SUCCESS)
}
