//! Runs as a controller would have recorded them, written to a project's store event by event.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use sequester_core::agent;
use sequester_core::budget::{Budget, Spent};
use sequester_core::change::{Action, Change, Entry as File, Mode, Refusals};
use sequester_core::context::Share;
use sequester_core::digest::Digest;
use sequester_core::id::{CommitId, RunId, TaskId, TreeId};
use sequester_core::limits::HandoverSizes;
use sequester_core::moment::Moment;
use sequester_core::plan::TaskWording;
use sequester_core::provider::Powers;
use sequester_core::recall::Relevance;
use sequester_core::record::Switches;
use sequester_core::report::{Choice, Phase};
use sequester_core::repository::{Draft, Repository as _, Start};
use sequester_core::run::{
    About, Agent, Asked, AttemptEnded, AttemptStarted, Base, Cap, Ended, Entry, Event, Outcome,
    Purpose, Review, Scope, Settings, Shown, Source, Started, Tally, TaskEnded, TaskSpec, VERSION,
    Workflows,
};
use sequester_core::store::{Batch, Lease, RunStore as _};
use sequester_core::usage::Usage;
use sequester_git::{Home, Repo, Trees};
use sequester_store::{Options, Signer, Store};
use serde_json::json;

use crate::command::{Bench, search_path};

/// Tasks with boxes: `1` is done by [`Ledger::waiting`], `2` waits.
pub(crate) const PLAN: &str = "# Shop\n\n### Task 1: Say hello\n\n- [ ] write it\n- [ ] test it\n\n### Task 2: Say goodbye\n\n- [ ] write it\n";

pub(crate) struct Ledger {
    pub(crate) lease: Option<Arc<dyn Lease>>,
    pub(crate) run: RunId,
    trees: Trees,
    start: Start,
    clock: u64,
}

impl Ledger {
    /// A run that has started, and is held by this process.
    pub(crate) fn start(bench: &Bench, run: &str) -> Self {
        let signer = Signer::load_or_create(&bench.keys()).unwrap();
        let options = Options { signer: Some(Arc::new(signer)), ..Options::default() };
        let store = Store::open_with(&path(bench), options).unwrap();
        bench.write(".sequester/.gitignore", "*\n");
        let repo = Repo::discover(&bench.repo(), search_path().as_ref()).unwrap().unwrap();
        let trees = Trees::of(&repo, Home::default());
        let start = trees.start(false).unwrap();
        let run = RunId::from(run);
        let lease = store.lease(&run).unwrap();
        let mut ledger = Self { lease: Some(lease), run, trees, start, clock: 1_794_819_912_345 };
        let mut batch = Batch::default();
        let text = batch.keep(PLAN.as_bytes());
        let started = ledger.started(bench, text);
        ledger.write(batch, Scope::default(), Event::RunStarted(Box::new(started)));
        ledger
    }

    fn started(&self, bench: &Bench, text: Digest) -> Started {
        let known = Workflows::read(&[]);
        let build = known.find("build").unwrap();
        let writer = Agent {
            phase: Phase::Write,
            profile: "writer".to_owned(),
            description: String::new(),
            models: vec!["literal".to_owned()],
        };
        Started {
            version: VERSION,
            notes: None,
            plan: Source {
                path: bench.path("plan.md").display().to_string(),
                hides: BTreeSet::new(),
                format: None,
                parallel: false,
                tag: None,
                text,
            },
            base: Base {
                commit: self.start.commit.clone(),
                tree: self.start.tree.clone(),
                uncommitted: Some(self.start.uncommitted),
            },
            branch: format!("sequester/{}", self.run),
            tasks: vec![task("1", "Say hello"), task("2", "Say goodbye")],
            workflows: BTreeMap::from([(
                "build".to_owned(),
                build.completed(|name| agent::find(name).map(|one| one.phase)),
            )]),
            agents: BTreeMap::from([("writer".to_owned(), writer)]),
            settings: Settings {
                share: Share::default(),
                relevance: Relevance::default(),
                records: Switches::default(),
                review: Review::default(),
                unattended: false,
                budget: Cap::default(),
                checks: BTreeMap::new(),
                grants: sequester_core::protected::Grants::default(),
                checks_off: BTreeSet::new(),
                fixes: 2,
                handover: HandoverSizes::default(),
                profile: None,
            },
        }
    }

    /// Task `1` done and on the branch, its review skipped; task `2` waits for an answer with a change so far.
    pub(crate) fn waiting(bench: &Bench, run: &str) -> Self {
        let mut ledger = Self::start(bench, run);
        let tree = ledger.change("hello.txt", "Hello.\n");
        ledger.attempt("1", agent::Outcome::Done, &tree);
        let mut batch = Batch::default();
        let evidence = json!({ "files_changed": [{ "path": "hello.txt", "action": "create" }] });
        let evidence = batch.keep(evidence.to_string().into_bytes());
        let steps = vec!["check".to_owned()];
        let event =
            Event::TaskVerified { steps, evidence, tree: tree.clone(), failing: None, gist: None };
        ledger.write(batch, about("1"), event);
        let (step, reason) = ("review".to_owned(), "no model".to_owned());
        ledger.tell(about("1"), Event::StepSkipped { step, reason });
        let ended = TaskEnded { tree: Some(tree.clone()), ..TaskEnded::new(Ended::Done, None) };
        ledger.tell(about("1"), Event::TaskEnded(Box::new(ended)));
        let commit = ledger.commit(&tree);
        ledger.tell(about("1"), Event::TaskCommitted { commit, tree });
        let parked = ledger.change("goodbye.txt", "Goodb");
        ledger.attempt("2", agent::Outcome::Waiting, &parked);
        let option = |label: &str| Choice { label: label.to_owned(), description: None };
        let asked = Asked {
            question: format!("{run}-1").as_str().into(),
            text: "Which words?".to_owned(),
            details: None,
            options: vec![option("Short"), option("Long")],
            default: None,
            deadline: None,
            about: About::Clarification,
        };
        ledger.tell(about("2"), Event::QuestionAsked(Box::new(asked)));
        let tasks = Tally { done: 1, waiting: 1, ..Tally::default() };
        let usage = Usage { input: 3_000, output: 200, ..Usage::default() };
        let event = Event::RunEnded {
            outcome: Outcome::Waiting,
            tasks,
            usage,
            price: None,
            todos: Vec::new(),
        };
        ledger.tell(Scope::default(), event);
        ledger
    }

    /// Task `2` done while `1` is under way: its change is on no branch yet.
    pub(crate) fn early(bench: &Bench, run: &str) -> Self {
        let mut ledger = Self::start(bench, run);
        ledger.begin("1");
        let tree = ledger.change("goodbye.txt", "Goodbye.\n");
        ledger.attempt("2", agent::Outcome::Done, &tree);
        let ended = TaskEnded { tree: Some(tree), ..TaskEnded::new(Ended::Done, None) };
        ledger.tell(about("2"), Event::TaskEnded(Box::new(ended)));
        ledger
    }

    /// No process holds the run any more.
    pub(crate) fn let_go(mut self) -> Self {
        self.lease = None;
        self
    }

    pub(crate) fn tell(&mut self, scope: Scope, event: Event) {
        self.write(Batch::default(), scope, event);
    }

    fn write(&mut self, mut batch: Batch, scope: Scope, event: Event) {
        batch.entries.push(Entry { scope, event });
        self.clock += 1_000;
        let lease = self.lease.as_ref().unwrap();
        let written = lease.append(Moment(self.clock), batch);
        sequester_engine::block_on(written).unwrap().unwrap();
    }

    pub(crate) fn begin(&mut self, task: &str) -> Scope {
        let scope = Scope { attempt: Some(1), phase: Some(Phase::Write), ..about(task) };
        let mut batch = Batch::default();
        let bytes = batch.keep(format!("context of {task}").into_bytes());
        let context = Shown {
            digest: bytes.clone(),
            system: bytes.clone(),
            prompt: bytes.clone(),
            text: 0..0,
            manifest: bytes.clone(),
            tokens: 1_400,
        };
        let started = AttemptStarted {
            step: "write".to_owned(),
            place: 0,
            agent: "writer".to_owned(),
            profile: "writer".to_owned(),
            model: "literal".to_owned(),
            powers: Powers { schema: true, free: true, scripted: true },
            rung: 0,
            purpose: Purpose::First,
            base: self.start.tree.clone(),
            from: None,
            findings: Vec::new(),
            handoff: None,
            context,
            tools: vec!["Write".to_owned()],
            specs: bytes,
            budget: Budget::default(),
            parent: None,
            sources: None,
            inherited: None,
        };
        self.write(batch, scope.clone(), Event::AttemptStarted(Box::new(started)));
        scope
    }

    fn attempt(&mut self, task: &str, outcome: agent::Outcome, tree: &TreeId) {
        let scope = self.begin(task);
        let mut batch = Batch::default();
        let reply = batch.keep(b"reply".as_slice());
        let usage = Usage { input: 1_500, output: 100, ..Usage::default() };
        let event = Event::TurnEnded { turn: 1, reply, usage, elapsed_ms: 5 };
        self.write(batch, scope.clone(), event);
        let mut batch = Batch::default();
        let report = json!({ "task_id": task, "context_summary": format!("Did {task}.") });
        let report = batch.keep(report.to_string().into_bytes());
        let kept = batch.keep(b"{}".as_slice());
        let ended = AttemptEnded {
            outcome,
            said: None,
            report: Some(report),
            change: None,
            tree: Some(tree.clone()),
            claimed: Vec::new(),
            trouble: None,
            refused: Refusals::default(),
            kept,
            spent: Spent { turns: 1, usage, ..Spent::default() },
        };
        self.write(batch, scope, Event::AttemptEnded(Box::new(ended)));
    }

    /// The base with one file more.
    fn change(&self, path: &str, text: &str) -> TreeId {
        let file = File {
            path: path.to_owned(),
            action: Action::Create,
            was: None,
            mode: Some(Mode::File),
            added: None,
            removed: None,
            in_patch: false,
            size: text.len() as u64,
            content: text.as_bytes().to_vec(),
        };
        let change = Change { entries: vec![file], ..Change::default() };
        self.trees.with_change(&self.start.tree, &change).unwrap()
    }

    fn commit(&self, tree: &TreeId) -> CommitId {
        let draft = Draft {
            tree: tree.clone(),
            parent: self.start.commit.clone(),
            message: "Say hello".to_owned(),
            author: None,
            at: Moment(self.clock),
        };
        let commit = self.trees.commit(&draft).unwrap();
        self.trees.move_branch(&format!("sequester/{}", self.run), None, &commit).unwrap();
        commit
    }
}

pub(crate) fn path(bench: &Bench) -> PathBuf {
    bench.repo().join(".sequester/store.db")
}

pub(crate) fn about(task: &str) -> Scope {
    Scope { task: Some(TaskId::from(task)), ..Scope::default() }
}

fn task(id: &str, title: &str) -> TaskSpec {
    TaskSpec {
        id: id.into(),
        title: title.to_owned(),
        text: Digest::of(id.as_bytes()),
        needs: Vec::new(),
        workflow: "build".to_owned(),
        agent: None,
        profile: None,
        models: Vec::new(),
        files: Vec::new(),
        hints: Vec::new(),
        asks_person: false,
        files_declared: false,
        wording: TaskWording::default(),
        checks: Vec::new(),
        produces: Vec::new(),
        consumes: Vec::new(),
        tdd: false,
        budget: Cap::default(),
        message: None,
        left_out: None,
    }
}
