//! A plan's tasks as a run decides by them.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::workflow::DEFAULT;
use crate::budget::Limit;
use crate::check::Kind;
use crate::context::Share;
use crate::digest::Digest;
use crate::graph::TaskGraph;
use crate::id::TaskId;
use crate::limits::HandoverSizes;
use crate::plan::{Action, FileRef, Task, TaskWording, step};
use crate::protected::Grants;
use crate::recall::Relevance;
use crate::record::Switches;

/// A task without its text, which the plan's source has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskSpec {
    pub id: TaskId,
    pub title: String,
    /// Of the text: another one is another task.
    pub text: Digest,
    /// For its commit, where its steps spell one out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Directly, and only those that are part of this run.
    pub needs: Vec<TaskId>,
    pub workflow: String,
    /// Who writes, where the workflow leaves it open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// In the order in which they are tried, in the place of the agent's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub models: Vec<String>,
    pub files: Vec<FileSpec>,
    /// Files that its prose mentions. No change is judged by them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hints: Vec<HintSpec>,
    pub files_declared: bool,
    /// What its words say of its change; older stores have only the title to tell.
    #[serde(default, skip_serializing_if = "is_default")]
    pub wording: TaskWording,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub produces: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub consumes: Vec<String>,
    #[serde(default)]
    pub tdd: bool,
    #[serde(default)]
    pub budget: Cap,
    /// It asks the person a question and does nothing else, whatever models are named.
    #[serde(default, skip_serializing_if = "is_default")]
    pub asks_person: bool,
    /// Why it is no part of this run: done already, optional, not chosen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left_out: Option<String>,
}

impl TaskSpec {
    pub fn wording(&self) -> TaskWording {
        self.wording.or(TaskWording::of_title(&self.title))
    }

    /// As the plan has it; who works on it and how is for others to say.
    pub fn of(task: &Task, graph: &TaskGraph) -> Self {
        let file =
            |file: &FileRef| FileSpec { path: file.path.as_str().to_owned(), action: file.action };
        Self {
            id: task.id.clone(),
            title: task.title.clone(),
            text: Digest::of(task.text.as_bytes()),
            message: step::message(&step::read(task.pieces()[0]).steps),
            needs: graph.needs(&task.id),
            workflow: DEFAULT.to_owned(),
            agent: task.settings.agent.clone(),
            profile: task.settings.profile.clone(),
            models: Vec::new(),
            files: task.files.iter().map(file).collect(),
            hints: task.hints.iter().map(|hint| HintSpec(file(&hint.0))).collect(),
            files_declared: task.files_declared,
            wording: TaskWording::of_task(task),
            checks: task.checks.clone(),
            produces: task.interfaces.produces.clone(),
            consumes: task.interfaces.consumes.clone(),
            tdd: task.settings.tdd.unwrap_or(false),
            budget: Cap::default(),
            asks_person: task.settings.asks_person,
            left_out: task.done.then(|| "It is done already.".to_owned()),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileSpec {
    pub path: String,
    pub action: Action,
}

/// A file that a task's prose mentions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct HintSpec(pub FileSpec);

/// What holds for the whole run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settings {
    pub share: Share,
    /// By what records are chosen, of those that may be seen.
    #[serde(default, skip_serializing_if = "is_default")]
    pub relevance: Relevance,
    #[serde(default, skip_serializing_if = "is_default")]
    pub records: Switches,
    pub review: Review,
    /// Questions take their defaults; without one the task has failed.
    pub unattended: bool,
    /// Protected names that the person lets this run change.
    #[serde(default, skip_serializing_if = "is_default")]
    pub grants: Grants,
    #[serde(default)]
    pub budget: Cap,
    /// The project's checks, as they were found or configured.
    pub checks: BTreeMap<Kind, String>,
    /// Kinds that a person switched off.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub checks_off: BTreeSet<Kind>,
    /// How often a change is mended before another way is tried.
    pub fixes: u32,
    #[serde(default, skip_serializing_if = "is_default")]
    pub handover: HandoverSizes,
    /// The profile of those who write, where a person named another one for the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
}

impl Settings {
    /// The project's checks that are not switched off.
    pub fn active_checks(&self) -> BTreeMap<Kind, String> {
        let on = self.checks.iter().filter(|(kind, _)| !self.checks_off.contains(kind));
        on.map(|(kind, command)| (*kind, command.clone())).collect()
    }
}

/// What is as ever is not written down.
fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// What a task or a run may cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cap {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// Millionths of a dollar.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<u64>,
}

impl Cap {
    /// What is left once so much was used.
    pub(super) fn minus(self, tokens: u64, price: u64) -> Self {
        Self {
            tokens: self.tokens.map(|cap| cap.saturating_sub(tokens)),
            price: self.price.map(|cap| cap.saturating_sub(price)),
        }
    }

    /// As much as that on top of what was used.
    pub(super) fn above(self, tokens: u64, price: u64) -> Self {
        Self {
            tokens: self.tokens.map(|cap| cap.saturating_add(tokens)),
            price: self.price.map(|cap| cap.saturating_add(price)),
        }
    }

    /// So many parts of so many.
    pub(super) fn part(self, parts: u64, of: u64) -> Self {
        let part = |cap: u64| u128::from(cap) * u128::from(parts) / u128::from(of.max(1));
        let part = |cap: Option<u64>| cap.map(|cap| u64::try_from(part(cap)).unwrap_or(u64::MAX));
        Self { tokens: part(self.tokens), price: part(self.price) }
    }

    pub(super) fn plus(self, other: Self) -> Self {
        let sum = |one: Option<u64>, other: Option<u64>| Some(one?.saturating_add(other?));
        Self { tokens: sum(self.tokens, other.tokens), price: sum(self.price, other.price) }
    }

    pub(super) fn min(self, other: Self) -> Self {
        let least = |one: Option<u64>, other: Option<u64>| match (one, other) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
        Self { tokens: least(self.tokens, other.tokens), price: least(self.price, other.price) }
    }

    /// What of it such a limit is about.
    pub(super) fn of(self, limit: Limit) -> Option<u64> {
        match limit {
            Limit::Turns => None,
            Limit::Tokens => self.tokens,
            Limit::Price => self.price,
        }
    }

    /// Whether nothing is left of one of them.
    pub(super) fn is_spent(self) -> bool {
        self.tokens == Some(0) || self.price == Some(0)
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Review {
    /// One reviewer with two verdicts.
    #[default]
    Verdicts,
    /// One for what was asked, then one for how it is made.
    TwoStage,
}
