//! A run as JSON lines, each checked as it is read.

use std::collections::BTreeMap;
use std::io::{self, Write};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rusqlite::{Connection, OptionalExtension};
use sequester_core::digest::Digest;
use sequester_core::id::RunId;
use sequester_core::store::{Error, ErrorKind};
use serde::Serialize;

use crate::error::{self, Fault};
use crate::log::{self, Head};
use crate::{blobs, store::Store};

/// Events that are held in memory at once.
const PAGE: usize = 256;

/// A blob on its line: as text where it is text, else in base 64.
#[derive(Serialize)]
struct Shown<'a> {
    blob: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    base64: Option<String>,
}

impl Store {
    /// Every event on a line of its own, byte for byte as it was written; where one is damaged, those before it.
    pub fn export(&self, run: &RunId, out: &mut dyn Write) -> Result<(), Error> {
        let mut after = 0;
        loop {
            let mut lines = Vec::new();
            let read =
                self.reader.read(|connection| log::read(connection, run, after, PAGE, &mut lines));
            for line in &lines {
                writeln!(out, "{}", line.body).map_err(|error| unwritten(&error))?;
            }
            read?;
            let Some(last) = lines.last() else { return Ok(()) };
            after = last.event.seq;
        }
    }

    /// Every blob that the run needs, in the order in which they were kept: `{"blob": digest, "text": ...}`, or `base64` where
    /// it is no text.
    pub fn export_blobs(&self, run: &RunId, out: &mut dyn Write) -> Result<(), Error> {
        let run = self.reader.read(|connection| Head::of(connection, run))?.id;
        let mut after = 0;
        while let Some((id, digest, bytes)) =
            self.reader.read(|connection| next_blob(connection, run, after))?
        {
            after = id;
            blobs::verify(&digest, &bytes)?;
            write_blob(&digest, &bytes, out).map_err(|error| unwritten(&error))?;
        }
        Ok(())
    }
}

impl Store {
    /// Every blob that the run needs.
    pub(crate) fn run_blobs(&self, run: &RunId) -> Result<BTreeMap<Digest, Vec<u8>>, Error> {
        let run = self.reader.read(|connection| Head::of(connection, run))?.id;
        let (mut blobs, mut after) = (BTreeMap::new(), 0);
        while let Some((id, digest, bytes)) =
            self.reader.read(|connection| next_blob(connection, run, after))?
        {
            after = id;
            blobs::verify(&digest, &bytes)?;
            blobs.insert(digest, bytes);
        }
        Ok(blobs)
    }
}

fn next_blob(
    connection: &Connection,
    run: i64,
    after: i64,
) -> Result<Option<(i64, Digest, Vec<u8>)>, Fault> {
    let mut query = connection.prepare_cached(
        "SELECT blobs.id, digest, bytes FROM uses JOIN blobs ON blobs.id = uses.blob
         WHERE run = ?1 AND blob > ?2 ORDER BY blob LIMIT 1",
    )?;
    let found = query
        .query_row([run, after], |row| Ok((row.get(0)?, row.get::<_, String>(1)?, row.get(2)?)));
    let Some((id, name, bytes)) = found.optional()? else { return Ok(None) };
    let digest = Digest::parse(&name)
        .ok_or_else(|| error::damaged(format!("The blob `{name}` has no name of a blob.")))?;
    Ok(Some((id, digest, bytes)))
}

fn write_blob(digest: &Digest, bytes: &[u8], out: &mut dyn Write) -> io::Result<()> {
    let text = std::str::from_utf8(bytes).ok();
    let base64 = text.is_none().then(|| STANDARD.encode(bytes));
    serde_json::to_writer(&mut *out, &Shown { blob: digest.as_str(), text, base64 })?;
    writeln!(out)
}

pub(crate) fn unwritten(error: &io::Error) -> Error {
    let message = format!("The export could not be written: {error}.");
    error::new(ErrorKind::Broken, message, "See whether its place can be written to.")
}
