//! One batch, as it goes into a transaction: its blobs, its events, and the head that tells where the chain ends.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rusqlite::{Transaction, params};
use sequester_core::digest::Digest;
use sequester_core::id::RunId;
use sequester_core::moment::Moment;
use sequester_core::run::{Entry, Event, Recorded};
use sequester_core::store::{Batch, Error, ErrorKind};

use crate::error::{self, Fault};
use crate::log::{Head, Line};
use crate::signing::Signer;
use crate::{blobs, chain, heads};

/// More than SQLite takes in one row is refused before anything is written.
const MOST_BYTES: usize = 900_000_000;

/// The time during which a run is somebody's.
pub(crate) struct Tenure {
    pub(crate) run: RunId,
    pub(crate) id: i64,
    /// A later one ends this one, even where its lock was lost unseen.
    epoch: i64,
    /// Signs each head that is written.
    seal: Option<(Arc<Signer>, Arc<str>)>,
    /// Set when a batch was not kept. No later one is then, so that nothing stands after what is missing.
    broken: AtomicBool,
}

impl Tenure {
    /// Ends every tenure before it.
    pub(crate) fn begin(
        transaction: &Transaction,
        run: &RunId,
        seal: Option<(Arc<Signer>, Arc<str>)>,
    ) -> Result<Self, Fault> {
        transaction
            .prepare_cached(
                "INSERT INTO runs (name, epoch, count, at, hash, ended) VALUES (?1, 0, 0, 0, ?2, 0)
                 ON CONFLICT (name) DO NOTHING",
            )?
            .execute(params![run.as_str(), chain::START])?;
        let (id, epoch) = transaction
            .prepare_cached(
                "UPDATE runs SET epoch = epoch + 1 WHERE name = ?1 RETURNING id, epoch",
            )?
            .query_row([run.as_str()], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(Self { run: run.clone(), id, epoch, seal, broken: AtomicBool::new(false) })
    }

    /// To be called by the writer's thread only, which sees it before the next batch.
    pub(crate) fn heed<T, E>(&self, made: Result<T, E>) -> Result<T, E> {
        if made.is_err() {
            self.broken.store(true, Ordering::Relaxed);
        }
        made
    }

    fn head(&self, transaction: &Transaction) -> Result<Head, Fault> {
        let head = Head::find(transaction, &self.run)?;
        let Some(head) = head.filter(|head| (head.id, head.epoch) == (self.id, self.epoch)) else {
            return Err(self.lost().into());
        };
        if !self.broken.load(Ordering::Relaxed) {
            return Ok(head);
        }
        let message = format!("A batch of run `{}` before this one was not kept.", self.run);
        Err(error::new(ErrorKind::Broken, message, "Resume the run.").into())
    }

    fn lost(&self) -> Error {
        error::new(
            ErrorKind::Held,
            format!("Run `{}` was taken over or removed by another process.", self.run),
            "See what it does with `sequester status`.",
        )
    }
}

/// A batch with the names of its blobs, which whoever brought it has worked out: the writer's time is everybody's.
pub(crate) struct Parcel {
    tenure: Arc<Tenure>,
    at: Moment,
    batch: Batch,
    digests: Vec<Digest>,
}

impl Parcel {
    pub(crate) fn pack(tenure: &Arc<Tenure>, at: Moment, batch: Batch) -> Result<Self, Error> {
        if batch.blobs.iter().any(|bytes| bytes.len() > MOST_BYTES) {
            return Err(too_large(&tenure.run));
        }
        let digests = batch.blobs.iter().map(|bytes| Digest::of(bytes)).collect();
        // As it is written: a moment after the year 9999 has no text of its own.
        let at = Moment::parse(&at.to_string()).unwrap_or(at);
        Ok(Self { tenure: Arc::clone(tenure), at, batch, digests })
    }

    pub(crate) fn write(self, transaction: &Transaction) -> Result<Vec<Recorded>, Fault> {
        let mut head = self.tenure.head(transaction)?;
        head.at = head.at.max(self.at.0);
        if let Some(last) = self.batch.entries.last() {
            head.ended =
                matches!(last.event, Event::RunEnded { outcome, .. } if outcome.is_final());
        }
        let lines = number(&head, &self.tenure.run, self.batch.entries)?;
        // From here on only the file itself can refuse, and then all of the transaction.
        for (digest, bytes) in self.digests.iter().zip(&self.batch.blobs) {
            blobs::keep(transaction, head.id, digest, bytes)?;
        }
        for line in &lines {
            write_line(transaction, &mut head, line)?;
        }
        if !lines.is_empty() {
            write_head(transaction, &head)?;
            if let Some((signer, place)) = &self.tenure.seal {
                heads::sign(transaction, signer, place, &self.tenure.run, &head)?;
            }
        }
        Ok(lines.into_iter().map(|line| line.event).collect())
    }
}

fn too_large(run: &RunId) -> Error {
    let message = format!("Run `{run}` would keep more than {MOST_BYTES} bytes in one piece.");
    error::new(ErrorKind::Broken, message, "Make the change smaller.")
}

fn number(head: &Head, run: &RunId, entries: Vec<Entry>) -> Result<Vec<Line>, Error> {
    let line = |(seq, entry)| {
        let event = Recorded { seq, at: Moment(head.at), run: run.clone(), entry };
        match serde_json::to_string(&event) {
            Ok(body) if body.len() > MOST_BYTES => Err(too_large(run)),
            Ok(body) => Ok(Line { body, event }),
            Err(error) => {
                let message = format!("Event {seq} of run `{run}` has no text: {error}.");
                Err(error::new(ErrorKind::Broken, message, "Report this as a bug."))
            }
        }
    };
    (head.count + 1..).zip(entries).map(line).collect()
}

fn write_line(transaction: &Transaction, head: &mut Head, line: &Line) -> Result<(), Fault> {
    head.count = line.event.seq;
    head.hash = chain::link(&head.hash, &line.body);
    transaction
        .prepare_cached("INSERT INTO events (run, seq, body, hash) VALUES (?1, ?2, ?3, ?4)")?
        .execute(params![head.id, head.count, line.body, head.hash])?;
    // A digest is a string of its own in JSON. Whatever only looks like one names no blob, or keeps one needlessly.
    for digest in line.body.split('"').filter_map(Digest::parse) {
        blobs::name(transaction, head.id, &digest)?;
    }
    Ok(())
}

fn write_head(transaction: &Transaction, head: &Head) -> Result<(), Fault> {
    transaction
        .prepare_cached("UPDATE runs SET count = ?2, at = ?3, hash = ?4, ended = ?5 WHERE id = ?1")?
        .execute(params![head.id, head.count, head.at, head.hash, head.ended])?;
    Ok(())
}
