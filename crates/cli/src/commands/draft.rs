//! `sequester draft`: a plan for a goal, written by a subagent that changes nothing, for a person to edit and run.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;

use sequester_core::fault::Code;
use sequester_core::report::{Draft, Findings};
use serde_json::json;

use super::task::{self, Carried};
use crate::Outcome;
use crate::args::{Args, DraftArgs, Reading, TaskArgs};
use crate::failure::Failure;
use crate::output;
use crate::render::terminal;
use crate::wire::{PlanFile, Project};

const AGENT: &str = "drafter";

pub(crate) fn run(args: &Args, given: &DraftArgs) -> Outcome {
    // Before anything is paid for.
    if let Some(path) = given.output.as_deref().filter(|path| path.symlink_metadata().is_ok()) {
        return Err(there_already(path));
    }
    let carried = task::dispatch(args, &asked(given))?;
    let Some(plan) = plan_of(&carried) else { return task::show(args, &carried) };
    if let Some(path) = &given.output {
        write(path, plan)?;
        tell_faults(args, path)?;
    }
    if args.json {
        output::print_json(&json!({
            "run": carried.state.run, "plan": plan, "path": given.output,
            "usage": carried.last.spent, "model": carried.last.model,
        }))?;
    } else if let Some(path) = &given.output {
        let path = path.display();
        let next = format!(
            "Wrote `{path}`. Edit it, look at `sequester plan {path}`, then `sequester run {path}`.\n"
        );
        output::print(&terminal::fold(&next, terminal::width()))?;
    } else {
        output::print(plan)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn asked(given: &DraftArgs) -> TaskArgs {
    TaskArgs {
        text: given.goal.clone(),
        agent: AGENT.to_owned(),
        profile: None,
        asking: given.asking.clone(),
        grant: Vec::new(),
    }
}

/// Nothing where the subagent asks, or gave up.
fn plan_of(carried: &Carried) -> Option<&str> {
    match &carried.last.ending.report.as_ref()?.findings {
        Findings::Draft(Draft { plan }) if !plan.trim().is_empty() => Some(plan),
        _ => None,
    }
}

/// Never over somebody's file, and never through a link.
fn write(path: &Path, plan: &str) -> Result<(), Failure> {
    let file = OpenOptions::new().write(true).create_new(true).open(path);
    let written = file.and_then(|mut file| file.write_all(plan.as_bytes()));
    written.map_err(|error| {
        let message = format!("The plan cannot be written: {error}.");
        let hint = "It was paid for: `sequester show` has it in the report of the newest run.";
        Failure::work(Code::Unwritable, path.display(), message, hint)
    })
}

/// What the repository says against it; the subagent was told of everything else.
fn tell_faults(args: &Args, path: &Path) -> Result<(), Failure> {
    let reading = Reading { plan: path.to_owned(), ..Reading::default() };
    let project = Project::open(args)?;
    let file = PlanFile::read(&reading, &project.settings.limits())?;
    for fault in project.faults_of(&file) {
        let place = format!("{}:{}", path.display(), fault.place.line);
        output::tell(&format!("{place}: {} {}", fault.message, fault.hint));
    }
    for warning in project.warnings_of(&file) {
        output::warn_of(&path.display().to_string(), &warning);
    }
    Ok(())
}

fn there_already(path: &Path) -> Failure {
    let message = "There is such a file already.";
    let hint = "Name another one; nothing was asked of a model.";
    Failure::input(Code::BadArguments, path.display(), message, hint)
}
