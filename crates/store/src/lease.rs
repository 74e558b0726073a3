//! The right to write to one run: the kernel's lock says who lives, the database's epoch who came last.

use std::sync::Arc;

use futures_channel::oneshot;
use sequester_core::future::BoxFuture;
use sequester_core::id::RunId;
use sequester_core::moment::Moment;
use sequester_core::run::Recorded;
use sequester_core::store::{Batch, Error, ErrorKind, Lease, Letter};

use crate::append::{Parcel, Tenure};
use crate::error::Fault;
use crate::hold::Hold;
use crate::letters::{self, LetterSeal};
use crate::store::{Reader, Writing};
use crate::{error, writer};

pub(crate) struct Held {
    tenure: Arc<Tenure>,
    reader: Arc<Reader>,
    writing: Arc<Writing>,
    _hold: Hold,
}

impl Held {
    pub(crate) fn take(
        run: &RunId,
        reader: &Arc<Reader>,
        writing: &Arc<Writing>,
    ) -> Result<Self, Error> {
        let hold = writing.holds.take(run)?.ok_or_else(|| taken(run, writing.holds.owner(run)))?;
        let name = run.clone();
        let signer = writing.options.signer.clone();
        let seal = signer.map(|signer| (signer, Arc::clone(&writing.place)));
        let tenure =
            writing.writer.wait(move |transaction| Tenure::begin(transaction, &name, seal))?;
        Ok(Self {
            tenure: Arc::new(tenure),
            reader: Arc::clone(reader),
            writing: Arc::clone(writing),
            _hold: hold,
        })
    }
}

fn taken(run: &RunId, owner: Option<u32>) -> Error {
    let owner = owner.map_or("Another process".to_owned(), |id| format!("Process {id}"));
    error::new(
        ErrorKind::Held,
        format!("{owner} carries run `{run}` out."),
        "Watch it with `sequester status`, or end it with `sequester cancel`.",
    )
}

impl Lease for Held {
    fn run(&self) -> &RunId {
        &self.tenure.run
    }

    fn append(&self, at: Moment, batch: Batch) -> BoxFuture<'static, Result<Vec<Recorded>, Error>> {
        let (to, from) = oneshot::channel();
        let events = batch.entries.len();
        let parcel = Parcel::pack(&self.tenure, at, batch);
        let (tenure, teller) = (Arc::clone(&self.tenure), Arc::clone(&self.tenure));
        // Queued now and not when the future is driven: that is the order.
        self.writing.writer.queue(
            events,
            move |transaction| {
                tenure.heed(parcel.map_err(Fault::Told).and_then(|p| p.write(transaction)))
            },
            move |made| drop(to.send(teller.heed(made))),
        );
        Box::pin(async move { from.await.unwrap_or_else(|_| Err(writer::gone())) })
    }

    fn letters(&self, after: u64) -> Result<Vec<(u64, Letter)>, Error> {
        let Writing { options, place, .. } = &*self.writing;
        let seal =
            options.signer.as_deref().map(|signer| LetterSeal { signer, place, run: self.run() });
        self.reader
            .read(|connection| letters::read(connection, self.tenure.id, after, seal.as_ref()))
    }
}
