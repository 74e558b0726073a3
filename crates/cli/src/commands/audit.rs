//! `sequester audit`: whether a run kept its promises, from what was recorded of it.

use std::process::ExitCode;

use sequester_core::audit::{Ports, audit};
use sequester_core::repository::Repository;

use crate::Outcome;
use crate::args::{Args, AuditArgs};
use crate::output;
use crate::render::{audit as view, terminal};
use crate::wire::find_root;
use crate::wire::runs::{self, Runs};

pub(crate) fn run(args: &Args, given: &AuditArgs) -> Outcome {
    let (runs, run) = Runs::seek(&find_root(args)?, given.run.as_deref())?;
    let mut events = Vec::new();
    runs.each(&run, |recorded| {
        events.push(recorded);
        Ok(())
    })?;
    let trees = runs::trees(&runs.root)?;
    let ports = Ports {
        run: &run,
        store: &runs.store,
        repository: trees.as_ref().map(|trees| trees as &dyn Repository),
    };
    let found = audit(&events, &ports);
    if args.json {
        output::print_json(&view::Shown::of(&run, &found))?;
    } else {
        output::print(&view::render(&run, &found, terminal::width()))?;
    }
    Ok(if found.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
