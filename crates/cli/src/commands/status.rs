//! `sequester status`: all runs, or how one stands.

use std::collections::BTreeSet;
use std::process::ExitCode;

use sequester_core::id::RunId;
use sequester_core::run::RunView;
use serde_json::json;

use crate::Outcome;
use crate::args::{Args, StatusArgs};
use crate::failure::Failure;
use crate::output;
use crate::render::{run as view, terminal};
use crate::wire::find_root;
use crate::wire::placed::Placed;
use crate::wire::runs::{self, Runs};

pub(crate) fn run(args: &Args, given: &StatusArgs) -> Outcome {
    let root = find_root(args)?;
    if given.run.is_some() {
        let (runs, state, meant) =
            Runs::seek_task(&root, given.run.as_deref(), given.task.as_deref())?;
        let mut status = runs.view_of(&state, runs.is_held(&state.run)?);
        if !args.json {
            Placed::of(&runs, &state).run(&mut status);
        }
        if let Some(meant) = meant {
            status.tasks.retain(|task| task.id == meant);
            status.todos.retain(|todo| todo.task == meant);
        }
        let is_applied = !applied(&runs, std::slice::from_ref(&status))?.is_empty();
        if args.json {
            let mut value = json!(status);
            value["applied"] = json!(is_applied);
            output::print_json(&value)?;
        } else {
            if is_applied {
                output::tell(&format!("Run `{}` is applied: HEAD has its commits.", status.run));
            }
            output::print(&view::status(&status, runs.taken(), terminal::width()))?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    let mut exit = ExitCode::SUCCESS;
    let mut listed: Vec<RunView> = Vec::new();
    let mut in_head = BTreeSet::new();
    if let Some(runs) = Runs::look(&root)? {
        for run in runs.list()? {
            match runs.view(&run) {
                Ok(view) => listed.push(view),
                // One that cannot be read hides no other.
                Err(failure) => {
                    exit = ExitCode::FAILURE;
                    output::tell(&format!("{} {}", failure.message(), failure.hint()));
                }
            }
        }
        in_head = applied(&runs, &listed)?;
    }
    if args.json {
        let brief: Vec<_> = listed.iter().map(|one| view::Brief::of(one, &in_head)).collect();
        output::print_json(&brief)?;
    } else {
        output::print(&view::list(&listed, &in_head, terminal::width()))?;
    }
    Ok(exit)
}

/// Runs that git is asked about, the newest first.
const MOST_ASKED: usize = 50;

/// Those whose commits HEAD has. What `apply --patch` brought in has no commit, and is not known.
fn applied(runs: &Runs, listed: &[RunView]) -> Result<BTreeSet<RunId>, Failure> {
    let Some(trees) = runs::trees(&runs.root)?.filter(|trees| !trees.is_own()) else {
        return Ok(BTreeSet::new());
    };
    let with_tip = listed.iter().filter_map(|view| Some((&view.run, view.tip.as_ref()?)));
    // A commit that was cleaned away is in no HEAD.
    let in_head =
        with_tip.take(MOST_ASKED).filter(|(_, tip)| trees.is_in_head(tip).unwrap_or(false));
    Ok(in_head.map(|(run, _)| run.clone()).collect())
}
