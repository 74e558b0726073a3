//! The state of a run: its events, folded. Facts only; what they lead to is decided elsewhere.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::attempts::{Running, Tried};
use super::contradiction::Contradiction;
use super::cost::Cost;
use super::event::{About, Asked, Entry, Event, Found, Recorded, Scope, Started, TaskEnded};
use super::fact::Fact;
use super::line::Line;
use super::outcome::Outcome;
use super::past::Past;
use super::person::PersonDecision;
use super::plan::TaskSpec;
use super::purse::Stake;
use super::queue::Queue;
use crate::agent::YES;
use crate::context::Clarification;
use crate::id::{CommitId, QuestionId, RunId, TaskId, TreeId};
use crate::moment::Moment;
use crate::report::Phase;

/// What happened so far. It can be stored at any moment and taken up again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunState {
    pub run: RunId,
    /// Of the last event.
    pub seq: u64,
    pub at: Moment,
    /// Of the first.
    pub began: Moment,
    pub started: Box<Started>,
    /// In the plan's order, but no task before one that it needs.
    pub tasks: Vec<TaskRun>,
    pub(super) index: BTreeMap<TaskId, usize>,
    pub(super) line: Line,
    /// So many of the line have ended, and what they changed is on the branch, if it can come there.
    pub(super) settled: usize,
    /// The last event by which the line changed.
    pub(super) lined: u64,
    /// Whose changes are on the branch: where they stand in the line, and the events by which they ended.
    pub(super) landed: BTreeMap<usize, u64>,
    pub(super) queue: Queue,
    pub questions: BTreeMap<QuestionId, Open>,
    /// Those that nobody needs to answer any more.
    pub(super) void: BTreeSet<QuestionId>,
    /// How many questions were asked.
    pub asked: u32,
    /// What a person decided about contradictions of the plan.
    pub(super) decided: Vec<(QuestionId, Contradiction, String)>,
    pub cost: Cost,
    /// What it had cost when its budget was parted among the tasks last.
    pub(super) parted: Cost,
    /// The last commit of the run's branch and its tree.
    pub tip: Option<(CommitId, TreeId)>,
    pub is_cancelled: bool,
    /// The last letter of another process that was taken.
    pub heard: u64,
    pub ended: Option<Outcome>,
}

/// A question that nobody answered yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Open {
    pub task: Option<TaskId>,
    pub phase: Option<Phase>,
    pub asked_at: Moment,
    #[serde(flatten)]
    pub asked: Asked,
}

/// A task and all that happened to it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TaskRun {
    pub spec: TaskSpec,
    /// As the plan has it, where a person decided otherwise.
    pub(super) planned: Option<Box<TaskSpec>>,
    /// The plan has it no longer.
    pub gone: bool,
    /// Where those that it needs stand in the plan's order.
    pub(super) needs: Vec<usize>,
    pub facts: Vec<Fact>,
    /// Attempts that were started, also those under way.
    pub attempts: u32,
    /// Attempts under way: one, and those that it delegated.
    pub running: BTreeMap<u32, Running>,
    /// Questions of it that nobody answered yet.
    pub open: BTreeSet<QuestionId>,
    pub clarifications: Vec<Clarification>,
    /// Files that a person lets it see, by path; what was there, once that was read.
    pub granted: BTreeMap<String, Option<Found>>,
    pub ended: Option<TaskEnded>,
    /// The event by which it ended last.
    pub(super) ended_at: u64,
    /// The event by which a person handed it back, or had it tried again, last.
    #[serde(default)]
    pub(super) decided_at: u64,
    /// What it left before and was taken back.
    #[serde(default)]
    pub(super) past: Vec<Past>,
    /// The end, by its event, whose notes are in their file, or that left none; the one whose notes the file refused; whether
    /// the file has any of it; and ends that were taken back before that was known.
    #[serde(default)]
    pub(super) noted: u64,
    #[serde(default)]
    pub(super) unwritten: u64,
    #[serde(default)]
    pub(super) in_notes: bool,
    #[serde(default)]
    pub(super) unsure: BTreeSet<u64>,
    /// The task's base, as its last attempt had it.
    pub base: Option<TreeId>,
    pub committed: Option<CommitId>,
    /// What it left before it was done again: that is on the branch.
    pub replaced: Option<TreeId>,
    /// How many tasks before it in the line have their changes in its base beside its needs: it was done again on top of them.
    pub over: Option<usize>,
    /// The same of tasks after it in the line, which came onto the branch while it waited.
    pub ahead: BTreeSet<usize>,
    pub cost: Cost,
    pub(super) stake: Stake,
}

/// Why events cannot be folded: they are not a log of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misfit {
    pub seq: u64,
    pub why: &'static str,
}

impl RunState {
    /// The state after the first event, which must start the run.
    pub fn begin(first: &Recorded) -> Result<Self, Misfit> {
        let Event::RunStarted(started) = &first.entry.event else {
            return Err(Misfit { seq: first.seq, why: "a run begins with `run_started`" });
        };
        if started.version > super::VERSION {
            return Err(Misfit { seq: first.seq, why: "it was written by a later version" });
        }
        let mut started = started.clone();
        let specs = std::mem::take(&mut started.tasks);
        let mut state = Self {
            run: first.run.clone(),
            seq: first.seq,
            at: first.at,
            began: first.at,
            started,
            tasks: specs.into_iter().map(TaskRun::new).collect(),
            index: BTreeMap::new(),
            line: Line::default(),
            settled: 0,
            lined: first.seq,
            landed: BTreeMap::new(),
            queue: Queue::default(),
            questions: BTreeMap::new(),
            void: BTreeSet::new(),
            asked: 0,
            decided: Vec::new(),
            cost: Cost::default(),
            parted: Cost::default(),
            tip: None,
            is_cancelled: false,
            heard: 0,
            ended: None,
        };
        state.list();
        Ok(state)
    }

    /// A whole log.
    pub fn replay<'a>(events: impl IntoIterator<Item = &'a Recorded>) -> Result<Self, Misfit> {
        let mut events = events.into_iter();
        let first = events.next().ok_or(Misfit { seq: 0, why: "the run has no events" })?;
        let mut state = Self::begin(first)?;
        for event in events {
            state.fold(event)?;
        }
        Ok(state)
    }

    /// After tasks came or went.
    pub(super) fn list(&mut self) {
        super::order::sort(&mut self.tasks);
        let ids = self.tasks.iter().enumerate();
        self.index = ids.map(|(at, task)| (task.spec.id.clone(), at)).collect();
        for at in 0..self.tasks.len() {
            self.tasks[at].needs = self.needs_of(at);
        }
        self.queue = Queue::of(&self.tasks);
        self.line_up();
        self.part();
    }

    pub fn position(&self, task: &TaskId) -> Option<usize> {
        self.index.get(task).copied()
    }

    pub fn task(&self, task: &TaskId) -> Option<&TaskRun> {
        self.tasks.get(self.position(task)?)
    }

    /// Takes one more event.
    pub fn fold(&mut self, recorded: &Recorded) -> Result<(), Misfit> {
        let misfit = |why| Misfit { seq: recorded.seq, why };
        if recorded.seq != self.seq + 1 {
            return Err(misfit("an event is missing before it"));
        }
        self.seq = recorded.seq;
        self.at = self.at.max(recorded.at);
        let Entry { scope, event } = &recorded.entry;
        let is_stale = self.is_stale(&recorded.entry);
        match event {
            Event::RunStarted(_) => return Err(misfit("a run starts once")),
            Event::RunResumed { retry, budget } => {
                let had_ended = self.ended.take().is_some();
                self.started.settings.budget = self.endowed(*budget);
                for task in retry {
                    self.reopen(task).ok_or_else(|| misfit("there is no such task"))?;
                }
                self.queue = Queue::of(&self.tasks);
                self.landed = self.on_branch();
                self.settle();
                if had_ended || !retry.is_empty() || budget.is_some() {
                    self.part();
                }
            }
            Event::PlanChanged { plan, tasks, workflows, agents } => {
                let before = std::mem::replace(&mut self.started.plan, plan.clone());
                self.started.plan.hides.extend(before.hides);
                for (name, workflow) in workflows {
                    let known = self.started.workflows.entry(name.clone());
                    known.or_insert_with(|| workflow.clone());
                }
                for (name, agent) in agents {
                    self.started.agents.entry(name.clone()).or_insert_with(|| agent.clone());
                }
                self.change(tasks);
            }
            Event::AgentsChanged { models, profile } => {
                self.change_agents(models, profile.as_deref());
            }
            Event::RunCancelled { .. } => self.is_cancelled = true,
            Event::LetterTaken { letter } => self.heard = self.heard.max(*letter),
            Event::RunEnded { outcome, .. } => {
                self.ended = Some(*outcome);
                self.note_end();
            }
            Event::QuestionAsked(asked) => {
                let open = Open {
                    task: scope.task.clone(),
                    phase: scope.phase,
                    asked_at: recorded.at,
                    asked: (**asked).clone(),
                };
                self.asked += 1;
                if is_stale {
                    self.void.insert(asked.question.clone());
                    return Ok(());
                }
                self.questions.insert(asked.question.clone(), open);
                if let Some(task) = scope.task.as_ref().and_then(|task| self.position(task)) {
                    self.tasks[task].open.insert(asked.question.clone());
                    self.queue.place(&self.tasks, task);
                }
            }
            Event::QuestionAnswered { question, .. } if self.void.contains(question) => {}
            Event::QuestionAnswered { question, answer, by } => {
                let open = self.questions.remove(question);
                let open = open.ok_or_else(|| misfit("nobody asked this question"))?;
                self.answer(question, &open, (answer, by));
            }
            _ => {
                let task = scope.task.as_ref().and_then(|task| self.position(task));
                let task = task.ok_or_else(|| misfit("it is about no task of the run"))?;
                if !is_stale {
                    self.fold_task(task, recorded).map_err(misfit)?;
                }
            }
        }
        Ok(())
    }

    fn fold_task(&mut self, task: usize, recorded: &Recorded) -> Result<(), &'static str> {
        let Entry { scope, event } = &recorded.entry;
        let mut built = Vec::new();
        match event {
            Event::TaskCommitted { commit, tree } => {
                self.tip = Some((commit.clone(), tree.clone()));
                if !self.tasks[task].is_off_branch() {
                    // What is there was withdrawn meanwhile.
                    return Ok(());
                }
                self.landed.insert(self.line.rank(task), self.tasks[task].ended_at);
                self.put_ahead(task);
            }
            Event::TurnEnded { usage, .. } => {
                let price = self.tasks[task].price(scope.attempt, *usage);
                self.cost.count(*usage, price);
            }
            Event::TaskHandedBack { base, tree, by, .. } => {
                return self.take_back_from_person(
                    task,
                    Fact::HandedBack { base: base.clone(), tree: tree.clone(), by: by.clone() },
                );
            }
            Event::MergeConflicted { .. } => {
                self.landed.remove(&self.line.rank(task));
                self.tasks[task].ahead = self.ahead_of(task);
                self.settled = self.settled.min(self.line.rank(task));
                built = self.built_on(task);
            }
            Event::TaskEnded(_) => self.tasks[task].ended_at = recorded.seq,
            _ => {}
        }
        self.tasks[task].fold(self.line.rank(task), recorded)?;
        self.withdraw(&built);
        self.queue.place(&self.tasks, task);
        if self.tasks[task].ended.is_some() {
            self.settle();
        }
        Ok(())
    }

    fn answer(&mut self, question: &QuestionId, open: &Open, (answer, by): (&str, &str)) {
        let Some(at) = open.task.as_ref().and_then(|task| self.position(task)) else { return };
        let task = &mut self.tasks[at];
        task.open.remove(question);
        let about = open.asked.about.clone();
        if let About::Plan(contradiction) = &about {
            return self.settle_doubt(question, contradiction, answer);
        }
        if let About::Files(files) = &about
            && answer.trim().eq_ignore_ascii_case(YES)
        {
            task.granted.extend(files.iter().map(|path| (path.clone(), None)));
        }
        let decision = PersonDecision::read(&open.asked, answer, by);
        if decision.is_none() {
            task.clarifications.push(Clarification {
                id: question.as_str().to_owned(),
                task: task.spec.id.clone(),
                question: open.asked.text.clone(),
                answer: answer.to_owned(),
            });
        }
        task.facts.push(Fact::Answered { about, answer: answer.to_owned(), decision });
        self.queue.place(&self.tasks, at);
    }
}

/// What stands above a person's words that answer no question.
const SAID: &str = "A person says:";

impl TaskRun {
    pub(super) fn new(spec: TaskSpec) -> Self {
        Self {
            spec,
            planned: None,
            gone: false,
            needs: Vec::new(),
            facts: Vec::new(),
            attempts: 0,
            running: BTreeMap::new(),
            open: BTreeSet::new(),
            clarifications: Vec::new(),
            granted: BTreeMap::new(),
            ended: None,
            ended_at: 0,
            decided_at: 0,
            past: Vec::new(),
            noted: 0,
            unwritten: 0,
            in_notes: false,
            unsure: BTreeSet::new(),
            base: None,
            committed: None,
            replaced: None,
            over: None,
            ahead: BTreeSet::new(),
            cost: Cost::default(),
            stake: Stake::default(),
        }
    }

    /// The tree that a done task leaves, if it changed anything.
    pub fn result(&self) -> Option<&TreeId> {
        let tree = self.ended.as_ref().filter(|_| self.is_done())?.tree.as_ref()?;
        (Some(tree) != self.base.as_ref() || self.replaced.is_some()).then_some(tree)
    }

    /// Whether its change is made and not on the branch.
    pub(super) fn is_off_branch(&self) -> bool {
        self.result().is_some() && self.committed.is_none()
    }

    /// By this event.
    pub(super) fn reopen(&mut self, seq: u64) {
        self.take_back(seq);
        self.running.clear();
        self.facts.push(Fact::Reopened);
    }

    /// What it left counts no more; where that is on the branch, what it leaves next takes its place.
    fn take_back(&mut self, seq: u64) {
        self.set_aside(seq);
        if self.committed.take().is_some() {
            self.replaced = self.result().cloned();
        }
        self.ended = None;
    }

    fn fold(&mut self, rank: usize, recorded: &Recorded) -> Result<(), &'static str> {
        let Entry { scope: Scope { phase, attempt, .. }, event } = &recorded.entry;
        let (phase, attempt, seq) = (*phase, *attempt, recorded.seq);
        match event {
            Event::AttemptStarted(started) => {
                let (phase, number) = phase.zip(attempt).ok_or("it names no attempt")?;
                self.attempts = self.attempts.max(number);
                if started.parent.is_none() {
                    self.base = Some(started.base.clone());
                }
                let (started, began) = (started.clone(), seq);
                let (turns, cost) = (Vec::new(), Cost::default());
                let running = Running { number, phase, began, started, turns, cost };
                self.running.insert(number, running);
            }
            Event::TurnStarted { .. }
            | Event::TurnEnded { .. }
            | Event::TurnFailed { .. }
            | Event::CallsStarted { .. }
            | Event::CallsEnded { .. } => {
                let running = attempt.and_then(|number| self.running.get_mut(&number));
                let running = running.ok_or("its attempt is not under way")?;
                if let Event::TurnEnded { usage, .. } = event {
                    let price = running.started.price(*usage);
                    self.cost.count(*usage, price);
                    running.cost.count(*usage, price);
                }
                running.turns.push(event.clone());
            }
            Event::AttemptEnded(ended) => {
                let running = attempt.and_then(|number| self.running.remove(&number));
                let running = running.ok_or("its attempt is not under way")?;
                let tried = Tried::new(running, ended, recorded.at);
                self.facts.push(Fact::Tried(Box::new(tried)));
            }
            Event::ClarificationAdded { text, .. } => self.clarifications.push(Clarification {
                id: format!("said-{seq}"),
                task: self.spec.id.clone(),
                question: SAID.to_owned(),
                answer: text.clone(),
            }),
            Event::FilesGranted { files } => {
                for (path, found) in files {
                    let open = self.granted.get_mut(path).ok_or("nobody granted a file of it")?;
                    *open = Some(found.clone());
                }
            }
            Event::TaskVerified { steps, evidence, tree, failing, gist } => {
                let (steps, tree, evidence) = (steps.clone(), tree.clone(), Some(evidence.clone()));
                let (failing, gist) = (failing.clone(), gist.clone());
                self.facts.push(Fact::Verified { steps, tree, evidence, failing, gist });
            }
            Event::StepSkipped { step, .. } => {
                self.facts.push(Fact::Skipped { step: step.clone() });
            }
            Event::ChangeAccepted { tree, left_out } => {
                let (tree, left_out) = (tree.clone(), left_out.clone());
                self.facts.push(Fact::Accepted { tree, left_out });
            }
            Event::AcceptRefused { why } => {
                self.facts.push(Fact::AcceptRefused { why: why.clone() });
            }
            Event::TaskCommitted { commit, .. } => self.committed = Some(commit.clone()),
            Event::MergeConflicted { paths } => {
                self.take_back(seq);
                self.over = Some(rank);
                self.facts.push(Fact::Conflicted { paths: paths.clone() });
            }
            Event::TaskEnded(ended) => self.ended = Some((**ended).clone()),
            Event::NotesMerged { ended, sections, told } => self.note(*ended, sections, told),
            // Told to people; nothing is decided by them.
            _ => {}
        }
        Ok(())
    }
}
