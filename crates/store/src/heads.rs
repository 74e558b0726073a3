//! Whether the head of a run is the one that its user signed.

use std::sync::Arc;

use rusqlite::{Connection, OptionalExtension, Transaction, params};
use sequester_core::id::RunId;
use sequester_core::store::{Error, RunStore as _};

use crate::chain::Hash;
use crate::error::Fault;
use crate::log::{self, Head};
use crate::schema;
use crate::signing::{Acceptance, HeadClaim, PublicKey, Signature, Signer};
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
    pub(crate) accepted: Option<Acceptance>,
}

impl SignedHead {
    pub(crate) fn find(connection: &Connection, run: i64) -> Result<Option<Self>, Fault> {
        if !schema::has_signatures(connection)? {
            return Ok(None);
        }
        let mut query = connection.prepare_cached(
            "SELECT place, count, hash, key, signature, accepted FROM signatures WHERE run = ?1",
        )?;
        let found = query.query_row([run], |row| {
            let key: Vec<u8> = row.get(3)?;
            let accepted: String = row.get(5)?;
            Ok((row.get(0)?, row.get(1)?, row.get(2)?, key, row.get(4)?, accepted))
        });
        let found = found.optional()?;
        // A key of another length is none: then nothing is signed.
        Ok(found.and_then(|(place, count, hash, key, signature, accepted)| {
            let (key, accepted) = (PublicKey::from_bytes(&key)?, Acceptance::parse(&accepted));
            Some(Self { place, count, hash, key, signature, accepted })
        }))
    }

    pub(crate) fn is_valid(&self, run: &RunId) -> bool {
        let Self { place, count, hash, key, signature, accepted } = self;
        let claim = HeadClaim { place, run, count: *count, hash, accepted: accepted.as_ref() };
        claim.is_signed(key, signature)
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

/// Signs a head within the transaction that writes it. What was accepted of it before stays known.
pub(crate) fn sign(
    transaction: &Transaction,
    signer: &Signer,
    place: &str,
    run: &RunId,
    head: &Head,
) -> Result<(), Fault> {
    let before = SignedHead::find(transaction, head.id)?;
    let accepted = before.and_then(|before| before.accepted);
    sign_with(transaction, signer, place, (run, head), accepted)
}

fn sign_with(
    transaction: &Transaction,
    signer: &Signer,
    place: &str,
    (run, head): (&RunId, &Head),
    accepted: Option<Acceptance>,
) -> Result<(), Fault> {
    let (count, hash) = (head.count, &head.hash);
    let claim = HeadClaim { place, run, count, hash, accepted: accepted.as_ref() };
    let signature: Signature = signer.sign_head(&claim);
    transaction
        .prepare_cached(
            "INSERT OR REPLACE INTO signatures (run, place, count, hash, key, signature, accepted)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        )?
        .execute(params![
            head.id,
            place,
            head.count,
            head.hash,
            signer.key().as_bytes(),
            signature,
            accepted.map(|one| one.to_string()).unwrap_or_default(),
        ])?;
    Ok(())
}

/// What a person accepts who signs a run that has this signature. What the person signed already is no one else's.
fn acceptance(
    before: Option<SignedHead>,
    run: &RunId,
    head: &Head,
    own: PublicKey,
) -> Option<Acceptance> {
    let holds = |one: &SignedHead| one.broken_since(run, head.count, &head.hash).is_none();
    let recorded_by = match before.filter(holds) {
        Some(before) if before.key == own => return before.accepted,
        before => before.map(|one| one.key),
    };
    Some(Acceptance { events: head.count, recorded_by })
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

    /// What of a run somebody else recorded; nothing where its signature does not hold.
    pub fn acceptance(&self, run: &RunId) -> Result<Option<Acceptance>, Error> {
        self.reader.read(|connection| {
            let view = connection.transaction()?;
            let head = Head::of(&view, run)?;
            let signed = SignedHead::find(&view, head.id)?;
            let holds = |one: &SignedHead| one.broken_since(run, head.count, &head.hash).is_none();
            Ok(signed.filter(holds).and_then(|one| one.accepted))
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
                let before = SignedHead::find(transaction, head.id)?;
                let accepted = acceptance(before, run, &head, signer.key());
                sign_with(transaction, &signer, &place, (run, &head), accepted)?;
            }
            Ok(runs.len())
        })
    }
}
