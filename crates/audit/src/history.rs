//! What tasks are built on, and how they end.

use std::borrow::Cow;

use super::breach::{Doubt, Rule};
use super::{Archive, Auditor};
use sequester_core::agent::read_task;
use sequester_core::context::TaskCall;
use sequester_core::digest::Digest;
use sequester_core::id::TaskId;
use sequester_core::profile::TASK;
use sequester_core::provider::Reply;
use sequester_core::run::{
    AttemptStarted, Ended, Event, Fact, PersonChoice, RunState, Running, TaskEnded, TaskRun,
};

/// The tasks whose records may reach this one, as its attempt under way found them when it began.
pub(super) fn visible<'r>(
    run: &'r RunState,
    id: &TaskId,
) -> impl Iterator<Item = Cow<'r, TaskRun>> {
    let places = run.position(id).map(|at| run.visible(at)).unwrap_or_default();
    let began = run.task(id).and_then(TaskRun::began).unwrap_or(run.seq);
    places.into_iter().filter_map(move |at| run.tasks[at].as_of(began))
}

/// The call that a delegated attempt came from, as it stands in the reply of who delegated it.
pub(super) fn delegation(
    archive: &dyn Archive,
    task: &TaskRun,
    running: &Running,
) -> Option<TaskCall> {
    let from = running.started.parent.as_ref()?;
    let reply = task.running.get(&from.attempt)?.turns.iter().find_map(|event| match event {
        Event::TurnEnded { turn, reply, .. } if *turn == from.turn => Some(reply),
        _ => None,
    })?;
    let bytes = archive.blob(reply).filter(|bytes| Digest::of(bytes) == *reply)?;
    let reply: Reply = serde_json::from_slice(&bytes).ok()?;
    let call = reply.said.calls.iter().find(|call| call.id == from.call && call.name == TASK)?;
    read_task(call).ok().filter(|asked| asked.subagent_type == running.started.agent)
}

impl Auditor<'_> {
    /// A task starts from the run's start with the changes of those that it builds on, and nobody else's.
    pub(super) fn base(
        &mut self,
        run: &RunState,
        task: &TaskRun,
        attempt: Option<u32>,
        started: &AttemptStarted,
    ) {
        let Some(at) = run.position(&task.spec.id) else { return };
        if let Some(parent) = &started.parent {
            let parent = task.running.get(&parent.attempt);
            if parent.is_none_or(|parent| parent.started.base != started.base) {
                let detail = "It did not start from the base of who delegated it.";
                self.ledger.attempt(&task.spec.id, attempt, Rule::Base, detail);
            }
            return;
        }
        let mut tree = &run.started.base.tree;
        for below in run.foundation(at).into_iter().map(|one| &run.tasks[one]) {
            let Some((base, result)) = below.base.as_ref().zip(below.result()) else { continue };
            if base != tree {
                return self.ledger.doubt(Doubt::Merged);
            }
            tree = result;
        }
        if *tree != started.base {
            let detail = "It did not start from what the tasks that it needs left.";
            self.ledger.attempt(&task.spec.id, attempt, Rule::Base, detail);
        }
    }

    /// What is done was verified after its last change, as it is.
    pub(super) fn ending(&mut self, task: &TaskRun, ended: &TaskEnded) {
        self.ledger.forget_person(&task.spec.id);
        if ended.state != Ended::Done {
            return;
        }
        let (mut verified, mut accepted, mut is_answered) = (None, None, false);
        for fact in &task.facts {
            match fact {
                Fact::Tried(tried) if !tried.phase.changes_files() => {}
                Fact::Tried(_)
                | Fact::Reopened
                | Fact::Conflicted { .. }
                | Fact::Withdrawn { .. }
                | Fact::HandedBack { .. }
                | Fact::Verified { failing: Some(_), .. } => {
                    (verified, accepted, is_answered) = (None, None, false);
                }
                Fact::Verified { tree, failing: None, .. } => verified = Some(tree),
                Fact::Answered { decision: Some(decision), .. } => {
                    is_answered = decision.choice == PersonChoice::Accepted;
                }
                // Nothing is accepted that no person answered for.
                Fact::Accepted { tree, .. } => accepted = Some(tree).filter(|_| is_answered),
                Fact::Skipped { .. } | Fact::Answered { .. } | Fact::AcceptRefused { .. } => {}
            }
        }
        // What only checks has no result: it is the base that was verified.
        let is_result = |tree| ended.tree.as_ref() == Some(tree);
        let only_checks = ended.tree.is_none() && task.tried().next().is_none();
        let is_verified = verified.is_some_and(|tree| only_checks || is_result(tree));
        if let Some(person) = ended.person.as_ref() {
            let is_accepted = person.choice == PersonChoice::Accepted;
            self.ledger.person(&task.spec.id, person, is_verified && !is_accepted);
            if is_accepted && accepted == ended.tree.as_ref() {
                return;
            }
        }
        if !is_verified {
            let detail = "It is done, and nothing verified it after its last change.";
            self.ledger.attempt(&task.spec.id, None, Rule::Evidence, detail);
        }
    }

    pub(super) fn committed(&mut self, task: &TaskRun) {
        let id = &task.spec.id;
        if task.committed.is_some() {
            self.ledger.attempt(id, None, Rule::Commit, "It was committed more than once.");
        }
        if !task.is_done() {
            self.ledger.attempt(id, None, Rule::Commit, "It was committed before it was done.");
        }
    }
}
