//! The one thread that writes. Whatever has queued up while it wrote is its next transaction: many writers share one sync, and a lone
//! one waits for nobody.

use std::iter;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rusqlite::{Connection, Transaction, TransactionBehavior};
use sequester_core::store::{Error, ErrorKind};

use crate::error::{self, Fault};

/// The most that one transaction takes, so that the first of many is answered in time.
const MOST_AT_ONCE: usize = 1024;

/// What has been written since the store was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Transactions, each with one sync of the log.
    pub commits: u64,
    pub events: u64,
}

#[derive(Default)]
struct Counts {
    commits: AtomicU64,
    events: AtomicU64,
}

/// The way to the thread. The last one to go waits until everything is written and the file is closed.
pub(crate) struct Writer {
    orders: Option<Sender<Box<dyn Queued>>>,
    thread: Option<JoinHandle<()>>,
    counts: Arc<Counts>,
}

impl Writer {
    pub(crate) fn start(
        path: &Path,
        connection: Connection,
        slower: Duration,
    ) -> Result<Self, Error> {
        let (orders, queue) = mpsc::channel();
        let counts = Arc::new(Counts::default());
        let desk = Desk { path: path.to_owned(), connection, slower, counts: Arc::clone(&counts) };
        let thread = thread::Builder::new().name("store".to_owned());
        let thread = thread
            .spawn(move || desk.serve(&queue))
            .map_err(|error| error::of_disk(&error, path))?;
        Ok(Self { orders: Some(orders), thread: Some(thread), counts })
    }

    pub(crate) fn stats(&self) -> Stats {
        Stats {
            commits: self.counts.commits.load(Ordering::Relaxed),
            events: self.counts.events.load(Ordering::Relaxed),
        }
    }

    /// Queues work that writes `events` events. `answer` hears of it when it is durable, or when it is not to be; if the
    /// thread is gone it is dropped unheard.
    pub(crate) fn queue<T, W, A>(&self, events: usize, work: W, answer: A)
    where
        T: Send + 'static,
        W: FnOnce(&Transaction) -> Result<T, Fault> + Send + 'static,
        A: FnOnce(Result<T, Error>) + Send + 'static,
    {
        let order = Order { events, work: Some(work), made: None, answer };
        if let Some(orders) = &self.orders {
            let _ = orders.send(Box::new(order));
        }
    }

    /// The same, and waits.
    pub(crate) fn wait<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Transaction) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, Error> {
        let (to, from) = mpsc::sync_channel(1);
        self.queue(0, work, move |made| {
            let _ = to.send(made);
        });
        from.recv().unwrap_or_else(|_| Err(gone()))
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        drop(self.orders.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

pub(crate) fn gone() -> Error {
    let message = "The thread that writes to the store is gone.".to_owned();
    error::new(ErrorKind::Broken, message, "Start again; everything that was confirmed is there.")
}

/// Something to write, and somebody to tell.
trait Queued: Send {
    fn events(&self) -> usize;
    fn write(&mut self, transaction: &Transaction) -> rusqlite::Result<()>;
    fn answer(self: Box<Self>, failed: Option<&Error>);
}

struct Order<T, W, A> {
    events: usize,
    work: Option<W>,
    made: Option<Result<T, Error>>,
    answer: A,
}

impl<T, W, A> Queued for Order<T, W, A>
where
    T: Send,
    W: FnOnce(&Transaction) -> Result<T, Fault> + Send,
    A: FnOnce(Result<T, Error>) + Send,
{
    fn events(&self) -> usize {
        if matches!(self.made, Some(Ok(_))) { self.events } else { 0 }
    }

    /// What this order alone must not do is its own answer; what the file refuses is the end of all that are written with it.
    fn write(&mut self, transaction: &Transaction) -> rusqlite::Result<()> {
        let made = self.work.take().map(|work| work(transaction));
        self.made = match made {
            Some(Err(Fault::Sql(error))) => return Err(error),
            Some(Err(Fault::Told(error))) => Some(Err(error)),
            Some(Ok(made)) => Some(Ok(made)),
            None => None,
        };
        Ok(())
    }

    fn answer(self: Box<Self>, failed: Option<&Error>) {
        let Self { made, answer, .. } = *self;
        answer(match failed {
            None => made.unwrap_or_else(|| Err(gone())),
            Some(error) => Err(error.clone()),
        });
    }
}

/// The thread's own things.
struct Desk {
    path: PathBuf,
    connection: Connection,
    slower: Duration,
    counts: Arc<Counts>,
}

impl Desk {
    fn serve(mut self, queue: &Receiver<Box<dyn Queued>>) {
        while let Ok(first) = queue.recv() {
            let mut orders: Vec<_> =
                iter::once(first).chain(queue.try_iter()).take(MOST_AT_ONCE).collect();
            let failed =
                self.commit(&mut orders).err().map(|error| error::of_sql(&error, &self.path));
            for order in orders {
                order.answer(failed.as_ref());
            }
        }
    }

    fn commit(&mut self, orders: &mut [Box<dyn Queued>]) -> rusqlite::Result<()> {
        let transaction =
            self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        for order in &mut *orders {
            order.write(&transaction)?;
        }
        transaction.commit()?;
        if !self.slower.is_zero() {
            thread::sleep(self.slower);
        }
        let events: usize = orders.iter().map(|order| order.events()).sum();
        self.counts.commits.fetch_add(1, Ordering::Relaxed);
        self.counts.events.fetch_add(events as u64, Ordering::Relaxed);
        Ok(())
    }
}
