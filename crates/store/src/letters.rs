//! Words to whoever owns a run, left by other processes.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use rusqlite::{Connection, params};
use sequester_core::id::RunId;
use sequester_core::store::Letter;

use crate::error::{self, Fault};
use crate::log::Head;
use crate::signing::Signer;

/// Who signs words, where, and for which run: whoever may write to the file could leave others.
pub(crate) struct LetterSeal<'a> {
    pub(crate) signer: &'a Signer,
    pub(crate) place: &'a str,
    pub(crate) run: &'a RunId,
}

impl LetterSeal<'_> {
    fn text(&self, body: &str) -> String {
        format!("sequester letter 1\n{}\n{}\n{body}", self.place, self.run)
    }

    /// The words after their signature.
    pub(crate) fn close(&self, body: &str) -> String {
        format!("{}\n{body}", STANDARD_NO_PAD.encode(self.signer.sign(&self.text(body))))
    }

    /// The words, if their signature is this user's.
    fn open<'b>(&self, closed: &'b str) -> Option<&'b str> {
        let (signature, body) = closed.split_once('\n')?;
        let signature = STANDARD_NO_PAD.decode(signature).ok()?;
        self.signer.key().verifies(&self.text(body), &signature).then_some(body)
    }
}

pub(crate) fn post(connection: &Connection, run: &RunId, body: &str) -> Result<(), Fault> {
    let head = Head::of(connection, run)?;
    connection
        .prepare_cached("INSERT INTO letters (run, body) VALUES (?1, ?2)")?
        .execute(params![head.id, body])?;
    Ok(())
}

/// In the order in which they were left. With a seal, those that do not have it are passed over.
pub(crate) fn read(
    connection: &Connection,
    run: i64,
    after: u64,
    seal: Option<&LetterSeal<'_>>,
) -> Result<Vec<(u64, Letter)>, Fault> {
    let mut query = connection
        .prepare_cached("SELECT id, body FROM letters WHERE run = ?1 AND id > ?2 ORDER BY id")?;
    let after = i64::try_from(after).unwrap_or(i64::MAX);
    let rows = query.query_map([run, after], |row| Ok((row.get(0)?, row.get::<_, String>(1)?)))?;
    let mut letters = Vec::new();
    for row in rows {
        let (id, body): (u64, String) = row?;
        let Some(body) = seal.map_or(Some(body.as_str()), |seal| seal.open(&body)) else {
            continue;
        };
        let letter = serde_json::from_str(body)
            .map_err(|error| error::damaged(format!("Letter {id} cannot be read: {error}.")))?;
        letters.push((id, letter));
    }
    Ok(letters)
}
