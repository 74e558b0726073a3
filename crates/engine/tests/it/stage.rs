//! Whole runs in a world that lives in memory, with a model that answers by what it is shown.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use sequester_audit::{Audit, Ports, audit};
use sequester_core::agent::{self, Role};
use sequester_core::budget::Budget;
use sequester_core::companion::Companions;
use sequester_core::context::{Builder, Given, IsolatedContext, Refusal, Request, Share, Shelf};
use sequester_core::future::BoxFuture;
use sequester_core::graph::TaskGraph;
use sequester_core::id::{RunId, TaskId, TreeId};
use sequester_core::jail::Jails;
use sequester_core::limits::{Limits, OUTPUT_BYTES};
use sequester_core::message::Message;
use sequester_core::moment::Moment;
use sequester_core::notes::Notes;
use sequester_core::path::RepoPath;
use sequester_core::plan::{self, Options, Plan};
use sequester_core::profile::{Profile, Profiles};
use sequester_core::protected::Grants;
use sequester_core::provider::{self, Deltas, Powers, Provider, Reply};
use sequester_core::recall::Relevance;
use sequester_core::record::Switches;
use sequester_core::repository::Repository as _;
use sequester_core::run::{Entry, Event, Outcome, Recorded, RunState, Scope, Started, Workflow};
use sequester_core::store::{Batch, RunStore as _};
use sequester_engine::{
    Asking, Clock, Controller, Crew, Extra, Handle, Log, Member, Requests, Standing, Stop, Trouble,
    Unwatched, Wanted, World, read,
};
use sequester_testkit::memory::{MemoryJails, MemoryNotes, MemoryStore, MemoryTrees};
use sequester_testkit::{LineOutliner, WordRanker, started};
use tokio::sync::Barrier;

/// Answers by what it is shown: the same conversation brings the same reply.
pub(super) type Play = dyn Fn(&str, &[Message]) -> Reply + Send + Sync;

/// By task and what had been said.
pub(super) type Counted = Mutex<BTreeMap<(String, String), u32>>;

pub(super) struct Stage {
    pub(super) store: MemoryStore,
    pub(super) trees: MemoryTrees,
    pub(super) plan: Arc<Plan>,
    pub(super) text: String,
    pub(super) play: Arc<Play>,
    /// How often each request was answered, by its task and how much had been said.
    pub(super) asked: Arc<Counted>,
    /// How often each reply was handed over in full, by the same.
    pub(super) delivered: Arc<Counted>,
    pub(super) jails: Arc<dyn Jails>,
    /// What one task, or `task/agent`, cannot have.
    pub(super) trouble: Option<(&'static str, Trouble)>,
    pub(super) jobs: usize,
    pub(super) models: Vec<String>,
    pub(super) workflow: &'static str,
    /// Workflows of these tests beside the built-in ones.
    pub(super) own: Vec<Workflow>,
    pub(super) budget: Budget,
    /// How deep subagents may delegate.
    pub(super) depth: usize,
    pub(super) share: Share,
    pub(super) relevance: Relevance,
    pub(super) switches: Switches,
    pub(super) notes: MemoryNotes,
    /// What people had in the notes when the run began.
    pub(super) noted: &'static str,
    /// What git ignores in the person's tree; nothing where it is gone when it is read.
    pub(super) ignored: Vec<(&'static str, Option<&'static str>)>,
    /// A task that is shown this though nobody granted it.
    pub(super) planted: Option<Given>,
    pub(super) park: Stop,
    pub(super) clock: Arc<dyn Clock>,
}

impl Stage {
    pub(super) fn new(
        text: &str,
        files: &[(&str, &str)],
        play: impl Fn(&str, &[Message]) -> Reply + Send + Sync + 'static,
    ) -> Self {
        let parsed = plan::parse(text.as_bytes(), &Options::default());
        assert_eq!(parsed.faults, [], "the plan has faults");
        let trees = MemoryTrees::new(files);
        Self {
            store: MemoryStore::default(),
            jails: Arc::new(MemoryJails(trees.clone())),
            trees,
            plan: Arc::new(parsed.plan),
            text: text.to_owned(),
            play: Arc::new(play),
            asked: Arc::default(),
            delivered: Arc::default(),
            trouble: None,
            jobs: 4,
            models: vec!["m".to_owned()],
            workflow: "solo",
            own: Vec::new(),
            budget: Budget::default(),
            depth: 1,
            share: Share::default(),
            relevance: Relevance::default(),
            switches: Switches::default(),
            notes: MemoryNotes::default(),
            noted: "",
            ignored: Vec::new(),
            planted: None,
            park: Stop::default(),
            clock: Arc::new(Ticks),
        }
    }

    /// The built-in ones, and one that may itself delegate.
    fn roles() -> Vec<Role> {
        let mut roles = agent::built_in().to_vec();
        let lead = agent::find("general-purpose").unwrap().clone();
        let (name, profile) = ("lead".to_owned(), "full-access".to_owned());
        roles.push(Role { name, profile, ..lead });
        roles
    }

    fn world(&self) -> World {
        World {
            store: Arc::new(self.store.clone()),
            repository: Arc::new(self.trees.clone()),
            jails: Arc::clone(&self.jails),
            crew: Arc::new(Hands {
                roles: Self::roles(),
                budget: self.budget.clone(),
                depth: self.depth,
                share: self.share,
                notes: Notes::parse(self.noted).standing(),
                ignored: self.ignored.clone(),
                planted: self.planted.clone(),
                plan: Arc::clone(&self.plan),
                graph: TaskGraph::new(&self.plan).0,
                trees: self.trees.clone(),
                trouble: self.trouble.clone(),
                play: Arc::clone(&self.play),
                asked: Arc::clone(&self.asked),
                delivered: Arc::clone(&self.delivered),
                meeting: Arc::new(Barrier::new(2)),
            }),
            clock: Arc::clone(&self.clock),
            notes: Arc::new(self.notes.clone()),
        }
    }

    fn started(&self, batch: &mut Batch) -> Started {
        let plan = (self.plan.as_ref(), batch.keep(self.text.as_bytes()));
        let base = self.trees.start(false).unwrap().tree;
        let mut started = started(plan, base, self.workflow, &Self::roles(), &self.models);
        let phase = |name: &str| agent::find(name).map(|role| role.phase);
        let own = self.own.iter().map(|one| (one.name.clone(), one.completed(phase)));
        started.workflows.extend(own);
        started.settings.share = self.share;
        started.settings.relevance = self.relevance;
        started.settings.records = self.switches;
        started.notes = (!self.noted.is_empty()).then(|| batch.keep(self.noted.as_bytes()));
        started
    }

    fn is_new(&self) -> bool {
        self.store.events(&run(), 0, 1).unwrap().is_empty()
    }

    async fn start(&self) -> Result<Log, Trouble> {
        let (clock, watch) = (Arc::clone(&self.clock), Arc::new(Unwatched));
        let mut batch = Batch::default();
        let started = self.started(&mut batch);
        Ok(Log::start(&self.store, clock, &run(), started, batch, watch).await?)
    }

    fn open(&self) -> Result<Arc<Log>, Trouble> {
        let (clock, watch) = (Arc::clone(&self.clock), Arc::new(Unwatched));
        Ok(Arc::new(Log::open(&self.store, clock, &run(), watch)?))
    }

    /// Puts an event into its log, as another process does.
    pub(super) async fn tell(&self, scope: Scope, event: Event) {
        let entries = vec![Entry { scope, event }];
        self.open().unwrap().append(Batch { entries, blobs: Vec::new() }).await.unwrap();
    }

    /// To the run as it is now, which begins with this if need be.
    pub(super) async fn handle(&self) -> Handle {
        if self.is_new() {
            self.start().await.unwrap();
        }
        Handle::new(self.world(), self.state())
    }

    /// Starts the run, or takes it up.
    pub(super) async fn conduct(&self) -> Result<Outcome, Trouble> {
        let world = self.world();
        let log = if self.is_new() {
            Arc::new(self.start().await?)
        } else {
            let log = self.open()?;
            if log.read(|run| run.ended.is_some()) {
                let event = Event::RunResumed { retry: Vec::new(), budget: None };
                let entries = vec![Entry { scope: Scope::default(), event }];
                log.append(Batch { entries, blobs: Vec::new() }).await?;
            }
            log
        };
        let controller = Controller::new(world, log, Arc::new(Unwatched), self.park.clone());
        controller.conduct(self.jobs).await
    }

    pub(super) fn state(&self) -> RunState {
        read(&self.store, &run()).unwrap()
    }

    pub(super) fn log(&self) -> Vec<Recorded> {
        self.store.events(&run(), 0, usize::MAX).unwrap()
    }

    pub(super) fn audit(&self) -> Audit {
        self.audit_of(&self.log())
    }

    pub(super) fn audit_of(&self, log: &[Recorded]) -> Audit {
        let run = run();
        let ports = Ports { run: &run, store: &self.store, repository: Some(&self.trees) };
        audit(log, &ports)
    }

    /// Subjects of the branch's commits, the oldest first.
    pub(super) fn commits(&self) -> Vec<String> {
        let history = self.trees.history("sequester/r1");
        let subject = |text: &str| text.lines().next().unwrap_or_default().to_owned();
        history.iter().rev().map(|draft| subject(&draft.message)).collect()
    }

    /// What the branch holds.
    pub(super) fn files(&self) -> BTreeMap<String, String> {
        let tip = self.trees.history("sequester/r1").first().map(|draft| draft.tree.clone());
        let tree = tip.unwrap_or_else(|| self.trees.start(false).unwrap().tree);
        let files = self.trees.files(&tree).unwrap().into_iter();
        files.map(|(path, bytes)| (path, String::from_utf8(bytes).unwrap())).collect()
    }
}

/// How long a slow model takes.
pub(super) const SLOW: Duration = Duration::from_secs(40);

pub(super) fn run() -> RunId {
    "r1".into()
}

struct Ticks;

impl Clock for Ticks {
    fn now(&self) -> Moment {
        Moment(1_000)
    }
}

struct Hands {
    roles: Vec<Role>,
    budget: Budget,
    depth: usize,
    share: Share,
    notes: Vec<sequester_core::notes::Standing>,
    ignored: Vec<(&'static str, Option<&'static str>)>,
    planted: Option<Given>,
    trouble: Option<(&'static str, Trouble)>,
    plan: Arc<Plan>,
    graph: TaskGraph,
    trees: MemoryTrees,
    play: Arc<Play>,
    asked: Arc<Counted>,
    delivered: Arc<Counted>,
    meeting: Arc<Barrier>,
}

impl Hands {
    fn role(&self, name: &str) -> &Role {
        self.roles.iter().find(|role| role.name == name).unwrap()
    }
}

impl Crew for Hands {
    fn member(&self, agent: &str, profile: Option<&str>) -> Result<Member, Trouble> {
        let (role, profiles) = (self.role(agent), Profiles::built_in());
        let profile = match profile {
            Some(name) => profiles.get(name).unwrap().clone(),
            None => role.granted(profiles).unwrap(),
        };
        let (budget, grants, depth) = (self.budget.clone(), Grants::default(), self.depth);
        let prompt = role.prompt.as_str().into();
        Ok(Member {
            profile,
            prompt,
            budget,
            grants,
            output_bytes: OUTPUT_BYTES,
            records: 2_000,
            owes: role.artifacts.clone(),
            depth,
        })
    }

    fn delegate(&self, agent: &str, under: &Profile) -> Result<Member, Trouble> {
        let member = self.member(agent, None)?;
        Ok(Member { profile: member.profile.under(under), ..member })
    }

    fn checker(&self) -> Result<Member, Trouble> {
        self.member("validator", None)
    }

    fn names<'a>(
        &'a self,
        _: &'a TreeId,
        _: &'a [String],
    ) -> BoxFuture<'a, Result<Option<BTreeSet<String>>, Trouble>> {
        Box::pin(async { Ok(None) })
    }

    fn context(&self, wanted: &Wanted<'_>) -> Result<IsolatedContext, Trouble> {
        let own = format!("{}/{}", wanted.task, wanted.agent);
        let is_meant = |(id, _): &&(&str, Trouble)| wanted.task.as_str() == *id || own == *id;
        if let Some((_, trouble)) = self.trouble.as_ref().filter(is_meant) {
            return Err(trouble.clone());
        }
        let snapshot = self.trees.snapshot(wanted.base)?;
        let limits = Limits::default();
        let shelf = Shelf::new(snapshot.as_ref(), &LineOutliner, &limits);
        let (ranker, companions) = (WordRanker(snapshot.as_ref()), Companions::default());
        let mut builder =
            Builder::new(&self.plan, &self.graph, &[], &shelf, &ranker, &limits, &companions);
        builder.share = self.share;
        builder.notes = &self.notes;
        let planted = self.planted.iter().filter(|file| file.task == *wanted.task);
        let given: Vec<Given> = wanted.given.iter().chain(planted).cloned().collect();
        let request = Request {
            clarifications: wanted.clarifications,
            given: &given,
            work: wanted.work,
            records: wanted.records,
            backpack: wanted.backpack,
            simplified: wanted.simplified,
            delegated: wanted.delegated,
            ..Request::new(wanted.task, self.role(wanted.agent))
        };
        Ok(builder.build(&request).unwrap())
    }

    fn asking(&self, task: &TaskId) -> Asking {
        let Some(task) = self.plan.task(task) else { return Asking::default() };
        let paths = task.files.iter().map(|file| file.path.to_string()).collect();
        Asking { text: format!("{}\n\n{}", task.title, task.text), paths }
    }

    fn reveal(&self, path: &RepoPath) -> Result<Vec<u8>, Refusal> {
        let found = self.ignored.iter().find(|(name, _)| *name == path.as_str());
        let text = found.and_then(|(_, text)| *text).ok_or(Refusal::Gone)?;
        Ok(text.as_bytes().to_vec())
    }

    fn connect<'a>(
        &'a self,
        model: &'a str,
    ) -> BoxFuture<'a, Result<Arc<dyn Provider>, provider::Error>> {
        let player = Player {
            model: model.to_owned(),
            play: Arc::clone(&self.play),
            asked: Arc::clone(&self.asked),
            delivered: Arc::clone(&self.delivered),
            meeting: Arc::clone(&self.meeting),
        };
        Box::pin(async move { Ok(Arc::new(player) as Arc<dyn Provider>) })
    }

    fn tools(&self, _: &Member, _: &dyn Provider, _: &TreeId) -> Extra {
        let ignored: Vec<&str> = self.ignored.iter().map(|(name, _)| *name).collect();
        let requests = Requests::new(move |path| {
            let is_there = ignored.contains(&path.as_str());
            if is_there { Standing::Ignored } else { Standing::Absent }
        });
        Extra { granted: Vec::new(), always: vec![Box::new(requests)] }
    }
}

struct Player {
    model: String,
    play: Arc<Play>,
    asked: Arc<Counted>,
    delivered: Arc<Counted>,
    meeting: Arc<Barrier>,
}

fn count(counted: &Counted, key: &(String, String)) {
    let mut counted = counted.lock().unwrap_or_else(PoisonError::into_inner);
    *counted.entry(key.clone()).or_default() += 1;
}

impl Provider for Player {
    fn model(&self) -> &str {
        &self.model
    }

    fn powers(&self) -> Powers {
        Powers { schema: false, free: true, scripted: false }
    }

    fn complete<'a>(
        &'a self,
        request: provider::Request<'a>,
        _: &'a dyn Deltas,
    ) -> BoxFuture<'a, Result<Reply, provider::Error>> {
        let Some(Message::User(prompt)) = request.messages.first() else {
            return Box::pin(std::future::pending());
        };
        let id = prompt.split("**Task ID:** ").nth(1).and_then(|rest| rest.lines().next());
        let id = id.unwrap_or_default().to_owned();
        let reply = (self.play)(&id, request.messages);
        let said = serde_json::to_string(request.messages).unwrap();
        let key = (id, sequester_core::digest::Digest::of(said.as_bytes()).to_string());
        count(&self.asked, &key);
        Box::pin(async move {
            // Others may go first.
            tokio::task::yield_now().await;
            let busy = |retry_after| {
                let kind = provider::Kind::Overloaded;
                Err(provider::Error { kind, message: "Busy.".to_owned(), retry_after })
            };
            match reply.said.text.as_str() {
                "hang" => std::future::pending::<()>().await,
                // Comes when another one is waited for as well.
                "meet" => {
                    self.meeting.wait().await;
                }
                // The first model does not answer this.
                "down" if self.model == "m" => {
                    return Err(provider::Error {
                        kind: provider::Kind::Forbidden,
                        message: "It is down.".to_owned(),
                        retry_after: None,
                    });
                }
                "brief" => tokio::time::sleep(Duration::from_millis(30)).await,
                "slow" => tokio::time::sleep(SLOW).await,
                "busy" => return busy(None),
                "later" => return busy(Some(SLOW)),
                _ => {}
            }
            count(&self.delivered, &key);
            Ok(reply)
        })
    }
}
