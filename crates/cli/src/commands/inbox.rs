//! `sequester inbox`: what waits for an answer, of all runs.

use std::process::ExitCode;

use crate::Outcome;
use crate::args::Args;
use crate::output;
use crate::render::{inbox as view, terminal};
use crate::wire::find_root;
use crate::wire::runs::Runs;

pub(crate) fn run(args: &Args) -> Outcome {
    let mut exit = ExitCode::SUCCESS;
    let mut waiting = Vec::new();
    if let Some(runs) = Runs::look(&find_root(args)?)? {
        for run in runs.list()? {
            match runs.view(&run) {
                Ok(view) => waiting.extend(view.inbox),
                // One that cannot be read hides no other.
                Err(failure) => {
                    exit = ExitCode::FAILURE;
                    output::tell(&format!("{} {}", failure.message(), failure.hint()));
                }
            }
        }
    }
    if args.json {
        output::print_json(&waiting)?;
    } else if waiting.is_empty() {
        output::print("No question waits for an answer.\n")?;
    } else {
        output::print(&view::render(&waiting, terminal::width()))?;
    }
    Ok(exit)
}
