//! `sequester plan`: tasks, waves, write sets, faults, tokens and price.

use std::fmt::Write as _;
use std::process::ExitCode;

use sequester_core::plan::Task;
use sequester_core::protected::Grants;

use crate::Outcome;
use crate::args::{Args, PlanArgs};
use crate::output;
use crate::render::{self, plan as view, terminal};
use crate::wire::doubts::{Doubts, Found};
use crate::wire::{PlanFile, Project, prices};

pub(crate) fn run(args: &Args, given: &PlanArgs) -> Outcome {
    let project = Project::open(args)?;
    let file = PlanFile::read(&given.reading, &project.settings.limits())?;
    let faults = project.faults_of(&file);
    let ended = ExitCode::from(faults.iter().map(|fault| fault.code.exit()).max().unwrap_or(0));
    // A plan with faults asks nothing: it does not run.
    let asked = faults.is_empty().then(|| doubts(&project, &file));
    let doubts = asked.as_ref().map(Found::doubts).unwrap_or_default();
    let warnings = project.warnings_of(&file);
    // The text has the doubts as questions.
    let mut listed = warnings.clone();
    listed.extend(asked.iter().flat_map(Found::warnings));
    listed.sort_by_key(|warning| (warning.place, warning.code));
    let read = (&file.plan, &file.graph, file.source.as_slice());
    let shown = view::Shown::of(read, (&faults, &listed), doubts);
    if args.json {
        output::print_json(&shown)?;
        return Ok(ended);
    }
    let source = String::from_utf8_lossy(&file.source);
    let source = source.strip_prefix('\u{feff}').unwrap_or(&source);
    let look = (terminal::takes_colours(), terminal::width());
    let mut text = String::new();
    if !warnings.is_empty() {
        let told = render::faults::warnings(&warnings, source, &file.name, look);
        let count = terminal::plural(warnings.len(), "warning");
        let _ = writeln!(text, "{told}{count} in {}.\n", file.name);
    }
    if !file.plan.tasks.is_empty() {
        let prices = prices::of(&project)?;
        text += &view::render(&file.plan, &shown, &prices, terminal::width());
    }
    for note in project.notes().iter().chain(asked.iter().flat_map(|found| &found.notes)) {
        let _ = writeln!(text, "note: {}", terminal::clean(note));
    }
    text = terminal::fold(&text, terminal::width());
    if !faults.is_empty() {
        let told = render::faults::render(&faults, source, &file.name, look);
        let count = terminal::plural(faults.len(), "fault");
        let _ = writeln!(text, "\n{told}{count} in {}.", file.name);
    }
    output::print(&text)?;
    Ok(ended)
}

/// What `run` would ask before anything starts.
fn doubts(project: &Project, file: &PlanFile) -> Found {
    let takes_part = |task: &&Task| !task.done && !task.optional;
    let part = file.plan.tasks.iter().filter(takes_part).map(|task| task.id.clone()).collect();
    Doubts { project, file, grants: Grants::none(), base: project.base.snapshot() }.find(&part)
}
