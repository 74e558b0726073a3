use std::collections::{BTreeMap, BTreeSet};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use sequester_core::digest::Digest;
use sequester_core::future::BoxFuture;
use sequester_core::id::RunId;
use sequester_core::moment::Moment;
use sequester_core::run::Recorded;
use sequester_core::store::{Batch, Error, ErrorKind, Lease, Letter, RunStore};

/// Keeps everything, or only the first so many batches: then it is as if the process had been killed.
#[derive(Clone, Default)]
pub struct MemoryStore(Arc<Mutex<Kept>>);

#[derive(Default)]
struct Kept {
    runs: BTreeMap<RunId, Vec<Recorded>>,
    blobs: BTreeMap<Digest, Arc<[u8]>>,
    letters: Vec<(RunId, Letter)>,
    held: BTreeSet<RunId>,
    batches: usize,
    most: Option<usize>,
}

impl MemoryStore {
    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// After so many batches nothing is kept any more, and nobody who appends hears of it again.
    pub fn cut_after(&self, batches: usize) {
        let mut kept = self.kept();
        kept.most = Some(kept.batches + batches);
    }

    /// Another process comes: the old one's rights are gone.
    pub fn revive(&self) {
        let mut kept = self.kept();
        kept.most = None;
        kept.held.clear();
    }

    pub fn batches(&self) -> usize {
        self.kept().batches
    }
}

/// Comes after so many looks: whoever appended later may hear sooner.
struct Later(usize);

impl Future for Later {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if self.0 == 0 {
            return Poll::Ready(());
        }
        self.0 -= 1;
        context.waker().wake_by_ref();
        Poll::Pending
    }
}

struct Held(RunId, MemoryStore);

impl Lease for Held {
    fn run(&self) -> &RunId {
        &self.0
    }

    fn append(&self, at: Moment, batch: Batch) -> BoxFuture<'static, Result<Vec<Recorded>, Error>> {
        let mut kept = self.1.kept();
        if kept.most.is_some_and(|most| kept.batches >= most) {
            return Box::pin(std::future::pending());
        }
        kept.batches += 1;
        for bytes in batch.blobs {
            kept.blobs.insert(Digest::of(&bytes), bytes);
        }
        let log = kept.runs.entry(self.0.clone()).or_default();
        let first = log.len() as u64 + 1;
        // A clock that goes back is not followed.
        let at = log.last().map_or(at, |last| last.at.max(at));
        let recorded: Vec<Recorded> = (first..)
            .zip(batch.entries)
            .map(|(seq, entry)| Recorded { seq, at, run: self.0.clone(), entry })
            .collect();
        log.extend(recorded.iter().cloned());
        let later = Later(kept.batches * 7 % 5);
        Box::pin(async move {
            later.await;
            Ok(recorded)
        })
    }

    fn letters(&self, after: u64) -> Result<Vec<(u64, Letter)>, Error> {
        let kept = self.1.kept();
        let numbered = (1..).zip(kept.letters.iter());
        let own = numbered.filter(|(number, (run, _))| *number > after && *run == self.0);
        Ok(own.map(|(number, (_, letter))| (number, letter.clone())).collect())
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.1.kept().held.remove(&self.0);
    }
}

impl RunStore for MemoryStore {
    fn lease(&self, run: &RunId) -> Result<Arc<dyn Lease>, Error> {
        if !self.kept().held.insert(run.clone()) {
            return Err(error(ErrorKind::Held, "Somebody else has this run."));
        }
        Ok(Arc::new(Held(run.clone(), self.clone())))
    }

    fn is_held(&self, run: &RunId) -> Result<bool, Error> {
        Ok(self.kept().held.contains(run))
    }

    fn events(&self, run: &RunId, after: u64, most: usize) -> Result<Vec<Recorded>, Error> {
        let kept = self.kept();
        let log = kept.runs.get(run).map(Vec::as_slice).unwrap_or_default();
        Ok(log.iter().filter(|one| one.seq > after).take(most).cloned().collect())
    }

    fn blob(&self, digest: &Digest) -> Result<Vec<u8>, Error> {
        let bytes = self.kept().blobs.get(digest).map(|bytes| bytes.to_vec());
        bytes.ok_or_else(|| error(ErrorKind::NotFound, "There is no such blob."))
    }

    fn damaged(&self, _: &RunId) -> Result<Vec<Option<Digest>>, Error> {
        Ok(Vec::new())
    }

    fn runs(&self) -> Result<Vec<RunId>, Error> {
        Ok(self.kept().runs.keys().rev().cloned().collect())
    }

    fn post(&self, run: &RunId, letter: &Letter) -> Result<(), Error> {
        self.kept().letters.push((run.clone(), letter.clone()));
        Ok(())
    }
}

fn error(kind: ErrorKind, message: &str) -> Error {
    Error { kind, message: message.to_owned(), hint: String::new() }
}
