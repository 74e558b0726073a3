//! What the runtime itself saw of the work, as it is told.

use sequester_core::change::{Action, Change, Entry, Mode, Refused};
use serde::Serialize;

#[derive(Debug, Default, Serialize)]
pub(crate) struct Evidence {
    /// Why the change could not be taken; then the rest says nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) trouble: Option<String>,
    pub(crate) files_changed: Vec<Changed>,
    /// What the workspace held and no change may bring.
    pub(crate) refused: Vec<Refused>,
    /// How many more were refused than are named.
    #[serde(skip_serializing_if = "is_none")]
    pub(crate) refused_more: usize,
    /// What is new and no part of the change because git ignores it; folders end with a slash.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) ignored: Vec<String>,
    /// How many more there are than are named.
    #[serde(skip_serializing_if = "is_none")]
    pub(crate) ignored_more: usize,
    /// What `git apply` takes; a file that is too large for it is a sentence in between.
    pub(crate) patch: String,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives references")]
fn is_none(count: &usize) -> bool {
    *count == 0
}

#[derive(Debug, Serialize)]
pub(crate) struct Changed {
    pub(crate) path: String,
    pub(crate) action: &'static str,
    /// Lines; nothing where they were not compared.
    pub(crate) added: Option<usize>,
    pub(crate) removed: Option<usize>,
    /// Whether the patch holds it; a large file has no room there.
    pub(crate) in_patch: bool,
    pub(crate) old_mode: Option<Mode>,
    pub(crate) new_mode: Option<Mode>,
}

impl From<Change> for Evidence {
    fn from(change: Change) -> Self {
        Self {
            trouble: None,
            files_changed: change.entries.into_iter().map(Changed::from).collect(),
            refused: change.refused,
            refused_more: change.refused_more,
            ignored: change.ignored,
            ignored_more: change.ignored_more,
            patch: change.patch,
        }
    }
}

impl Evidence {
    pub(crate) fn missing(why: &str) -> Self {
        Self { trouble: Some(why.to_owned()), ..Self::default() }
    }
}

impl From<Entry> for Changed {
    fn from(entry: Entry) -> Self {
        let action = match entry.action {
            Action::Create => "create",
            Action::Modify | Action::Mode => "modify",
            Action::Delete => "delete",
        };
        let Entry { path, added, removed, in_patch, was, mode, .. } = entry;
        Self { path, action, added, removed, in_patch, old_mode: was, new_mode: mode }
    }
}
