//! What a person decides about a task that does not succeed by itself. It is recorded with their name, never as verified.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use super::event::{About, Asked};
use super::fact::Fact;
use super::offer::{ACCEPT, EDIT, SKIP, SKIP_WITH_DEPENDANTS};
use super::plan::TaskSpec;
use super::state::{RunState, TaskRun};
use crate::change::Refused;
use crate::id::{TaskId, TreeId};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PersonChoice {
    /// The change stands as it is.
    Accepted,
    /// The person mends the change and hands it back.
    Editing,
    /// The change is the person's own edit, and the checks found nothing against it.
    HandedBack,
    /// Tasks that need this one are built without its change.
    Skipped,
    /// Tasks that need this one are skipped too.
    SkippedWithDependants,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PersonDecision {
    pub choice: PersonChoice,
    pub by: String,
    /// The reason, if the person gave one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// Files of the change that no commit may hold.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<Refused>,
}

impl PersonDecision {
    /// The decision that an answer makes, where the question offers it. A reason follows the label and a colon.
    pub(super) fn read(asked: &Asked, answer: &str, by: &str) -> Option<Self> {
        if asked.about != About::Failure {
            return None;
        }
        let (label, why) = match answer.split_once(':') {
            Some((label, why)) => (label.trim(), Some(why.trim()).filter(|why| !why.is_empty())),
            None => (answer.trim(), None),
        };
        let choice = match label {
            ACCEPT => PersonChoice::Accepted,
            EDIT => PersonChoice::Editing,
            SKIP => PersonChoice::Skipped,
            SKIP_WITH_DEPENDANTS => PersonChoice::SkippedWithDependants,
            _ => return None,
        };
        let is_offered = asked.options.iter().any(|option| option.label == label);
        is_offered.then(|| Self {
            choice,
            by: by.to_owned(),
            why: why.map(str::to_owned),
            left_out: Vec::new(),
        })
    }

    /// The decision as a sentence.
    pub fn sentence(&self) -> String {
        let by = &self.by;
        let mut text = match self.choice {
            PersonChoice::Accepted => format!("Accepted by {by}, not verified"),
            PersonChoice::Editing => format!("Edited by {by}"),
            PersonChoice::HandedBack => format!("Handed back by {by}"),
            PersonChoice::Skipped => format!("Skipped by {by}"),
            PersonChoice::SkippedWithDependants => {
                format!("Skipped by {by}, with the tasks that need it")
            }
        };
        if let Some(why) = &self.why {
            text = format!("{text}: {}", why.trim_end_matches('.'));
        }
        text.push('.');
        for one in &self.left_out {
            let _ = write!(text, " Left out: `{}`, {}.", one.path, one.why.trim_end_matches('.'));
        }
        text
    }
}

/// The change of a task that waits for a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParkedChange<'a> {
    /// The base that the change was made on.
    pub base: &'a TreeId,
    /// The base with the change; the base itself where nothing changed.
    pub tree: &'a TreeId,
}

impl RunState {
    /// Whether a task takes what a person hands back, who knew of the events up to `seen`. A later word of a person counts more.
    pub fn takes_hand_back(&self, task: &TaskId, seen: u64) -> bool {
        let known = self.task(task).filter(|known| self.is_founded(known));
        known.is_some_and(|known| {
            !known.is_done() && known.running.is_empty() && known.decided_at <= seen
        })
    }
}

impl TaskRun {
    /// Whether a person handed it back and the checks of that are still to come: no subagent begins meanwhile.
    pub fn is_hand_back_unchecked(&self) -> bool {
        matches!(self.facts.last(), Some(Fact::HandedBack { .. }))
    }

    /// What the last attempt to write that changed something, or the person, left. An attempt that ended without a change takes
    /// nothing away from a person.
    pub fn parked(&self) -> Option<ParkedChange<'_>> {
        let standing = |fact: &&Fact| !matches!(fact, Fact::Reopened | Fact::Withdrawn { .. });
        let mut left = self.facts.iter().rev().take_while(standing).filter_map(|fact| match fact {
            Fact::Tried(tried) if tried.parent.is_none() && tried.phase.changes_files() => {
                let tree = tried.tree.as_ref().unwrap_or(&tried.base);
                Some(ParkedChange { base: &tried.base, tree })
            }
            Fact::HandedBack { base, tree, .. } => Some(ParkedChange { base, tree }),
            _ => None,
        });
        let newest = left.next()?;
        let is_empty = newest.base == newest.tree;
        let earlier = left.find(|one| is_empty && one.base != one.tree && one.base == newest.base);
        Some(earlier.unwrap_or(newest))
    }

    /// What a person handed back and what is not done yet, if it fits the task as the plan has it now: on other needs it would
    /// stand on another base.
    pub(super) fn kept_hand_back(&self, spec: &TaskSpec) -> Option<Fact> {
        self.handed_back()
            .filter(|_| self.ended.is_none() && self.planned().needs == spec.needs)?;
        self.facts.iter().rev().find(|fact| matches!(fact, Fact::HandedBack { .. })).cloned()
    }

    /// The tree that a person handed back, while no attempt has changed anything since.
    pub fn handed_back(&self) -> Option<&TreeId> {
        self.facts.iter().rev().find_map(|fact| match fact {
            Fact::Tried(tried) if tried.parent.is_none() && tried.phase.changes_files() => {
                Some(None)
            }
            Fact::Reopened | Fact::Withdrawn { .. } => Some(None),
            Fact::HandedBack { tree, .. } => Some(Some(tree)),
            _ => None,
        })?
    }
}
