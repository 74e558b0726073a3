//! `sequester log`: what happened, event by event.

use std::fmt::Write as _;
use std::process::ExitCode;

use sequester_core::run::{Event, Recorded, sentence};

use crate::Outcome;
use crate::args::{Args, LogArgs};
use crate::failure::Failure;
use crate::output;
use crate::render::{run::time, terminal};
use crate::wire::find_root;
use crate::wire::placed::Placed;
use crate::wire::runs::Runs;

pub(crate) fn run(args: &Args, given: &LogArgs) -> Outcome {
    let (runs, state, task) =
        Runs::seek_task(&find_root(args)?, given.run.as_deref(), given.task.as_deref())?;
    let is_meant =
        |recorded: &Recorded| task.is_none() || recorded.entry.scope.task.as_ref() == task.as_ref();
    let placed = Placed::of(&runs, &state);
    let mut before = "[";
    runs.each(&state.run, |recorded| match is_meant(&recorded) {
        true if args.json => {
            output::print(std::mem::replace(&mut before, ","))?;
            output::print_json(&recorded)
        }
        true => tell(&placed, recorded),
        false => Ok(()),
    })?;
    if args.json {
        // One value, however long: nothing of it is held.
        output::print(if before == "[" { "[]\n" } else { "]\n" })?;
    }
    Ok(ExitCode::SUCCESS)
}

fn tell(placed: &Placed, mut recorded: Recorded) -> Result<(), Failure> {
    let scope = &recorded.entry.scope;
    let said = match &mut recorded.entry.event {
        Event::TaskEnded(ended) => ended.reason.as_mut(),
        Event::QuestionAsked(asked) => Some(&mut asked.text),
        _ => None,
    };
    if let (Some(task), Some(said)) = (&scope.task, said) {
        *said = placed.tell(task, said);
    }
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
