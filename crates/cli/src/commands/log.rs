//! `sequester log`: what happened, event by event.

use std::fmt::Write as _;
use std::process::ExitCode;

use sequester_core::run::{Event, Recorded, RunState, sentence};
use serde::Serialize;

use crate::Outcome;
use crate::args::{Args, LogArgs};
use crate::failure::Failure;
use crate::output;
use crate::render::{
    calls::{self, Words},
    run::time,
    terminal,
};
use crate::wire::call_log::{CallLog, TurnRecord};
use crate::wire::find_root;
use crate::wire::placed::Placed;
use crate::wire::runs::Runs;

pub(crate) fn run(args: &Args, given: &LogArgs) -> Outcome {
    let (runs, state, task) =
        Runs::seek_task(&find_root(args)?, given.run.as_deref(), given.task.as_deref())?;
    let is_meant =
        |recorded: &Recorded| task.is_none() || recorded.entry.scope.task.as_ref() == task.as_ref();
    if given.calls || given.turns {
        return with_calls(args, given, (&runs, &state), is_meant);
    }
    let placed = Placed::of(&runs, &state);
    let mut array = JsonArray::default();
    runs.each(&state.run, |recorded| match is_meant(&recorded) {
        true if args.json => array.print(&recorded),
        true => tell(&placed, recorded),
        false => Ok(()),
    })?;
    if args.json {
        array.end()?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The same with what subagents said and called, each turn once it is complete; in JSON that alone.
fn with_calls(
    args: &Args,
    given: &LogArgs,
    (runs, state): (&Runs, &RunState),
    is_meant: impl Fn(&Recorded) -> bool,
) -> Outcome {
    let placed = Placed::of(runs, state);
    let (mut log, mut array) = (CallLog::default(), JsonArray::default());
    let words = if given.turns { Words::Shown } else { Words::LeftOut };
    let mut show = |turn: TurnRecord| {
        if args.json {
            array.print(&turn)
        } else {
            output::print(&calls::render(&turn, words, terminal::width()))
        }
    };
    runs.each(&state.run, |recorded| {
        if !is_meant(&recorded) {
            return Ok(());
        }
        let mut failure = None;
        let turn = log.add(&recorded, |digest| {
            runs.blob(&state.run, digest).map_err(|error| failure = Some(error)).ok()
        });
        if let Some(failure) = failure {
            return Err(failure);
        }
        turn.map_or(Ok(()), &mut show)?;
        if args.json { Ok(()) } else { tell(&placed, recorded) }
    })?;
    log.finish().try_for_each(&mut show)?;
    if args.json {
        array.end()?;
    }
    Ok(ExitCode::SUCCESS)
}

/// One value, however long: nothing of it is held.
#[derive(Default)]
struct JsonArray {
    is_begun: bool,
}

impl JsonArray {
    fn print(&mut self, item: &impl Serialize) -> Result<(), Failure> {
        output::print(if std::mem::replace(&mut self.is_begun, true) { "," } else { "[" })?;
        output::print_json(item)
    }

    fn end(&self) -> Result<(), Failure> {
        output::print(if self.is_begun { "]\n" } else { "[]\n" })
    }
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
