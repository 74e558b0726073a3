//! The one builder: task, architecture, files and admitted records become an isolated context.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use super::admit::{Refusal, Share, View};
use super::fragment::{Kind, Part, Provenance};
use super::manifest::{Manifest, Row, Withheld};
use super::render::{HiddenPart, Page};
use super::shelf::Shelf;
use super::{IsolatedContext, TaskCall, backpack, files, section};
use crate::agent::Role;
use crate::architecture::Piece;
use crate::companion::Companions;
use crate::fault::{Code, Fault};
use crate::graph::TaskGraph;
use crate::handoff::Handoff;
use crate::id::TaskId;
use crate::limits::Limits;
use crate::notes::Standing;
use crate::path::RepoPath;
use crate::plan::{Plan, Task};
use crate::ranker::Ranker;
use crate::record::{Handed, Pack};
use crate::report::Phase;
use crate::secret::SecretSet;
use crate::source::Origin;

/// Everything that the contexts of one run are made from. Nothing here belongs to one task.
pub struct Builder<'a> {
    pub plan: &'a Plan,
    pub graph: &'a TaskGraph,
    pub architecture: &'a [Piece],
    pub companions: &'a Companions,
    pub shelf: &'a Shelf<'a>,
    pub ranker: &'a dyn Ranker,
    pub limits: &'a Limits,
    pub share: Share,
    /// What a person wrote or pinned in the project's notes, as it stood when the run began.
    pub notes: &'a [Standing],
    prefixes: Mutex<HashMap<String, Arc<Prefix>>>,
}

/// What is asked for: one task, for one agent.
#[derive(Clone, Copy)]
pub struct Request<'a> {
    pub task: &'a TaskId,
    pub role: &'a Role,
    /// Another phase than the role's own, where a workflow declares it.
    pub phase: Option<Phase>,
    /// Whether that one judges other work.
    pub judges: bool,
    pub clarifications: &'a [Clarification],
    pub given: &'a [Given],
    /// What earlier tasks left; the rule decides once more which of it this one may see.
    pub records: &'a Handed,
    /// What those packed that the task builds on; nothing where backpacks are switched off.
    pub backpack: Option<&'a Pack>,
    /// What earlier phases of the same task left.
    pub work: &'a [Work],
    /// Only what the plan names, and half as much of it: for a second try after a time-out.
    pub simplified: bool,
    /// What another subagent of the task wants done, in the place of what the plan says.
    pub delegated: Option<&'a TaskCall>,
}

impl<'a> Request<'a> {
    /// For a task of which nothing is known but the plan.
    pub fn new(task: &'a TaskId, role: &'a Role) -> Self {
        Self {
            task,
            role,
            phase: None,
            judges: false,
            clarifications: &[],
            given: &[],
            records: Handed::NONE,
            backpack: None,
            work: &[],
            simplified: false,
            delegated: None,
        }
    }
}

/// What an earlier phase of a task left for the next one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Work {
    pub task: TaskId,
    /// What it is, in a word or two: it stands above the text.
    pub title: String,
    pub text: String,
    /// Whether it is the change itself, and not what was found or said.
    pub is_change: bool,
}

impl Work {
    /// The title of the piece that holds the change.
    pub const CHANGE_TITLE: &str = "The change under test, against the task's base";
}

/// An answer that a person gave.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Clarification {
    pub id: String,
    pub task: TaskId,
    pub question: String,
    pub answer: String,
}

/// A file that somebody gives to a task besides those that the plan names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Given {
    pub task: TaskId,
    pub path: RepoPath,
    pub content: Content,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// As it is in the base.
    Base,
    /// From outside of the workspace: what was there, or why it is not shown.
    Outside(Result<Vec<u8>, Refusal>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    UnknownTask(TaskId),
    /// What the task must be shown does not fit in a context.
    TooLarge(Fault),
}

/// The system part of one agent, made once.
struct Prefix {
    text: Arc<str>,
    rows: Vec<Row>,
    tokens: usize,
    secrets: SecretSet,
}

/// Both parts of a context, with the secrets of each fragment hidden in all of them.
struct Parts {
    system: Arc<str>,
    prompt: String,
    rows: Vec<Row>,
    tokens: usize,
    secrets: SecretSet,
}

impl Parts {
    /// The system part stays the one that all share, unless a secret of the task stands in it.
    fn of(prefix: &Prefix, page: &Page<'_>) -> Self {
        let mut secrets = prefix.secrets.clone();
        secrets.extend(&page.secrets);
        let hider = secrets.hider();
        let system = HiddenPart::of(&prefix.text, &prefix.rows, &hider);
        let prompt = HiddenPart::of(&page.text, &page.rows, &hider);
        let mut rows = system.as_ref().map_or(&prefix.rows, |part| &part.rows).clone();
        rows.extend_from_slice(prompt.as_ref().map_or(&page.rows, |part| &part.rows));
        let tokens = system.as_ref().map_or(prefix.tokens, |part| part.tokens)
            + prompt.as_ref().map_or(page.tokens, |part| part.tokens);
        let system = system.map_or_else(|| Arc::clone(&prefix.text), |part| part.text.into());
        let prompt = prompt.map_or_else(|| page.text.clone(), |part| part.text);
        Self { system, prompt, rows, tokens, secrets }
    }
}

/// How often a context is built again because its marks take more room than what they hide.
const MARK_ROUNDS: usize = 3;

impl<'a> Builder<'a> {
    pub fn new(
        plan: &'a Plan,
        graph: &'a TaskGraph,
        architecture: &'a [Piece],
        shelf: &'a Shelf<'a>,
        ranker: &'a dyn Ranker,
        limits: &'a Limits,
        companions: &'a Companions,
    ) -> Self {
        Self {
            plan,
            graph,
            architecture,
            companions,
            shelf,
            ranker,
            limits,
            share: Share::default(),
            notes: &[],
            prefixes: Mutex::default(),
        }
    }

    /// Admits, renders, counts and hashes.
    pub fn build(&self, request: &Request<'_>) -> Result<IsolatedContext, Error> {
        let task = (self.plan.task(request.task))
            .ok_or_else(|| Error::UnknownTask(request.task.clone()))?;
        let delegated = request.delegated.map(|call| call.as_part_of(task));
        let task = delegated.as_ref().unwrap_or(task);
        let view = match &request.records.visible {
            Some(visible) => View::of_run(&task.id, visible, self.share),
            None => View::of(&task.id, self.graph, self.share),
        };
        let prefix = self.prefix(request.role, &view);
        let limit = self.limits.context.min(Limits::CONTEXT_CEILING);
        let handoff = self.handoff(task, request);
        let room = limit.saturating_sub(prefix.tokens);
        let mut page = self.page(task, (request, &handoff), &view, room);
        let mut parts = Parts::of(&prefix, &page);
        // A mark may be longer than what it hides: files make room for it.
        let mut reserved = 0;
        for _ in 0..MARK_ROUNDS {
            let shown = prefix.tokens + page.tokens;
            if shown > limit || parts.tokens <= limit {
                break;
            }
            reserved += parts.tokens - shown;
            page = self.page(task, (request, &handoff), &view, room.saturating_sub(reserved));
            parts = Parts::of(&prefix, &page);
        }
        let Parts { system, prompt, rows, tokens, secrets } = parts;
        if tokens > limit {
            return Err(Error::TooLarge(too_large(task, tokens, limit)));
        }
        let mut withheld = page.withheld;
        withheld.extend(self.unseen_tasks());
        withheld.extend(self.closed());
        let manifest = Manifest { fragments: rows, withheld };
        Ok(IsolatedContext {
            task: task.id.clone(),
            agent: request.role.name.clone(),
            digest: IsolatedContext::digest_of(&system, &prompt),
            tokens,
            system,
            prompt,
            handoff: Some(handoff.completed(&manifest, &secrets.hider())),
            manifest,
            secrets,
        })
    }

    /// What the task's own part is rendered from. Of what is delegated only the plan's constraints hold.
    fn handoff(&self, task: &Task, request: &Request<'_>) -> Handoff {
        let work = if request.simplified { &[] } else { request.work };
        let phase = request.phase.unwrap_or(request.role.phase);
        let judges = request.judges || phase.judges();
        let mut handoff = Handoff::new(self.plan, task, (phase, judges), work);
        if request.delegated.is_some() {
            handoff.context.feature.clear();
        }
        let given = request.clarifications.iter().filter(|one| one.task == *request.task);
        handoff.context.clarifications =
            given.map(|one| section::clarification_block(one).trim_end().to_owned()).collect();
        handoff
    }

    /// The task's own part. What is fixed is written first to know its size; files get what is left.
    fn page<'v>(
        &self,
        task: &Task,
        (request, handoff): (&Request<'_>, &Handoff),
        view: &'v View,
        budget: usize,
    ) -> Page<'v> {
        let mut page = Page::new(Part::Prompt, view);
        match request.delegated {
            Some(_) => section::delegated(&mut page, handoff, task),
            None => section::task(&mut page, handoff, task),
        }
        section::constraints(&mut page, self.plan, task);
        section::interfaces(&mut page, task);
        section::clarifications(&mut page, request.clarifications);
        section::work(&mut page, request);
        let mut end = Page::new(Part::Prompt, view);
        section::report(&mut end, self.limits.summary);
        let left = |page: &Page<'_>, end: &Page<'_>| {
            budget.saturating_sub(page.tokens + end.tokens + section::FRAMES)
        };
        let mut records = Page::new(Part::Prompt, view);
        match request.backpack {
            Some(_) if request.simplified => backpack::withhold(&mut records),
            Some(pack) => backpack::write(&mut records, pack, left(&page, &end)),
            None => {}
        }
        let most = left(&page, &end).saturating_sub(records.tokens);
        let room = self.limits.records.min(most);
        let room = section::Room { records: room, notes: self.limits.notes.min(most - room) };
        if request.simplified {
            section::without_records(&mut records, self.notes, request.records);
        } else {
            section::records(&mut records, self.notes, request.records, room);
        }
        records.join(end);
        if request.delegated.is_none() {
            let room = self.limits.companions.min(left(&page, &records));
            section::companions(&mut page, self.companions, task, room);
        }
        let room = left(&page, &records);
        let room = if request.simplified { room / 2 } else { room };
        files::write(&mut page, self, task, request, room);
        page.join(records);
        page
    }

    fn prefix(&self, role: &Role, view: &View) -> Arc<Prefix> {
        let lock = || self.prefixes.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(prefix) = lock().get(&role.name) {
            return Arc::clone(prefix);
        }
        let mut page = Page::new(Part::System, view);
        let source = match &role.origin {
            Origin::BuiltIn => format!("agent {}", role.name),
            origin => origin.to_string(),
        };
        page.quote(&Provenance::Agent(source), &role.prompt);
        page.frame("\n# Architecture\n\n");
        for piece in self.architecture {
            // A heading or "None found." comes from no file.
            let provenance = if piece.source.is_empty() {
                Provenance::Frame
            } else {
                Provenance::Architecture(piece.source.clone())
            };
            page.quote(&provenance, &piece.text);
        }
        let Page { text, rows, tokens, secrets, .. } = page;
        let prefix = Arc::new(Prefix { text: text.into(), rows, tokens, secrets });
        lock().entry(role.name.clone()).or_insert(prefix).clone()
    }

    /// One row, whatever the number of tasks: a manifest does not grow with the plan.
    fn unseen_tasks(&self) -> Option<Withheld> {
        let count = self.plan.tasks.len() - 1;
        (count > 0).then(|| Withheld {
            kind: Kind::Task,
            source: format!("{count} other{} of the plan", if count == 1 { "" } else { "s" }),
            rule: Refusal::AnotherTask,
        })
    }
}

impl Builder<'_> {
    /// One row too: nobody need wonder where the records are.
    fn closed(&self) -> Option<Withheld> {
        let is_closed = self.share == Share::None && self.plan.tasks.len() > 1;
        is_closed.then(|| Withheld {
            kind: Kind::Record,
            source: "records of other tasks".to_owned(),
            rule: Refusal::SharingIsOff,
        })
    }
}

/// The context of a plan's only task: for one subagent without a run around it.
pub fn single(
    plan: &Plan,
    role: &Role,
    architecture: &[Piece],
    shelf: &Shelf<'_>,
    ranker: &dyn Ranker,
    limits: &Limits,
) -> Result<IsolatedContext, Error> {
    let task = plan.tasks.first().map(|task| &task.id).cloned().unwrap_or_default();
    let (graph, companions) = (TaskGraph::new(plan).0, Companions::default());
    let builder = Builder::new(plan, &graph, architecture, shelf, ranker, limits, &companions);
    builder.build(&Request::new(&task, role))
}

fn too_large(task: &Task, tokens: usize, limit: usize) -> Fault {
    Fault::new(
        Code::ContextTooLarge,
        task.place,
        format!(
            "Task `{}` needs {tokens} tokens for its own text, constraints and the architecture; \
             a context holds {limit}.",
            task.id
        ),
        "Split the task, or shorten its text and the plan's constraints.",
    )
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownTask(id) => write!(formatter, "The plan has no task `{id}`."),
            Self::TooLarge(fault) => formatter.write_str(&fault.message),
        }
    }
}

impl std::error::Error for Error {}
