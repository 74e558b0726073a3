//! `sequester agents`: who can be asked, what each may do and what it is told.

use std::process::ExitCode;

use sequester_core::fault::{Fault, FileFault};

use crate::Outcome;
use crate::args::{Args, NameArgs};
use crate::failure::Failure;
use crate::output;
use crate::render::{agents as view, faults, terminal};
use crate::wire::config::resolve_model;
use crate::wire::{Agents, Project};

pub(crate) fn run(args: &Args, given: &NameArgs) -> Outcome {
    let project = Project::open(args)?;
    let agents = &project.agents;
    let Some(name) = &given.name else {
        let roles = agents.registry().roles();
        return list(args, agents, &agents.agent_faults(), &roles, || {
            view::list(roles, &agents.profiles, terminal::width())
        });
    };
    let role = agents.find(name)?;
    let granted = role.granted(&agents.profiles).map_err(|error| {
        Failure::input(error.code(), &role.origin, error.to_string(), error.hint())
    })?;
    let granted = granted.with_hosts(project.settings.hosts());
    let models = resolve_model(&[], None, role, &project.settings);
    show(args, role, || view::one(role, &granted, &models, terminal::width()))
}

/// One value, as JSON or as text.
pub(super) fn show(
    args: &Args,
    value: &impl serde::Serialize,
    render: impl FnOnce() -> String,
) -> Outcome {
    if args.json { output::print_json(value) } else { output::print(&render()) }?;
    Ok(ExitCode::SUCCESS)
}

/// A list, then what is wrong with files that were left out. Beside JSON that goes to standard error.
pub(super) fn list(
    args: &Args,
    agents: &Agents,
    wrong: &[&FileFault],
    value: &impl serde::Serialize,
    render: impl FnOnce() -> String,
) -> Outcome {
    show(args, value, render)?;
    let mut told = String::new();
    for same in wrong.chunk_by(|one, two| one.file == two.file) {
        let list: Vec<Fault> = same.iter().map(|one| one.fault.clone()).collect();
        let file = same.first().map_or("", |one| one.file.as_str());
        let name = terminal::clean(file);
        let colours = !args.json && terminal::takes_colours();
        let width = if args.json { terminal::note_width() } else { terminal::width() };
        told += &faults::render(&list, agents.text_of(file), &name, (colours, width));
    }
    if !wrong.is_empty() {
        told = format!(
            "\n{told}{} in files that were left out.\n",
            terminal::plural(wrong.len(), "fault")
        );
    }
    if args.json {
        output::warn(&told);
    } else {
        output::print(&told)?;
    }
    Ok(Failure::code_of(wrong.iter().copied()))
}
