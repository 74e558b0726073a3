//! The Task tool: a subagent gives a piece of its work to a fresh one of the same task, and gets its summary back.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::future::Either;
use sequester_core::agent::{self, Fault, Inherited, UNTAKEN, hand_back, read_task, takes_tasks};
use sequester_core::budget::Budget;
use sequester_core::change::{Change, refuse_covering};
use sequester_core::context::{IsolatedContext, TaskCall};
use sequester_core::future::BoxFuture;
use sequester_core::id::TreeId;
use sequester_core::message::Call;
use sequester_core::profile::{Profile, TASK};
use sequester_core::report::Report;
use sequester_core::run::{
    Agent, AttemptStarted, Cost, Delegation, Order, Running, Scope, TaskRun, Tried, climb,
};
use sequester_core::store::Batch;
use sequester_core::tool::{Invocation, Outcome, Returned, Spec, Toolbox};
use tokio::sync::RwLock;

use super::attempt::{Beginning, Begun};
use super::bench::Bench;
use super::ending::failed;
use super::verify::broken;
use super::world::{Member, Trouble, Wanted};
use super::{Controller, blocking};
use crate::journal::Halt;

/// Of one attempt, while it works.
pub(super) struct Delegate<'a> {
    controller: &'a Controller,
    known: &'a TaskRun,
    number: u32,
    started: &'a AttemptStarted,
    profile: &'a Profile,
    bench: &'a Bench<'a>,
    /// Why a subagent that it waits for went no further.
    halt: &'a Mutex<Option<Halt>>,
    /// Those that change files work alone, in the order of their calls; the others side by side.
    order: RwLock<()>,
}

/// What became of a call so far; another process may have begun it.
#[derive(Default)]
struct Given {
    running: Option<Running>,
    /// In order.
    tried: Vec<Tried>,
}

impl<'a> Delegate<'a> {
    pub(super) fn new(
        controller: &'a Controller,
        known: &'a TaskRun,
        (scope, started): (&Scope, &'a AttemptStarted),
        profile: &'a Profile,
        (bench, halt): (&'a Bench<'a>, &'a Mutex<Option<Halt>>),
    ) -> Self {
        let (number, order) = (scope.attempt.unwrap_or(0), RwLock::default());
        Self { controller, known, number, started, profile, bench, halt, order }
    }

    fn look<T>(&self, look: impl FnOnce(&TaskRun) -> T) -> Option<T> {
        self.controller.log.read(|run| run.task(&self.known.spec.id).map(look))
    }

    async fn carry_out(&self, call: &Call) -> Result<Returned, Halt> {
        let refused = |text: String| Ok(Outcome::Failed(text).into());
        let asked = match read_task(call) {
            Ok(asked) => asked,
            Err(fault) => return refused(fault),
        };
        let name = &asked.subagent_type;
        let agent = self.controller.log.read(|run| run.started.agents.get(name).cloned());
        let agent = agent.filter(|_| takes_tasks(name));
        let Some(agent) = agent else {
            return refused("There is no such agent; `subagent_type` lists them.".to_owned());
        };
        let _turn = if agent.phase.changes_files() {
            Either::Left(self.order.write().await)
        } else {
            Either::Right(self.order.read().await)
        };
        let called = self.delegation(call, &asked);
        match self.see_to(&called, &asked, &agent).await {
            Ok(()) => {}
            Err(Trouble::Store(error)) => return Err(Halt::Store(error)),
            Err(trouble) => {
                self.give_up(&called, &trouble).await?;
                if self.find(&called).tried.is_empty() {
                    return refused(format!("It could not be started. {trouble}"));
                }
            }
        }
        match self.find(&called) {
            Given { running: None, tried } if !tried.is_empty() => self.take_back(tried).await,
            // It came to rest; so does who waits for it.
            _ => Err(Halt::Parked),
        }
    }

    fn delegation(&self, call: &Call, asked: &TaskCall) -> Delegation {
        let running = self.look(|task| task.running.get(&self.number)?.calling()).flatten();
        let turn = running.map_or(0, |(turn, _)| turn);
        let (call, description) = (call.id.clone(), asked.title());
        Delegation { attempt: self.number, turn, call, description }
    }

    /// The attempts that came from a call.
    fn find(&self, called: &Delegation) -> Given {
        let is = |parent: Option<&Delegation>| {
            let place = |one: &Delegation| (one.attempt, one.turn, one.call.clone());
            parent.is_some_and(|parent| place(parent) == place(called))
        };
        let found = self.look(|task| {
            let mut running = task.running.values();
            let running = running.find(|one| is(one.started.parent.as_ref())).cloned();
            let tried = task.all_tried().filter(|one| is(one.parent.as_ref())).cloned();
            Given { running, tried: tried.collect() }
        });
        found.unwrap_or_default()
    }

    /// Until something came of it, by one model or the next, or it rests.
    async fn see_to(
        &self,
        called: &Delegation,
        asked: &TaskCall,
        agent: &Agent,
    ) -> Result<(), Trouble> {
        let own = &self.known.spec.models;
        let models = if own.is_empty() { &agent.models } else { own };
        loop {
            let Given { running, tried } = self.find(called);
            match (running, climb(&tried, models.len())) {
                (Some(running), _) => {
                    let member = self.member(&running.started.agent)?;
                    self.controller.go_on(self.known, running, member).await?;
                }
                (None, Some((purpose, rung))) => {
                    let model = models.get(rung).cloned().unwrap_or_default();
                    let order = Order {
                        step: self.started.step.clone(),
                        place: self.started.place,
                        agent: asked.subagent_type.clone(),
                        phase: agent.phase,
                        purpose,
                        model,
                        rung,
                        from: None,
                        because: Vec::new(),
                        findings: Vec::new(),
                        evidence: None,
                    };
                    self.start(called, asked, order).await?;
                }
                (None, None) => return Ok(()),
            }
            if self.find(called).running.is_some() {
                return Ok(());
            }
        }
    }

    /// Who takes it: with what both profiles grant, and without the tool itself where it stands deep enough.
    fn member(&self, agent: &str) -> Result<Member, Trouble> {
        let mut member = self.controller.world.crew.delegate(agent, self.profile)?;
        let above = self.look(|task| task.above(self.number).count()).unwrap_or(0);
        if above + 1 >= member.depth {
            member.profile = member.profile.without(TASK);
        }
        Ok(member)
    }

    async fn start(
        &self,
        called: &Delegation,
        asked: &TaskCall,
        order: Order,
    ) -> Result<(), Trouble> {
        let controller = self.controller;
        let mut member = self.member(&asked.subagent_type)?;
        self.share(&mut member.budget)?;
        let connected = controller.connect(&order.model).await;
        let births = controller.births.lock().await;
        let order = Order { from: self.from().await?, ..order };
        let base = &self.started.base;
        let context = self.context(asked, order.from.as_ref().unwrap_or(base)).await?;
        let begun = self.look(|task| task.attempts).unwrap_or(0);
        let number = controller.numbers.next(&self.known.spec.id, begun);
        let task = Some(self.known.spec.id.clone());
        let scope = Scope { task, phase: Some(order.phase), attempt: Some(number) };
        let (order, context, parent) = (&order, &context, Some(called.clone()));
        let inherited = Inherited::default();
        let beginning = Beginning { scope, order, base, member, context, inherited, parent };
        match controller.begin(beginning, self.known, connected)? {
            Begun::Job(mut job) => {
                controller.log.append(std::mem::take(&mut job.batch)).await?;
                drop(births);
                controller.work(*job, self.known).await
            }
            Begun::Lost(batch) => Ok(controller.log.append(batch).await?),
        }
    }

    /// What is left of this one's budget, in equal parts for all that were asked for at once.
    fn share(&self, budget: &mut Budget) -> Result<(), Trouble> {
        let own = &self.started.budget;
        let found = self.look(|task| {
            let running = task.running.get(&self.number);
            let calls = running.and_then(Running::calling).map_or(1, |(_, calls)| calls.max(1));
            (task.used(self.number), calls as u64, running.map_or(0, Running::elapsed_ms))
        });
        let (used, calls, elapsed) = found.unwrap_or((Cost::default(), 1, 0));
        let part = |cap: Option<u64>, used: u64| cap.map(|cap| cap.saturating_sub(used) / calls);
        let least = |one: Option<u64>, other: Option<u64>| one.into_iter().chain(other).min();
        budget.tokens = least(budget.tokens, part(own.tokens, used.usage.total()));
        budget.price = least(budget.price, part(own.price, used.price));
        let left = own.wall.saturating_sub(Duration::from_millis(elapsed));
        budget.wall = budget.wall.min(left);
        if budget.tokens == Some(0) || budget.price == Some(0) || budget.wall.is_zero() {
            return Err(Trouble::Crew {
                message: "Nothing is left of your budget for it.".to_owned(),
                hint: String::new(),
            });
        }
        Ok(())
    }

    fn own_start(&self) -> &TreeId {
        self.started.from.as_ref().unwrap_or(&self.started.base)
    }

    /// The workspace as it is now, as a tree; nothing for the task's base.
    async fn from(&self) -> Result<Option<TreeId>, Trouble> {
        let mut change = self.bench.change().await.map_err(broken)?;
        if change.entries.is_empty() {
            return Ok(self.started.from.clone());
        }
        let repository = Arc::clone(&self.controller.world.repository);
        let start = self.own_start().clone();
        let made = blocking(move || {
            refuse_covering(&mut change, repository.snapshot(&start)?.as_ref());
            repository.with_change(&start, &change)
        });
        let tree = made.await??;
        self.controller.hold([&tree]).await?;
        Ok(Some(tree))
    }

    async fn context(&self, asked: &TaskCall, start: &TreeId) -> Result<IsolatedContext, Trouble> {
        let crew = Arc::clone(&self.controller.world.crew);
        let (task, asked, start) = (self.known.spec.id.clone(), asked.clone(), start.clone());
        blocking(move || {
            crew.context(&Wanted {
                delegated: Some(&asked),
                ..Wanted::new(&task, &asked.subagent_type, &start)
            })
        })
        .await?
    }

    /// What could not be carried on has ended all the same.
    async fn give_up(&self, called: &Delegation, trouble: &Trouble) -> Result<(), Halt> {
        let Some(running) = self.find(called).running else { return Ok(()) };
        let task = Some(self.known.spec.id.clone());
        let scope = Scope { task, phase: Some(running.phase), attempt: Some(running.number) };
        let ended = failed(Fault::Runtime { message: trouble.to_string() });
        match self.controller.end(scope, ended, Batch::default()).await {
            Err(Trouble::Store(error)) => Err(Halt::Store(error)),
            _ => Ok(()),
        }
    }

    /// The summary of the last one, and in the workspace what it changed if it is done; all of them are paid for.
    async fn take_back(&self, mut all: Vec<Tried>) -> Result<Returned, Halt> {
        let used = self.look(|task| {
            let mut sum = Cost::default();
            for one in &all {
                sum.add(&task.used(one.number));
            }
            sum
        });
        let Some(tried) = all.pop() else { return Err(Halt::Parked) };
        let store = Arc::clone(&self.controller.world.store);
        let digest = tried.report.clone();
        let report = blocking(move || {
            let bytes = digest.and_then(|digest| store.blob(&digest).ok())?;
            serde_json::from_slice::<Report>(&bytes).ok()
        });
        let report = report.await.ok().flatten();
        let mut outcome = hand_back(&tried.outcome, report.as_ref());
        if tried.phase.changes_files() && tried.outcome == agent::Outcome::Done {
            let trouble = match (&tried.trouble, &tried.tree) {
                (Some(trouble), _) => Some(trouble.clone()),
                (None, Some(tree)) => self.lay(tree).await.err().map(|error| error.to_string()),
                (None, None) => None,
            };
            if let Some(trouble) = trouble {
                outcome = Outcome::Failed(format!("{UNTAKEN} {trouble}"));
            }
        }
        Ok(Returned { used, ..outcome.into() })
    }

    /// The workspace becomes what the other one made of it.
    async fn lay(&self, tree: &TreeId) -> Result<(), Trouble> {
        let repository = Arc::clone(&self.controller.world.repository);
        let (start, tree) = (self.own_start().clone(), tree.clone());
        let change = blocking(move || repository.between(&start, &tree)).await??;
        let now = self.bench.change().await.map_err(broken)?;
        if is_same(&change, &now) {
            return Ok(());
        }
        self.bench.lay(change).await.map_err(broken)
    }
}

/// What counts of two changes, apart from how they are told to people.
fn is_same(one: &Change, other: &Change) -> bool {
    let counts = |change: &Change| -> Vec<_> {
        let entries = change.entries.iter();
        entries.map(|entry| (entry.path.clone(), entry.mode, entry.content.clone())).collect()
    };
    counts(one) == counts(other)
}

impl Toolbox for Delegate<'_> {
    fn specs(&self) -> Vec<Spec> {
        vec![self.controller.task_spec()]
    }

    fn call<'a>(&'a self, invocation: &'a Invocation) -> BoxFuture<'a, Returned> {
        Box::pin(async move {
            match self.carry_out(&invocation.call).await {
                Ok(returned) => returned,
                Err(halt) => {
                    // Nobody sees this: the attempt rests before its calls are answered.
                    *self.halt.lock().unwrap_or_else(PoisonError::into_inner) = Some(halt);
                    Outcome::Failed("It came to rest.".to_owned()).into()
                }
            }
        })
    }
}
