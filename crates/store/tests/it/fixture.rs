//! A store in a folder of its own, and events that say something.

use std::path::PathBuf;
use std::sync::Arc;

use sequester_core::id::{RunId, TaskId};
use sequester_core::moment::Moment;
use sequester_core::run::{Entry, Event, Outcome, Recorded, Scope, Tally};
use sequester_core::store::{Batch, Error, Lease, RunStore};
use sequester_core::usage::Usage;
use sequester_store::{Options, Store};
use tempfile::TempDir;

pub(crate) struct Place {
    pub(crate) folder: TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn file(&self) -> PathBuf {
        self.folder.path().join(".sequester").join("store.db")
    }

    pub(crate) fn open(&self) -> Store {
        Store::open(&self.file()).unwrap()
    }

    pub(crate) fn open_with(&self, options: Options) -> Store {
        Store::open_with(&self.file(), options).unwrap()
    }

    pub(crate) fn leases(&self) -> PathBuf {
        self.folder.path().join(".sequester").join("store.db-leases")
    }

    /// What somebody does to the file who is not us.
    pub(crate) fn sql(&self, sql: &str) {
        let connection = rusqlite::Connection::open(self.file()).unwrap();
        connection.execute_batch(sql).unwrap();
    }

    /// A store with a run of `count` events, closed again.
    pub(crate) fn filled(count: usize) -> Self {
        let place = Self::new();
        let store = place.open();
        let lease = store.lease(&run("r")).unwrap();
        for at in 0..count {
            append(&lease, batch(&[&format!("event {at}")])).unwrap();
        }
        drop((lease, store));
        place
    }
}

pub(crate) fn run(name: &str) -> RunId {
    RunId::new(name)
}

pub(crate) fn entry(text: &str) -> Entry {
    Entry {
        scope: Scope { task: Some(TaskId::new("task")), ..Scope::default() },
        event: Event::StepSkipped { step: "review".to_owned(), reason: text.to_owned() },
    }
}

pub(crate) fn end() -> Entry {
    let (outcome, tasks, usage) = (Outcome::Done, Tally::default(), Usage::default());
    let event = Event::RunEnded { outcome, tasks, usage, price: None, todos: Vec::new() };
    Entry { scope: Scope::default(), event }
}

pub(crate) fn batch(texts: &[&str]) -> Batch {
    Batch { entries: texts.iter().map(|text| entry(text)).collect(), blobs: Vec::new() }
}

/// An event that names these bytes, and the bytes.
pub(crate) fn naming(bytes: &[u8]) -> Batch {
    let mut batch = Batch::default();
    let results = batch.keep(bytes);
    let event = Event::CallsEnded { turn: 1, results, change: None, elapsed_ms: 1 };
    batch.entries.push(Entry { scope: Scope::default(), event });
    batch
}

pub(crate) fn append(lease: &Arc<dyn Lease>, batch: Batch) -> Result<Vec<Recorded>, Error> {
    append_at(lease, 1_000, batch)
}

pub(crate) fn append_at(
    lease: &Arc<dyn Lease>,
    at: u64,
    batch: Batch,
) -> Result<Vec<Recorded>, Error> {
    futures_executor::block_on(lease.append(Moment(at), batch))
}

pub(crate) fn text(event: &Recorded) -> &str {
    match &event.entry.event {
        Event::StepSkipped { reason, .. } => reason,
        other => panic!("{other:?}"),
    }
}

pub(crate) fn all(store: &Store, name: &str) -> Vec<Recorded> {
    store.events(&run(name), 0, usize::MAX).unwrap()
}
