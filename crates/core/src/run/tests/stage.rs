//! A run without a world: what has effects is played by a script.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::Rc;

use crate::agent;
use crate::budget::{Budget, Spent};
use crate::change::Refusals;
use crate::context::Share;
use crate::digest::Digest;
use crate::id::TaskId;
use crate::limits::HandoverSizes;
use crate::moment::Moment;
use crate::recall::Relevance;
use crate::record::Switches;
use crate::report::Phase;
use crate::run::line::Line;
use crate::run::queue::Queue;
use crate::run::*;
use crate::usage::Usage;

use super::apart::{Apart, Hand, Laid, parts, unfit};

/// What an attempt brings.
#[derive(Clone, Debug)]
pub(super) struct Brought {
    pub(super) outcome: agent::Outcome,
    pub(super) said: Option<Said>,
    pub(super) changes: bool,
}

impl Brought {
    pub(super) fn done() -> Self {
        let said = Some(Said::Proceed { passed: None, complexity: None, against: Vec::new() });
        Self { outcome: agent::Outcome::Done, said, changes: true }
    }

    pub(super) fn judged(passed: bool) -> Self {
        let against = if passed { Vec::new() } else { vec!["It is odd.".to_owned()] };
        let said = Some(Said::Proceed { passed: Some(passed), complexity: None, against });
        Self { said, changes: false, ..Self::done() }
    }

    pub(super) fn stopped(status: crate::report::Status) -> Self {
        let said = Said::Stop { status, reason: "No.".to_owned(), resolution: None };
        Self { outcome: agent::Outcome::Stopped, said: Some(said), changes: false }
    }

    pub(super) fn asking(questions: Vec<crate::report::Question>) -> Self {
        let said = Some(Said::Clarify { questions, files: Vec::new() });
        Self { outcome: agent::Outcome::Waiting, said, changes: false }
    }

    pub(super) fn ended(outcome: agent::Outcome) -> Self {
        Self { outcome, said: None, changes: false }
    }
}

pub(super) fn task(id: &str, needs: &[&str]) -> TaskSpec {
    TaskSpec {
        id: id.into(),
        title: format!("Title of {id}"),
        text: Digest::of(id.as_bytes()),
        needs: needs.iter().map(|need| TaskId::from(*need)).collect(),
        workflow: "build".to_owned(),
        agent: None,
        profile: None,
        models: Vec::new(),
        files: Vec::new(),
        hints: Vec::new(),
        asks_person: false,
        files_declared: false,
        wording: crate::plan::TaskWording::default(),
        checks: Vec::new(),
        produces: Vec::new(),
        consumes: Vec::new(),
        tdd: false,
        budget: Cap::default(),
        message: None,
        left_out: None,
    }
}

pub(super) fn started(tasks: Vec<TaskSpec>, models: &[&str]) -> Started {
    let known = Workflows::read(&[]);
    let agents = known.iter().flat_map(|one| &one.steps).filter_map(|step| step.agent.as_ref());
    let agents = agents.map(|name| {
        let role = agent::find(name).unwrap();
        let models = models.iter().map(|model| (*model).to_owned()).collect();
        let (phase, profile) = (role.phase, role.profile.clone());
        let description = role.description.clone();
        (name.clone(), Agent { phase, profile, description, models })
    });
    Started {
        version: VERSION,
        notes: None,
        plan: Source {
            path: "plan.md".to_owned(),
            hides: BTreeSet::new(),
            format: None,
            parallel: false,
            tag: None,
            text: Digest::of(b"plan"),
        },
        base: Base { commit: None, tree: "base".into(), uncommitted: None },
        branch: "sequester/r1".to_owned(),
        tasks,
        agents: agents.collect(),
        workflows: known
            .iter()
            .map(|one| {
                (one.name.clone(), one.completed(|name| Some(agent::find(name).unwrap().phase)))
            })
            .collect(),
        settings: Settings {
            share: Share::default(),
            relevance: Relevance::default(),
            records: Switches::default(),
            review: Review::default(),
            unattended: false,
            budget: Cap::default(),
            checks: BTreeMap::new(),
            grants: crate::protected::Grants::default(),
            checks_off: BTreeSet::new(),
            fixes: 2,
            handover: HandoverSizes::default(),
            profile: None,
        },
    }
}

pub(super) const POWERS: crate::provider::Powers =
    crate::provider::Powers { schema: true, free: false, scripted: false };

type Play = dyn FnMut(&TaskId, &Order) -> Brought;

/// A run on a stage, with what it is told.
pub(super) struct Stage {
    pub(super) log: Vec<Recorded>,
    pub(super) state: RunState,
    pub(super) jobs: usize,
    pub(super) stopping: bool,
    /// In which of the effects under way ends next.
    pub(super) turn: Box<dyn FnMut(usize) -> usize>,
    pub(super) attempt: Box<Play>,
    /// Whether the runtime finds nothing against a change.
    pub(super) verify: Box<dyn FnMut(&TaskId) -> bool>,
    pub(super) conflict: Box<dyn FnMut(&TaskId) -> bool>,
    pub(super) apart: Vec<Apart>,
    /// What is on the branch.
    branch: Laid,
    /// Who is asked to bring something, for the how many-th time that counts and on what: never when.
    pub(super) seed: Rc<RefCell<String>>,
    /// Whether what tasks leave is told by that too; else by their attempts.
    pub(super) by_seed: bool,
    /// Whether an attempt whose ground gives way is stopped at once; else it runs out.
    pub(super) stops: bool,
    pub(super) clock: u64,
    /// The tokens that the agent of a task may use.
    pub(super) least: (&'static str, u64),
    /// What each attempt was built on, and what it was shown the records of.
    pub(super) admitted: BTreeMap<(String, u32), (String, Vec<String>)>,
    last: Option<TaskId>,
    stuck: BTreeMap<TaskId, Awaited>,
    grounds: Grounds<Laid>,
}

/// Changes that come onto the branch at once, at most.
const ROW: usize = 4;

impl Stage {
    pub(super) fn new(started: Started) -> Self {
        let entry = Entry { scope: Scope::default(), event: Event::RunStarted(Box::new(started)) };
        let first = Recorded { seq: 1, at: Moment(1), run: "r1".into(), entry };
        let state = RunState::begin(&first).unwrap();
        Self {
            log: vec![first],
            state,
            jobs: 4,
            stopping: false,
            turn: Box::new(|_| 0),
            attempt: Box::new(|_, order| match order.phase {
                Phase::Review | Phase::Validate | Phase::Verify => Brought::judged(true),
                _ => Brought::done(),
            }),
            verify: Box::new(|_| true),
            conflict: Box::new(|_| false),
            apart: Vec::new(),
            branch: Laid::default(),
            seed: Rc::default(),
            by_seed: false,
            stops: true,
            clock: 1,
            least: ("", 0),
            admitted: BTreeMap::new(),
            last: None,
            stuck: BTreeMap::new(),
            grounds: Grounds::default(),
        }
    }

    /// Somebody stops the run as soon as nothing speaks against what this task did.
    pub(super) fn stop_after(&mut self, task: &str) {
        self.last = Some(task.into());
    }

    pub(super) fn tell(&mut self, scope: Scope, event: Event) {
        let (seq, at) = (self.state.seq + 1, Moment(self.clock));
        let recorded =
            Recorded { seq, at, run: self.state.run.clone(), entry: Entry { scope, event } };
        self.state.fold(&recorded).unwrap();
        let anew = Queue::of(&self.state.tasks);
        assert_eq!(self.state.queue, anew, "after {:?}", recorded.entry.event);
        let anew = Line::of(&self.state.tasks, self.state.started.settings.share);
        assert_eq!(self.state.line, anew, "after {:?}", recorded.entry.event);
        assert_eq!(self.state.landed, self.state.on_branch(), "after {:?}", recorded.entry.event);
        self.log.push(recorded);
    }

    pub(super) fn answer(&mut self, question: &str, answer: &str) {
        let (question, answer) = (question.into(), answer.to_owned());
        let event = Event::QuestionAnswered { question, answer, by: "somebody".to_owned() };
        self.tell(Scope::default(), event);
    }

    pub(super) fn resume(&mut self, retry: &[&str]) {
        let retry = retry.iter().map(|task| TaskId::from(*task)).collect();
        self.tell(Scope::default(), Event::RunResumed { retry, budget: None });
    }

    /// Somebody takes it up with an edited plan.
    pub(super) fn edit(&mut self, tasks: Vec<TaskSpec>) {
        self.resume(&[]);
        let plan = self.state.started.plan.clone();
        let (workflows, agents) = (BTreeMap::new(), BTreeMap::new());
        let event = Event::PlanChanged { plan, tasks, workflows, agents };
        self.tell(Scope::default(), event);
    }

    /// The first attempt of this task asks something; all others bring what they bring on a good day.
    pub(super) fn asks_once(&mut self, task: &'static str) {
        let mut asks = true;
        self.attempt = Box::new(move |id, order| match order.phase {
            Phase::Review => Brought::judged(true),
            _ if id.as_str() == task && std::mem::take(&mut asks) => {
                Brought::asking(vec![crate::report::Question::default()])
            }
            _ => Brought::done(),
        });
    }

    /// Until nothing goes on any more.
    pub(super) fn play(&mut self) -> Outcome {
        let mut under_way: VecDeque<Effect> = VecDeque::new();
        for _ in 0..100_000 {
            let mut busy: BTreeMap<TaskId, usize> = BTreeMap::new();
            for effect in &under_way {
                *busy.entry(effect.task().clone()).or_default() += 1;
            }
            self.stuck.retain(|_, awaited| self.state.is_awaited(awaited));
            let stuck = self.stuck.keys().cloned().collect();
            let (at, jobs, stopping) = (Moment(self.clock), self.jobs, self.stopping);
            let decision =
                decide(&self.state, Now { at, jobs, busy: &busy, stuck: &stuck, stopping });
            for effect in decision.effects {
                assert!(!busy.contains_key(effect.task()), "twice at once: {effect:?}");
                if self.begin(&effect) {
                    under_way.push_back(effect);
                }
            }
            assert!(under_way.len() <= self.jobs + 1, "more than there is room for");
            for entry in decision.entries {
                self.tell(entry.scope, entry.event);
            }
            if let Some(outcome) = self.state.ended {
                assert!(under_way.is_empty(), "it ended with work under way");
                return outcome;
            }
            if !under_way.is_empty() {
                let which = (self.turn)(under_way.len()) % under_way.len();
                let effect = under_way.remove(which).unwrap();
                self.clock += 1;
                self.end(effect);
                self.let_go(&mut under_way);
            }
        }
        panic!("it does not end: {:#?}", &self.log[self.log.len() - 30..]);
    }

    /// Ends what is under way for tasks that begin anew.
    fn let_go(&mut self, under_way: &mut VecDeque<Effect>) {
        for effect in std::mem::take(under_way) {
            let known = self.state.task(effect.task()).unwrap();
            let stands = self.state.is_founded(known);
            match &effect {
                Effect::Verify { .. } if !stands => {}
                Effect::Attempt { task, number, order, .. } if !stands && self.stops => {
                    let ended = known.running[number].cut_off(Digest::of(b"kept"));
                    let event = Event::AttemptEnded(Box::new(ended));
                    self.tell(scope(task, order, *number), event);
                }
                _ => under_way.push_back(effect),
            }
        }
    }

    /// Whether it can begin: what it is built on may not fit together.
    fn begin(&mut self, effect: &Effect) -> bool {
        let known = self.state.task(effect.task()).unwrap();
        let has_base = match effect {
            Effect::Attempt { .. } => false,
            Effect::Verify { .. } => known.base.is_some(),
            Effect::Commit { .. } | Effect::Accept { .. } => true,
        };
        if !has_base {
            if !self.state.is_ready(known) {
                return false;
            }
            let at = self.state.position(effect.task()).unwrap();
            let foundation = self.state.foundation(at);
            if let Some(unfit) = unfit(&self.state, &foundation, &self.apart) {
                if let Some(awaited) = self.state.awaits(&foundation) {
                    self.stuck.insert(effect.task().clone(), awaited);
                    return false;
                }
                let unfit = self.state.tasks[unfit].spec.id.clone();
                let event = Event::MergeConflicted { paths: vec!["a.rs".to_owned()] };
                self.tell(about(&unfit), event);
                return false;
            }
        }
        if let Effect::Attempt { .. } = effect {
            self.start(effect);
        }
        true
    }

    fn start(&mut self, effect: &Effect) {
        let Effect::Attempt { task, number, order, cap } = effect else { return };
        let at = self.state.position(task).unwrap();
        let seen = self.state.visible(at).into_iter().map(|one| &self.state.tasks[one]);
        let seen = seen.filter(|one| one.is_done());
        let seen = seen.map(|one| match one.result() {
            Some(result) if self.by_seed => result.to_string(),
            _ if self.by_seed => format!("{}@{}", one.spec.id, one.attempts - void(one)),
            _ => format!("{}@{}", one.spec.id, one.attempts),
        });
        let seen = seen.collect();
        let base = self.base(task).to_string();
        self.admitted.insert((task.to_string(), *number), (base, seen));
        let is_less = self.least.0 == task.as_str();
        let tokens = if is_less { Some(self.least.1) } else { cap.tokens };
        let bytes = Digest::of(b"bytes");
        let context = Shown {
            digest: bytes.clone(),
            system: bytes.clone(),
            prompt: bytes.clone(),
            text: 0..0,
            manifest: bytes.clone(),
            tokens: 100,
        };
        let event = Event::AttemptStarted(Box::new(AttemptStarted {
            step: order.step.clone(),
            place: order.place,
            agent: order.agent.clone(),
            profile: "writer".to_owned(),
            model: order.model.clone(),
            powers: POWERS,
            rung: order.rung,
            purpose: order.purpose,
            base: self.base(task),
            from: order.from.clone(),
            findings: order.findings.clone(),
            handoff: None,
            context,
            tools: Vec::new(),
            specs: bytes,
            budget: Budget { tokens, price: cap.price, ..Budget::default() },
            parent: None,
            sources: None,
            inherited: None,
        }));
        self.tell(scope(task, order, *number), event);
    }

    /// Told by the results that the task is built on, so that others are another base.
    pub(super) fn base(&self, task: &TaskId) -> crate::id::TreeId {
        let at = self.state.position(task).unwrap();
        let foundation = self.state.foundation(at).into_iter();
        let results = foundation.filter_map(|one| self.state.tasks[one].result());
        let on: Vec<&str> = results.map(crate::id::TreeId::as_str).collect();
        crate::id::TreeId::new(format!("base+{}", on.join("+")))
    }

    fn end(&mut self, effect: Effect) {
        match effect {
            Effect::Attempt { task, number, order, cap } => {
                let known = self.state.task(&task).unwrap();
                let count = number.saturating_sub(void(known));
                let base = &known.running[&number].started.base;
                *self.seed.borrow_mut() = format!("{task}{}{count}{base}", order.step);
                let on = Digest::of(base.as_str().as_bytes()).to_string();
                let by_seed = format!("{task}@{count}.{}", &on[..12]);
                let tree = if self.by_seed { by_seed } else { format!("{task}@{number}") };
                let brought = (self.attempt)(&task, &order);
                let most = cap.tokens.unwrap_or(u64::MAX);
                let (input, output) = (most.saturating_sub(100).min(1_000), most.min(100));
                let usage = Usage { input, output, ..Usage::default() };
                let reply = Digest::of(b"reply");
                let event = Event::TurnEnded { turn: 1, reply, usage, elapsed_ms: 5 };
                self.tell(scope(&task, &order, number), event);
                let report = brought.said.as_ref();
                let event = Event::AttemptEnded(Box::new(AttemptEnded {
                    outcome: brought.outcome,
                    report: report.map(|_| Digest::of(tree.as_bytes())),
                    said: brought.said,
                    change: None,
                    tree: brought.changes.then(|| tree.as_str().into()),
                    claimed: Vec::new(),
                    trouble: None,
                    refused: Refusals::default(),
                    kept: Digest::of(b"kept"),
                    spent: Spent { turns: 1, usage, ..Spent::default() },
                }));
                self.tell(scope(&task, &order, number), event);
            }
            Effect::Verify { task, steps, tree, .. } => {
                let known = self.state.task(&task).unwrap();
                let since = |fact: &&Fact| !matches!(fact, Fact::Withdrawn { .. });
                let facts = known.facts.iter().rev().take_while(since);
                let count = facts.filter(|fact| matches!(fact, Fact::Verified { .. })).count();
                *self.seed.borrow_mut() = format!("{task}v{count}{:?}", known.base);
                let passed = (self.verify)(&task);
                let event = Event::TaskVerified {
                    steps,
                    evidence: Digest::of(b"evidence"),
                    tree: tree.unwrap_or_default(),
                    failing: (!passed).then(|| Digest::of(b"failing")),
                    gist: (!passed).then(|| "It fails.".to_owned()),
                };
                self.stopping |= self.last.as_ref() == Some(&task);
                self.tell(about(&task), event);
            }
            Effect::Accept { task } => {
                let known = self.state.task(&task).unwrap();
                let tree = known.parked().unwrap().tree.clone();
                self.tell(about(&task), Event::ChangeAccepted { tree, left_out: Vec::new() });
            }
            Effect::Commit { task } => self.commit(&task),
        }
    }

    /// The changes of a row, as far as they fit.
    fn commit(&mut self, first: &TaskId) {
        let row = self.state.row(first, ROW);
        let mut survey = self.grounds.survey(&self.state, &row);
        let mut there: BTreeSet<usize> = self.state.landed.keys().copied().collect();
        let mut events = Vec::new();
        for at in row {
            let task = &self.state.tasks[at];
            let mut hand = Hand(&self.state, &self.apart);
            let Ok(why) = self.grounds.fit(&mut survey, &Laid::default(), at, &mut hand);
            let known = parts(&self.state, at, &there, &self.apart);
            assert_eq!(why.is_some(), known, "{}", task.spec.id);
            there.insert(self.state.line.rank(at));
            let fits = why.is_none() && self.branch.clone().add(task, &self.apart);
            let clashes = fits && (self.conflict)(&task.spec.id);
            let id = task.spec.id.clone();
            if fits && !clashes {
                self.branch.add(task, &self.apart);
                let commit = format!("commit of {id}").as_str().into();
                events.push((id, Event::TaskCommitted { commit, tree: "tip".into() }));
            } else {
                // Another one that does not fit is found when it is the first.
                if clashes || events.is_empty() {
                    events.push((id, Event::MergeConflicted { paths: vec!["a.rs".to_owned()] }));
                }
                break;
            }
        }
        for (task, event) in events {
            self.tell(about(&task), event);
        }
    }

    pub(super) fn ended(&self, task: &str) -> Option<Ended> {
        self.state.task(&task.into()).unwrap().ended.as_ref().map(|ended| ended.state)
    }

    /// Purposes and models of a task's attempts, in the order in which they began.
    pub(super) fn tried(&self, task: &str) -> Vec<String> {
        let task = self.state.task(&task.into()).unwrap();
        let name = |tried: &Tried| {
            let purpose = serde_json::to_value(tried.purpose).unwrap();
            format!("{} {} {}", tried.step, purpose.as_str().unwrap(), tried.model)
        };
        let mut tried: Vec<&Tried> = task.tried().collect();
        tried.sort_by_key(|one| one.number);
        tried.into_iter().map(name).collect()
    }

    /// How many tokens each attempt may use.
    pub(super) fn caps(&self) -> BTreeMap<(String, u32), Option<u64>> {
        let caps = self.log.iter().filter_map(|recorded| match &recorded.entry {
            Entry { scope, event: Event::AttemptStarted(started) } => {
                let attempt = (scope.task.as_ref()?.to_string(), scope.attempt?);
                Some((attempt, started.budget.tokens))
            }
            _ => None,
        });
        caps.collect()
    }

    /// The tasks whose changes went onto the branch, in order.
    pub(super) fn committed(&self) -> Vec<String> {
        let commits = self.log.iter().filter_map(|recorded| match &recorded.entry.event {
            Event::TaskCommitted { .. } => recorded.entry.scope.task.as_ref(),
            _ => None,
        });
        commits.map(ToString::to_string).collect()
    }
}

/// So many attempts count no more.
pub(super) fn void(task: &TaskRun) -> u32 {
    let last = task.facts.iter().rev().find_map(|fact| match fact {
        Fact::Withdrawn { attempts } => Some(*attempts),
        _ => None,
    });
    last.unwrap_or(0)
}

fn scope(task: &TaskId, order: &Order, number: u32) -> Scope {
    Scope { task: Some(task.clone()), phase: Some(order.phase), attempt: Some(number) }
}

fn about(task: &TaskId) -> Scope {
    Scope { task: Some(task.clone()), ..Scope::default() }
}
