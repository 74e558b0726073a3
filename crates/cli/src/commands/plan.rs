//! `sequester plan`: tasks, waves, write sets, faults, tokens and price.

use std::io::{self, Write};
use std::process::ExitCode;

use sequester_core::limits::Limits;

use crate::Outcome;
use crate::args::{Args, PlanArgs};
use crate::render::{self, plan as view, terminal};
use crate::wire::{PlanFile, Project};

pub(crate) fn run(args: &Args, given: &PlanArgs) -> Outcome {
    let limits = Limits::default();
    let file = PlanFile::read(&given.reading, &limits)?;
    let project = Project::open(args)?;
    let faults = project.faults_of(&file);
    let ended = if faults.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(2) };
    let shown = view::Shown::of(&file.plan, &file.graph, &faults);
    let mut out = io::stdout().lock();
    if args.json {
        serde_json::to_writer(&mut out, &shown).map_err(io::Error::from)?;
        writeln!(out)?;
        return Ok(ended);
    }
    if !file.plan.tasks.is_empty() {
        out.write_all(view::render(&file.plan, &shown, terminal::width()).as_bytes())?;
    }
    for note in project.notes() {
        writeln!(out, "note: {}", terminal::clean(&note))?;
    }
    if !faults.is_empty() {
        let source = String::from_utf8_lossy(&file.source);
        let source = source.strip_prefix('\u{feff}').unwrap_or(&source);
        let text = render::faults::render(&faults, source, &file.name, terminal::takes_colours());
        writeln!(out, "\n{}{} in {}.", text, terminal::plural(faults.len(), "fault"), file.name)?;
    }
    Ok(ended)
}
