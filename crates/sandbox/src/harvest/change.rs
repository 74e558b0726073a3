//! A change, and how it comes out of the jail.

use std::collections::BTreeSet;
use std::fmt;
use std::io::{self, Read, Write};

use sequester_core::path::RepoPath;
use serde::{Deserialize, Serialize};

use super::{Rules, link};

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

/// What differs between a base and a workspace, sorted by path.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    pub entries: Vec<Entry>,
    /// What the workspace holds and no change may bring, each with its reason.
    pub refused: Vec<Refused>,
    /// How many more were refused than are named.
    pub refused_more: usize,
    /// What is new and no part of the change because git ignores it; folders end with a slash.
    pub ignored: Vec<String>,
    /// How many more there are than are named.
    pub ignored_more: usize,
    /// The change for people, cut if it is long; the entries are what counts.
    pub patch: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    pub path: String,
    pub action: Action,
    /// What it was; nothing if it is new.
    pub was: Option<Mode>,
    /// What it is now; nothing if it is gone.
    pub mode: Option<Mode>,
    /// Lines, where they were compared.
    pub added: Option<usize>,
    pub removed: Option<usize>,
    /// Whether the patch holds it, which has room for so much.
    pub in_patch: bool,
    pub size: u64,
    /// The bytes of the file, or what the link names. They follow the description on the wire.
    #[serde(skip)]
    pub content: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    Create,
    Modify,
    Delete,
    /// The same content, with or without the right to run it.
    Mode,
}

/// As much of a file's mode as git keeps, in git's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Mode {
    #[serde(rename = "100644")]
    File,
    #[serde(rename = "100755")]
    Executable,
    #[serde(rename = "120000")]
    Link,
}

impl Mode {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::File => "100644",
            Self::Executable => "100755",
            Self::Link => "120000",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refused {
    pub path: String,
    pub why: String,
}

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

impl Change {
    /// Writes the length of the description, the description, and the contents in its order.
    pub fn send(&self, to: &mut dyn Write) -> io::Result<()> {
        Answer::Change(self).send(to)?;
        self.entries.iter().try_for_each(|entry| to.write_all(&entry.content))
    }

    /// Reads what [`Change::send`] wrote, and takes nothing of it on trust.
    pub fn receive(from: &mut dyn Read, rules: &Rules) -> Result<Self, Error> {
        let unreadable = |error: io::Error| Error::Refused(format!("it cannot be read: {error}"));
        let mut length = [0; 8];
        from.read_exact(&mut length).map_err(unreadable)?;
        let length = u64::from_be_bytes(length);
        if length > HEAD_BYTES {
            return Err(Error::Refused(format!("its description has {length} bytes")));
        }
        let mut head = Vec::new();
        from.take(length).read_to_end(&mut head).map_err(unreadable)?;
        let mut change: Self = match serde_json::from_slice(&head) {
            Ok(Answer::Change(change)) => change,
            Ok(Answer::Trouble(why)) => {
                return Err(Error::Trouble(why.chars().take(WHY_BYTES).collect()));
            }
            Err(error) => return Err(Error::Refused(format!("it is no change: {error}"))),
        };
        change.check(rules)?;
        for entry in &mut change.entries {
            entry.content = vec![0; entry.size as usize];
            from.read_exact(&mut entry.content).map_err(unreadable)?;
            entry.check_content(rules)?;
        }
        Ok(change)
    }

    /// Everything but the contents.
    fn check(&self, rules: &Rules) -> Result<(), Error> {
        let too_many = |what: &str| Err(Error::Refused(format!("there are too many {what}")));
        if self.entries.len() > ENTRIES {
            return too_many("entries");
        }
        if self.refused.len() > REFUSED || self.refused.iter().any(Refused::is_too_long) {
            return too_many("refusals");
        }
        let is_too_long = |path: &String| path.len() > WHY_BYTES;
        if self.ignored.len() > IGNORED || self.ignored.iter().any(is_too_long) {
            return too_many("ignored names");
        }
        if self.patch.len() > PATCH_BYTES {
            return too_many("bytes in the patch");
        }
        let (mut all, mut here) = (0_u64, BTreeSet::new());
        for entry in &self.entries {
            entry.check(rules)?;
            all = all.saturating_add(entry.size);
            if entry.mode.is_some() {
                here.insert(entry.path.as_str());
            }
        }
        if all > ALL_BYTES {
            return too_many("bytes");
        }
        if !self.entries.is_sorted_by(|one, other| one.path < other.path) {
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
}

impl Entry {
    fn check(&self, rules: &Rules) -> Result<(), Error> {
        let wrong = |why: &str| Error::Refused(format!("`{}` {why}", self.path.escape_debug()));
        let path =
            RepoPath::parse(&self.path).map_err(|why| wrong(&format!("is refused: {why}")))?;
        if path.as_str() != self.path {
            return Err(wrong("is not the shortest form of a path"));
        }
        if let Some(why) = rules.refuse(&path) {
            return Err(wrong(&format!("is refused: {why}")));
        }
        if self.size > FILE_BYTES {
            return Err(wrong("is too large"));
        }
        let is_gone = self.action == Action::Delete;
        if is_gone != self.mode.is_none() || (is_gone && self.size > 0) {
            return Err(wrong("is deleted and there"));
        }
        if self.was.is_none() != (self.action == Action::Create) {
            return Err(wrong("is new and was there"));
        }
        Ok(())
    }

    /// What only the content tells.
    fn check_content(&self, rules: &Rules) -> Result<(), Error> {
        let path = RepoPath::parse(&self.path).map_err(|why| Error::Refused(why.to_string()))?;
        match self.mode.filter(|mode| *mode == Mode::Link) {
            Some(_) => match link::refuse(&path, &self.content, rules) {
                Some(why) => Err(Error::Refused(format!("`{path}` is refused: {why}"))),
                None => Ok(()),
            },
            None => Ok(()),
        }
    }
}

impl Refused {
    fn is_too_long(&self) -> bool {
        self.path.len() > WHY_BYTES || self.why.len() > WHY_BYTES
    }
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
