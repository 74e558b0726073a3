//! A plan in chains, and all that a run of it needs.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::Arc;

use sequester_core::agent;
use sequester_core::budget::Budget;
use sequester_core::change::{Action, Change, Entry, Mode};
use sequester_core::companion::Companions;
use sequester_core::context::{Builder, IsolatedContext, Refusal, Request, Shelf};
use sequester_core::future::BoxFuture;
use sequester_core::graph::TaskGraph;
use sequester_core::id::{RunId, TaskId, TreeId};
use sequester_core::limits::{Limits, OUTPUT_BYTES};
use sequester_core::message::Message;
use sequester_core::moment::Moment;
use sequester_core::path::RepoPath;
use sequester_core::plan::{self, Plan};
use sequester_core::profile::{Profile, Profiles};
use sequester_core::protected::Grants;
use sequester_core::provider::{self, Deltas, Powers, Provider, Reply};
use sequester_core::repository::{Merge, Repository as _};
use sequester_core::run::Outcome;
use sequester_core::store::Batch;
use sequester_engine::{
    Asking, Clock, Controller, Crew, Extra, Log, Member, Stop, Trouble, Wanted, Watch, World,
    block_on,
};
use sequester_store::{Options, Stats, Store};
use sequester_testkit::memory::{MemoryJails, MemoryNotes, MemoryTrees};
use sequester_testkit::provider::calls;
use sequester_testkit::{LineOutliner, WordRanker, started};
use serde_json::json;
use tempfile::TempDir;

/// Who needs whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Each is the next of one of [`CHAINS`] and writes its chain's file anew.
    Chains,
    /// None needs another. As many files as there are chains, in which all of them write the same.
    Wide,
    /// Layers of [`LAYER`], each task after three of the layer before. All of a layer write the same: what tasks are built on differs,
    /// and the trees in memory are few.
    Layers,
}

const CHAINS: usize = 32;
const LAYER: usize = 100;
const LAYERS: usize = 50;

impl Shape {
    /// How many files there are.
    fn files(self) -> usize {
        match self {
            Self::Chains | Self::Wide => CHAINS,
            Self::Layers => LAYERS,
        }
    }

    fn needs(self, at: usize) -> Vec<usize> {
        match self {
            Self::Wide => Vec::new(),
            Self::Chains => at.checked_sub(CHAINS).into_iter().collect(),
            Self::Layers => {
                let Some(before) = at.checked_sub(LAYER) else { return Vec::new() };
                let another = |step: usize| before - before % LAYER + (before + step) % LAYER;
                // Others each time, none twice.
                vec![before, another(1 + at * 7 % 49), another(50 + at * 11 % 49)]
            }
        }
    }

    fn path(self, at: usize) -> String {
        let file = if self == Self::Layers { at / LAYER } else { at };
        format!("part-{:02}.txt", file % self.files())
    }
}

pub(crate) struct Stage {
    _folder: TempDir,
    store: Arc<Store>,
    shape: Shape,
    trees: MemoryTrees,
    text: String,
    plan: Arc<Plan>,
    graph: Arc<TaskGraph>,
}

impl Stage {
    pub(crate) fn new(tasks: usize, shape: Shape, options: Options) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open_with(&folder.path().join("store.db"), options).unwrap();
        let text = plan_of(tasks, shape);
        let parsed = plan::parse(text.as_bytes(), &plan::Options::default());
        assert_eq!(parsed.faults, [], "the plan has faults");
        let graph = Arc::new(TaskGraph::new(&parsed.plan).0);
        Self {
            _folder: folder,
            store: Arc::new(store),
            shape,
            trees: trees(shape),
            text,
            plan: Arc::new(parsed.plan),
            graph,
        }
    }

    pub(crate) fn stats(&self) -> Stats {
        self.store.stats()
    }

    pub(crate) fn conduct(&self, jobs: usize, watch: Arc<dyn Watch>) {
        let world = World {
            store: Arc::clone(&self.store) as _,
            repository: Arc::new(self.trees.clone()),
            jails: Arc::new(MemoryJails(self.trees.clone())),
            crew: Arc::new(Hands {
                shape: self.shape,
                plan: Arc::clone(&self.plan),
                graph: Arc::clone(&self.graph),
                trees: self.trees.clone(),
            }),
            clock: Arc::new(Still),
            notes: Arc::new(MemoryNotes::default()),
        };
        let mut batch = Batch::default();
        let text = batch.keep(self.text.as_bytes());
        let base = self.trees.start(false).unwrap().tree;
        let (roles, models) = (agent::built_in(), ["m".to_owned()]);
        let started = started((&self.plan, text), base, "solo", roles, &models);
        let run = RunId::from("r1");
        let ended = block_on(async {
            let store = self.store.as_ref();
            let log =
                Log::start(store, Arc::new(Still), &run, started, batch, Arc::clone(&watch)).await;
            let log = Arc::new(log.unwrap());
            Controller::new(world, log, watch, Stop::default()).conduct(jobs).await
        });
        assert_eq!(ended.unwrap().unwrap(), Outcome::Done);
    }
}

fn plan_of(tasks: usize, shape: Shape) -> String {
    let mut plan = "---\nsequester: 1\n---\n# Parts\n".to_owned();
    for at in 0..tasks {
        let _ = write!(plan, "\n## [t{at:04}] Write part {at:04}\n");
        let needs = shape.needs(at).into_iter().map(|need| format!("t{need:04}"));
        let needs = needs.collect::<Vec<_>>().join(", ");
        let _ = match shape {
            Shape::Chains => {
                let path = shape.path(at);
                write!(
                    plan,
                    "\n```task\nneeds: [{needs}]\nfiles: {{modify: [{path}]}}\n```\n\nWrite the number.\n"
                )
            }
            Shape::Wide => write!(plan, "\nWrite the word.\n"),
            Shape::Layers => {
                write!(plan, "\n```task\nneeds: [{needs}]\n```\n\nWrite the word.\n")
            }
        };
    }
    plan
}

fn trees(shape: Shape) -> MemoryTrees {
    let files: Vec<String> = (0..shape.files()).map(|at| shape.path(at)).collect();
    let files: Vec<(&str, &str)> = files.iter().map(|path| (path.as_str(), "nothing\n")).collect();
    MemoryTrees::new(&files)
}

/// What the trees of as many tasks take by themselves, in bytes for each.
pub(crate) fn trees_alone(tasks: usize, resident: fn() -> usize) -> usize {
    let (shape, trees) = (Shape::Chains, trees(Shape::Chains));
    let start = trees.start(false).unwrap().tree;
    let mut last: Vec<TreeId> = vec![start.clone(); CHAINS];
    let (mut tip, before) = (start, resident());
    for at in 0..tasks {
        let content = format!("number {at:04}\n").into_bytes();
        let entry = Entry {
            path: shape.path(at),
            action: Action::Modify,
            was: Some(Mode::File),
            mode: Some(Mode::File),
            added: None,
            removed: None,
            in_patch: false,
            size: content.len() as u64,
            content,
        };
        let change = Change { entries: vec![entry], ..Change::default() };
        let base = &last[at % CHAINS];
        let result = trees.with_change(base, &change).unwrap();
        let Merge::Clean(merged) = trees.merge(base, &tip, &result).unwrap() else {
            unreachable!("each writes its own file")
        };
        (tip, last[at % CHAINS]) = (merged, result);
    }
    (resident() - before) / tasks
}

struct Still;

impl Clock for Still {
    fn now(&self) -> Moment {
        Moment(1_000)
    }
}

struct Hands {
    shape: Shape,
    plan: Arc<Plan>,
    graph: Arc<TaskGraph>,
    trees: MemoryTrees,
}

impl Crew for Hands {
    fn member(&self, agent: &str, _: Option<&str>) -> Result<Member, Trouble> {
        let role = agent::find(agent).unwrap();
        let profile = role.granted(Profiles::built_in()).unwrap();
        let (budget, grants) = (Budget::default(), Grants::default());
        let prompt = role.prompt.as_str().into();
        Ok(Member {
            profile,
            prompt,
            budget,
            grants,
            output_bytes: OUTPUT_BYTES,
            records: 2_000,
            owes: Vec::new(),
            depth: 0,
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
        let snapshot = self.trees.snapshot(wanted.base)?;
        let limits = Limits::default();
        let shelf = Shelf::new(snapshot.as_ref(), &LineOutliner, &limits);
        let (ranker, companions) = (WordRanker(snapshot.as_ref()), Companions::default());
        let builder =
            Builder::new(&self.plan, &self.graph, &[], &shelf, &ranker, &limits, &companions);
        let role = agent::find(wanted.agent).unwrap();
        let Wanted { work, records, .. } = *wanted;
        let request = Request { work, records, ..Request::new(wanted.task, role) };
        Ok(builder.build(&request).unwrap())
    }

    fn asking(&self, task: &TaskId) -> Asking {
        let Some(task) = self.plan.task(task) else { return Asking::default() };
        Asking { text: format!("{}\n\n{}", task.title, task.text), paths: Vec::new() }
    }

    fn reveal(&self, _: &RepoPath) -> Result<Vec<u8>, Refusal> {
        Err(Refusal::NotThere)
    }

    fn connect<'a>(
        &'a self,
        _: &'a str,
    ) -> BoxFuture<'a, Result<Arc<dyn Provider>, provider::Error>> {
        Box::pin(async { Ok(Arc::new(Player(self.shape)) as Arc<dyn Provider>) })
    }

    fn tools(&self, _: &Member, _: &dyn Provider, _: &TreeId) -> Extra {
        Extra::default()
    }
}

/// Writes the task's file, then reports.
struct Player(Shape);

impl Provider for Player {
    fn model(&self) -> &'static str {
        "m"
    }

    fn powers(&self) -> Powers {
        Powers { schema: false, free: true, scripted: false }
    }

    fn complete<'a>(
        &'a self,
        request: provider::Request<'a>,
        _: &'a dyn Deltas,
    ) -> BoxFuture<'a, Result<Reply, provider::Error>> {
        let Some(Message::User(prompt)) = request.messages.first() else { unreachable!() };
        let id = prompt.split("**Task ID:** ").nth(1).and_then(|rest| rest.lines().next());
        let id = id.unwrap();
        let path = self.0.path(id.trim_start_matches('t').parse().unwrap());
        let reply = if request.messages.len() == 1 {
            let is_wide = prompt.contains("Write the word.");
            let content = if is_wide { "word\n".to_owned() } else { format!("number {id}\n") };
            calls(&[("Write", json!({ "path": path, "content": content }))])
        } else {
            calls(&[(
                "report",
                json!({
                    "task_id": id, "phase": "write", "status": "complete", "decision": "PROCEED",
                    "findings": { "files_changed": [path], "tests_written": [] },
                    "context_summary": format!("Wrote {id}."),
                    "self_review": [{ "item": "It is there", "ok": true }],
                }),
            )])
        };
        Box::pin(async move { Ok(reply) })
    }
}
