//! `sequester audit`: whether a run kept its promises, from what was recorded of it.

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use sequester_core::audit::{Ports, audit};
use sequester_core::fault::Code;
use sequester_core::id::RunId;
use sequester_core::repository::Repository;
use sequester_core::run::{Event, Recorded};
use sequester_git::Trees;
use sequester_store::{BundledCommit, HeadState};

use crate::Outcome;
use crate::args::{Args, AuditArgs};
use crate::failure::Failure;
use crate::output;
use crate::render::{audit as view, terminal};
use crate::wire::runs::{self, Runs};
use crate::wire::{find_root, signing};

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
    let head = runs.store.head_state(&run).map_err(|error| runs::failed_run(&error, &run))?;
    if let Some(path) = &given.bundle {
        write_bundle(&runs, &run, &events, trees.as_ref(), path)?;
    }
    let signature = view::SignatureShown::of(head, signing::own_key()?);
    if args.json {
        output::print_json(&view::Shown::of(&run, &found, &signature))?;
    } else {
        output::print(&view::render(&run, &found, &signature, terminal::width()))?;
    }
    let is_ok = found.is_ok() && !matches!(head, HeadState::Broken { .. });
    Ok(if is_ok { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The run with its commits in one file, which is there whole or not at all.
fn write_bundle(
    runs: &Runs,
    run: &RunId,
    events: &[Recorded],
    trees: Option<&Trees>,
    path: &Path,
) -> Result<(), Failure> {
    let mut commits = Vec::new();
    for event in events {
        let Event::TaskCommitted { commit, .. } = &event.entry.event else { continue };
        let object = trees.map(|trees| trees.commit_object(commit)).transpose();
        let object = object.map_err(|error| runs::git_failed(&runs.root, &error))?;
        commits.extend(object.map(|object| BundledCommit { commit: commit.to_string(), object }));
    }
    let mut bytes = Vec::new();
    let written = runs.store.write_bundle(run, &commits, &mut bytes);
    written.map_err(|error| runs::failed_run(&error, run))?;
    let fresh = path.with_added_extension(format!("{}.part", std::process::id()));
    let placed = fs::write(&fresh, bytes).and_then(|()| fs::rename(&fresh, path));
    placed.map_err(|error| {
        let _ = fs::remove_file(&fresh);
        let message = format!("The bundle could not be written: {error}.");
        let hint = "Name a file in a folder that you may write to.";
        Failure::work(Code::Unwritable, path.display(), message, hint)
    })?;
    output::tell(&format!("`{}` holds the run for `sequester verify`.", path.display()));
    Ok(())
}
