//! The plan: the document a person wrote, read once, parsed by code.

use std::collections::{BTreeMap, HashSet};
use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::fault::{Fault, Place};
use crate::id::TaskId;
use crate::path::RepoPath;

mod aside;
mod bmad;
mod check;
mod cursor;
mod detect;
mod doubled;
mod files;
mod gsd;
mod header;
mod hidden_task;
mod hint;
mod id_range;
mod kiro;
mod label;
pub(crate) mod lines;
mod list;
pub(crate) mod locate;
mod mark;
mod markdown;
pub(crate) mod mention;
mod native;
mod needs;
mod openspec;
mod order;
mod read;
mod shelf;
mod single;
mod speckit;
mod stated_order;
pub mod step;
mod strike;
mod superpowers;
mod table_rows;
mod task_wording;
mod taskmaster;
mod tick;
mod token;
mod track;
mod tree;
mod unit;
mod untaken_work;
mod wave_graph;
mod whereabouts;
mod words;
mod work_section;
pub(crate) mod yaml;

pub use check::{Presence, check};
pub use gsd::{PhasePlan, join_phase};
pub use hint::{FileHint, fits_path};
pub use read::parse;
pub use task_wording::TaskWording;
pub use tick::{Ticked, tick, with_open_boxes};
pub use whereabouts::Whereabouts;

/// How to read a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Overrides detection.
    pub format: Option<Format>,
    /// Superpowers plans: tasks whose write sets are disjoint run side by side.
    pub parallel: bool,
    /// The plan's file name, which tells `tasks.json`.
    pub file_name: String,
    /// Task Master: the tag whose tasks are read.
    pub tag: Option<String>,
    /// Largest size in bytes.
    pub limit: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            format: None,
            parallel: false,
            file_name: String::new(),
            tag: None,
            limit: crate::limits::Limits::default().plan_bytes,
        }
    }
}

/// A plan with its faults and warnings, each list in the order of places.
///
/// [`crate::graph::TaskGraph::new`] adds the faults of the needs, [`check()`] the warnings about files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parsed {
    pub plan: Plan,
    /// Contradictions: a plan with faults does not run.
    pub faults: Vec<Fault>,
    /// Doubts: each message says what happens by default, and the plan runs.
    pub warnings: Vec<Fault>,
}

/// A plan as it was read. Faults stand beside it, never in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Plan {
    pub format: Format,
    pub title: String,
    /// The plan's goal, in its own words.
    pub goal: Option<String>,
    /// Architecture, Tech Stack and Global Constraints: they hold for every task.
    pub constraints: Vec<Constraint>,
    /// Commands that are run on the result of every task which names none of its own.
    #[serde(skip)]
    pub checks: Vec<String>,
    /// In the order of the document.
    pub tasks: Vec<Task>,
    /// Names that stand for very many tasks, such as a parent's: a need on one is a need on all of them.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub groups: BTreeMap<TaskId, Vec<TaskId>>,
    /// What looked like work and was not taken as a task, with the reason.
    pub aside: Vec<Aside>,
    /// Where the source holds what some task is shown: texts, headings above them, what holds for all. Sorted.
    #[serde(skip)]
    pub reached: Vec<Range<usize>>,
}

/// The formats people already write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    Superpowers,
    Track,
    SpecKit,
    #[serde(rename = "openspec")]
    OpenSpec,
    Kiro,
    TaskMaster,
    Native,
    Gsd,
    Cursor,
    Bmad,
    /// Numbered headings, checkboxes or a numbered list of no known format.
    List,
    /// The whole text is one task.
    Single,
}

impl Format {
    pub const ALL: [Self; 12] = [
        Self::Superpowers,
        Self::Track,
        Self::SpecKit,
        Self::OpenSpec,
        Self::Kiro,
        Self::TaskMaster,
        Self::Native,
        Self::Gsd,
        Self::Cursor,
        Self::Bmad,
        Self::List,
        Self::Single,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Superpowers => "superpowers",
            Self::Track => "track",
            Self::SpecKit => "spec-kit",
            Self::OpenSpec => "openspec",
            Self::Kiro => "kiro",
            Self::TaskMaster => "task-master",
            Self::Native => "native",
            Self::Gsd => "gsd",
            Self::Cursor => "cursor",
            Self::Bmad => "bmad",
            Self::List => "list",
            Self::Single => "single",
        }
    }

    /// The format of a name as [`Format::as_str`] gives it; case and hyphens do not matter.
    pub fn parse(name: &str) -> Option<Self> {
        let plain = |name: &str| name.replace(['-', '_', ' '], "").to_ascii_lowercase();
        Self::ALL.into_iter().find(|format| plain(format.as_str()) == plain(name))
    }
}

impl Plan {
    /// A plan without anything in it.
    pub fn new(format: Format) -> Self {
        Self {
            format,
            title: String::new(),
            goal: None,
            constraints: Vec::new(),
            checks: Vec::new(),
            tasks: Vec::new(),
            groups: BTreeMap::new(),
            aside: Vec::new(),
            reached: Vec::new(),
        }
    }

    /// How much of the source's text some task is shown, in percent without white space, rounded down.
    pub fn reached_percent(&self, source: &[u8]) -> u8 {
        let source = source.strip_prefix(b"\xef\xbb\xbf").unwrap_or(source);
        let text = |bytes: &[u8]| bytes.iter().filter(|byte| !byte.is_ascii_whitespace()).count();
        let (mut reached, mut at) = (0, 0);
        for range in &self.reached {
            let rest = source.get(range.start.max(at)..range.end).unwrap_or_default();
            reached += text(rest);
            at = at.max(range.end);
        }
        u8::try_from(reached * 100 / text(source).max(1)).unwrap_or(100)
    }

    pub fn task(&self, id: &TaskId) -> Option<&Task> {
        self.tasks.iter().find(|task| task.id == *id)
    }

    /// What the plan is for: its title and goal.
    pub fn feature(&self) -> String {
        match (self.title.as_str(), &self.goal) {
            (title, None) => title.to_owned(),
            ("", Some(goal)) => goal.clone(),
            (title, Some(goal)) => format!("{title}\n\n{goal}"),
        }
    }
}

/// One unit of work.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Task {
    pub id: TaskId,
    pub title: String,
    /// Verbatim: the bytes of `span`. For Task Master put together from the fields of the entry at `span`.
    pub text: String,
    /// Where in the text a field of the entry begins that says how the work will be looked at: nobody is asked to do so now.
    #[serde(skip)]
    pub tests: Option<usize>,
    /// Where the text, or the entry it was put together from, stands in the plan's source.
    #[serde(skip)]
    pub span: Range<usize>,
    pub place: Place,
    pub needs: Vec<Need>,
    pub done: bool,
    pub optional: bool,
    /// What its lists declare.
    pub files: Vec<FileRef>,
    /// What its prose mentions.
    pub hints: Vec<FileHint>,
    /// The plan lists all files of the task, and the list was understood whole.
    pub files_declared: bool,
    pub interfaces: Interfaces,
    /// Its own, beside the plan's.
    pub constraints: Vec<String>,
    pub checks: Vec<String>,
    /// Titles and opening texts of the items it stands under, outermost first.
    pub parents: Vec<Parent>,
    pub steps: Vec<Step>,
    /// Ids of requirements in a companion document that it names.
    pub requirements: Vec<String>,
    pub settings: Settings,
}

/// A task that must be done before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Need {
    /// Of a task, or of one of [`Plan::groups`].
    pub id: TaskId,
    pub reason: Reason,
    pub place: Place,
}

/// Why a task needs another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// The plan says so.
    Declared,
    /// The format's order: it stands after the other.
    Order,
    /// Both write this file.
    SameFile(RepoPath),
}

/// A file that the plan lists for a task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FileRef {
    pub path: RepoPath,
    pub action: Action,
    /// First and last line that the plan points at.
    pub lines: Option<(u32, u32)>,
    pub place: Place,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    Create,
    Modify,
    Delete,
    Read,
    Test,
    /// The plan names the file without a verb: created if it is not there, modified if it is.
    Change,
}

impl Action {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Modify => "modify",
            Self::Delete => "delete",
            Self::Read => "read",
            Self::Test => "test",
            Self::Change => "change",
        }
    }

    /// Whether the task may write the file.
    pub fn writes(self) -> bool {
        self != Self::Read
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Interfaces {
    pub consumes: Vec<String>,
    pub produces: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Constraint {
    /// `Architecture`, `Tech Stack`, `Global Constraints`, ... as the plan heads it.
    pub label: String,
    pub text: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Parent {
    pub title: String,
    /// Up to its first child.
    pub text: String,
}

/// A checkbox inside a task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Step {
    pub text: String,
    pub done: bool,
    pub place: Place,
}

/// What a task, or the plan for all of them, asks of the run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Settings {
    pub agent: Option<String>,
    pub profile: Option<String>,
    pub workflow: Option<String>,
    pub model: Option<String>,
    pub budget: Option<String>,
    pub tdd: Option<bool>,
    /// The task asks the person a question and does nothing else, whatever models are named for others.
    #[serde(skip)]
    pub asks_person: bool,
    /// Where the values stand, by their keys.
    #[serde(skip)]
    pub places: BTreeMap<String, Place>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Aside {
    pub place: Place,
    pub text: String,
    pub why: String,
}

impl Task {
    /// What the task is about, for whoever looks for words: its title and text.
    pub(crate) fn words(&self) -> String {
        format!("{}\n{}", self.title, self.text)
    }

    /// The paths that its prose mentions and no list declares, each once, whatever is done with them.
    pub fn mentioned(&self) -> impl Iterator<Item = &RepoPath> {
        let mut seen: HashSet<&RepoPath> = self.files.iter().map(|file| &file.path).collect();
        self.hints.iter().map(|hint| &hint.0.path).filter(move |path| seen.insert(path))
    }

    /// What of the text is to be done, and how it will be looked at afterwards.
    pub fn pieces(&self) -> [&str; 2] {
        self.pieces_of(&self.text)
    }

    /// The same of a copy of the text.
    pub(crate) fn pieces_of<'a>(&self, text: &'a str) -> [&'a str; 2] {
        let split = self.tests.and_then(|tests| text.split_at_checked(tests));
        split.map_or([text, ""], |(work, tests)| [work, tests])
    }
}
