//! What an audit finds.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use sequester_core::id::TaskId;
use sequester_core::run::PersonDecision;

/// What was looked at, and what is wrong with it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Audit {
    pub contexts: usize,
    pub fragments: usize,
    pub requests: usize,
    pub breaches: Vec<Breach>,
    /// Results that stand by a person's word or edit.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub persons: Vec<PersonRow>,
    /// What these records cannot show, in sentences.
    pub unproved: Vec<String>,
}

/// A result that stands by a person's word or edit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PersonRow {
    pub task: TaskId,
    /// Whether the runtime verified the result.
    pub verified: bool,
    #[serde(flatten)]
    pub decision: PersonDecision,
}

impl Audit {
    pub fn is_ok(&self) -> bool {
        self.breaches.is_empty()
    }
}

/// A promise that was not kept.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Breach {
    /// Nothing where it is about the run itself.
    pub task: Option<TaskId>,
    pub attempt: Option<u32>,
    pub rule: Rule,
    /// One sentence.
    pub detail: String,
}

/// What was to hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Rule {
    /// Events are whole and in order.
    Log,
    /// The plan as it was recorded has the tasks that were worked on.
    Plan,
    /// What an event names is there and is what its name says.
    Blob,
    /// A context's digest is that of its bytes.
    Digest,
    /// The manifest covers every byte once.
    Manifest,
    /// Every fragment is what its source says, and may be there.
    Fragment,
    /// The system part is the same for all.
    Prefix,
    /// The same sources give the same context.
    Determinism,
    /// A task starts from what it builds on.
    Base,
    /// A request holds the prompt, replies and results, and nothing else.
    Request,
    /// Only listed tools are carried out, and only granted ones listed.
    Tool,
    /// Only granted hosts are reached.
    Host,
    /// No text of a task that it has no right to.
    Leak,
    /// What is done was verified.
    Evidence,
    /// What is done is committed once.
    Commit,
}

impl Rule {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Log => "log",
            Self::Plan => "plan",
            Self::Blob => "blob",
            Self::Digest => "digest",
            Self::Manifest => "manifest",
            Self::Fragment => "fragment",
            Self::Prefix => "prefix",
            Self::Determinism => "determinism",
            Self::Base => "base",
            Self::Request => "request",
            Self::Tool => "tool",
            Self::Host => "host",
            Self::Leak => "leak",
            Self::Evidence => "evidence",
            Self::Commit => "commit",
        }
    }
}

/// What cannot be shown, each kind counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Doubt {
    Excerpt,
    Companion,
    Tree,
    Merged,
    Sources,
    Architecture,
}

impl Doubt {
    fn sentence(self, count: usize) -> String {
        let (one, many, rest) = match self {
            Self::Excerpt => (
                "fragment is an excerpt",
                "fragments are excerpts",
                "of files: the file's hash and name were compared, the choice of lines was not",
            ),
            Self::Companion => (
                "fragment comes",
                "fragments come",
                "from documents beside the plan, which are not recorded",
            ),
            Self::Tree => (
                "file fragment",
                "file fragments",
                "could not be compared: git no longer has the tree",
            ),
            Self::Merged => (
                "base is a merge",
                "bases are merges",
                "of several changes: it was not merged again",
            ),
            Self::Sources => (
                "time",
                "times",
                "it was not recorded what a profile granted: tools and hosts were not compared",
            ),
            Self::Architecture => {
                ("line", "lines", "of the architecture names no file of the run's start")
            }
        };
        format!("{count} {} {rest}.", if count == 1 { one } else { many })
    }
}

/// What no record can show.
const NEVER: [&str; 3] = [
    "Text of another task is found from about ten words in a row on; what was said in other words, or is shorter, is not.",
    "What a tool did is known by what it gave back and by what changed; that the jail held is shown by `doctor`, not by a log.",
    "Whoever can write the store and the repository can forge both together.",
];

#[derive(Debug, Default)]
pub(super) struct Ledger {
    audit: Audit,
    known: BTreeSet<Breach>,
    doubts: BTreeMap<Doubt, usize>,
}

impl Ledger {
    pub(super) fn run(&mut self, rule: Rule, detail: impl Into<String>) {
        self.enter(None, None, rule, detail.into());
    }

    pub(super) fn attempt(
        &mut self,
        task: &TaskId,
        attempt: Option<u32>,
        rule: Rule,
        detail: impl Into<String>,
    ) {
        self.enter(Some(task.clone()), attempt, rule, detail.into());
    }

    pub(super) fn doubt(&mut self, doubt: Doubt) {
        *self.doubts.entry(doubt).or_default() += 1;
    }

    pub(super) fn person(&mut self, task: &TaskId, decision: &PersonDecision, verified: bool) {
        let (task, decision) = (task.clone(), decision.clone());
        self.audit.persons.push(PersonRow { task, verified, decision });
    }

    /// Before a task ends again: only its last end counts.
    pub(super) fn forget_person(&mut self, task: &TaskId) {
        self.audit.persons.retain(|row| row.task != *task);
    }

    pub(super) fn count(&mut self, fragments: usize) {
        self.audit.contexts += 1;
        self.audit.fragments += fragments;
    }

    pub(super) fn request(&mut self) {
        self.audit.requests += 1;
    }

    fn enter(&mut self, task: Option<TaskId>, attempt: Option<u32>, rule: Rule, detail: String) {
        let breach = Breach { task, attempt, rule, detail };
        if self.known.insert(breach.clone()) {
            self.audit.breaches.push(breach);
        }
    }

    pub(super) fn close(mut self) -> Audit {
        if self.audit.contexts == 0 {
            self.run(Rule::Log, "No context was recorded, so nothing is shown.");
        }
        let counted = self.doubts.iter().map(|(doubt, count)| doubt.sentence(*count));
        self.audit.unproved = counted.chain(NEVER.map(str::to_owned)).collect();
        self.audit
    }
}
