//! `sequester gc`: old runs go, and with them what only they needed.

use std::fmt::Write as _;
use std::process::ExitCode;

use sequester_core::id::RunId;
use sequester_core::moment::Moment;
use sequester_core::repository::Repository as _;
use sequester_store::{Collected, Rule, Which};

use super::run::is_attended;
use crate::Outcome;
use crate::args::{Args, GcArgs};
use crate::failure::Failure;
use crate::output;
use crate::render::onlooker::agree;
use crate::render::terminal::{number, plural};
use crate::wire::find_root;
use crate::wire::runs::{self, Runs, failed};

const DAY: u64 = 86_400_000;

pub(crate) fn run(args: &Args, given: &GcArgs) -> Outcome {
    let root = find_root(args)?;
    let (collected, branches) = match Runs::open_existing(&root)? {
        Some(runs) => {
            let rule = rule(&runs, given)?;
            if given.dry_run {
                return preview(args, &runs, &rule, given.older_than);
            }
            if !args.json && !given.yes && is_attended() && !agrees(&runs, &rule)? {
                output::tell("Nothing was removed.");
                return Ok(ExitCode::SUCCESS);
            }
            collect(&runs, &rule)?
        }
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

/// Which runs are meant.
fn rule(runs: &Runs, given: &GcArgs) -> Result<Rule, Failure> {
    if given.run.is_empty() {
        let before = runs::now().0.saturating_sub(u64::from(given.older_than) * DAY);
        return Ok(Rule::Before(Moment(before), Which::Ended));
    }
    let named: Result<Vec<RunId>, Failure> =
        given.run.iter().map(|run| runs.find(Some(run))).collect();
    Ok(Rule::Named(named?))
}

/// Those that would go, and those that a process holds.
fn candidates(runs: &Runs, rule: &Rule) -> Result<(Vec<RunId>, Vec<RunId>), Failure> {
    let all = runs.store.gc_candidates(rule).map_err(|error| failed(&error, &runs.root))?;
    let (mut go, mut held) = (Vec::new(), Vec::new());
    for run in all {
        if runs.is_held(&run)? {
            held.push(run);
        } else {
            go.push(run);
        }
    }
    Ok((go, held))
}

fn preview(args: &Args, runs: &Runs, rule: &Rule, days: u32) -> Outcome {
    let (go, held) = candidates(runs, rule)?;
    if args.json {
        output::print_json(&serde_json::json!({"would_remove": go, "held": held}))?;
        return Ok(ExitCode::SUCCESS);
    }
    let text = match go[..] {
        [] => none_is_old_enough(days),
        _ => format!("Would remove {}: {}.\n", plural(go.len(), "run"), names(&go)),
    };
    output::print(&(text + &told_held(&held)))?;
    Ok(ExitCode::SUCCESS)
}

/// Where nothing would go, nothing is asked.
fn agrees(runs: &Runs, rule: &Rule) -> Result<bool, Failure> {
    let (go, _) = candidates(runs, rule)?;
    Ok(go.is_empty()
        || agree(&format!("Remove {} for good: {}?", plural(go.len(), "run"), names(&go)))?)
}

/// What went, and the branches that stay of it.
fn collect(runs: &Runs, rule: &Rule) -> Result<(Collected, Vec<String>), Failure> {
    let collected = runs.store.gc(rule).map_err(|error| failed(&error, &runs.root))?;
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

fn names(runs: &[RunId]) -> String {
    runs.iter().map(|run| format!("`{run}`")).collect::<Vec<_>>().join(", ")
}

fn none_is_old_enough(days: u32) -> String {
    format!(
        "No run is old enough to go: it must have ended {} ago. `--older-than DAYS` says otherwise.\n",
        plural(days as usize, "day")
    )
}

fn told_held(held: &[RunId]) -> String {
    if held.is_empty() {
        return String::new();
    }
    format!("Still carried out, so kept: {}.\n", names(held))
}

fn tell(collected: &Collected, branches: &[String], days: u32) -> String {
    let mut text = match collected.runs[..] {
        [] => none_is_old_enough(days),
        _ => format!("{} gone: {}.\n", plural(collected.runs.len(), "run"), names(&collected.runs)),
    };
    text += &told_held(&collected.held);
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
