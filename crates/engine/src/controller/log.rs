//! The log of a run with its state: what is appended is durable, then folded, then told, always in one order.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::future::OptionFuture;
use sequester_core::id::RunId;
use sequester_core::run::{Entry, Event, Recorded, RunState, Scope, Started};
use sequester_core::store::{self, Batch, ErrorKind, Lease, RunStore};
use tokio::sync::Notify;

use super::watch::Watch;
use super::world::Clock;

pub struct Log {
    lease: Arc<dyn Lease>,
    clock: Arc<dyn Clock>,
    state: Mutex<State>,
    sent: Mutex<Sent>,
    folded: Notify,
    watch: Arc<dyn Watch>,
    /// The last letter that lay there when this process took the run.
    before: u64,
}

struct State {
    run: RunState,
    /// Durable, while an event before them is on its way.
    early: BTreeMap<u64, Recorded>,
}

/// Batches on their way, numbered as they were given.
#[derive(Default)]
struct Sent {
    given: u64,
    under_way: BTreeSet<u64>,
}

/// Read at once from a log.
const PAGE: usize = 10_000;

impl Log {
    /// A new run.
    pub async fn start(
        store: &dyn RunStore,
        clock: Arc<dyn Clock>,
        run: &RunId,
        started: Started,
        mut batch: Batch,
        watch: Arc<dyn Watch>,
    ) -> Result<Self, store::Error> {
        let lease = store.lease(run)?;
        let event = Event::RunStarted(Box::new(started));
        batch.entries.insert(0, Entry { scope: Scope::default(), event });
        let recorded = lease.append(clock.now(), batch).await?;
        let state = RunState::replay(&recorded).map_err(|misfit| damaged(run, misfit.why))?;
        for one in &recorded {
            watch.recorded(one);
        }
        Ok(Self::new(lease, clock, (state, 0), watch))
    }

    /// A run that is there, taken up again.
    pub fn open(
        store: &dyn RunStore,
        clock: Arc<dyn Clock>,
        run: &RunId,
        watch: Arc<dyn Watch>,
    ) -> Result<Self, store::Error> {
        let lease = store.lease(run)?;
        let state = read(store, run)?;
        let before = lease.letters(state.heard)?.last().map_or(0, |(number, _)| *number);
        Ok(Self::new(lease, clock, (state, before), watch))
    }

    fn new(
        lease: Arc<dyn Lease>,
        clock: Arc<dyn Clock>,
        (run, before): (RunState, u64),
        watch: Arc<dyn Watch>,
    ) -> Self {
        let state = Mutex::new(State { run, early: BTreeMap::new() });
        Self { lease, clock, state, sent: Mutex::default(), folded: Notify::new(), watch, before }
    }

    pub(crate) fn clock(&self) -> &dyn Clock {
        self.clock.as_ref()
    }

    pub(crate) fn lease(&self) -> &dyn Lease {
        self.lease.as_ref()
    }

    /// Whether a letter was left before this process took the run.
    pub(crate) fn is_old(&self, letter: u64) -> bool {
        letter <= self.before
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn sent(&self) -> MutexGuard<'_, Sent> {
        self.sent.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks at the state as it is now.
    pub fn read<T>(&self, look: impl FnOnce(&RunState) -> T) -> T {
        look(&self.state().run)
    }

    /// Durable and folded when it resolves.
    pub async fn append(self: &Arc<Self>, batch: Batch) -> Result<(), store::Error> {
        self.give(batch).await
    }

    /// The same, on its way with this call: whoever gives the next batch need not wait for the one before it.
    pub(crate) fn give(
        self: &Arc<Self>,
        batch: Batch,
    ) -> impl Future<Output = Result<(), store::Error>> + use<> {
        let log = Arc::clone(self);
        let folded = (!batch.entries.is_empty()).then(|| {
            let kept = self.lease.append(self.clock.now(), batch);
            let on_its_way = OnItsWay::of(self);
            // A task of its own: whoever waits for a later event must not wait for somebody to look at this one.
            tokio::spawn(async move {
                let recorded = kept.await?;
                let last = recorded.last().map(|one| one.seq);
                on_its_way.log.fold(recorded).map(|()| last)
            })
        });
        async move {
            let Some(Ok(folded)) = OptionFuture::from(folded).await else { return Ok(()) };
            if let Some(last) = folded? {
                log.reach(last).await;
            }
            Ok(())
        }
    }

    /// When an event is folded, with all before it.
    async fn reach(&self, last: u64) {
        loop {
            let folded = self.folded.notified();
            if self.read(|run| run.seq >= last) {
                return;
            }
            folded.await;
        }
    }

    /// When all that was given so far is folded, also what nobody waits for any more.
    pub(crate) async fn settle(&self) {
        let last = self.sent().given;
        loop {
            let folded = self.folded.notified();
            if self.sent().under_way.first().is_none_or(|first| *first > last) {
                return;
            }
            folded.await;
        }
    }

    /// In the order of their numbers, whoever hears first of his own.
    fn fold(&self, recorded: Vec<Recorded>) -> Result<(), store::Error> {
        let mut state = self.state();
        state.early.extend(recorded.into_iter().map(|one| (one.seq, one)));
        while let Some(next) = {
            let seq = state.run.seq + 1;
            state.early.remove(&seq)
        } {
            let fold = state.run.fold(&next);
            fold.map_err(|misfit| damaged(&next.run, misfit.why))?;
            self.watch.recorded(&next);
        }
        drop(state);
        self.folded.notify_waiters();
        Ok(())
    }
}

/// A batch between its giver and the state.
struct OnItsWay {
    log: Arc<Log>,
    number: u64,
}

impl OnItsWay {
    fn of(log: &Arc<Log>) -> Self {
        let mut sent = log.sent();
        sent.given += 1;
        let number = sent.given;
        sent.under_way.insert(number);
        drop(sent);
        Self { log: Arc::clone(log), number }
    }
}

impl Drop for OnItsWay {
    fn drop(&mut self) {
        self.log.sent().under_way.remove(&self.number);
        self.log.folded.notify_waiters();
    }
}

/// The state of a run as its log has it.
pub fn read(store: &dyn RunStore, run: &RunId) -> Result<RunState, store::Error> {
    let misfits = |why: &str| damaged(run, why);
    let first = store.events(run, 0, PAGE)?;
    let mut last = first.last().map_or(0, |one| one.seq);
    let mut state = RunState::replay(&first).map_err(|misfit| misfits(misfit.why))?;
    loop {
        let more = store.events(run, last, PAGE)?;
        let Some(end) = more.last() else { return Ok(state) };
        last = end.seq;
        for recorded in &more {
            state.fold(recorded).map_err(|misfit| misfits(misfit.why))?;
        }
    }
}

fn damaged(run: &RunId, why: &str) -> store::Error {
    store::Error {
        kind: ErrorKind::Damaged,
        message: format!("The log of run `{run}` cannot be followed: {why}."),
        hint: "Start the plan again; what is done is on the run's branch.".to_owned(),
    }
}
