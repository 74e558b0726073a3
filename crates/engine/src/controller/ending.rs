//! How an attempt ends: with its change, and with what it delegated.

use std::collections::BTreeSet;
use std::sync::Arc;

use sequester_core::agent::{self, Ending, Fault};
use sequester_core::change::{Change, Refusals, refuse_covering};
use sequester_core::digest::Digest;
use sequester_core::id::{TaskId, TreeId};
use sequester_core::profile::TASK;
use sequester_core::report::{Findings, Phase};
use sequester_core::run::{AttemptEnded, Entry, Event, Running, Said, Scope, TaskRun};
use sequester_core::store::Batch;

use super::bench::Bench;
use super::recorder::json;
use super::world::Trouble;
use super::{Controller, blocking};
use crate::journal::Halt;

impl Controller {
    /// With what its jail was asked for, and its change where it is there to make one.
    pub(super) async fn close(
        &self,
        scope: Scope,
        ending: Option<Ending>,
        bench: Bench<'_>,
        start: &TreeId,
        mut batch: Batch,
    ) -> Result<(), Trouble> {
        let asked = bench.asked().await;
        batch.entries.extend(asked.into_iter().map(|event| Entry { scope: scope.clone(), event }));
        let Some(ending) = ending else { return rested(self.keep(batch).await) };
        let left = if scope.phase.is_some_and(Phase::changes_files) {
            self.harvest(bench, start).await?
        } else {
            Left::default()
        };
        self.end_with(scope, ending, left, batch).await
    }

    /// What the attempt changed, and the tree with it.
    async fn harvest(&self, bench: Bench<'_>, start: &TreeId) -> Result<Left, Trouble> {
        let change = match bench.harvest().await {
            Ok(change) => change,
            Err(error) => return Ok(Left { trouble: Some(error.message), ..Left::default() }),
        };
        if change.entries.is_empty() {
            return Ok(Left { change: Some(change), ..Left::default() });
        }
        let (repository, start) = (Arc::clone(&self.world.repository), start.clone());
        let made = blocking(move || {
            let mut change = change;
            let covering = refuse_covering(&mut change, repository.snapshot(&start)?.as_ref());
            change.refused.extend(covering);
            let is_empty = change.entries.is_empty();
            let tree = if is_empty { None } else { Some(repository.with_change(&start, &change)?) };
            Ok::<_, Trouble>((tree, change))
        });
        let (tree, change) = made.await??;
        self.hold(&tree).await?;
        Ok(Left { change: Some(change), tree, trouble: None })
    }

    pub(super) async fn end_with(
        &self,
        scope: Scope,
        mut ending: Ending,
        left: Left,
        mut batch: Batch,
    ) -> Result<(), Trouble> {
        let mut claimed = Vec::new();
        if let (Some(report), Some(change)) = (&mut ending.report, &left.change)
            && let Findings::Write(found) | Findings::Execute(found) = &mut report.findings
        {
            // What the runtime saw counts; what the subagent said beyond it is kept, to be held against it.
            let seen: BTreeSet<&str> =
                change.entries.iter().map(|entry| entry.path.as_str()).collect();
            claimed = std::mem::take(&mut found.files_changed);
            claimed.retain(|path| !seen.contains(path.as_str()));
            found.files_changed = seen.into_iter().map(str::to_owned).collect();
        }
        let ended = AttemptEnded {
            said: ending.report.as_ref().map(|report| Said::of(report).wanting(&ending.wants)),
            report: ending.report.as_ref().map(|report| batch.keep(json(report))),
            claimed,
            change: left.change.as_ref().map(|change| change.pack(&mut batch)),
            tree: left.tree,
            trouble: left.trouble,
            refused: left.change.as_ref().map(Refusals::of).unwrap_or_default(),
            kept: batch.keep(json(&ending.kept)),
            spent: ending.spent,
            outcome: ending.outcome,
        };
        self.end(scope, ended, batch).await
    }

    pub(super) async fn end(
        &self,
        scope: Scope,
        ended: AttemptEnded,
        mut batch: Batch,
    ) -> Result<(), Trouble> {
        let none = batch.keep(json(&agent::Kept::default()));
        batch.entries.extend(self.cut_off(&scope, &none).await);
        let event = Event::AttemptEnded(Box::new(ended));
        batch.entries.push(Entry { scope, event });
        rested(self.keep(batch).await)
    }

    /// The ends of what it delegated and nobody waits for any more, the lowest first.
    async fn cut_off(&self, scope: &Scope, kept: &Digest) -> Vec<Entry> {
        let delegates = self.log.read(|run| {
            let running = run.task(scope.task.as_ref()?)?.running.get(&scope.attempt?)?;
            Some(running.started.tools.iter().any(|tool| tool == TASK))
        });
        if delegates != Some(true) {
            return Vec::new();
        }
        // What they gave last may still be on its way.
        self.log.settle().await;
        self.log.read(|run| {
            let task = scope.task.as_ref().and_then(|task| run.task(task));
            let below = task.zip(scope.attempt).into_iter();
            let below = below.flat_map(|(task, number)| task.below(number).rev());
            let task = scope.task.as_ref();
            below.map(|running| ended(task, running, running.cut_off(kept.clone()))).collect()
        })
    }

    /// Ends those attempts of a task that begins anew.
    pub(super) async fn cut(
        &self,
        task: &TaskId,
        is_meant: impl Fn(&TaskRun, u32) -> bool,
    ) -> Result<(), Trouble> {
        self.log.settle().await;
        let mut batch = Batch::default();
        let kept = batch.keep(json(&agent::Kept::default()));
        batch.entries = self.log.read(|run| {
            let running = run.task(task).into_iter().flat_map(|known| {
                let meant = |one: &&Running| is_meant(known, one.number);
                known.running.values().rev().filter(meant).collect::<Vec<_>>()
            });
            let end = |running: &Running| {
                let trouble = Some("What it was built on is done again.".to_owned());
                let cut_off = AttemptEnded { trouble, ..running.cut_off(kept.clone()) };
                ended(Some(task), running, cut_off)
            };
            running.map(end).collect()
        });
        Ok(self.log.append(batch).await?)
    }
}

/// What an attempt leaves in its workspace.
#[derive(Default)]
pub(super) struct Left {
    change: Option<Change>,
    tree: Option<TreeId>,
    trouble: Option<String>,
}

fn ended(task: Option<&TaskId>, running: &Running, ended: AttemptEnded) -> Entry {
    let (phase, attempt) = (Some(running.phase), Some(running.number));
    let scope = Scope { task: task.cloned(), phase, attempt };
    Entry { scope, event: Event::AttemptEnded(Box::new(ended)) }
}

/// What rests is no trouble.
pub(super) fn rested(done: Result<(), Halt>) -> Result<(), Trouble> {
    match done {
        Ok(()) | Err(Halt::Parked) => Ok(()),
        Err(Halt::Store(error)) => Err(Trouble::Store(error)),
    }
}

pub(super) fn failed(fault: Fault) -> AttemptEnded {
    AttemptEnded {
        outcome: agent::Outcome::Failed { fault },
        said: None,
        report: None,
        claimed: Vec::new(),
        change: None,
        tree: None,
        trouble: None,
        refused: Refusals::default(),
        kept: Digest::of(&json(&agent::Kept::default())),
        spent: sequester_core::budget::Spent::default(),
    }
}
