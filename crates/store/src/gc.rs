//! Making room: whole runs go by a rule, then the blobs that no run needs any more, then the space is given back.

use rusqlite::{Connection, TransactionBehavior};
use sequester_core::id::RunId;
use sequester_core::moment::Moment;
use sequester_core::store::Error;

use crate::error::Fault;
use crate::log::{self, Head};
use crate::schema;
use crate::store::Store;

/// Which runs go. One that somebody holds never does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rule {
    /// These and no other; none of them only gives space back.
    Named(Vec<RunId>),
    /// Those whose last event is from before this moment.
    Before(Moment, Which),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// Only those that have ended; what is parked can still be resumed.
    Ended,
    All,
}

/// What was done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Collected {
    /// The oldest first.
    pub runs: Vec<RunId>,
    /// What the rule would take and somebody holds.
    pub held: Vec<RunId>,
    pub blobs: usize,
    /// By how much the file is smaller now.
    pub bytes: u64,
    /// Locks of processes that were killed.
    pub locks: usize,
}

/// Pages that are given back in one transaction, so that whoever writes is not kept waiting.
const PAGES_AT_ONCE: u32 = 2_000;

impl Store {
    /// The runs that [`Self::gc`] would remove, or keep because a process holds them.
    pub fn gc_candidates(&self, rule: &Rule) -> Result<Vec<RunId>, Error> {
        let said = |fault: Fault| fault.at(self.path());
        let connection = schema::connect_writing(self.path(), &self.writing()?.options)?;
        choose(&connection, rule).map_err(said)
    }

    pub fn gc(&self, rule: &Rule) -> Result<Collected, Error> {
        let writing = self.writing()?;
        let mut connection = schema::connect_writing(self.path(), &writing.options)?;
        let said = |fault: Fault| fault.at(self.path());
        let before = size(&connection).map_err(said)?;
        let mut collected = Collected::default();
        for run in choose(&connection, rule).map_err(said)? {
            match writing.holds.take(&run)? {
                None => collected.held.push(run),
                Some(_hold) => {
                    if remove(&mut connection, &run, rule).map_err(said)? {
                        collected.runs.push(run);
                    }
                }
            }
        }
        collected.blobs = remove_blobs(&connection).map_err(said)?;
        collected.locks = writing.holds.sweep()?;
        give_back(&connection).map_err(said)?;
        collected.bytes = before.saturating_sub(size(&connection).map_err(said)?);
        Ok(collected)
    }
}

impl Rule {
    fn takes(&self, run: &RunId, head: &Head) -> bool {
        match self {
            Self::Named(runs) => runs.contains(run),
            // A lease that never wrote anything leaves no run behind.
            Self::Before(moment, which) => {
                head.count == 0 || (head.at < moment.0 && (head.ended || *which == Which::All))
            }
        }
    }
}

fn choose(connection: &Connection, rule: &Rule) -> Result<Vec<RunId>, Fault> {
    if let Rule::Named(runs) = rule {
        // All of them are there, or none is touched.
        for run in runs {
            Head::of(connection, run)?;
        }
    }
    let mut query = connection.prepare("SELECT name FROM runs ORDER BY id")?;
    let names = query.query_map([], |row| row.get::<_, String>(0))?;
    let mut chosen = Vec::new();
    for name in names {
        let run = log::parse_run(&name?)?;
        if Head::find(connection, &run)?.is_some_and(|head| rule.takes(&run, &head)) {
            chosen.push(run);
        }
    }
    Ok(chosen)
}

/// Asks the rule again: between the choice and the hold, another process may have taken the run further.
fn remove(connection: &mut Connection, run: &RunId, rule: &Rule) -> Result<bool, Fault> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let head = Head::find(&transaction, run)?;
    let Some(head) = head.filter(|head| rule.takes(run, head)) else { return Ok(false) };
    for table in ["events", "uses", "letters", "signatures"] {
        transaction.execute(&format!("DELETE FROM {table} WHERE run = ?1"), [head.id])?;
    }
    transaction.execute("DELETE FROM runs WHERE id = ?1", [head.id])?;
    transaction.commit()?;
    Ok(true)
}

fn remove_blobs(connection: &Connection) -> Result<usize, Fault> {
    Ok(connection.execute("DELETE FROM blobs WHERE id NOT IN (SELECT blob FROM uses)", [])?)
}

fn give_back(connection: &Connection) -> Result<(), Fault> {
    let free = || connection.pragma_query_value(None, "freelist_count", |row| row.get::<_, i64>(0));
    let mut left = free()?;
    while left > 0 {
        let mut step =
            connection.prepare(&format!("PRAGMA incremental_vacuum({PAGES_AT_ONCE})"))?;
        let mut rows = step.query([])?;
        while rows.next()?.is_some() {}
        let now = free()?;
        if now >= left {
            break;
        }
        left = now;
    }
    // Readers may be in the way; then the next commit that can will do it.
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
    Ok(())
}

fn size(connection: &Connection) -> Result<u64, Fault> {
    let number = |name| connection.pragma_query_value(None, name, |row| row.get::<_, u64>(0));
    Ok(number("page_count")? * number("page_size")?)
}
