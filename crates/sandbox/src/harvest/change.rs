//! A change, and how it comes out of the jail.

use std::collections::BTreeSet;
use std::fmt;
use std::io::{self, Read, Write};

use sequester_core::change::{Action, Change, Entry, Refused};
use sequester_core::path::RepoPath;
use serde::{Deserialize, Serialize};

use super::Rules;
use super::compare::refuse_content;

/// Limits of a change. What does not fit is refused and named.
pub(super) const ENTRIES: usize = 20_000;
pub(super) const FILE_BYTES: u64 = 16 << 20;
pub(super) const ALL_BYTES: u64 = 64 << 20;
pub(super) const PATCH_BYTES: usize = 1 << 20;
pub(super) const REFUSED: usize = 1_000;
pub(super) const IGNORED: usize = 100;
const WHY_BYTES: usize = 4_096;
/// The description without the contents.
const HEAD_BYTES: u64 = 64 << 20;

/// Why there is no change.
#[derive(Debug)]
pub enum Error {
    /// The jailed side could not compute one, and says why.
    Trouble(String),
    /// Its answer is not taken.
    Refused(String),
}

/// What the jailed side says, before the contents.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Answer<C> {
    Change(C),
    Trouble(String),
}

impl<C: Serialize> Answer<C> {
    /// Writes its length and itself.
    fn send(&self, to: &mut dyn Write) -> io::Result<()> {
        let head = serde_json::to_vec(self)?;
        to.write_all(&(head.len() as u64).to_be_bytes())?;
        to.write_all(&head)
    }
}

pub(super) fn send_trouble(why: &str, to: &mut dyn Write) -> io::Result<()> {
    Answer::<()>::Trouble(why.to_owned()).send(to)
}

/// Writes the length of the description, the description, and the contents in its order.
pub(super) fn send(change: &Change, to: &mut dyn Write) -> io::Result<()> {
    Answer::Change(change).send(to)?;
    change.entries.iter().try_for_each(|entry| to.write_all(&entry.content))
}

/// Reads what [`send`] wrote, and takes nothing of it on trust.
pub(crate) fn receive(from: &mut dyn Read, rules: &Rules) -> Result<Change, Error> {
    let unreadable = |error: io::Error| Error::Refused(format!("it cannot be read: {error}"));
    let mut length = [0; 8];
    from.read_exact(&mut length).map_err(unreadable)?;
    let length = u64::from_be_bytes(length);
    if length > HEAD_BYTES {
        return Err(Error::Refused(format!("its description has {length} bytes")));
    }
    let mut head = Vec::new();
    from.take(length).read_to_end(&mut head).map_err(unreadable)?;
    let mut change: Change = match serde_json::from_slice(&head) {
        Ok(Answer::Change(change)) => change,
        Ok(Answer::Trouble(why)) => {
            return Err(Error::Trouble(why.chars().take(WHY_BYTES).collect()));
        }
        Err(error) => return Err(Error::Refused(format!("it is no change: {error}"))),
    };
    check(&change, rules)?;
    for entry in &mut change.entries {
        entry.content = vec![0; entry.size as usize];
        from.read_exact(&mut entry.content).map_err(unreadable)?;
        check_content(entry, rules)?;
    }
    Ok(change)
}

/// Everything but the contents.
fn check(change: &Change, rules: &Rules) -> Result<(), Error> {
    let too_many = |what: &str| Err(Error::Refused(format!("there are too many {what}")));
    if change.entries.len() > ENTRIES {
        return too_many("entries");
    }
    let is_long = |one: &Refused| one.path.len() > WHY_BYTES || one.why.len() > WHY_BYTES;
    if change.refused.len() > REFUSED || change.refused.iter().any(is_long) {
        return too_many("refusals");
    }
    let is_too_long = |path: &String| path.len() > WHY_BYTES;
    if change.ignored.len() > IGNORED || change.ignored.iter().any(is_too_long) {
        return too_many("ignored names");
    }
    if change.patch.len() > PATCH_BYTES {
        return too_many("bytes in the patch");
    }
    let (mut all, mut here) = (0_u64, BTreeSet::new());
    for entry in &change.entries {
        check_entry(entry, rules)?;
        all = all.saturating_add(entry.size);
        if entry.mode.is_some() {
            here.insert(entry.path.as_str());
        }
    }
    if all > ALL_BYTES {
        return too_many("bytes");
    }
    if !change.entries.is_sorted_by(|one, other| one.path < other.path) {
        return Err(Error::Refused("its paths are doubled or not sorted".to_owned()));
    }
    for path in &here {
        let above = path.match_indices('/').map(|(at, _)| &path[..at]);
        if let Some(file) = above.into_iter().find(|folder| here.contains(folder)) {
            return Err(Error::Refused(format!("`{file}` is a file and a folder")));
        }
    }
    Ok(())
}

fn check_entry(entry: &Entry, rules: &Rules) -> Result<(), Error> {
    let wrong = |why: &str| Error::Refused(format!("`{}` {why}", entry.path.escape_debug()));
    let path = RepoPath::parse(&entry.path).map_err(|why| wrong(&format!("is refused: {why}")))?;
    if path.as_str() != entry.path {
        return Err(wrong("is not the shortest form of a path"));
    }
    if let Some(why) = rules.refuse(&path, entry.action) {
        return Err(wrong(&format!("is refused: {why}")));
    }
    if entry.size > FILE_BYTES {
        return Err(wrong("is too large"));
    }
    let is_gone = entry.action == Action::Delete;
    if is_gone != entry.mode.is_none() || (is_gone && entry.size > 0) {
        return Err(wrong("is deleted and there"));
    }
    if entry.was.is_none() != (entry.action == Action::Create) {
        return Err(wrong("is new and was there"));
    }
    Ok(())
}

/// Why an entry of a change that was made in no jail may not be part of it, by the same rules.
pub fn refuse(entry: &Entry, rules: &Rules) -> Option<String> {
    let Ok(path) = RepoPath::parse(&entry.path) else {
        return Some("it has no name of a file".to_owned());
    };
    let content = || refuse_content(&path, entry.mode?, &entry.content, rules);
    let too_large = || (entry.size > FILE_BYTES).then(|| "it is larger than 16 MiB".to_owned());
    rules.refuse(&path, entry.action).or_else(content).or_else(too_large)
}

/// What only the content tells.
fn check_content(entry: &Entry, rules: &Rules) -> Result<(), Error> {
    let path = RepoPath::parse(&entry.path).map_err(|why| Error::Refused(why.to_string()))?;
    let refused = entry.mode.and_then(|mode| refuse_content(&path, mode, &entry.content, rules));
    refused.map_or(Ok(()), |why| Err(Error::Refused(format!("`{path}` is refused: {why}"))))
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Trouble(why) => {
                write!(formatter, "the workspace and its base cannot be compared: {why}.")
            }
            Self::Refused(why) => {
                write!(formatter, "what came out of the jail is refused, since {why}.")
            }
        }
    }
}

impl std::error::Error for Error {}
