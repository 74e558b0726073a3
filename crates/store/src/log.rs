//! Reading a run's events, each one checked against the chain.

use rusqlite::{Connection, OptionalExtension, Row, params};
use sequester_core::id::RunId;
use sequester_core::run::Recorded;
use sequester_core::store::{Error, ErrorKind};

use crate::chain::{self, Hash};
use crate::error::{self, Fault};

/// The end of a run's chain, and whose it is.
pub(crate) struct Head {
    pub(crate) id: i64,
    pub(crate) epoch: i64,
    pub(crate) count: u64,
    pub(crate) at: u64,
    pub(crate) hash: Hash,
    /// Its last event is its end.
    pub(crate) ended: bool,
}

impl Head {
    pub(crate) fn find(connection: &Connection, run: &RunId) -> Result<Option<Self>, Fault> {
        let mut query = connection
            .prepare_cached("SELECT id, epoch, count, at, hash, ended FROM runs WHERE name = ?1")?;
        let found = query.query_row([run.as_str()], |row| {
            Ok(Self {
                id: row.get(0)?,
                epoch: row.get(1)?,
                count: row.get(2)?,
                at: row.get(3)?,
                hash: row.get(4)?,
                ended: row.get(5)?,
            })
        });
        Ok(found.optional()?)
    }

    pub(crate) fn of(connection: &Connection, run: &RunId) -> Result<Self, Fault> {
        Ok(Self::find(connection, run)?.ok_or_else(|| absent(run))?)
    }
}

fn absent(run: &RunId) -> Error {
    let message = format!("There is no run `{run}` in this store.");
    error::new(ErrorKind::NotFound, message, "See which runs there are with `sequester status`.")
}

/// An event, and the very bytes that were written.
pub(crate) struct Line {
    pub(crate) body: String,
    pub(crate) event: Recorded,
}

/// At most `most` events after the number `after`; the first that does not fit is named, and those before it are in `lines`.
pub(crate) fn read(
    connection: &mut Connection,
    run: &RunId,
    after: u64,
    most: usize,
    lines: &mut Vec<Line>,
) -> Result<(), Fault> {
    // One view of head and events, whatever is written meanwhile.
    let view = connection.transaction()?;
    let head = Head::of(&view, run)?;
    if after >= head.count && after > 0 {
        return Ok(());
    }
    let mut before = hash_of(&view, &head, run, after)?;
    let mut query = view.prepare_cached(
        "SELECT seq, body, hash FROM events WHERE run = ?1 AND seq > ?2 ORDER BY seq LIMIT ?3",
    )?;
    let most = most.min(i64::MAX as usize) as u64;
    let mut rows = query.query(params![head.id, after, most])?;
    let mut last = after;
    while let Some(row) = rows.next()? {
        last += 1;
        let Some((body, hash)) = fit(row, last, &before, &head) else {
            return Err(misfit(run, last).into());
        };
        before = hash;
        lines.push(Line { event: parse(run, last, &body)?, body });
    }
    let is_cut = last < head.count && last - after < most;
    if is_cut { Err(misfit(run, last + 1).into()) } else { Ok(()) }
}

/// The event that follows, if this row is one; what cannot even be read is none.
fn fit(row: &Row, seq: u64, before: &Hash, head: &Head) -> Option<(String, Hash)> {
    let (found, body, hash): (u64, String, Hash) =
        (row.get(0).ok()?, row.get(1).ok()?, row.get(2).ok()?);
    let fits = found == seq
        && hash == chain::link(before, &body)
        && (seq < head.count || hash == head.hash);
    fits.then_some((body, hash))
}

/// What the event after `after` must follow.
fn hash_of(view: &Connection, head: &Head, run: &RunId, after: u64) -> Result<Hash, Fault> {
    if after == 0 {
        return Ok(chain::START);
    }
    let mut query = view.prepare_cached("SELECT hash FROM events WHERE run = ?1 AND seq = ?2")?;
    let found = query.query_row(params![head.id, after], |row| row.get(0)).optional()?;
    Ok(found.ok_or_else(|| misfit(run, after))?)
}

fn misfit(run: &RunId, seq: u64) -> Error {
    error::damaged(format!(
        "Event {seq} of run `{run}` is not the one that was written: the chain does not fit there."
    ))
}

fn parse(run: &RunId, seq: u64, body: &str) -> Result<Recorded, Error> {
    let unknown = |why: &dyn std::fmt::Display| {
        error::new(
            ErrorKind::Newer,
            format!("Event {seq} of run `{run}` is of no kind that this program knows: {why}."),
            "Use the newer `sequester` that wrote it.",
        )
    };
    let event: Recorded = serde_json::from_str(body).map_err(|error| unknown(&error))?;
    if event.seq == seq && event.run == *run { Ok(event) } else { Err(misfit(run, seq)) }
}

/// Those that have events, the newest first.
pub(crate) fn runs(connection: &Connection) -> Result<Vec<RunId>, Fault> {
    let mut query =
        connection.prepare_cached("SELECT name FROM runs WHERE count > 0 ORDER BY id DESC")?;
    let names = query.query_map([], |row| row.get::<_, String>(0))?;
    names.map(|name| Ok(parse_run(&name?)?)).collect()
}

/// A store may have come with a repository: its names are part of paths.
pub(crate) fn parse_run(name: &str) -> Result<RunId, Error> {
    RunId::parse(name).ok_or_else(|| {
        let name = name.escape_debug().to_string();
        error::damaged(format!("The store names a run `{name}`, which is no id of a run."))
    })
}
