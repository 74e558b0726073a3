//! What tasks left, made once more from what was recorded, and what subagents were shown of it.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use super::breach::Rule;
use super::{Archive, Auditor, history};
use sequester_core::agent::Inherited;
use sequester_core::digest::Digest;
use sequester_core::id::TaskId;
use sequester_core::record::{
    FOUND, Kind, NOTHING, RECALL, Record, left, line, phase_findings, quote, recalled_ids,
};
use sequester_core::run::{RunState, Running, TaskRun};
use sequester_core::secret::{is_less_of, redact};
use sequester_core::tool::{Invocation, Outcome, Returned};

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

/// An item of a backpack as it stands in the section of its own.
pub(super) fn packed(record: &Record) -> Option<String> {
    let is_packed = record.kind == Kind::Backpack;
    is_packed.then(|| redact(&record.packed_line()).text.into_owned())
}

impl Auditor<'_> {
    /// What an attempt began with beside its context: its tools tell it of that.
    pub(super) fn inherited(&mut self, run: &RunState, task: &TaskRun, running: &Running) {
        let (id, number) = (&task.spec.id, Some(running.number));
        let Some(digest) = &running.started.inherited else { return };
        let Some(bytes) = self.blob(id, running, digest, "inheritance") else { return };
        let Ok(inherited) = serde_json::from_slice::<Inherited>(&bytes) else { return };
        let passes = run.started.settings.records.has(Kind::Backpack);
        for one in &inherited.backpack {
            let mut owners = history::visible(run, id).filter(|owner| owner.spec.id == one.task);
            let is_packed = owners.any(|owner| {
                let left = self.lefts.of(self.archive, &owner);
                passes && left.iter().any(|record| one.is_of(record))
            });
            if !is_packed {
                let detail =
                    format!("No task that it needs packed `{}` as it was handed over.", one.id);
                self.ledger.attempt(id, number, Rule::Fragment, detail);
            }
        }
    }

    /// Who asks for records gets those of tasks that it builds on, word for word.
    pub(super) fn recalled(
        &mut self,
        run: &RunState,
        (id, running): (&TaskId, &Running),
        calls: &[Invocation],
        results: &[Returned],
    ) {
        let asked = calls.iter().zip(results).filter(|(call, _)| call.call.name == RECALL);
        for (_, result) in asked {
            let Outcome::Output(text) = &result.outcome else { continue };
            if text != NOTHING && !self.is_of_records(run, (id, running), text) {
                let detail = "What `recall` gave back is not what tasks that it needs left.";
                self.ledger.attempt(id, Some(running.number), Rule::Fragment, detail);
            }
        }
    }

    fn is_of_records(
        &self,
        run: &RunState,
        (id, running): (&TaskId, &Running),
        text: &str,
    ) -> bool {
        let Some(told) = text.strip_prefix(FOUND) else { return false };
        let Some(quoted) = self.quoted(run, (id, running), &recalled_ids(text)) else {
            return false;
        };
        let more = told.lines().next_back().filter(|line| {
            let count = line.strip_suffix(" more did not fit.");
            count.is_some_and(|count| count.bytes().all(|one| one.is_ascii_digit()))
        });
        let more = more.map_or_else(String::new, |line| format!("{line}\n"));
        // It was redacted as a whole.
        is_less_of(text, &redact(&format!("{FOUND}{quoted}{more}")).text)
    }

    /// What earlier phases of the task found, by the reports that the attempt builds on.
    fn own_findings(&self, run: &RunState, id: &TaskId, running: &Running) -> Vec<Record> {
        let is_own = |digest: &&Digest| {
            let mut tried = run.task(id).into_iter().flat_map(TaskRun::tried);
            tried.any(|tried| tried.report.as_ref() == Some(*digest))
        };
        let own = (1..).zip(&running.started.findings).filter(|(_, digest)| is_own(digest));
        let read = |(place, digest): (usize, &Digest)| {
            let bytes = self.archive.blob(digest).filter(|bytes| Digest::of(bytes) == *digest)?;
            Some(phase_findings(id, place, &serde_json::from_slice(&bytes).ok()?))
        };
        own.filter_map(read).flatten().collect()
    }

    /// The records of these names as they were left, one after the other; nothing where one is not of those that a task may see.
    fn quoted(
        &self,
        run: &RunState,
        (id, running): (&TaskId, &Running),
        names: &[&str],
    ) -> Option<String> {
        let switches = run.started.settings.records;
        let mut tasks: Vec<_> =
            history::visible(run, id).map(|task| self.lefts.of(self.archive, &task)).collect();
        tasks.push(self.own_findings(run, id, running).into());
        let all = || tasks.iter().flat_map(|left| left.iter());
        let all = || all().filter(|record| switches.has(record.kind));
        let exact: HashMap<&str, &Record> = all().map(|one| (&*one.id, one)).collect();
        let find = |name: &&str| {
            // Few names hold what is redacted, or more than one space.
            let told = || all().find(|one| is_less_of(name, &redact(&line(&one.id)).text));
            exact.get(*name).copied().or_else(told).map(quote)
        };
        names.iter().map(find).collect()
    }
}
