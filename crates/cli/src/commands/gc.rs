//! `sequester gc`: old runs go, and with them what only they needed.

use std::fmt::Write as _;
use std::process::ExitCode;

use sequester_core::id::RunId;
use sequester_core::moment::Moment;
use sequester_core::repository::Repository as _;
use sequester_store::{Collected, Rule, Which};

use crate::Outcome;
use crate::args::{Args, GcArgs};
use crate::failure::Failure;
use crate::output;
use crate::render::terminal::{number, plural};
use crate::wire::find_root;
use crate::wire::runs::{self, Runs, failed};

const DAY: u64 = 86_400_000;

pub(crate) fn run(args: &Args, given: &GcArgs) -> Outcome {
    let root = find_root(args)?;
    let (collected, branches) = match Runs::open_existing(&root)? {
        Some(runs) => collect(&runs, given)?,
        None if given.run.is_empty() => (Collected::default(), Vec::new()),
        None => return Runs::seek(&root, None).map(|_| ExitCode::SUCCESS),
    };
    if args.json {
        output::print_json(&serde_json::json!({
            "runs": collected.runs,
            "held": collected.held,
            "blobs": collected.blobs,
            "bytes": collected.bytes,
            "locks": collected.locks,
            "branches": branches,
        }))?;
    } else {
        output::print(&tell(&collected, &branches, given.older_than))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// What went, and the branches that stay of it.
fn collect(runs: &Runs, given: &GcArgs) -> Result<(Collected, Vec<String>), Failure> {
    let rule = if given.run.is_empty() {
        let before = runs::now().0.saturating_sub(u64::from(given.older_than) * DAY);
        Rule::Before(Moment(before), Which::Ended)
    } else {
        let named: Result<Vec<RunId>, Failure> =
            given.run.iter().map(|run| runs.find(Some(run))).collect();
        Rule::Named(named?)
    };
    let collected = runs.store.gc(&rule).map_err(|error| failed(&error, &runs.root))?;
    for run in &collected.runs {
        // Most have none.
        let _ = std::fs::remove_file(runs::log_file(&runs.root, run));
    }
    let mut branches = Vec::new();
    // Branches are the person's; what kept other objects alive goes.
    if let Some(trees) = runs::trees(&runs.root)? {
        for run in &collected.runs {
            trees.release(run).map_err(|error| runs::git_failed(&runs.root, &error))?;
            let branch = format!("sequester/{run}");
            let found = trees.branch(&branch);
            let found = found.map_err(|error| runs::git_failed(&runs.root, &error))?;
            branches.extend(found.map(|_| branch).filter(|_| !trees.is_own()));
        }
        let known = runs.list()?;
        let holders = trees.holders().map_err(|error| runs::git_failed(&runs.root, &error))?;
        for run in holders.iter().filter(|run| !known.contains(run) && has_never_begun(run)) {
            trees.release(run).map_err(|error| runs::git_failed(&runs.root, &error))?;
        }
    }
    Ok((collected, branches))
}

/// Whoever was to begin it was killed: nobody takes a day for that.
fn has_never_begun(run: &RunId) -> bool {
    runs::made_at(run).is_some_and(|made| made.0 + DAY < runs::now().0)
}

fn tell(collected: &Collected, branches: &[String], days: u32) -> String {
    let names =
        |runs: &[RunId]| runs.iter().map(|run| format!("`{run}`")).collect::<Vec<_>>().join(", ");
    let mut text = match collected.runs[..] {
        [] => format!(
            "No run is old enough to go: it must have ended {} ago. `--older-than DAYS` says otherwise.\n",
            plural(days as usize, "day")
        ),
        _ => format!("{} gone: {}.\n", plural(collected.runs.len(), "run"), names(&collected.runs)),
    };
    if !collected.held.is_empty() {
        let _ = writeln!(text, "Still carried out, so kept: {}.", names(&collected.held));
    }
    if !branches.is_empty() {
        let names = branches.join(" ");
        let _ = writeln!(
            text,
            "Their branches are yours, and stay. To remove them: `git branch -D {names}`."
        );
    }
    let bytes = number(usize::try_from(collected.bytes).unwrap_or(usize::MAX));
    text + &format!("{} removed, {bytes} bytes given back.\n", plural(collected.blobs, "blob"))
}
