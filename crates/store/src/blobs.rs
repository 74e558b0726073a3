//! Bytes by their digest, each kept once however many runs need it. Not compressed: what is large is mostly shared, and what is read
//! is read by people who look for it.

use rusqlite::{Connection, OptionalExtension, params};
use sequester_core::digest::Digest;
use sequester_core::id::RunId;
use sequester_core::store::{Error, ErrorKind};

use crate::error::{self, Fault};

/// Keeps bytes for a run.
pub(crate) fn keep(
    connection: &Connection,
    run: i64,
    digest: &Digest,
    bytes: &[u8],
) -> Result<(), Fault> {
    let id = match find(connection, digest)? {
        Some(id) => id,
        None => connection
            .prepare_cached("INSERT INTO blobs (digest, bytes) VALUES (?1, ?2)")?
            .insert(params![digest.as_str(), bytes])?,
    };
    need(connection, run, id)
}

/// A run names bytes that are there already, perhaps by another run.
pub(crate) fn name(connection: &Connection, run: i64, digest: &Digest) -> Result<(), Fault> {
    match find(connection, digest)? {
        Some(id) => need(connection, run, id),
        None => Ok(()),
    }
}

fn need(connection: &Connection, run: i64, blob: i64) -> Result<(), Fault> {
    connection
        .prepare_cached("INSERT INTO uses (run, blob) VALUES (?1, ?2) ON CONFLICT DO NOTHING")?
        .execute([run, blob])?;
    Ok(())
}

fn find(connection: &Connection, digest: &Digest) -> Result<Option<i64>, Fault> {
    let mut query = connection.prepare_cached("SELECT id FROM blobs WHERE digest = ?1")?;
    Ok(query.query_row([digest.as_str()], |row| row.get(0)).optional()?)
}

pub(crate) fn read(connection: &Connection, digest: &Digest) -> Result<Vec<u8>, Fault> {
    let mut query = connection.prepare_cached("SELECT bytes FROM blobs WHERE digest = ?1")?;
    let found = query.query_row([digest.as_str()], |row| row.get(0)).optional()?;
    let bytes: Vec<u8> = found.ok_or_else(|| absent(digest))?;
    verify(digest, &bytes)?;
    Ok(bytes)
}

pub(crate) fn verify(digest: &Digest, bytes: &[u8]) -> Result<(), Error> {
    if Digest::of(bytes) == *digest {
        return Ok(());
    }
    Err(error::damaged(format!("The blob `{digest}` is not what its name says.")))
}

/// What a run needs and is not what its name says; nothing for what is gone, and its name with it.
pub(crate) fn damaged(connection: &Connection, run: &RunId) -> Result<Vec<Option<Digest>>, Fault> {
    let mut query = connection.prepare_cached(
        "SELECT digest, bytes FROM uses JOIN runs ON run = runs.id LEFT JOIN blobs ON blob = blobs.id \
         WHERE runs.name = ?1 ORDER BY digest",
    )?;
    let mut rows = query.query([run.as_str()])?;
    let mut damaged = Vec::new();
    while let Some(row) = rows.next()? {
        let (name, bytes): (Option<String>, Option<Vec<u8>>) = (row.get(0)?, row.get(1)?);
        let digest = name.as_deref().and_then(Digest::parse);
        if digest.is_none() || digest != bytes.as_deref().map(Digest::of) {
            damaged.push(digest);
        }
    }
    Ok(damaged)
}

fn absent(digest: &Digest) -> Error {
    let message = format!("There is no blob `{digest}` in this store.");
    error::new(ErrorKind::NotFound, message, "It may have gone with its run by `sequester gc`.")
}
