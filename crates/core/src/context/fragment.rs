//! Fragments: bounded pieces of text with their provenance. Nothing enters a context except as one.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::id::TaskId;
use crate::path::RepoPath;

/// The two halves of a rendered context.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    System,
    Prompt,
}

/// Where a piece of text comes from. The visibility rule looks at nothing else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Provenance {
    /// A heading or sentence of the product's own.
    Frame,
    /// A built-in agent, or the file of one.
    Agent(String),
    /// The survey's line and where it was seen.
    Architecture(String),
    /// The plan's title and goal.
    Feature,
    /// A constraint that holds for every task, by its label.
    PlanConstraint(String),
    Task(TaskId),
    /// What another subagent of a task asks for, in the place of the task's text.
    Delegated(TaskId),
    TaskConstraint(TaskId),
    Interface(TaskId),
    /// The opening of an item that this task stands under.
    Parent {
        task: TaskId,
        title: String,
    },
    /// A section of a document beside the plan.
    Companion {
        path: String,
        section: String,
    },
    Clarification {
        task: TaskId,
        id: String,
    },
    /// What an earlier phase of a task left, by its title.
    Work {
        task: TaskId,
        title: String,
    },
    File {
        path: RepoPath,
        grant: Grant,
    },
    /// A section of the project's notes as it stood when the run began: a person wrote or pinned it.
    Note {
        section: String,
    },
    Record {
        id: Arc<str>,
        task: TaskId,
    },
}

/// What brought a file up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Grant {
    /// The plan names it for a task.
    Named(TaskId),
    /// Ranking found it for this task's text.
    Ranked,
    /// Somebody gave it to a task besides.
    Given(TaskId),
}

/// The kind of a fragment, as people and programs read it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    Frame,
    Agent,
    Architecture,
    Feature,
    Constraint,
    Task,
    Interface,
    Parent,
    Spec,
    Clarification,
    Work,
    File,
    Note,
    Record,
}

impl Kind {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Frame => "frame",
            Self::Agent => "agent",
            Self::Architecture => "architecture",
            Self::Feature => "feature",
            Self::Constraint => "constraint",
            Self::Task => "task",
            Self::Interface => "interface",
            Self::Parent => "parent",
            Self::Spec => "spec",
            Self::Clarification => "clarification",
            Self::Work => "work",
            Self::File => "file",
            Self::Note => "note",
            Self::Record => "record",
        }
    }
}

impl Provenance {
    pub fn kind(&self) -> Kind {
        match self {
            Self::Frame => Kind::Frame,
            Self::Agent(_) => Kind::Agent,
            Self::Architecture(_) => Kind::Architecture,
            Self::Feature => Kind::Feature,
            Self::PlanConstraint(_) | Self::TaskConstraint(_) => Kind::Constraint,
            Self::Task(_) | Self::Delegated(_) => Kind::Task,
            Self::Interface(_) => Kind::Interface,
            Self::Parent { .. } => Kind::Parent,
            Self::Companion { .. } => Kind::Spec,
            Self::Clarification { .. } => Kind::Clarification,
            Self::Work { .. } => Kind::Work,
            Self::File { .. } => Kind::File,
            Self::Note { .. } => Kind::Note,
            Self::Record { .. } => Kind::Record,
        }
    }

    /// The source in a person's words.
    pub fn source(&self) -> String {
        match self {
            Self::Frame => "sequester".to_owned(),
            Self::Agent(source) | Self::Architecture(source) => source.clone(),
            Self::Feature => "plan: title and goal".to_owned(),
            Self::PlanConstraint(label) => format!("plan: {label}"),
            Self::Task(id) | Self::TaskConstraint(id) | Self::Interface(id) => {
                format!("task {id}")
            }
            Self::Delegated(id) => format!("a subagent of task {id}"),
            Self::Parent { title, .. } => format!("plan: {title}"),
            Self::Companion { path, section } if section.is_empty() => path.clone(),
            Self::Companion { path, section } => format!("{path}: {section}"),
            Self::Clarification { id, .. } => format!("answer {id}"),
            Self::Work { title, .. } => format!("this task: {title}"),
            Self::File { path, .. } => path.to_string(),
            Self::Note { section } => format!("notes: {section}"),
            Self::Record { id, task } => format!("record {id} of task {task}"),
        }
    }
}
