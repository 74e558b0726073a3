//! What a task came to, by its last attempt as the store has it.

use std::time::Duration;

use sequester_core::agent::{Ending, Kept};
use sequester_core::budget::Spent;
use sequester_core::change::Change;
use sequester_core::digest::Digest;
use sequester_core::provider::Reply;
use sequester_core::repository::Repository as _;
use sequester_core::run::{Event, Purpose, RunState, TaskRun, Tried};
use sequester_git::Trees;

use super::Evidence;
use super::runs::{self, Runs};
use crate::failure::Failure;

pub(crate) struct Last {
    pub(crate) model: String,
    pub(crate) agent: String,
    /// Of its context.
    pub(crate) digest: Digest,
    pub(crate) ending: Ending,
    pub(crate) evidence: Evidence,
    /// By all attempts together.
    pub(crate) spent: Spent,
}

impl Last {
    /// Nothing where no attempt has ended.
    pub(crate) fn read(
        runs: &Runs,
        trees: &Trees,
        state: &RunState,
        task: &TaskRun,
    ) -> Result<Option<Self>, Failure> {
        let Some(tried) = task.tried().next_back() else { return Ok(None) };
        let blob = |digest: &Digest| runs.blob(&state.run, digest);
        let report = tried.report.as_ref().map(blob).transpose()?;
        let report = report.and_then(|bytes| serde_json::from_slice(&bytes).ok());
        let left = Left::read(runs, state, task, tried)?;
        let ending = Ending {
            outcome: tried.outcome.clone(),
            report,
            spent: tried.spent.clone(),
            kept: left.kept,
            last_words: left.words,
            wants: Vec::new(),
        };
        let evidence = match &tried.trouble {
            Some(why) => Evidence::missing(why),
            None => Evidence::from(change(runs, trees, state, tried)?),
        };
        Ok(Some(Self {
            model: tried.model.clone(),
            agent: tried.agent.clone(),
            digest: tried.context.clone(),
            ending,
            evidence,
            spent: spent(task),
        }))
    }
}

/// By all attempts, also those that were delegated; their time is that of who waits for them.
fn spent(task: &TaskRun) -> Spent {
    task.all_tried().fold(Spent::default(), |sum, tried| {
        let mut spent = tried.spent.clone();
        if tried.parent.is_some() {
            spent.elapsed = Duration::ZERO;
        }
        sum.with(&spent)
    })
}

/// Against the task's base, whatever the attempt itself began with.
fn change(runs: &Runs, trees: &Trees, state: &RunState, tried: &Tried) -> Result<Change, Failure> {
    let Some(packed) = &tried.change else { return Ok(Change::default()) };
    let own = runs.change(&state.run, packed)?;
    match &tried.tree {
        Some(tree) if tried.purpose == Purpose::Fix => {
            let all = trees.between(&tried.base, tree);
            let all = all.map_err(|error| runs::git_failed(&runs.root, &error))?;
            Ok(Change { entries: all.entries, patch: all.patch, ..own })
        }
        _ => Ok(own),
    }
}

/// What the log has of an attempt, and no state.
#[derive(Default)]
struct Left {
    kept: Kept,
    /// What the model said last, as far as it said anything.
    words: String,
}

impl Left {
    fn read(runs: &Runs, state: &RunState, task: &TaskRun, tried: &Tried) -> Result<Self, Failure> {
        let (mut kept, mut replies) = (None, Vec::new());
        runs.each(&state.run, |recorded| {
            let scope = &recorded.entry.scope;
            if scope.task.as_ref() == Some(&task.spec.id) && scope.attempt == Some(tried.number) {
                match recorded.entry.event {
                    Event::TurnEnded { reply, .. } => replies.push(reply),
                    Event::AttemptEnded(ended) => kept = Some(ended.kept),
                    _ => {}
                }
            }
            Ok(())
        })?;
        let mut left = Self::default();
        if let Some(kept) = kept {
            let bytes = runs.blob(&state.run, &kept)?;
            left.kept = serde_json::from_slice(&bytes).unwrap_or_default();
        }
        for reply in replies.iter().rev().filter(|_| tried.report.is_none()) {
            let reply: Option<Reply> = serde_json::from_slice(&runs.blob(&state.run, reply)?).ok();
            let said = reply.map(|reply| reply.said.text).unwrap_or_default();
            if !said.is_empty() {
                left.words = said;
                left.words.truncate(left.words.floor_char_boundary(WORDS));
                break;
            }
        }
        Ok(left)
    }
}

/// As much as a person reads of it.
const WORDS: usize = 2_000;
