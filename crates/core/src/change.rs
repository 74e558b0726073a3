//! A change: what differs between a base and what became of it.

use serde::{Deserialize, Serialize};

/// Sorted by path.
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
    /// The bytes of the file, or what the link names. They go apart from the description.
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
