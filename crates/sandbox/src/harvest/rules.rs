//! What may not be part of a change, whoever made it.

use std::collections::BTreeMap;

use sequester_core::change::Action;
use sequester_core::path::RepoPath;
use sequester_core::protected::{self, Grants};
use sequester_core::secret::is_secret_name;
use serde::{Deserialize, Serialize};

/// The rules for one workspace. They reach the jailed side as data, and the controller applies them again.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rules {
    /// Paths of this repository that no change may touch, and why, beside the names that are protected everywhere.
    pub protected: BTreeMap<String, String>,
    /// Protected names that it may touch all the same.
    pub grants: Grants,
    /// Paths of the repository that were kept from the workspace. That they are absent is no change; that something is there is
    /// refused.
    pub withheld: Vec<String>,
    /// Folders of the base that hold a `HEAD` of git's: nothing in them changes, since a little more makes repositories of them.
    pub repositories: Vec<String>,
    /// What git ignores beside the base's own rules: lines as in a `.gitignore`.
    pub exclude: String,
}

/// The longest path that is taken.
const PATH_BYTES: usize = 1_024;

impl Rules {
    /// Why what happens to the file at `path` can be no part of a change, if it cannot.
    pub(super) fn refuse(&self, path: &RepoPath, action: Action) -> Option<String> {
        let text = path.as_str();
        if text.len() > PATH_BYTES {
            return Some(format!("its path is longer than {PATH_BYTES} bytes"));
        }
        if text.split('/').any(is_git) {
            return Some("it belongs to another repository inside this one".to_owned());
        }
        let named = match action {
            Action::Delete => protected::refuse_deletion(text, &self.grants),
            _ => protected::refuse_name(text, &self.grants),
        };
        if named.is_some() {
            return named;
        }
        let covers = |path: &&String| protected::covers(&format!("/{path}"), text);
        if let Some(path) = self.protected.keys().find(covers) {
            return Some(format!("`{path}` is protected ({})", self.protected[path]));
        }
        if self.withheld.iter().any(|held| protected::covers(&format!("/{held}"), text)) {
            return Some("the repository has a file there that is kept from this work".to_owned());
        }
        if self.repositories.iter().any(|at| protected::covers(&format!("/{at}"), text)) {
            return Some("it lies in a folder that git may take for a repository".to_owned());
        }
        is_secret_name(text).map(|rule| format!("it is secret by its name ({rule})"))
    }

    /// Why no link can be at `path`: what is protected would then lie wherever it leads.
    pub(super) fn refuse_link(&self, path: &RepoPath) -> Option<String> {
        let is_above = |name: &&str| protected::leads_to(path.as_str(), name);
        let named = protected::names().filter(|name| name.contains('/')).find(is_above);
        let above = named.or_else(|| self.protected.keys().map(String::as_str).find(is_above))?;
        Some(format!("it is a link above `{above}`, which is protected"))
    }
}

/// Whether some file system takes this name for `.git`.
pub(crate) fn is_git(name: &str) -> bool {
    protected::covers(".git", name)
}
