//! What tasks left, made once more from what was recorded, and what subagents were shown of it.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use super::breach::Rule;
use super::{Archive, Auditor};
use crate::digest::Digest;
use crate::id::TaskId;
use crate::record::{FOUND, NOTHING, RECALL, Record, left, quote};
use crate::run::{RunState, TaskRun};
use crate::secret::redact;
use crate::tool::{Invocation, Outcome, Returned};

/// A task and the event that it ended by: what is done again ends by another.
type Key = (TaskId, u64);

/// Each made once.
#[derive(Default)]
pub(super) struct Lefts {
    known: RefCell<HashMap<Key, Rc<[Record]>>>,
}

impl Lefts {
    pub(super) fn of(&self, archive: &dyn Archive, task: &TaskRun) -> Rc<[Record]> {
        let key = (task.spec.id.clone(), if task.is_done() { task.ended_at() } else { 0 });
        if let Some(known) = self.known.borrow().get(&key) {
            return Rc::clone(known);
        }
        let read =
            |digest: &Digest| archive.blob(digest).filter(|bytes| Digest::of(bytes) == *digest);
        let made: Rc<[Record]> = left(task, &read).into();
        self.known.borrow_mut().insert(key, Rc::clone(&made));
        made
    }
}

/// As it stands in a context, or in an answer.
pub(super) fn shown(record: &Record) -> String {
    redact(&quote(record)).text.into_owned()
}

impl Auditor<'_> {
    /// Who asks for records gets those of tasks that it builds on, word for word.
    pub(super) fn recalled(
        &mut self,
        run: &RunState,
        (id, number): (&TaskId, u32),
        calls: &[Invocation],
        results: &[Returned],
    ) {
        let asked = calls.iter().zip(results).filter(|(call, _)| call.call.name == RECALL);
        for (_, result) in asked {
            let Outcome::Output(text) = &result.outcome else { continue };
            if text != NOTHING && !self.is_of_records(run, id, text) {
                let detail = "What `recall` gave back is not what tasks that it needs left.";
                self.ledger.attempt(id, Some(number), Rule::Fragment, detail);
            }
        }
    }

    fn is_of_records(&self, run: &RunState, id: &TaskId, text: &str) -> bool {
        let Some((at, mut rest)) = run.position(id).zip(text.strip_prefix(FOUND)) else {
            return false;
        };
        let tasks = run.visible(at).into_iter().map(|at| &run.tasks[at]);
        let known: Vec<String> = tasks
            .flat_map(|task| {
                self.lefts.of(self.archive, task).iter().map(shown).collect::<Vec<_>>()
            })
            .collect();
        while let Some(next) = known.iter().find_map(|one| rest.strip_prefix(one.as_str())) {
            rest = next;
        }
        let more = rest.strip_suffix(" more did not fit.\n");
        rest.is_empty() || more.is_some_and(|more| more.bytes().all(|one| one.is_ascii_digit()))
    }
}
