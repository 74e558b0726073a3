//! One attempt of a run: a fresh context, a jail, the loop, and what it leaves.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use sequester_core::agent::{self, AgentRun, Brief, Fault, Inherited, seed_of};
use sequester_core::change::Change;
use sequester_core::context::{IsolatedContext, Manifest, Work};
use sequester_core::digest::Digest;
use sequester_core::handoff::Handoff;
use sequester_core::id::{TaskId, TreeId};
use sequester_core::jail::{Cell, ErrorKind};
use sequester_core::path::RepoPath;
use sequester_core::plan::Action;
use sequester_core::protected::Grants;
use sequester_core::provider::{self, Provider};
use sequester_core::record::Pack;
use sequester_core::report::{Phase, ReportForm};
use sequester_core::run::{
    AttemptStarted, Cap, Delegation, Entry, Event, Order, Purpose, Running, Scope, TaskRun, replay,
};
use sequester_core::secret::SecretSet;
use sequester_core::store::Batch;
use sequester_core::tool::{Spec, Toolbox};

use super::bases::{Made, Recipe};
use super::bench::Bench;
use super::delegate::Delegate;
use super::ending::{Left, failed, rested};
use super::equip::{kept, started};
use super::known_secrets::learn_again;
use super::recorder::{Recorder, json};
use super::reveal::given;
use super::world::{Member, Trouble, Wanted};
use super::{Controller, blocking};
use crate::drive::record;
use crate::journal::Halt;

/// An attempt that can begin, or go on.
pub(super) struct Job {
    scope: Scope,
    started: AttemptStarted,
    run: AgentRun,
    member: Member,
    provider: Arc<dyn Provider>,
    /// What its workspace held already.
    change: Option<Change>,
    /// The record of its beginning, where that is not kept yet.
    pub(super) batch: Batch,
    messages: usize,
    turn: u32,
    /// Of its context, and of what its tools gave it before it was resumed.
    secrets: SecretSet,
}

/// What an attempt is begun with.
pub(super) struct Beginning<'a> {
    pub(super) scope: Scope,
    pub(super) order: &'a Order,
    pub(super) base: &'a TreeId,
    pub(super) member: Member,
    pub(super) context: &'a IsolatedContext,
    pub(super) inherited: Inherited,
    pub(super) parent: Option<Delegation>,
}

impl Controller {
    pub(super) async fn attempt(
        &self,
        task: &TaskId,
        number: u32,
        order: Order,
        cap: Cap,
    ) -> Result<(), Trouble> {
        self.reveal(task).await?;
        let Some(known) = self.log.read(|run| run.task(task).cloned()) else { return Ok(()) };
        let Some(base) = self.base(task).await? else { return Ok(()) };
        let start = order.from.clone().unwrap_or_else(|| base.clone());
        let chosen = self.log.read(|run| run.started.settings.profile.clone());
        let profile = profile(&known, &order.agent, order.phase, chosen.as_deref());
        let mut member = self.world.crew.member(&order.agent, profile)?;
        let least = |one: Option<u64>, other: Option<u64>| one.into_iter().chain(other).min();
        member.budget.tokens = least(member.budget.tokens, cap.tokens);
        member.budget.price = least(member.budget.price, cap.price);
        let (context, pack) = self.context((&known, number), &order, &base, &start).await?;
        let inherited = self.inherit(&known, &order, &member, (&context, pack)).await?;
        let scope =
            Scope { task: Some(task.clone()), phase: Some(order.phase), attempt: Some(number) };
        let connected = self.connect(&order.model).await;
        let (order, base, context, parent) = (&order, &base, &context, None);
        let beginning = Beginning { scope, order, base, member, context, inherited, parent };
        match self.begin(beginning, &known, connected)? {
            Begun::Job(job) => self.work(*job, &known).await,
            Begun::Lost(batch) => rested(self.keep(batch).await),
        }
    }

    /// With the tools that it will have, and the record of it in a batch. Without a model it is an attempt all the same: what
    /// comes next is decided by it.
    pub(super) fn begin(
        &self,
        beginning: Beginning<'_>,
        known: &TaskRun,
        connected: Result<Arc<dyn Provider>, provider::Error>,
    ) -> Result<Begun, Trouble> {
        let Beginning { scope, order, base, mut member, context, inherited, parent } = beginning;
        let faults = context.handoff.as_ref().map(Handoff::faults).unwrap_or_default();
        if let Some(fault) = faults.first() {
            let message = format!("The handoff does not fit its schema: {fault}.");
            return Err(Trouble::Crew { message, hint: "Report it: it is a defect.".to_owned() });
        }
        let start = order.from.as_ref().unwrap_or(base);
        let (mut batch, crew) = (Batch::default(), self.world.crew.as_ref());
        let provider = match connected {
            Ok(provider) => provider,
            Err(error) => {
                let begun =
                    AttemptStarted { parent, ..started(order, &member, base, context, None, &[]) };
                let begun = kept(begun, (crew, &member), context, &[], &mut batch);
                batch.keep(json(&agent::Kept::default()));
                let ended = failed(Fault::Provider { error });
                let events =
                    [Event::AttemptStarted(Box::new(begun)), Event::AttemptEnded(Box::new(ended))];
                batch.entries.extend(events.map(|event| Entry { scope: scope.clone(), event }));
                return Ok(Begun::Lost(batch));
            }
        };
        member.grants = with_task_grants(member.grants, known);
        let from = (start, order.findings.as_slice());
        let tools = self.specs(&known.spec.id, &member, provider.as_ref(), from)?;
        let powers = (provider.model(), provider.powers());
        let switches = self.switches(parent.is_some());
        let fields = self
            .log
            .read(|run| run.finding_fields(&known.spec.id, order.phase).cloned())
            .filter(|_| parent.is_none());
        let sizes = member.budget.handover;
        let form = ReportForm { phase: order.phase, fields: fields.as_ref(), sizes };
        let mut brief = Brief::new(context, form, powers, tools, switches);
        brief.grants = member.grants.clone();
        brief.inherited = inherited;
        let begun = started(order, &member, base, context, Some(provider.as_ref()), &brief.tools);
        let is_heir = brief.inherited != Inherited::default();
        let inherited = is_heir.then(|| batch.keep(json(&brief.inherited)));
        let begun = AttemptStarted { parent, inherited, ..begun };
        let started = kept(begun, (crew, &member), context, &brief.tools, &mut batch);
        let event = Event::AttemptStarted(Box::new(started.clone()));
        batch.entries.push(Entry { scope: scope.clone(), event });
        let run = AgentRun::new(brief, member.budget.clone());
        let (change, messages, turn) = (None, 0, 0);
        let secrets = context.secrets.clone();
        let job =
            Job { scope, started, run, member, provider, change, batch, messages, turn, secrets };
        Ok(Begun::Job(Box::new(job)))
    }

    /// An attempt that another process began: from its last durable turn.
    pub(super) async fn take_up(&self, task: &TaskId, running: Running) -> Result<(), Trouble> {
        let Some(known) = self.log.read(|run| run.task(task).cloned()) else { return Ok(()) };
        let chosen = self.log.read(|run| run.started.settings.profile.clone());
        // One that began before another profile was named keeps its own.
        let chosen = chosen.filter(|name| *name == running.started.profile);
        let profile = profile(&known, &running.started.agent, running.phase, chosen.as_deref());
        let member = self.world.crew.member(&running.started.agent, profile)?;
        self.go_on(&known, running, member).await
    }

    pub(super) async fn go_on(
        &self,
        known: &TaskRun,
        running: Running,
        mut member: Member,
    ) -> Result<(), Trouble> {
        let Running { number, phase, started, turns, .. } = running;
        let task = &known.spec.id;
        let scope = Scope { task: Some(task.clone()), phase: Some(phase), attempt: Some(number) };
        member.budget = started.budget.clone();
        member.grants = with_task_grants(member.grants, known);
        let provider = match self.connect(&started.model).await {
            Ok(provider) => provider,
            Err(error) => {
                return self.end(scope, failed(Fault::Provider { error }), Batch::default()).await;
            }
        };
        let store = Arc::clone(&self.world.store);
        let fields = self.log.read(|run| run.finding_fields(task, phase).cloned());
        let (id, began, grants) = (task.clone(), started.clone(), member.grants.clone());
        let repository = Arc::clone(&self.world.repository);
        let shared =
            self.log.read(|run| [Some(run.started.plan.text.clone()), run.started.notes.clone()]);
        let taken = blocking(move || {
            let read = |digest: &Digest| store.blob(digest);
            let text = |digest: &Digest| -> Result<Arc<str>, Trouble> {
                Ok(String::from_utf8_lossy(&read(digest)?).into())
            };
            let tools: Vec<Spec> = serde_json::from_slice(&read(&began.specs)?)
                .map_err(|error| unreadable(&error.to_string()))?;
            // As it was recorded: what others left since is not for this attempt.
            let inherited = match &began.inherited {
                Some(digest) => serde_json::from_slice(&read(digest)?)
                    .map_err(|error| unreadable(&error.to_string()))?,
                None => Inherited::default(),
            };
            let manifest: Manifest = serde_json::from_slice(&read(&began.context.manifest)?)
                .map_err(|error| unreadable(&error.to_string()))?;
            let brief = Brief {
                task: id,
                phase,
                model: began.model.clone(),
                powers: began.powers,
                system: text(&began.context.system)?,
                prompt: text(&began.context.prompt)?,
                text: began.context.text.clone(),
                tools,
                grants,
                inherited,
                whole_files: manifest.whole_files(),
                fields,
                seed: seed_of(began.context.digest.as_str()),
            };
            let mut run = AgentRun::new(brief, began.budget.clone());
            let far = replay(&mut run, &turns, read).map_err(|error| unreadable(&error.0))?;
            let change = match &far.change {
                Some(digest) => {
                    let change = Change::unpack(&read(digest)?, read);
                    Some(change.map_err(|error| unreadable(&error.to_string()))?)
                }
                None => None,
            };
            let own = began
                .sources
                .iter()
                .flat_map(|own| [&own.agent].into_iter().chain(own.companions.values()));
            let sources = shared.iter().flatten().chain(own);
            let sources: Vec<Vec<u8>> = sources.filter_map(|digest| read(digest).ok()).collect();
            let snapshot = repository.snapshot(began.from.as_ref().unwrap_or(&began.base)).ok();
            let told = (&*run.brief().system, run.conversation());
            let secrets = learn_again(told, &sources, snapshot.as_deref(), change.as_ref());
            Ok::<_, Trouble>((run, far, change, secrets))
        });
        let (run, far, change, secrets) = taken.await??;
        let (started, batch) = (*started, Batch::default());
        let (messages, turn) = (far.messages, far.turn);
        let job =
            Job { scope, started, run, member, provider, change, batch, messages, turn, secrets };
        self.work(job, known).await
    }

    /// Drives it in its jail, and records how it ended.
    pub(super) async fn work(&self, job: Job, known: &TaskRun) -> Result<(), Trouble> {
        let Job { scope, started, mut run, member, provider, change, batch, .. } = job;
        let (messages, turn, secrets) = (job.messages, job.turn, job.secrets);
        let (task, start) = (&known.spec.id, started.from.as_ref().unwrap_or(&started.base));
        let cell = Cell {
            profile: member.profile.clone(),
            base: start.clone(),
            change,
            named: named(known),
            grants: member.grants.clone(),
            wall: member.budget.wall,
        };
        let bench = match Bench::open(self.world.jails.as_ref(), cell).await {
            Ok(bench) => bench,
            Err(error) if error.kind == ErrorKind::Guarantee => {
                return Err(Trouble::Guarantee(error));
            }
            Err(error) => {
                let fault = Fault::Runtime { message: error.message };
                return self.end(scope, failed(fault), batch).await;
            }
        };
        let halt = Mutex::default();
        let delegate =
            Delegate::new(self, known, (&scope, &started), &member.profile, (&bench, &halt));
        let tools: Vec<Box<dyn Toolbox + '_>> = vec![Box::new(&bench), Box::new(&delegate)];
        let from = (start, started.findings.as_slice());
        let toolbox = self.toolbox(task, &member, provider.as_ref(), from, tools, secrets)?;
        let specs = run.brief().tools.clone();
        let title = started.parent.as_ref().map(|parent| parent.description.as_str());
        let feed = self.watch.attempt(&scope, &started.agent, title);
        let mut recorder = Recorder {
            controller: self,
            scope: scope.clone(),
            batch,
            messages,
            turn,
            bench: &bench,
            specs: &specs,
            touches: false,
            circuit: self.circuits.of(provider.model()),
            pass: None,
            halt: &halt,
        };
        let driven = record(
            &mut run,
            provider.as_ref(),
            &toolbox,
            feed.as_ref(),
            &mut recorder,
            &self.cancel,
        )
        .await;
        let mut batch = std::mem::take(&mut recorder.batch);
        drop(recorder);
        let writes = scope.phase.is_some_and(Phase::changes_files);
        let ending = match driven {
            Ok(ending) if !writes && !member.profile.is_networked() => {
                return self.end_with(scope, ending, Left::default(), batch).await;
            }
            Ok(ending) => Some(ending),
            Err(Halt::Parked) => None,
            Err(Halt::Store(error)) => return Err(Trouble::Store(error)),
        };
        // The last reply is on its way to the disk while the jail ends and its workspace is looked at, which may take long.
        // One that never asked has nothing to lose.
        let is_begun = self.log.read(|run| run.is_under_way(&scope));
        let sent = if is_begun { std::mem::take(&mut batch) } else { Batch::default() };
        let replied = self.log.give(sent);
        // The server and all that it started are gone before anybody looks.
        drop(toolbox);
        let ended = self.close(scope, ending, bench, start, batch).await;
        replied.await?;
        ended
    }

    /// The task's base; nothing where what it is built on does not fit together, or was withdrawn meanwhile. What of it is not on the
    /// branch may be done again before it comes there: until then the task waits, and nobody is blamed.
    pub(super) async fn base(&self, task: &TaskId) -> Result<Option<TreeId>, Trouble> {
        let known = self.log.read(|run| {
            let at = run.position(task).filter(|at| run.is_ready(&run.tasks[*at]))?;
            let foundation = run.foundation(at);
            Some((Recipe::of(run, &foundation), run.awaits(&foundation)))
        });
        let Some((recipe, awaited)) = known else { return Ok(None) };
        let (bases, repository) = (Arc::clone(&self.bases), Arc::clone(&self.world.repository));
        let made = blocking(move || bases.make(repository.as_ref(), &recipe)).await??;
        match (made, awaited) {
            (Made::Base { tree, below }, _) => {
                self.hold(below.iter().chain([&tree])).await?;
                Ok(Some(tree))
            }
            (Made::Conflict { .. }, Some(awaited)) => {
                self.bases.keep_back(task, awaited);
                Ok(None)
            }
            (Made::Conflict { task, result, paths }, None) => {
                self.clash(&task, &result, paths).await?;
                Ok(None)
            }
        }
    }

    async fn context(
        &self,
        (known, number): (&TaskRun, u32),
        order: &Order,
        base: &TreeId,
        start: &TreeId,
    ) -> Result<(IsolatedContext, Option<Pack>), Trouble> {
        let work = self.work_so_far(known, order, base).await?;
        let crew = Arc::clone(&self.world.crew);
        let (store, known) = (Arc::clone(&self.world.store), known.clone());
        let (records, log) = (Arc::clone(&self.records), Arc::clone(&self.log));
        let (agent, start) = (order.agent.clone(), start.clone());
        let (simplified, phase) = (order.purpose == Purpose::Simplified, order.phase);
        let judges = self.log.read(|run| run.is_judging(&known.spec.id, phase));
        blocking(move || {
            let task = &known.spec.id;
            let asking = (!simplified).then(|| crew.asking(task));
            let who = (task, number);
            let (records, pack) = records.hand(&log, store.as_ref(), who, asking.as_ref())?;
            let context = crew.context(&Wanted {
                clarifications: &known.clarifications,
                given: &given(store.as_ref(), &known)?,
                work: &work,
                records: &records,
                backpack: pack.as_ref(),
                simplified,
                phase: Some(phase),
                judges,
                ..Wanted::new(&known.spec.id, &agent, &start)
            })?;
            Ok((context, pack.filter(|_| !simplified)))
        })
        .await?
    }

    /// What earlier phases left: findings, the change under test, what speaks against it.
    async fn work_so_far(
        &self,
        known: &TaskRun,
        order: &Order,
        base: &TreeId,
    ) -> Result<Vec<Work>, Trouble> {
        let (store, repository) =
            (Arc::clone(&self.world.store), Arc::clone(&self.world.repository));
        let (spec, order, base) = (known.spec.clone(), order.clone(), base.clone());
        blocking(move || {
            super::work::gather(&spec, &order, &base, store.as_ref(), repository.as_ref())
        })
        .await?
    }
}

pub(super) enum Begun {
    Job(Box<Job>),
    /// There is no model for it: both ends of it are in the batch.
    Lost(Batch),
}

/// The task may say what who writes, or whom it names, may do; who judges keeps to its own.
fn profile<'a>(
    known: &'a TaskRun,
    agent: &str,
    phase: Phase,
    chosen: Option<&'a str>,
) -> Option<&'a str> {
    let is_meant = phase.changes_files() || known.spec.agent.as_deref() == Some(agent);
    chosen.or(known.spec.profile.as_deref()).filter(|_| is_meant)
}

fn named(known: &TaskRun) -> BTreeSet<RepoPath> {
    named_with(known, Action::writes)
}

fn named_with(known: &TaskRun, fits: impl Fn(Action) -> bool) -> BTreeSet<RepoPath> {
    let hints = known.spec.hints.iter().map(|hint| &hint.0);
    let files = known.spec.files.iter().chain(hints).filter(|file| fits(file.action));
    files.filter_map(|file| RepoPath::parse(&file.path).ok()).collect()
}

fn with_task_grants(grants: Grants, known: &TaskRun) -> Grants {
    let deleted = named_with(known, |action| action == Action::Delete);
    grants.with_named(&named(known)).with_deleted(&deleted)
}

fn unreadable(why: &str) -> Trouble {
    Trouble::Crew {
        message: format!("An attempt cannot be taken up again: {why}."),
        hint: "Start its task again with `sequester resume RUN --retry TASK`.".to_owned(),
    }
}
