//! What a run needs from outside, as ports.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use sequester_core::budget::Budget;
use sequester_core::context::{Clarification, Given, IsolatedContext, Refusal, TaskCall, Work};
use sequester_core::future::BoxFuture;
use sequester_core::id::{TaskId, TreeId};
use sequester_core::jail::{self, Jails};
use sequester_core::moment::Moment;
use sequester_core::notes::Notebook;
use sequester_core::path::RepoPath;
use sequester_core::profile::Profile;
use sequester_core::protected::Grants;
use sequester_core::provider::{self, Provider};
use sequester_core::record::{Handed, Pack};
use sequester_core::report::{Label, Phase};
use sequester_core::repository::{self, Repository};
use sequester_core::store::{self, RunStore};
use sequester_core::tool::Toolbox;

/// All that a run acts on.
#[derive(Clone)]
pub struct World {
    pub store: Arc<dyn RunStore>,
    pub repository: Arc<dyn Repository>,
    pub jails: Arc<dyn Jails>,
    pub crew: Arc<dyn Crew>,
    pub clock: Arc<dyn Clock>,
    pub notes: Arc<dyn Notebook>,
}

/// Who works: agents with what they may do, what they are shown and the models that they think with.
pub trait Crew: Send + Sync {
    fn member(&self, agent: &str, profile: Option<&str>) -> Result<Member, Trouble>;

    /// The same for one that another subagent gives work to: it may do nothing that the other may not.
    fn delegate(&self, agent: &str, under: &Profile) -> Result<Member, Trouble>;

    /// What checks are run with: the profile `validate`.
    fn checker(&self) -> Result<Member, Trouble>;

    /// The names that files of a tree define; nothing where they cannot be told.
    fn names<'a>(
        &'a self,
        tree: &'a TreeId,
        paths: &'a [String],
    ) -> BoxFuture<'a, Result<Option<BTreeSet<String>>, Trouble>>;

    /// May take its time: it is called on a thread of its own.
    fn context(&self, wanted: &Wanted<'_>) -> Result<IsolatedContext, Trouble>;

    /// What a task is about, for what is chosen by its text.
    fn asking(&self, _task: &TaskId) -> Asking {
        Asking::default()
    }

    /// The documents beside the plan by path, as they were read.
    fn companions(&self) -> Vec<(&str, &str)> {
        Vec::new()
    }

    /// A file of the person's own tree that is in no workspace, as it is now: no larger than any that is shown, through no
    /// link. Called only for what a person granted.
    fn reveal(&self, path: &RepoPath) -> Result<Vec<u8>, Refusal>;

    fn connect<'a>(
        &'a self,
        model: &'a str,
    ) -> BoxFuture<'a, Result<Arc<dyn Provider>, provider::Error>>;

    fn tools(&self, member: &Member, model: &dyn Provider, base: &TreeId) -> Extra;
}

/// A task's own words, and the files that it names.
#[derive(Clone, Debug, Default)]
pub struct Asking {
    pub text: String,
    pub paths: Vec<String>,
}

/// Tools that work outside the jail.
#[derive(Default)]
pub struct Extra {
    /// As far as the profile lists them: search.
    pub granted: Vec<Box<dyn Toolbox>>,
    /// For every subagent: requests for files.
    pub always: Vec<Box<dyn Toolbox>>,
}

/// An agent with all that holds for its attempts.
#[derive(Clone, Debug)]
pub struct Member {
    pub profile: Profile,
    /// Its own words.
    pub prompt: Arc<str>,
    pub budget: Budget,
    /// Protected names that a person lets it change.
    pub grants: Grants,
    /// Of what one call brings.
    pub output_bytes: usize,
    /// How many tokens of records one call brings.
    pub records: usize,
    /// Kinds of artifacts that it has to leave, where any pass.
    pub owes: Vec<Label>,
    /// How many may stand one below the other, where it may delegate.
    pub depth: usize,
}

/// A context to be built.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    pub task: &'a TaskId,
    pub agent: &'a str,
    /// Another phase than the agent's own, where a workflow declares it.
    pub phase: Option<Phase>,
    /// Whether that one judges other work.
    pub judges: bool,
    /// What the workspace starts from.
    pub base: &'a TreeId,
    pub clarifications: &'a [Clarification],
    /// Files that it is shown besides.
    pub given: &'a [Given],
    pub work: &'a [Work],
    /// What earlier tasks left that it is shown.
    pub records: &'a Handed,
    /// What they packed for it; nothing where no backpack passes.
    pub backpack: Option<&'a Pack>,
    pub simplified: bool,
    /// What another subagent of the task wants done, in the place of what the plan says.
    pub delegated: Option<&'a TaskCall>,
}

impl<'a> Wanted<'a> {
    /// For a task of which nothing is known but the plan.
    pub fn new(task: &'a TaskId, agent: &'a str, base: &'a TreeId) -> Self {
        Self {
            task,
            agent,
            phase: None,
            judges: false,
            base,
            clarifications: &[],
            given: &[],
            work: &[],
            records: Handed::NONE,
            backpack: None,
            simplified: false,
            delegated: None,
        }
    }
}

/// The time, which may go backwards.
pub trait Clock: Send + Sync {
    fn now(&self) -> Moment;
}

/// Why a run cannot go on. What was recorded stays, and the run can be taken up again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trouble {
    Store(store::Error),
    /// This machine cannot give what a profile needs.
    Guarantee(jail::Error),
    Repository {
        message: String,
        hint: &'static str,
    },
    /// Something that one task needs and cannot be had: the others go on.
    Crew {
        message: String,
        hint: String,
    },
    /// A thread of ours ended by itself.
    Thread {
        message: String,
    },
}

impl From<store::Error> for Trouble {
    fn from(error: store::Error) -> Self {
        Self::Store(error)
    }
}

impl From<repository::Error> for Trouble {
    fn from(error: repository::Error) -> Self {
        let hint = match error.kind {
            repository::ErrorKind::Denied => "Put that right, then `sequester resume`.",
            _ => "Check that `git fsck` finds nothing, then `sequester resume`.",
        };
        Self::Repository { message: error.message, hint }
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Store(error) => error.fmt(formatter),
            Self::Guarantee(error) => error.fmt(formatter),
            Self::Repository { message, .. }
            | Self::Crew { message, .. }
            | Self::Thread { message } => formatter.write_str(message),
        }
    }
}

impl std::error::Error for Trouble {}
