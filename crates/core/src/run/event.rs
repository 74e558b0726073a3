//! What happens in a run, as it is kept. The set is closed: whoever reads a log knows every word in it.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::contradiction::Contradiction;
use super::outcome::{Outcome, Tally};
use super::plan::{Cap, Settings, TaskSpec};
use super::said::Said;
pub use super::task_end::{Ended, TaskEnded};
use super::workflow::Workflow;
use crate::agent;
use crate::budget::{Budget, Spent};
use crate::change::{Refusals, Refused};
use crate::check::{Check, Counts};
use crate::context::Refusal;
use crate::digest::Digest;
use crate::id::{CommitId, QuestionId, RunId, TaskId, TreeId};
use crate::moment::Moment;
use crate::path::RepoPath;
use crate::profile::Granted;
use crate::provider;
use crate::record::Todo;
use crate::report::{Choice, Phase};
use crate::usage::Usage;

/// An event with its place in the log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Recorded {
    /// From 1, without gaps.
    pub seq: u64,
    pub at: Moment,
    pub run: RunId,
    #[serde(flatten)]
    pub entry: Entry,
}

/// An event on its way into the log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    #[serde(flatten)]
    pub scope: Scope,
    #[serde(flatten)]
    pub event: Event,
}

/// What an event is about; nothing for the run itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Scope {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<TaskId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<Phase>,
    /// Counted from 1 within the task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempt: Option<u32>,
}

/// The version of this set. An event of a later one is never guessed at.
pub const VERSION: u32 = 1;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    RunStarted(Box<Started>),
    /// Another process took it up again.
    RunResumed {
        /// Tasks that failed and are tried again.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        retry: Vec<TaskId>,
        /// What it may use from now on, in the place of what it had.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        budget: Option<Cap>,
    },
    /// The plan was edited: open tasks take the new text.
    PlanChanged {
        plan: Source,
        tasks: Vec<TaskSpec>,
        /// Those that new tasks use and the run did not have.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        workflows: BTreeMap<String, Workflow>,
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        agents: BTreeMap<String, Agent>,
    },
    /// Open tasks go on with other models, or in another profile.
    AgentsChanged {
        /// By agent, in the order in which they are tried; they take the place of what tasks name too.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        models: BTreeMap<String, Vec<String>>,
        /// Of those who write.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        profile: Option<String>,
    },
    RunCancelled {
        by: String,
    },
    /// A word that another process left was heeded, whatever came of it: it is not read again.
    LetterTaken {
        letter: u64,
    },
    /// Nothing goes on any more, for good or until somebody takes it up again.
    RunEnded {
        outcome: Outcome,
        tasks: Tally,
        usage: Usage,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        price: Option<u64>,
        /// What its tasks left to be done; filled in by who can read what they left.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        todos: Vec<Todo>,
    },

    QuestionAsked(Box<Asked>),
    QuestionAnswered {
        question: QuestionId,
        answer: String,
        by: String,
    },
    /// A person says something to a task unasked: its next attempts are shown it.
    ClarificationAdded {
        text: String,
        by: String,
    },
    /// What a person let a task see was read, by path.
    FilesGranted {
        files: BTreeMap<String, Found>,
    },

    /// A fresh subagent begins.
    AttemptStarted(Box<AttemptStarted>),
    /// A request goes out: these messages after those of the requests before.
    TurnStarted {
        turn: u32,
        messages: Vec<Digest>,
        elapsed_ms: u64,
    },
    TurnEnded {
        turn: u32,
        /// The reply as it was taken.
        reply: Digest,
        usage: Usage,
        elapsed_ms: u64,
    },
    TurnFailed {
        turn: u32,
        error: provider::Error,
        elapsed_ms: u64,
    },
    CallsStarted {
        turn: u32,
        calls: Vec<String>,
    },
    CallsEnded {
        turn: u32,
        results: Digest,
        /// What the workspace holds since; nothing if it is as it was.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        change: Option<Digest>,
        elapsed_ms: u64,
    },
    /// A jailed program asked for a host.
    HostAsked {
        host: String,
        port: u16,
        allowed: bool,
        why: String,
    },
    AttemptEnded(Box<AttemptEnded>),

    CheckStarted {
        check: Check,
        on: TreeId,
    },
    CheckEnded(Box<CheckEnded>),
    /// What the runtime saw of a task's change, weighed.
    TaskVerified {
        /// Of the workflow.
        steps: Vec<String>,
        evidence: Digest,
        tree: TreeId,
        /// What speaks against it, for a fix; nothing if nothing does.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        failing: Option<Digest>,
        /// The same in short, for people.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        gist: Option<String>,
    },
    StepSkipped {
        step: String,
        reason: String,
    },
    /// What a person accepted is a tree that can be committed.
    ChangeAccepted {
        tree: TreeId,
        /// Files that no commit may hold.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        left_out: Vec<Refused>,
    },
    /// Nothing of what a person accepted may be committed.
    AcceptRefused {
        why: String,
    },
    /// A person edited the change, or made one: it takes the place of what attempts left.
    TaskHandedBack {
        base: TreeId,
        tree: TreeId,
        by: String,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        left_out: Vec<Refused>,
    },
    TaskCommitted {
        commit: CommitId,
        /// Of the branch after it.
        tree: TreeId,
    },
    MergeConflicted {
        paths: Vec<String>,
    },
    /// What a done task left for the project's notes is in their file, or is said why not. Neither: what it had there is taken out.
    NotesMerged {
        /// The event by which the task ended: done again, it is another one.
        ended: u64,
        sections: Vec<String>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        told: Vec<String>,
    },
    TaskEnded(Box<TaskEnded>),
}

/// Everything that the run will be decided by.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Started {
    pub version: u32,
    pub plan: Source,
    pub base: Base,
    pub branch: String,
    /// In the plan's order.
    pub tasks: Vec<TaskSpec>,
    /// Those that tasks use.
    pub workflows: BTreeMap<String, Workflow>,
    /// Those that workflows use, and all that can be had where a task may delegate.
    pub agents: BTreeMap<String, Agent>,
    pub settings: Settings,
    /// The project's notes as they stood; nothing where there were none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notes: Option<Digest>,
}

/// The plan as it was read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    /// From the repository's root where it lies in there.
    pub path: String,
    /// What no subagent may see of any tree: this plan, those that the run had before, and the lists of tasks beside them.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub hides: BTreeSet<RepoPath>,
    /// Where the person named it, and whether disjoint tasks may run side by side.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<String>,
    #[serde(default)]
    pub parallel: bool,
    /// Task Master: the tag that the person named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag: Option<String>,
    pub text: Digest,
}

/// What the run starts from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Base {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<CommitId>,
    pub tree: TreeId,
    /// Whether the tree holds what the person had not committed; nothing in runs that were begun before this was noted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uncommitted: Option<bool>,
}

/// An agent as this run uses it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Agent {
    pub phase: Phase,
    pub profile: String,
    /// What it is for, as those are told who may give it work.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// In the order in which they are tried; the last is the strongest.
    pub models: Vec<String>,
}

/// A question in the inbox.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asked {
    pub question: QuestionId,
    pub text: String,
    /// What a person needs to know for it, such as what fails.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<Choice>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
    /// When the default is taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Moment>,
    pub about: About,
}

/// What was there when a file was read that a person granted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Found {
    /// Its text, redacted.
    Blob(Digest),
    Refused(Refusal),
}

/// What the answer decides.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum About {
    /// A subagent asked: the answer is shown to the next one.
    Clarification,
    /// A subagent asked for files that are not in its workspace: whether those that come after it see them.
    Files(Vec<String>),
    /// The task did not succeed by itself: another try with the answer as advice, or an end.
    Failure,
    /// Something in the plan contradicts itself, before anything starts.
    Plan(Box<Contradiction>),
}

impl About {
    /// Whether the answer is for the next attempt of a task.
    pub(super) fn is_of_task(&self) -> bool {
        !matches!(self, Self::Plan(_))
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AttemptStarted {
    /// Of the workflow, with its place there.
    pub step: String,
    #[serde(default, skip_serializing_if = "is_first")]
    pub place: u32,
    pub agent: String,
    pub profile: String,
    pub model: String,
    pub powers: provider::Powers,
    /// Which of the models that may be tried this is.
    pub rung: usize,
    pub purpose: Purpose,
    /// The task's base.
    pub base: TreeId,
    /// The change under test that the workspace starts from, where it is not the base.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<TreeId>,
    /// Reports of earlier phases that it builds on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Digest>,
    pub context: Shown,
    /// The request that the prompt is rendered from: [`crate::handoff::Handoff`]. Nothing in older runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handoff: Option<Digest>,
    /// What is listed to the model, by name, and all of it as bytes.
    pub tools: Vec<String>,
    pub specs: Digest,
    pub budget: Budget,
    /// The call that asked for it, where another subagent did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<Delegation>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sources: Option<Sources>,
    /// What others left for it beside its context: [`agent::Inherited`]. Nothing where that is nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inherited: Option<Digest>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_first(place: &u32) -> bool {
    *place == 0
}

/// What an attempt was made from, as that was then: who looks later compares with this, never with files of another day.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sources {
    pub granted: Granted,
    /// The agent's own words.
    pub agent: Digest,
    /// Documents beside the plan that its context quotes, by path.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub companions: BTreeMap<String, Digest>,
}

/// A call by which a subagent of the same task gave work away.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delegation {
    pub attempt: u32,
    pub turn: u32,
    /// By its id in the reply of that turn.
    pub call: String,
    /// In a few words, for people.
    pub description: String,
}

/// Why there is another attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    First,
    /// The one before brought no valid report.
    Repeat,
    /// The model before gave up.
    NextModel,
    /// The one before took too long: less is handed over.
    Simplified,
    /// A person answered.
    Answered,
    /// Checks or a review speak against the change: it is mended.
    Fix,
    /// Mending did not help: a stronger model, from the clean base.
    Stronger,
    /// The change, or one that it was built on, did not fit what others did: from the new base.
    Rebased,
    /// A person wants it tried again.
    Retried,
    /// Another subagent asked for it.
    Delegated,
}

/// A context as it was shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shown {
    /// [`crate::context::IsolatedContext::digest`].
    pub digest: Digest,
    pub system: Digest,
    pub prompt: Digest,
    /// Where the task's own text stands in the prompt.
    pub text: std::ops::Range<usize>,
    pub manifest: Digest,
    pub tokens: usize,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AttemptEnded {
    #[serde(flatten)]
    pub outcome: agent::Outcome,
    /// Of the report, what decides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub said: Option<Said>,
    /// As it was taken, with what the runtime filled in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub report: Option<Digest>,
    /// Files that the report names as changed and that the attempt did not change.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub claimed: Vec<String>,
    /// What the workspace became, with its base; nothing if nothing changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<Digest>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree: Option<TreeId>,
    /// Why the change could not be taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trouble: Option<String>,
    /// What the workspace held and no change may bring, each with its reason.
    #[serde(flatten)]
    pub refused: Refusals,
    /// What it left for later work.
    pub kept: Digest,
    pub spent: Spent,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckEnded {
    pub check: Check,
    pub on: TreeId,
    /// Whether that is the task's base: then it says what failed before already.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_base: bool,
    /// Whether that is the base with nothing but the new tests, which are to fail there.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_red: bool,
    pub code: i32,
    /// The limit that ended it, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<String>,
    pub passed: bool,
    /// The program that was not found, so that nothing was checked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing_program: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counts: Option<Counts>,
    pub output: Digest,
    pub elapsed_ms: u64,
}
