//! What an attempt leaves for later work: notes, artifacts and the backpack. Bounded, and refused when full.

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::report::{Artifact, Note};
use crate::tokens;

const NOTE_TOKENS: usize = 1_000;
const NOTES: usize = 32;
const ARTIFACT_TOKENS: usize = 500;
const ARTIFACTS: usize = 64;
const BACKPACK_TOKENS: usize = 500;

/// In the order in which it was left.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kept {
    pub notes: Vec<Note>,
    pub artifacts: Vec<Artifact>,
    pub backpack: Vec<Item>,
    /// Names taken out of a backpack that was inherited.
    pub removed: Vec<String>,
}

/// A thing in the backpack.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Item {
    /// One fact, in a sentence.
    pub item: String,
    /// What it is about, in a word.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category: Option<String>,
    #[serde(default)]
    pub priority: Priority,
}

#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Priority {
    Low,
    #[default]
    Normal,
    High,
}

impl Kept {
    /// A section is replaced as a whole.
    pub(super) fn note(&mut self, note: Note) -> Result<String, String> {
        brief("The name of a section", &note.section)?;
        let size = within("A section of the notes", &[&note.content], NOTE_TOKENS)?;
        let section = note.section.clone();
        let full = self.notes.len() == NOTES;
        match self.notes.iter_mut().find(|one| one.section == note.section) {
            Some(old) => *old = note,
            None if full => {
                return Err(format!("There are {NOTES} sections already; use one of them."));
            }
            None => self.notes.push(note),
        }
        Ok(format!("Kept {size} tokens under `{section}`."))
    }

    pub(super) fn artifact(&mut self, artifact: Artifact) -> Result<String, String> {
        let mut parts = vec![artifact.content.as_str()];
        parts.extend(artifact.relevance.as_deref());
        parts.extend(artifact.refs.iter().map(String::as_str));
        let size = within("An artifact", &parts, ARTIFACT_TOKENS)?;
        if self.artifacts.len() == ARTIFACTS {
            return Err(format!("There are {ARTIFACTS} artifacts already; no more are kept."));
        }
        self.artifacts.push(artifact);
        Ok(format!("Kept an artifact of {size} tokens."))
    }

    pub(super) fn pack(&mut self, item: Item) -> Result<String, String> {
        brief("A category", item.category.as_deref().unwrap_or("-"))?;
        let size = within("An item", &[&item.item], BACKPACK_TOKENS)?;
        let full: usize = self.backpack.iter().map(|item| tokens::count(&item.item)).sum();
        if full + size > BACKPACK_TOKENS {
            return Err(format!(
                "The backpack holds {BACKPACK_TOKENS} tokens, {full} are taken and this needs {size}. Remove something \
                 first. In it:\n{}",
                self.contents()
            ));
        }
        self.backpack.push(item);
        Ok(format!("Packed; {} of {BACKPACK_TOKENS} tokens are taken.", full + size))
    }

    pub(super) fn unpack(&mut self, item: &str) -> Result<String, String> {
        let before = self.backpack.len();
        self.backpack.retain(|one| one.item != item);
        if self.backpack.len() == before {
            return Err(format!("There is no such item. In the backpack:\n{}", self.contents()));
        }
        self.removed.push(item.to_owned());
        Ok("Removed.".to_owned())
    }

    pub(super) fn clear_backpack(&mut self) -> String {
        let count = self.backpack.len();
        self.removed.extend(self.backpack.drain(..).map(|item| item.item));
        format!("Removed {count} items.")
    }

    fn contents(&self) -> String {
        let mut list = String::new();
        for item in &self.backpack {
            let _ = writeln!(list, "- {}", item.item);
        }
        if list.is_empty() { "nothing".to_owned() } else { list }
    }
}

/// A name, not a text.
fn brief(what: &str, name: &str) -> Result<(), String> {
    if name.trim().is_empty() || name.chars().count() > NAME {
        return Err(format!("{what} has 1 to {NAME} characters."));
    }
    Ok(())
}

const NAME: usize = 100;

/// The first part is what it is about.
fn within(what: &str, parts: &[&str], limit: usize) -> Result<usize, String> {
    // A token has at least a byte and hardly more than some: what is far too long is not counted.
    let bytes: usize = parts.iter().map(|part| part.len()).sum();
    if bytes > limit * 64 {
        return Err(format!(
            "{what} holds at most {limit} tokens; this has {bytes} bytes. Shorten it."
        ));
    }
    let size = parts.iter().map(|part| tokens::count(part)).sum();
    if parts.first().is_none_or(|text| text.trim().is_empty()) {
        return Err(format!("{what} cannot be empty."));
    }
    if size > limit {
        return Err(format!("{what} holds at most {limit} tokens; this has {size}. Shorten it."));
    }
    Ok(size)
}
