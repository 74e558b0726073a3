//! The isolated context: everything one subagent may see.

mod admit;
mod backpack;
mod build;
mod file;
mod files;
mod fitted;
mod fragment;
mod manifest;
mod notes;
mod render;
mod section;
mod shelf;

pub use admit::{Refusal, Rule, Share, View, admit};
pub use backpack::{EMPTY, FOOT, HEAD};
pub use build::{Builder, Clarification, Content, Error, Given, Request, Work, single};
pub use file::FormKind;
pub use file::{fence, render_whole};
pub use files::{OUTSIDE, READ};
pub use fitted::artifact_heading;
pub use fragment::{Grant, Kind, Part, Provenance};
pub use manifest::{Manifest, Row, Withheld};
pub use notes::note_block;
pub use section::{is_report_frame, spec_block, task_head, work_block};
pub use shelf::{Held, Shelf};

use std::ops::Range;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::handoff::Handoff;
use crate::id::TaskId;
use crate::plan::Task;
use crate::secret::{self, SecretSet};

/// Everything one subagent may see. Immutable; its digest names its bytes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct IsolatedContext {
    pub task: TaskId,
    pub agent: String,
    pub digest: String,
    pub tokens: usize,
    /// Agent and architecture: byte-identical for every subagent of the same agent in a run.
    pub system: Arc<str>,
    /// The task's own part.
    pub prompt: String,
    #[serde(flatten)]
    pub manifest: Manifest,
    /// The request that the prompt is rendered from; nothing in the records of older runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub handoff: Option<Handoff>,
    /// Recognised in any fragment and hidden in all of them; tools hide them too. Never written down.
    #[serde(skip)]
    pub secrets: SecretSet,
}

impl IsolatedContext {
    /// The digest of two parts: lengths are hashed too, so no byte can move from one to the other unseen.
    pub fn digest_of(system: &str, prompt: &str) -> String {
        let mut hasher = blake3::Hasher::new();
        for part in [system, prompt] {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part.as_bytes());
        }
        hasher.finalize().to_hex().to_string()
    }

    /// Where the task's own text stands in the prompt, after its id and title.
    pub fn task_text(&self) -> Range<usize> {
        let own = self.manifest.fragments.iter().filter(|row| row.part == Part::Prompt);
        let mut own = own.filter(|row| row.kind == Kind::Task);
        own.nth(1).map_or(0..0, |row| row.start..row.end)
    }

    /// The whole context as one prompt, for a program that takes only one.
    pub fn to_prompt(&self) -> String {
        format!("{}\n{}", self.system, self.prompt)
    }

    /// The arguments of a Task call that hands this context to another program's subagent.
    pub fn to_task_call(&self, title: &str) -> TaskCall {
        TaskCall {
            subagent_type: self.agent.clone(),
            prompt: section::for_outside(self.to_prompt()),
            description: secret::redact(&format!("{}: {title}", self.task)).text.into_owned(),
        }
    }
}

/// The arguments of a Task call: work that one subagent gives to another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TaskCall {
    /// Which agent takes it.
    pub subagent_type: String,
    /// All that the other is told: it sees nothing of what you were told or have done.
    pub prompt: String,
    /// What it is, in three to eight words.
    pub description: String,
}

impl TaskCall {
    /// The description as a title: on one line, and not a text of its own.
    pub fn title(&self) -> String {
        let words = self.description.split_whitespace().collect::<Vec<_>>().join(" ");
        words.chars().take(TITLE).collect()
    }

    /// The task as the other subagent knows it: of what the plan says, only constraints hold.
    pub fn as_part_of(&self, task: &Task) -> Task {
        Task {
            id: task.id.clone(),
            title: self.title(),
            text: self.prompt.clone(),
            constraints: task.constraints.clone(),
            place: task.place,
            ..Task::default()
        }
    }
}

/// Characters of a title.
const TITLE: usize = 120;
