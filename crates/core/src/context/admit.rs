//! The visibility rule: what may enter a task's context. A context starts empty; this is the only door.

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::fragment::{Grant, Provenance};
use crate::graph::TaskGraph;
use crate::id::TaskId;

/// How far records travel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Share {
    /// Along the dependency edges.
    #[default]
    Needs,
    None,
    /// From all earlier waves.
    AllEarlier,
}

impl Share {
    pub const ALL: [Self; 3] = [Self::Needs, Self::None, Self::AllEarlier];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Needs => "needs",
            Self::None => "none",
            Self::AllEarlier => "all-earlier",
        }
    }

    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|share| share.as_str() == name)
    }
}

/// What one task may see of the others: the tasks whose records may reach it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct View {
    pub task: TaskId,
    pub ancestors: BTreeSet<TaskId>,
    share: Share,
}

impl View {
    pub fn of(task: &TaskId, graph: &TaskGraph, share: Share) -> Self {
        let ancestors = match share {
            Share::None => BTreeSet::new(),
            Share::Needs => graph.ancestors(task).into_iter().collect(),
            Share::AllEarlier => graph.earlier(task).into_iter().collect(),
        };
        Self { task: task.clone(), ancestors, share }
    }

    /// As a run has it: tasks that are done keep what they needed then, whatever the plan says now.
    pub fn of_run(task: &TaskId, visible: &BTreeSet<TaskId>, share: Share) -> Self {
        Self { task: task.clone(), ancestors: visible.clone(), share }
    }
}

/// The clause that let a fragment in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rule {
    BuiltIn,
    SharedByAll,
    PlanHeader,
    OwnTask,
    Delegated,
    ParentItem,
    Companion,
    OwnAnswer,
    OwnWork,
    NamedFile,
    RankedFile,
    GrantedFile,
    PersonsNote,
    Need,
    EarlierWave,
}

/// Why something was left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Refusal {
    AnotherTask,
    NotANeed,
    SharingIsOff,
    SecretName,
    Binary,
    TooLarge,
    OverBudget,
    TaskList,
    Unrelated,
    PassedOver,
    Slight,
    TooOld,
    NotConsumed,
    SwitchedOff,
    RelevanceIsOff,
    Plan,
    NotThere,
    Gone,
    Symlink,
    Unreadable,
    Simplified,
    Delegated,
}

/// Decides by provenance alone.
pub fn admit(provenance: &Provenance, view: &View) -> Result<Rule, Refusal> {
    let own = |task: &TaskId, rule| {
        if *task == view.task { Ok(rule) } else { Err(Refusal::AnotherTask) }
    };
    match provenance {
        Provenance::Frame => Ok(Rule::BuiltIn),
        Provenance::Agent(_) | Provenance::Architecture(_) => Ok(Rule::SharedByAll),
        Provenance::Feature | Provenance::PlanConstraint(_) => Ok(Rule::PlanHeader),
        Provenance::Task(task) | Provenance::TaskConstraint(task) | Provenance::Interface(task) => {
            own(task, Rule::OwnTask)
        }
        Provenance::Delegated(task) => own(task, Rule::Delegated),
        Provenance::Parent { task, .. } => own(task, Rule::ParentItem),
        Provenance::Companion { .. } => Ok(Rule::Companion),
        Provenance::Clarification { task, .. } => own(task, Rule::OwnAnswer),
        Provenance::Work { task, .. } => own(task, Rule::OwnWork),
        Provenance::File { grant: Grant::Named(task), .. } => own(task, Rule::NamedFile),
        Provenance::File { grant: Grant::Ranked, .. } => Ok(Rule::RankedFile),
        Provenance::File { grant: Grant::Given(task), .. } => own(task, Rule::GrantedFile),
        Provenance::Note { .. } => Ok(Rule::PersonsNote),
        Provenance::Record { task, .. } => match view.share {
            Share::None => Err(Refusal::SharingIsOff),
            _ if !view.ancestors.contains(task) => Err(Refusal::NotANeed),
            Share::Needs => Ok(Rule::Need),
            Share::AllEarlier => Ok(Rule::EarlierWave),
        },
    }
}

impl Rule {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::BuiltIn => "built in",
            Self::SharedByAll => "shared by all subagents of the run",
            Self::PlanHeader => "holds for every task of the plan",
            Self::OwnTask => "the task's own text",
            Self::Delegated => "asked for by another subagent of this task",
            Self::ParentItem => "the opening of an item it stands under",
            Self::Companion => "a document beside the plan",
            Self::OwnAnswer => "an answer to this task",
            Self::OwnWork => "left by an earlier phase of this task",
            Self::NamedFile => "named by the plan for this task",
            Self::RankedFile => "ranked for this task's text",
            Self::GrantedFile => "granted to this task besides",
            Self::PersonsNote => "a person wrote or pinned it in the notes",
            Self::Need => "left by a task it needs",
            Self::EarlierWave => "left by a task of an earlier wave",
        }
    }
}

impl Refusal {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::AnotherTask => "it belongs to another task",
            Self::NotANeed => "it was left by a task that this one does not need",
            Self::SharingIsOff => "the run shares no records (`share none`)",
            Self::SecretName => "its name says that it holds secrets",
            Self::Binary => "it is not text",
            Self::TooLarge => "it is larger than any file that is read",
            Self::OverBudget => "it did not fit in the budget",
            Self::TaskList => "it is a list of tasks",
            Self::Plan => "it is itself a plan",
            Self::Unrelated => "it shares no word with the task",
            Self::PassedOver => "others were more about the task",
            Self::Slight => "it has too little to do with the task",
            Self::TooOld => "it is not among the last ten",
            Self::NotConsumed => "the task does not consume it",
            Self::SwitchedOff => "records of its kind are switched off",
            Self::RelevanceIsOff => "`relevance` is off: nothing is chosen by its text",
            Self::NotThere => "it is not in the base",
            Self::Gone => "it was gone when it was to be read",
            Self::Symlink => "it is a symbolic link",
            Self::Unreadable => "it could not be read",
            Self::Simplified => "the handoff is simplified after a time-out",
            Self::Delegated => "another subagent of the task says what is to be done",
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}
