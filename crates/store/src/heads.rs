//! Whether the head of a run is the one that its user signed.

use std::sync::Arc;

use rusqlite::{Connection, OptionalExtension, Transaction, params};
use sequester_core::id::RunId;
use sequester_core::store::{Error, RunStore as _};

use crate::chain::Hash;
use crate::error::Fault;
use crate::log::{self, Head};
use crate::schema;
use crate::signing::{HeadClaim, PublicKey, Signature, Signer};
use crate::store::Store;

/// How far what is recorded of a run is vouched for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeadState {
    /// All of it; `here` says that it was recorded in this very place.
    Signed { by: PublicKey, here: bool },
    /// Recorded by a version that did not sign, or by another program.
    Unsigned,
    /// From this event on, the events are not those that were signed.
    Broken { since: u64 },
}

/// A signature as it is kept, with what it is of.
pub(crate) struct SignedHead {
    pub(crate) place: String,
    pub(crate) count: u64,
    pub(crate) hash: Hash,
    pub(crate) key: PublicKey,
    pub(crate) signature: Vec<u8>,
}

impl SignedHead {
    pub(crate) fn find(connection: &Connection, run: i64) -> Result<Option<Self>, Fault> {
        if !schema::has_signatures(connection)? {
            return Ok(None);
        }
        let mut query = connection.prepare_cached(
            "SELECT place, count, hash, key, signature FROM signatures WHERE run = ?1",
        )?;
        let found = query.query_row([run], |row| {
            let key: Vec<u8> = row.get(3)?;
            Ok((row.get(0)?, row.get(1)?, row.get(2)?, key, row.get(4)?))
        });
        let found = found.optional()?;
        // A key of another length is none: then nothing is signed.
        Ok(found.and_then(|(place, count, hash, key, signature)| {
            let key = PublicKey::from_bytes(&key)?;
            Some(Self { place, count, hash, key, signature })
        }))
    }

    pub(crate) fn is_valid(&self, run: &RunId) -> bool {
        let Self { place, count, hash, key, signature } = self;
        HeadClaim { place, run, count: *count, hash }.is_signed(key, signature)
    }

    /// Where the events stop being those that were signed; nothing where they do not.
    pub(crate) fn broken_since(&self, run: &RunId, count: u64, hash: &Hash) -> Option<u64> {
        if !self.is_valid(run) {
            return Some(1);
        }
        if count == self.count {
            // Which event differs cannot be told: all hashes from it on do.
            return (*hash != self.hash).then_some(1);
        }
        Some(count.min(self.count) + 1)
    }
}

/// Signs a head within the transaction that writes it.
pub(crate) fn sign(
    transaction: &Transaction,
    signer: &Signer,
    place: &str,
    run: &RunId,
    head: &Head,
) -> Result<(), Fault> {
    let claim = HeadClaim { place, run, count: head.count, hash: &head.hash };
    let signature: Signature = signer.sign_head(&claim);
    transaction
        .prepare_cached(
            "INSERT OR REPLACE INTO signatures (run, place, count, hash, key, signature)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        )?
        .execute(params![
            head.id,
            place,
            head.count,
            head.hash,
            signer.key().as_bytes(),
            signature
        ])?;
    Ok(())
}

/// Events that are held in memory at once.
const PAGE: usize = 1_000;

impl Store {
    pub fn head_state(&self, run: &RunId) -> Result<HeadState, Error> {
        self.reader.read(|connection| {
            let view = connection.transaction()?;
            let head = Head::of(&view, run)?;
            let Some(signed) = SignedHead::find(&view, head.id)? else {
                return Ok(HeadState::Unsigned);
            };
            Ok(match signed.broken_since(run, head.count, &head.hash) {
                Some(since) => HeadState::Broken { since },
                None => HeadState::Signed { by: signed.key, here: *signed.place == *self.place },
            })
        })
    }

    /// Runs that this user's key does not vouch for in this place, the newest first.
    pub fn foreign_runs(&self, own: Option<PublicKey>) -> Result<Vec<(RunId, HeadState)>, Error> {
        let mut foreign = Vec::new();
        for run in self.runs()? {
            let state = self.head_state(&run)?;
            let is_own = matches!(state, HeadState::Signed { by, here: true } if Some(by) == own);
            if !is_own {
                foreign.push((run, state));
            }
        }
        Ok(foreign)
    }

    /// Signs every run as it stands, for a person who accepts them. Words that others left in the store are dropped. Fails where a chain does
    /// not fit; then nothing is signed.
    pub fn adopt(&self) -> Result<usize, Error> {
        let writing = self.writing()?;
        let Some(signer) = writing.options.signer.clone() else { return Ok(0) };
        let runs = self.runs()?;
        for run in &runs {
            let mut after = 0;
            loop {
                let page = self.events(run, after, PAGE)?;
                let Some(last) = page.last() else { break };
                after = last.seq;
            }
        }
        let place = Arc::clone(&self.place);
        writing.writer.wait(move |transaction| {
            transaction.execute("DELETE FROM letters", [])?;
            let names = log::runs(transaction)?;
            for run in names.iter().filter(|run| runs.contains(run)) {
                let head = Head::of(transaction, run)?;
                sign(transaction, &signer, &place, run, &head)?;
            }
            Ok(runs.len())
        })
    }
}
