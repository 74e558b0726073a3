//! The attempts of a task: those under way, those that ended, and who delegated which.

use serde::{Deserialize, Serialize};

use super::cost::Cost;
use super::event::{About, AttemptEnded, AttemptStarted, Delegation, Event, Purpose, Scope};
use super::fact::Fact;
use super::plan::Cap;
use super::said::Said;
use super::state::{RunState, TaskRun};
use crate::agent;
use crate::budget::{Limit, Spent};
use crate::change::Refusals;
use crate::digest::Digest;
use crate::id::TreeId;
use crate::moment::Moment;
use crate::price;
use crate::report::Phase;
use crate::usage::Usage;

/// An attempt that ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tried {
    pub number: u32,
    pub step: String,
    /// Where the step stands in its workflow.
    #[serde(default)]
    pub place: u32,
    pub phase: Phase,
    pub agent: String,
    pub model: String,
    pub rung: usize,
    pub purpose: Purpose,
    pub base: TreeId,
    pub context: Digest,
    /// Of that context.
    pub manifest: Digest,
    pub outcome: agent::Outcome,
    pub said: Option<Said>,
    pub report: Option<Digest>,
    /// Files that it names as changed and did not change.
    pub claimed: Vec<String>,
    pub change: Option<Digest>,
    /// What the workspace became, if it changed.
    pub tree: Option<TreeId>,
    /// The change that it began with, where that is not the base.
    pub from: Option<TreeId>,
    pub trouble: Option<String>,
    /// What it left for later work.
    pub kept: Digest,
    pub spent: Spent,
    /// What it might cost.
    #[serde(default)]
    pub cap: Cap,
    pub parent: Option<Delegation>,
    /// When its end was recorded.
    #[serde(default)]
    pub ended_at: Moment,
}

/// An attempt under way, with all of it that is durable.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Running {
    pub number: u32,
    pub phase: Phase,
    /// The event that says so.
    #[serde(default)]
    pub began: u64,
    pub started: Box<AttemptStarted>,
    /// Its turns and calls, in order.
    pub turns: Vec<Event>,
    /// Of itself, so far.
    pub cost: Cost,
}

impl Tried {
    pub(super) fn new(running: Running, ended: &AttemptEnded, ended_at: Moment) -> Self {
        let started = *running.started;
        Self {
            number: running.number,
            step: started.step,
            place: started.place,
            phase: running.phase,
            agent: started.agent,
            model: started.model,
            rung: started.rung,
            purpose: started.purpose,
            base: started.base,
            context: started.context.digest,
            manifest: started.context.manifest,
            outcome: ended.outcome.clone(),
            said: ended.said.clone(),
            report: ended.report.clone(),
            claimed: ended.claimed.clone(),
            change: ended.change.clone(),
            tree: ended.tree.clone().or_else(|| started.from.clone()),
            from: started.from,
            trouble: ended.trouble.clone(),
            kept: ended.kept.clone(),
            spent: ended.spent.clone(),
            cap: Cap { tokens: started.budget.tokens, price: started.budget.price },
            parent: started.parent,
            ended_at,
        }
    }
}

impl AttemptStarted {
    /// What a reply costs, in millionths of a dollar; nothing where nobody knows.
    pub fn price(&self, usage: Usage) -> Option<u64> {
        price::of(&self.model, self.powers, usage)
    }
}

impl Running {
    /// How it ends where nobody goes on with it: with the change that was durable.
    pub fn cut_off(&self, kept: Digest) -> AttemptEnded {
        let change = self.turns.iter().rev().find_map(|turn| match turn {
            Event::CallsEnded { change, .. } => change.clone(),
            _ => None,
        });
        let ended = |turn: &&Event| matches!(turn, Event::TurnEnded { .. });
        let turns = self.turns.iter().filter(ended).count();
        let spent = Spent {
            turns: u32::try_from(turns).unwrap_or(u32::MAX),
            usage: self.cost.usage,
            price: self.cost.whole(),
            ..Spent::default()
        };
        let outcome = agent::Outcome::Cancelled;
        let (said, report, tree, trouble) = (None, None, None, None);
        let (claimed, refused) = (Vec::new(), Refusals::default());
        AttemptEnded { outcome, said, report, claimed, change, tree, trouble, refused, kept, spent }
    }

    /// The calls that it began last: their turn, and how many they are.
    pub fn calling(&self) -> Option<(u32, usize)> {
        self.turns.iter().rev().find_map(|event| match event {
            Event::CallsStarted { turn, calls } => Some((*turn, calls.len())),
            _ => None,
        })
    }

    /// How long it had taken at its last outcome, in milliseconds.
    pub fn elapsed_ms(&self) -> u64 {
        let last = self.turns.iter().rev().find_map(|event| match event {
            Event::TurnStarted { elapsed_ms, .. }
            | Event::TurnEnded { elapsed_ms, .. }
            | Event::TurnFailed { elapsed_ms, .. }
            | Event::CallsEnded { elapsed_ms, .. } => Some(*elapsed_ms),
            _ => None,
        });
        last.unwrap_or(0)
    }
}

impl RunState {
    /// Whether an attempt has begun and not ended.
    pub fn is_under_way(&self, scope: &Scope) -> bool {
        let task = scope.task.as_ref().and_then(|task| self.task(task));
        task.zip(scope.attempt).is_some_and(|(task, number)| task.running.contains_key(&number))
    }
}

impl TaskRun {
    /// Whether anything happened to it.
    pub(super) fn has_begun(&self) -> bool {
        self.attempts > 0 || !self.facts.is_empty() || !self.open.is_empty()
    }

    /// What a reply of an attempt under way costs.
    pub(super) fn price(&self, attempt: Option<u32>, usage: Usage) -> Option<u64> {
        self.running.get(&attempt?)?.started.price(usage)
    }

    /// Attempts that ended, in order. What a subagent does with another's report is its own business: those that were
    /// delegated decide nothing here.
    pub fn tried(&self) -> impl DoubleEndedIterator<Item = &Tried> {
        self.all_tried().filter(|tried| tried.parent.is_none())
    }

    /// Attempts that ended since the task was begun or a person said how to go on, the last first.
    pub(super) fn tried_since_answer(&self) -> impl Iterator<Item = &Tried> {
        let starts_over = |fact: &Fact| match fact {
            Fact::Reopened | Fact::Withdrawn { .. } | Fact::HandedBack { .. } => true,
            Fact::Answered { about, .. } => *about == About::Failure,
            _ => false,
        };
        let last = self.facts.iter().rev().take_while(move |fact| !starts_over(fact));
        last.filter_map(|fact| match fact {
            Fact::Tried(tried) if tried.parent.is_none() => Some(&**tried),
            _ => None,
        })
    }

    /// Those of them that used up their budget, with the limit that each reached. Only attempts of steps side by side come after one.
    pub(super) fn exhausted(&self) -> impl Iterator<Item = (&Tried, Limit)> {
        self.tried_since_answer().filter_map(|tried| match tried.outcome {
            agent::Outcome::BudgetExhausted { limit } => Some((tried, limit)),
            _ => None,
        })
    }

    /// Those that were delegated too.
    pub fn all_tried(&self) -> impl DoubleEndedIterator<Item = &Tried> {
        self.facts.iter().filter_map(|fact| match fact {
            Fact::Tried(tried) => Some(&**tried),
            _ => None,
        })
    }

    /// The attempts above one under way: who delegated it, who delegated that, ...
    pub fn above(&self, number: u32) -> impl Iterator<Item = u32> {
        let parent = |number: &u32| {
            let parent = self.running.get(number)?.started.parent.as_ref()?.attempt;
            // Whoever delegates was there before.
            (parent < *number).then_some(parent)
        };
        std::iter::successors(Some(number), parent).skip(1)
    }

    /// Attempts under way that this one delegated, itself or through others.
    pub fn below(&self, number: u32) -> impl DoubleEndedIterator<Item = &Running> {
        let is_below = move |one: &&Running| self.above(one.number).any(|above| above == number);
        self.running.values().filter(is_below)
    }

    /// What an attempt used, with all that it delegated.
    pub fn used(&self, number: u32) -> Cost {
        let running = self.running.values();
        let running = running.map(|one| (one.number, one.started.parent.as_ref(), one.cost));
        let ended = self.all_tried().map(|one| {
            let Spent { turns, usage, price, .. } = one.spent;
            let unpriced = if price.is_none() { turns } else { 0 };
            let cost = Cost { usage, price: price.unwrap_or(0), unpriced };
            (one.number, one.parent.as_ref(), cost)
        });
        let mut sum = Cost::default();
        for (other, parent, own) in running.chain(ended) {
            let is_child = other > number && parent.is_some_and(|one| one.attempt == number);
            let cost = if is_child { self.used(other) } else { own };
            if is_child || other == number {
                sum.add(&cost);
            }
        }
        sum
    }
}
