//! Records: what outlives a task.

mod artifact;
mod backpack;
mod catalogue;
mod left;
mod lineage;
mod notes;
mod phase_finding;
mod quote;
mod usage;
mod wish;

pub use artifact::{Todo, artifact_ids, artifact_words, artifacts, open_todos};
pub use backpack::{BACKPACK_TOKENS, Pack, Packed};
pub use catalogue::{Catalogue, ListedRecord, Seeker};
pub use left::{Read, left, touched};
pub use lineage::{before, counted};
pub use notes::notes;
pub use phase_finding::{phase_findings, rank_findings};
pub use quote::{FOUND, NOTHING, line, recalled_ids};
pub use quote::{quote, recalled};
pub use usage::named;

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::context::Refusal;
use crate::id::TaskId;
use crate::report::Label;

/// The tool by which a subagent asks for records.
pub const RECALL: &str = "recall";

/// Something a task left for those that build on it. The visibility rule looks at its task only.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// Readable, and the same whenever it is asked for: `TASK/summary`, `TASK/interface-1`.
    pub id: Arc<str>,
    pub task: TaskId,
    pub kind: Kind,
    pub title: String,
    pub text: String,
    /// What the task really touched: never what it says it did.
    pub paths: Vec<String>,
    /// Other records by their ids, or paths, that it speaks of.
    #[serde(default)]
    pub refs: Vec<String>,
    /// What sort of its kind it is, such as `finding`; empty where there is only one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub label: String,
}

impl Record {
    /// Nothing where it is no artifact.
    pub fn artifact_type(&self) -> Option<Label> {
        let mut labels = Label::ALL.into_iter().filter(|_| self.kind == Kind::Artifact);
        labels.find(|label| label.word() == self.label)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    Summary,
    Note,
    Artifact,
    Backpack,
    Interface,
    /// Of an earlier phase of the same task.
    Finding,
}

impl Kind {
    pub const ALL: [Self; 6] =
        [Self::Summary, Self::Note, Self::Artifact, Self::Backpack, Self::Interface, Self::Finding];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Summary => "summary",
            Self::Note => "note",
            Self::Artifact => "artifact",
            Self::Backpack => "backpack",
            Self::Interface => "interface",
            Self::Finding => "finding",
        }
    }

    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == name)
    }
}

/// Which kinds pass from task to task. Interfaces always do: the plan itself says who gets them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[expect(clippy::struct_excessive_bools, reason = "each is one switch of the configuration")]
pub struct Switches {
    pub summaries: bool,
    pub notes: bool,
    pub artifacts: bool,
    pub backpack: bool,
}

impl Default for Switches {
    fn default() -> Self {
        Self { summaries: true, notes: true, artifacts: false, backpack: false }
    }
}

impl Switches {
    pub const ALL: Self = Self { summaries: true, notes: true, artifacts: true, backpack: true };

    pub fn has(self, kind: Kind) -> bool {
        match kind {
            Kind::Summary => self.summaries,
            Kind::Note => self.notes,
            Kind::Artifact => self.artifacts,
            Kind::Backpack => self.backpack,
            Kind::Interface | Kind::Finding => true,
        }
    }
}

/// A record that is to be shown, and what led to it.
#[derive(Clone, Debug, PartialEq)]
pub struct Chosen {
    pub record: Arc<Record>,
    /// Nothing where it was not ranked.
    pub score: Option<f64>,
    pub why: String,
}

impl Chosen {
    /// What stands in a manifest; no subagent reads it.
    pub fn reason(&self) -> String {
        match self.score {
            Some(score) => format!("{score:.3}: {}", self.why),
            None => self.why.clone(),
        }
    }
}

/// What a task is handed of what it may see.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Handed {
    /// In the order in which they get room.
    pub chosen: Vec<Chosen>,
    /// How many more it may see, and why it was not shown these.
    pub passed_over: Vec<(Refusal, usize)>,
    /// The tasks whose records may reach it, as the run has it; nothing where only the plan is known.
    pub visible: Option<BTreeSet<TaskId>>,
}

impl Handed {
    /// Nothing at all.
    pub const NONE: &'static Self =
        &Self { chosen: Vec::new(), passed_over: Vec::new(), visible: None };
}
