//! `sequester audit`: whether a run kept its promises, from what was recorded of it.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::Path;
use std::process::ExitCode;

use sequester_audit::{Ports, audit};
use sequester_core::fault::Code;
use sequester_core::id::RunId;
use sequester_core::repository::Repository;
use sequester_core::run::Event;
use sequester_git::Trees;
use sequester_store::{BUNDLE_START, BundledCommit, HeadState};

use crate::Outcome;
use crate::args::{Args, AuditArgs};
use crate::failure::Failure;
use crate::output;
use crate::render::{audit as view, terminal};
use crate::wire::runs::{self, Runs};
use crate::wire::{find_root, signing};

pub(crate) fn run(args: &Args, given: &AuditArgs) -> Outcome {
    let (runs, run) = Runs::seek_with_branch(&find_root(args)?, given.run.as_deref())?;
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
        write_bundle(&runs, &run, trees.as_ref(), path)?;
    }
    let accepted = runs.store.acceptance(&run).map_err(|error| runs::failed_run(&error, &run))?;
    let signature = view::SignatureShown::of(head, signing::own_key().unwrap_or(None), accepted);
    if args.json {
        output::print_json(&view::Shown::of(&run, &found, &signature))?;
    } else {
        output::print(&view::render(&run, &found, &signature, terminal::width()))?;
    }
    let is_ok = found.is_ok() && !matches!(head, HeadState::Broken { .. });
    Ok(if is_ok { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// A file of the person's stays; an older bundle goes.
fn may_replace(path: &Path) -> bool {
    let mut first = [0; BUNDLE_START.len()];
    match fs::symlink_metadata(path) {
        Err(error) => error.kind() == io::ErrorKind::NotFound,
        Ok(about) if !about.is_file() => false,
        Ok(_) => {
            let read = File::open(path).and_then(|mut file| file.read_exact(&mut first));
            read.is_ok() && first == BUNDLE_START.as_bytes()
        }
    }
}

/// The run with its commits in one file, which is there whole or not at all.
fn write_bundle(
    runs: &Runs,
    run: &RunId,
    trees: Option<&Trees>,
    path: &Path,
) -> Result<(), Failure> {
    if !may_replace(path) {
        let message = "This file is there already, and is no bundle.";
        let hint = "Name another file.";
        return Err(Failure::input(Code::Unwritable, path.display(), message, hint));
    }
    let draft = runs.store.draft_bundle(run).map_err(|error| runs::failed_run(&error, run))?;
    let mut commits: BTreeMap<&str, BundledCommit> = BTreeMap::new();
    for event in &draft.events {
        let Event::TaskCommitted { commit, .. } = &event.entry.event else { continue };
        let object = trees.map(|trees| trees.commit_object(commit)).transpose();
        let object = object.map_err(|error| runs::git_failed(&runs.root, &error))?;
        let bundled = object.map(|object| BundledCommit { commit: commit.to_string(), object });
        commits.extend(bundled.map(|bundled| (commit.as_str(), bundled)));
    }
    let commits: Vec<BundledCommit> = commits.into_values().collect();
    let mut bytes = Vec::new();
    let drafted = draft.write(&commits, &mut bytes);
    let fresh = path.with_added_extension(format!("{}.part", std::process::id()));
    let placed =
        drafted.and_then(|()| fs::write(&fresh, bytes)).and_then(|()| fs::rename(&fresh, path));
    placed.map_err(|error| {
        let _ = fs::remove_file(&fresh);
        let message = format!("The bundle could not be written: {error}.");
        let hint = "Name a file in a folder that you may write to.";
        Failure::work(Code::Unwritable, path.display(), message, hint)
    })?;
    output::tell(&format!("`{}` holds the run for `sequester verify`.", path.display()));
    Ok(())
}
