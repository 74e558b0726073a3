//! A change: what differs between a base and what became of it.

mod covering;

pub use covering::refuse_covering;

use std::fmt::{self, Write as _};

use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::store::Batch;

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

/// What a change leaves out, as an event tells it: the first by name, and how many there are beyond those.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusals {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<Refused>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub refused_more: usize,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl Refusals {
    /// So many are named; the change itself has more of them.
    const NAMED: usize = 20;

    pub fn of(change: &Change) -> Self {
        let refused: Vec<Refused> = change.refused.iter().take(Self::NAMED).cloned().collect();
        let refused_more = change.refused_more + (change.refused.len() - refused.len());
        Self { refused, refused_more }
    }

    pub fn is_empty(&self) -> bool {
        self.refused.is_empty()
    }

    /// The names that no change may bring, in short.
    pub fn names(&self) -> String {
        const MOST: usize = 3;
        let first = self.refused.iter().take(MOST).map(|one| format!("`{}`", one.path));
        let mut names: Vec<String> = first.collect();
        let more = self.refused.len() - names.len() + self.refused_more;
        if more > 0 {
            names.push(format!("{more} more"));
        }
        names.join(", ")
    }
}

/// A change as it is kept: contents are blobs of their own, so that what stays the same from turn to turn is kept once.
#[derive(Serialize, Deserialize)]
struct Packed {
    change: Change,
    contents: Vec<Option<Digest>>,
}

/// Why a change that was kept cannot be had.
#[derive(Debug)]
pub struct Unreadable(String);

impl Change {
    /// For a subagent: names and counts first, then the lines.
    pub fn show(&self) -> String {
        let mut text = String::new();
        for entry in &self.entries {
            let (added, removed) = (entry.added.unwrap_or(0), entry.removed.unwrap_or(0));
            let _ = writeln!(text, "{} +{added} -{removed}", entry.path);
        }
        text.push('\n');
        text + &self.patch
    }

    /// The same for who is shown these files whole beside it: of those that are new the patch would say nothing else.
    pub fn show_beside(&self, is_shown: impl Fn(&str) -> bool) -> String {
        let created = self.entries.iter().filter(|entry| entry.action == Action::Create);
        let named = created.map(|entry| entry.path.as_str()).filter(|path| is_shown(path));
        let headings: Vec<String> =
            named.map(|path| format!("diff --git a/{path} b/{path}\n")).collect();
        let mut patch = String::new();
        let mut is_left_out = false;
        for line in self.patch.split_inclusive('\n') {
            if line.starts_with("diff --git ") {
                is_left_out = headings.iter().any(|heading| heading == line);
                if is_left_out {
                    patch += line;
                    patch += "new file, as it stands among the files\n";
                }
            }
            if !is_left_out {
                patch += line;
            }
        }
        Self { patch, ..self.clone() }.show()
    }

    pub fn pack(&self, batch: &mut Batch) -> Digest {
        let keep = |entry: &Entry| entry.mode.map(|_| batch.keep(entry.content.as_slice()));
        let contents = self.entries.iter().map(keep).collect();
        let packed = Packed { change: self.clone(), contents };
        // Texts and numbers only: there is nothing that could not be written.
        let bytes = serde_json::to_vec(&packed).unwrap_or_default();
        batch.keep(bytes)
    }

    /// The paths of what [`Change::pack`] kept; nothing where it cannot be read.
    pub fn paths(bytes: &[u8]) -> Option<Vec<String>> {
        #[derive(Deserialize)]
        struct Packed {
            change: Paths,
        }
        #[derive(Deserialize)]
        struct Paths {
            entries: Vec<Named>,
        }
        #[derive(Deserialize)]
        struct Named {
            path: String,
        }
        let packed: Packed = serde_json::from_slice(bytes).ok()?;
        Some(packed.change.entries.into_iter().map(|entry| entry.path).collect())
    }

    /// Reads what [`Change::pack`] kept, with `read` for its contents.
    pub fn unpack<E: fmt::Display>(
        bytes: &[u8],
        mut read: impl FnMut(&Digest) -> Result<Vec<u8>, E>,
    ) -> Result<Self, Unreadable> {
        let packed: Packed =
            serde_json::from_slice(bytes).map_err(|error| Unreadable(error.to_string()))?;
        let mut change = packed.change;
        for (entry, content) in change.entries.iter_mut().zip(&packed.contents) {
            if let Some(digest) = content {
                entry.content = read(digest).map_err(|error| Unreadable(error.to_string()))?;
            }
        }
        Ok(change)
    }
}

impl fmt::Display for Unreadable {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "the change cannot be read back: {}", self.0)
    }
}

impl std::error::Error for Unreadable {}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::Arc;

    use super::*;

    #[test]
    fn a_change_that_was_kept_comes_back_whole_and_equal_contents_are_kept_once() {
        let entry = |path: &str, content: &str| Entry {
            path: path.to_owned(),
            action: Action::Create,
            was: None,
            mode: Some(Mode::File),
            added: Some(1),
            removed: None,
            in_patch: true,
            size: content.len() as u64,
            content: content.as_bytes().to_vec(),
        };
        let gone = Entry { action: Action::Delete, mode: None, size: 0, ..entry("c", "") };
        let entries = vec![entry("a", "same"), entry("b", "same"), gone];
        let change = Change { entries, patch: "text".to_owned(), ..Change::default() };
        let mut batch = Batch::default();
        let digest = change.pack(&mut batch);
        let blobs: BTreeMap<Digest, Arc<[u8]>> =
            batch.blobs.into_iter().map(|bytes| (Digest::of(&bytes), bytes)).collect();
        assert_eq!(blobs.len(), 2);
        let read = |digest: &Digest| blobs.get(digest).map(|bytes| bytes.to_vec()).ok_or("gone");
        let back = Change::unpack(&read(&digest).unwrap(), read).unwrap();
        assert_eq!(back, change);
    }
}
