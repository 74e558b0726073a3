//! What a run does next: first what only needs to be written down, then what has effects.

use std::collections::{BTreeMap, BTreeSet};

use super::cost::Cost;
use super::event::{About, Asked, Ended, Entry, Event, Scope, TaskEnded};
use super::next::{AttemptRound, Next, Order, next};
use super::offer::WHAT_NOW;
use super::outcome::{Outcome, Tally};
use super::plan::Cap;
use super::state::{RunState, TaskRun};
use crate::check::Kind;
use crate::id::{QuestionId, TaskId, TreeId};
use crate::moment::Moment;
use crate::report::Question;

/// What a decision is made by, beside what happened.
#[derive(Clone, Copy, Debug)]
pub struct Now<'a> {
    pub at: Moment,
    /// How many tasks may be worked on at once.
    pub jobs: usize,
    /// Tasks with effects under way, and how many.
    pub busy: &'a BTreeMap<TaskId, usize>,
    /// Tasks that are built on what does not fit together yet.
    pub stuck: &'a BTreeSet<TaskId>,
    /// Nothing new is to be started.
    pub stopping: bool,
}

impl Now<'_> {
    /// For how many more.
    fn room(&self) -> usize {
        self.jobs.saturating_sub(self.busy.values().sum())
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Decision {
    /// To be recorded at once; then it is decided again.
    pub entries: Vec<Entry>,
    /// To be done, each once.
    pub effects: Vec<Effect>,
    /// When the next question takes its default.
    pub wake: Option<Moment>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    Attempt {
        task: TaskId,
        number: u32,
        order: Order,
        /// What it may cost of what is left.
        cap: Cap,
    },
    Verify {
        task: TaskId,
        steps: Vec<String>,
        kinds: Vec<Kind>,
        tree: Option<TreeId>,
    },
    /// What a person accepted is looked at for what no commit may hold.
    Accept {
        task: TaskId,
    },
    /// The task's change goes onto the branch of the run, and those in line behind it.
    Commit {
        task: TaskId,
    },
}

impl Effect {
    pub fn task(&self) -> &TaskId {
        match self {
            Self::Attempt { task, .. }
            | Self::Verify { task, .. }
            | Self::Accept { task }
            | Self::Commit { task } => task,
        }
    }

    /// The number of the attempt that it starts.
    pub fn attempt(&self) -> Option<u32> {
        match self {
            Self::Attempt { number, .. } => Some(*number),
            Self::Verify { .. } | Self::Accept { .. } | Self::Commit { .. } => None,
        }
    }
}

pub fn decide(run: &RunState, now: Now<'_>) -> Decision {
    if run.ended.is_some() {
        return Decision::default();
    }
    let purses = run.purses();
    let mut plain = Plain { run, now, purses: &purses, entries: Vec::new(), asked: run.asked };
    plain.answer_defaults();
    // Nothing starts before a person has decided on the plan.
    let is_held = run.is_doubtful() && !run.is_cancelled;
    if !is_held {
        plain.walk();
    }
    if !plain.entries.is_empty() {
        return Decision { entries: plain.entries, ..Decision::default() };
    }
    let effects = if is_held {
        Vec::new()
    } else if now.stopping {
        // What is done reaches the branch in any case, in its place.
        commit(run, now).into_iter().collect()
    } else {
        effects(run, now, &purses)
    };
    let mut decision = Decision { effects, wake: wake(run), ..Decision::default() };
    if decision.effects.is_empty() && now.busy.is_empty() {
        match late_commit(run).filter(|_| !now.stopping || run.is_cancelled) {
            Some(task) => decision.effects.push(Effect::Commit { task }),
            None => decision.entries.push(end(run, now, &purses)),
        }
    }
    decision
}

/// What needs no effect.
struct Plain<'a> {
    run: &'a RunState,
    now: Now<'a>,
    /// What each task may still spend of the run's budget.
    purses: &'a [Cap],
    entries: Vec<Entry>,
    asked: u32,
}

impl Plain<'_> {
    /// Questions whose time is over, and all of them where nobody is there.
    fn answer_defaults(&mut self) {
        for (id, open) in &self.run.questions {
            let is_late = open.asked.deadline.is_some_and(|deadline| deadline <= self.now.at);
            let unattended = self.is_unattended();
            let by = if unattended { "default, unattended" } else { "default, after its deadline" };
            let Some(answer) = open.asked.default.clone().filter(|_| is_late || unattended) else {
                continue;
            };
            let (question, by) = (id.clone(), by.to_owned());
            let scope = Scope { task: open.task.clone(), phase: open.phase, attempt: None };
            let event = Event::QuestionAnswered { question, answer, by };
            self.entries.push(Entry { scope, event });
        }
    }

    /// What must be looked at in any case, and of the rest as many as there is room for.
    fn walk(&mut self) {
        let run = self.run;
        if run.is_cancelled {
            for at in run.line.rest(run.settled) {
                self.look_at(*at);
            }
            return;
        }
        for at in run.queue.pressing() {
            self.look_at(at);
        }
        let mut room = self.now.room();
        for at in run.queue.fresh() {
            if room == 0 {
                break;
            }
            room -= usize::from(self.look_at(at));
        }
    }

    /// Whether it needs room.
    fn look_at(&mut self, at: usize) -> bool {
        let task = &self.run.tasks[at];
        let id = &task.spec.id;
        if task.ended.is_some() || !task.running.is_empty() || self.now.busy.contains_key(id) {
            return false;
        }
        if let Some(ended) = self.gate(task) {
            self.tell(task, Event::TaskEnded(Box::new(ended)));
            return false;
        }
        let can_begin = self.run.is_ready(task) && !self.now.stuck.contains(id);
        can_begin && self.go_on(task) && !self.purses[at].is_spent()
    }

    /// Why a task ends without anything being done for it.
    fn gate(&self, task: &TaskRun) -> Option<TaskEnded> {
        let end = |state, reason: String| TaskEnded::new(state, Some(reason));
        if let Some(reason) = &task.spec.left_out {
            return Some(end(Ended::Skipped, reason.clone()));
        }
        if self.run.is_cancelled {
            return Some(end(Ended::Cancelled, "The run was cancelled.".to_owned()));
        }
        let need = self.run.lost_need(task)?;
        let root = self.run.root_of(need);
        let ended = root.ended.as_ref()?;
        let how = match ended.state {
            Ended::Failed => "has failed",
            Ended::Cancelled => "was cancelled",
            _ => "is not done",
        };
        let (need, root) = (&need.spec.id, &root.spec.id);
        let through = if need == root { String::new() } else { format!("`{need}`, and so ") };
        if ended.skips_dependants() {
            let why = format!("It needs {through}`{root}`, which is skipped.");
            let skipped_with = Some(root.clone());
            return Some(TaskEnded { skipped_with, ..end(Ended::Skipped, why) });
        }
        let mut blocked = end(Ended::Blocked, format!("It needs {through}`{root}`, which {how}."));
        blocked.resolution.clone_from(&ended.resolution);
        Some(blocked)
    }

    /// Whether what comes next has effects.
    fn go_on(&mut self, task: &TaskRun) -> bool {
        match next(self.run, task) {
            Some(Next::Skip { step, reason }) => {
                self.tell(task, Event::StepSkipped { step, reason });
            }
            Some(Next::Ask { questions, .. })
                if self.is_unattended() && questions.iter().any(is_about_failure) =>
            {
                let why = questions.iter().map(|(_, one)| one.question.trim_end_matches(WHAT_NOW));
                let why = why.collect::<Vec<_>>().join(" ");
                let ended = TaskEnded::new(Ended::Failed, Some(why));
                self.tell(task, Event::TaskEnded(Box::new(ended)));
            }
            Some(Next::Ask { questions, details }) => {
                for (about, question) in questions {
                    self.asked += 1;
                    let event = self.ask(question, details.clone(), about);
                    self.tell(task, event);
                }
            }
            Some(Next::Finish { tree, person }) => {
                let tree = tree.or_else(|| task.base.clone());
                let ended = TaskEnded { tree, person, ..TaskEnded::new(Ended::Done, None) };
                self.tell(task, Event::TaskEnded(Box::new(ended)));
            }
            Some(Next::End(ended)) => self.tell(task, Event::TaskEnded(Box::new(ended))),
            Some(Next::Await) if self.is_unattended() => {
                let why = "A question has no default, and nobody is there to answer.";
                let help = "Run it with somebody there, or give the question a default.";
                let ended = TaskEnded {
                    resolution: Some(help.to_owned()),
                    ..TaskEnded::new(Ended::Failed, Some(why.to_owned()))
                };
                // Those with a default were answered before.
                let no_default = |id| {
                    let open: Option<&super::state::Open> = self.run.questions.get(id);
                    open.is_some_and(|open| open.asked.default.is_none())
                };
                if task.open.iter().any(no_default) {
                    self.tell(task, Event::TaskEnded(Box::new(ended)));
                }
            }
            Some(Next::Attempts(_)) if is_spent(task) => {
                let help =
                    "Give the task a larger `budget` in the plan, then `sequester resume --plan`.";
                let why = "It has used up its own budget.".to_owned();
                let ended = TaskEnded {
                    resolution: Some(help.to_owned()),
                    ..TaskEnded::new(Ended::Failed, Some(why))
                };
                self.tell(task, Event::TaskEnded(Box::new(ended)));
            }
            Some(Next::Attempts(_) | Next::Verify { .. } | Next::Accept) => return true,
            Some(Next::Await) | None => {}
        }
        false
    }

    fn is_unattended(&self) -> bool {
        self.run.started.settings.unattended
    }

    fn ask(&self, question: Question, details: Option<String>, about: About) -> Event {
        let deadline = question.deadline.as_deref().and_then(super::deadline::read);
        Event::QuestionAsked(Box::new(Asked {
            question: QuestionId::new(format!("{}-{}", self.run.run, self.asked)),
            text: question.question,
            details,
            options: question.options,
            // A deadline without a default would decide nothing.
            deadline: deadline
                .filter(|_| question.default.is_some())
                .map(|time| self.now.at.after(time)),
            default: question.default,
            about,
        }))
    }

    fn tell(&mut self, task: &TaskRun, event: Event) {
        let scope = Scope { task: Some(task.spec.id.clone()), phase: None, attempt: None };
        self.entries.push(Entry { scope, event });
    }
}

fn is_about_failure((about, _): &(About, Question)) -> bool {
    *about == About::Failure
}

/// What is to be done, as far as there is room and money for it: what is begun first, then in the plan's order. Steps of a task
/// that may run side by side share the room that other tasks leave.
fn effects(run: &RunState, now: Now<'_>, purses: &[Cap]) -> Vec<Effect> {
    let mut effects: Vec<Effect> = commit(run, now).into_iter().collect();
    let is_free = |at: &usize| {
        let task = &run.tasks[*at];
        let is_idle = task.running.is_empty() && !now.busy.contains_key(&task.spec.id);
        is_idle && run.is_ready(task) && !now.stuck.contains(&task.spec.id)
    };
    let mut room = now.room();
    let mut chosen: Vec<(usize, Next)> = Vec::new();
    for at in run.queue.begun().chain(run.queue.fresh()).filter(is_free) {
        if room == 0 {
            break;
        }
        match next(run, &run.tasks[at]) {
            Some(Next::Attempts(_)) if purses[at].min(own_left(&run.tasks[at])).is_spent() => {}
            Some(next @ (Next::Attempts(_) | Next::Verify { .. } | Next::Accept)) => {
                chosen.push((at, next));
                room -= 1;
            }
            _ => {}
        }
    }
    let mut left = left(run);
    for (at, next) in chosen {
        let task = &run.tasks[at];
        let id = task.spec.id.clone();
        match next {
            Next::Verify { steps, kinds, tree } => {
                effects.push(Effect::Verify { task: id, steps, kinds, tree });
            }
            Next::Accept => effects.push(Effect::Accept { task: id }),
            Next::Attempts(AttemptRound { mut orders, ended }) => {
                // Its part is there, unless what was done is done again.
                let cap = purses[at].min(own_left(task)).min(left);
                if cap.is_spent() {
                    continue;
                }
                left = left.minus(cap.tokens.unwrap_or(0), cap.price.unwrap_or(0));
                let mut used = Cost::default();
                for number in &ended {
                    used.add(&task.used(*number));
                }
                let whole = cap.above(used.usage.total(), used.price);
                let cap = whole.part(1, (ended.len() + orders.len()) as u64).min(cap);
                orders.truncate(1 + room);
                room -= orders.len() - 1;
                let numbers = task.attempts + 1..;
                effects.extend(numbers.zip(orders).map(|(number, order)| {
                    let task = id.clone();
                    Effect::Attempt { task, number, order, cap }
                }));
            }
            _ => {}
        }
    }
    effects
}

/// What is left of the task's own budget.
pub(super) fn own_left(task: &TaskRun) -> Cap {
    task.spec.budget.minus(task.cost.usage.total(), task.cost.price)
}

fn is_spent(task: &TaskRun) -> bool {
    own_left(task).is_spent()
}

/// What is left of the run's budget once all that is under way has used its part.
pub(super) fn left(run: &RunState) -> Cap {
    let mut left = run.started.settings.budget.minus(run.cost.usage.total(), run.cost.price);
    for task in run.queue.pressing().map(|at| &run.tasks[at]) {
        // What is delegated is paid from the part of who delegates.
        for running in task.running.values().filter(|one| one.started.parent.is_none()) {
            let (budget, used) = (&running.started.budget, task.used(running.number));
            let held = |cap: Option<u64>, used: u64| cap.map_or(0, |cap| cap.saturating_sub(used));
            let tokens = held(budget.tokens, used.usage.total());
            left = left.minus(tokens, held(budget.price, used.price));
        }
    }
    left
}

/// The next task in the line whose change is not on the branch, if all before it have ended.
fn commit(run: &RunState, now: Now<'_>) -> Option<Effect> {
    for task in run.line.rest(run.settled).iter().map(|at| &run.tasks[*at]) {
        task.ended.as_ref()?;
        if task.is_off_branch() && run.is_founded(task) {
            let free = !now.busy.contains_key(&task.spec.id);
            return free.then(|| Effect::Commit { task: task.spec.id.clone() });
        }
    }
    None
}

/// When all that is left waits, what is done goes onto the branch all the same, unless something below it is done no more.
fn late_commit(run: &RunState) -> Option<TaskId> {
    let is_open = |task: &&TaskRun| task.is_off_branch() && run.is_founded(task);
    let mut line = run.line.rest(run.settled).iter().map(|at| &run.tasks[*at]);
    line.find(is_open).map(|task| task.spec.id.clone())
}

fn wake(run: &RunState) -> Option<Moment> {
    let with_default = run.questions.values().filter(|open| open.asked.default.is_some());
    with_default.filter_map(|open| open.asked.deadline).min()
}

/// How the run ends when nothing is under way and nothing can be started.
fn end(run: &RunState, now: Now<'_>, purses: &[Cap]) -> Entry {
    let mut tally = Tally::default();
    for task in &run.tasks {
        let slot = match task.ended.as_ref().map(|ended| ended.state) {
            Some(Ended::Done) => &mut tally.done,
            Some(Ended::Failed) => &mut tally.failed,
            Some(Ended::Blocked) => &mut tally.blocked,
            Some(Ended::Skipped) => &mut tally.skipped,
            Some(Ended::Cancelled) => &mut tally.cancelled,
            None if !task.open.is_empty() => &mut tally.waiting,
            None => continue,
        };
        *slot += 1;
    }
    let is_open = run.tasks.iter().any(|task| task.ended.is_none() && task.open.is_empty());
    let exhausted = |task: &TaskRun| {
        let has_failed = task.ended.as_ref().is_some_and(|ended| ended.state == Ended::Failed);
        !task.is_done() && task.exhausted().next().is_some() || has_failed && is_spent(task)
    };
    let is_poor = |(task, purse): (&TaskRun, &Cap)| task.ended.is_none() && purse.is_spent();
    let is_poor = left(run).is_spent() || run.tasks.iter().zip(purses).any(is_poor);
    let outcome = if run.is_cancelled {
        Outcome::Cancelled
    } else if now.stopping && is_open {
        Outcome::Stopped
    } else if tally.waiting > 0 {
        Outcome::Waiting
    } else if is_poor && is_open || run.tasks.iter().any(exhausted) {
        Outcome::BudgetExhausted
    } else if tally.failed + tally.blocked > 0 || is_open {
        Outcome::Failed
    } else {
        Outcome::Done
    };
    let usage = run.cost.usage;
    let price = run.cost.whole();
    Entry {
        scope: Scope::default(),
        event: Event::RunEnded { outcome, tasks: tally, usage, price, todos: Vec::new() },
    }
}
