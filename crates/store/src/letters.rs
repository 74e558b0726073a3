//! Words to whoever owns a run, left by other processes.

use rusqlite::{Connection, params};
use sequester_core::id::RunId;
use sequester_core::store::Letter;

use crate::error::{self, Fault};
use crate::log::Head;

pub(crate) fn post(connection: &Connection, run: &RunId, body: &str) -> Result<(), Fault> {
    let head = Head::of(connection, run)?;
    connection
        .prepare_cached("INSERT INTO letters (run, body) VALUES (?1, ?2)")?
        .execute(params![head.id, body])?;
    Ok(())
}

/// In the order in which they were left.
pub(crate) fn read(
    connection: &Connection,
    run: i64,
    after: u64,
) -> Result<Vec<(u64, Letter)>, Fault> {
    let mut query = connection
        .prepare_cached("SELECT id, body FROM letters WHERE run = ?1 AND id > ?2 ORDER BY id")?;
    let after = i64::try_from(after).unwrap_or(i64::MAX);
    let rows = query.query_map([run, after], |row| Ok((row.get(0)?, row.get::<_, String>(1)?)))?;
    rows.map(|row| {
        let (id, body): (u64, String) = row?;
        let letter = serde_json::from_str(&body)
            .map_err(|error| error::damaged(format!("Letter {id} cannot be read: {error}.")))?;
        Ok((id, letter))
    })
    .collect()
}
