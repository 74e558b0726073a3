//! What the runtime itself saw of the work, as it is told.

use sequester_sandbox::harvest::{Action, Change, Entry, Mode, Refused};
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
    /// What `git apply` takes; what cannot be shown so is a sentence in between.
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
    pub(crate) old_mode: Option<Mode>,
    pub(crate) new_mode: Option<Mode>,
}

impl From<Change> for Evidence {
    fn from(change: Change) -> Self {
        let Change { entries, refused, refused_more, patch } = change;
        let files_changed = entries.into_iter().map(Changed::from).collect();
        Self { trouble: None, files_changed, refused, refused_more, patch }
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
        let Entry { path, added, removed, was, mode, .. } = entry;
        Self { path, action, added, removed, old_mode: was, new_mode: mode }
    }
}
