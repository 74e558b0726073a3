//! The audit of a run: whether its promises were kept, from what was recorded and nothing else.

mod attempt;
mod breach;
mod conversation;
mod frame;
mod history;
mod leak;
mod manifest;
mod origin;
mod plans;
mod records;
mod shingle;
mod texts;

pub use breach::{Audit, Breach, PersonRow, Rule};

use std::collections::BTreeMap;
use std::sync::Arc;

use breach::Ledger;
use leak::Leaks;
use plans::Plans;
use records::Lefts;
use sequester_core::change::Change;
use sequester_core::digest::Digest;
use sequester_core::id::{RunId, TaskId, TreeId};
use sequester_core::repository::{Repository, Snapshot};
use sequester_core::run::{Event, Recorded, RunState, Running};
use sequester_core::store::RunStore;

/// Where recorded bytes are kept.
pub trait Archive {
    /// The bytes of that name; nothing where there are none, or others.
    fn blob(&self, digest: &Digest) -> Option<Vec<u8>>;

    /// Bytes that were recorded with the run and are others by now, or gone with their name. Also those that no promise is judged by.
    fn damaged(&self) -> Vec<Option<Digest>>;

    fn tree(&self, tree: &TreeId) -> Option<Arc<dyn Snapshot>>;

    /// What leads from one tree to another.
    fn between(&self, from: &TreeId, to: &TreeId) -> Option<Change>;
}

/// A run in a store, and a repository.
#[derive(Clone, Copy)]
pub struct Ports<'a> {
    pub run: &'a RunId,
    pub store: &'a dyn RunStore,
    /// Nothing where it is gone: then no tree is there.
    pub repository: Option<&'a dyn Repository>,
}

impl Archive for Ports<'_> {
    fn blob(&self, digest: &Digest) -> Option<Vec<u8>> {
        self.store.blob(digest).ok()
    }

    fn damaged(&self) -> Vec<Option<Digest>> {
        // What cannot be asked is found where it is read.
        self.store.damaged(self.run).unwrap_or_default()
    }

    fn tree(&self, tree: &TreeId) -> Option<Arc<dyn Snapshot>> {
        self.repository?.snapshot(tree).ok()
    }

    fn between(&self, from: &TreeId, to: &TreeId) -> Option<Change> {
        self.repository?.between(from, to).ok()
    }
}

/// Looks at a whole run.
pub fn audit(events: &[Recorded], archive: &dyn Archive) -> Audit {
    let mut ledger = Ledger::default();
    for digest in archive.damaged() {
        let detail = match digest {
            Some(digest) => format!("The record `{digest}` is not what its name says."),
            None => "A record of this run is gone.".to_owned(),
        };
        ledger.run(Rule::Blob, detail);
    }
    let plans = Plans::read(events, archive, &mut ledger);
    let leaks = Leaks::new(&plans);
    let mut auditor = Auditor {
        archive,
        plans,
        leaks,
        lefts: Lefts::default(),
        ledger,
        prefixes: BTreeMap::new(),
        architecture: None,
        contexts: BTreeMap::new(),
    };
    auditor.walk(events);
    auditor.ledger.close()
}

struct Auditor<'a> {
    archive: &'a dyn Archive,
    plans: Plans,
    leaks: Leaks,
    lefts: Lefts,
    ledger: Ledger,
    /// The system part of each agent, by its own words.
    prefixes: BTreeMap<(String, Option<Digest>), Digest>,
    /// What stands after the agent's own words, for all of them.
    architecture: Option<String>,
    /// By what they were made from: task, agent and sources.
    contexts: BTreeMap<(TaskId, String, Digest), Digest>,
}

impl Auditor<'_> {
    fn walk(&mut self, events: &[Recorded]) {
        let mut events = events.iter();
        let begun = events.next().ok_or("it has no events".to_owned()).and_then(|first| {
            RunState::begin(first).map_err(|misfit| format!("event {}: {}", misfit.seq, misfit.why))
        });
        let mut run = match begun {
            Ok(run) => run,
            Err(why) => {
                return self.ledger.run(Rule::Log, format!("The log cannot be read: {why}."));
            }
        };
        for recorded in events {
            self.before(&run, recorded);
            let may_drop = matches!(
                recorded.entry.event,
                Event::RunResumed { .. } | Event::PlanChanged { .. }
            );
            let before = may_drop.then(|| run.clone());
            if let Err(misfit) = run.fold(recorded) {
                let detail = format!("Event {} does not fit: {}.", misfit.seq, misfit.why);
                return self.ledger.run(Rule::Log, detail);
            }
            if let Some(before) = before {
                self.dropped(&before, &run);
            }
            self.after(&run, recorded);
        }
        for task in &run.tasks {
            for running in task.running.values() {
                self.conversation(&run, &task.spec.id, running);
            }
        }
    }

    /// Attempts that a crash cut off and nobody takes up any more: what was said is judged all the same.
    fn dropped(&mut self, before: &RunState, run: &RunState) {
        for task in &before.tasks {
            let id = &task.spec.id;
            let is_there = |number: u32| running(run.task(id)?, Some(number));
            for running in task.running.values().filter(|one| is_there(one.number).is_none()) {
                self.conversation(before, id, running);
            }
        }
    }

    /// What is judged by the state that an event finds.
    fn before(&mut self, run: &RunState, recorded: &Recorded) {
        let scope = &recorded.entry.scope;
        let Some(task) = scope.task.as_ref().and_then(|id| run.task(id)) else { return };
        let id = &task.spec.id;
        match &recorded.entry.event {
            Event::AttemptStarted(started) => {
                self.base(run, task, scope.attempt, started);
                // Steps that run side by side begin in any order.
                let is_known = |number: u32| {
                    let mut tried = task.all_tried();
                    task.running.contains_key(&number) || tried.any(|one| one.number == number)
                };
                if scope.attempt.is_some_and(is_known) {
                    let detail = "An attempt of this number was started before.";
                    self.ledger.attempt(id, scope.attempt, Rule::Log, detail);
                }
            }
            Event::AttemptEnded(_) => {
                if let Some(running) = running(task, scope.attempt) {
                    self.conversation(run, id, running);
                }
            }
            Event::HostAsked { host, port, allowed: true, .. } => {
                if let Some(running) = running(task, scope.attempt) {
                    self.host(id, running, (host, *port));
                }
            }
            Event::TaskEnded(ended) if !run.is_stale(&recorded.entry) => self.ending(task, ended),
            Event::TaskCommitted { .. } => self.committed(task),
            _ => {}
        }
    }

    /// What is judged by the state that an event leaves.
    fn after(&mut self, run: &RunState, recorded: &Recorded) {
        let scope = &recorded.entry.scope;
        let task = scope.task.as_ref().and_then(|id| run.task(id));
        match &recorded.entry.event {
            Event::AttemptStarted(_) => {
                if let Some((task, running)) =
                    task.and_then(|task| Some((task, running(task, scope.attempt)?)))
                {
                    self.attempt(run, task, running);
                }
            }
            Event::PlanChanged { plan, .. } => self.plans.turn_to(plan),
            _ => {}
        }
    }
}

fn running(task: &sequester_core::run::TaskRun, attempt: Option<u32>) -> Option<&Running> {
    task.running.get(&attempt?)
}
