//! `sequester status`: all runs, or how one stands.

use std::process::ExitCode;

use sequester_core::run::RunView;

use crate::Outcome;
use crate::args::{Args, StatusArgs};
use crate::output;
use crate::render::{run as view, terminal};
use crate::wire::find_root;
use crate::wire::placed::Placed;
use crate::wire::runs::Runs;

pub(crate) fn run(args: &Args, given: &StatusArgs) -> Outcome {
    let root = find_root(args)?;
    if given.run.is_some() {
        let (runs, state, meant) =
            Runs::seek_task(&root, given.run.as_deref(), given.task.as_deref())?;
        let mut status = runs.view_of(&state, runs.is_held(&state.run)?);
        if !args.json {
            Placed::of(&runs, &state).run(&mut status);
        }
        if let Some(meant) = meant {
            status.tasks.retain(|task| task.id == meant);
            status.todos.retain(|todo| todo.task == meant);
        }
        if args.json {
            output::print_json(&status)?;
        } else {
            output::print(&view::status(&status, runs.taken(), terminal::width()))?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    let mut exit = ExitCode::SUCCESS;
    let mut listed: Vec<RunView> = Vec::new();
    if let Some(runs) = Runs::look(&root)? {
        for run in runs.list()? {
            match runs.view(&run) {
                Ok(view) => listed.push(view),
                // One that cannot be read hides no other.
                Err(failure) => {
                    exit = ExitCode::FAILURE;
                    output::tell(&format!("{} {}", failure.message(), failure.hint()));
                }
            }
        }
    }
    if args.json {
        let brief: Vec<_> = listed.iter().map(view::Brief::of).collect();
        output::print_json(&brief)?;
    } else {
        output::print(&view::list(&listed, terminal::width()))?;
    }
    Ok(exit)
}
