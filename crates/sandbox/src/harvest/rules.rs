//! What may not be part of a change, whoever made it.

use sequester_core::path::RepoPath;
use sequester_core::protected::{self, Grants};
use sequester_core::secret::is_secret_name;
use serde::{Deserialize, Serialize};

/// The rules for one workspace. They reach the jailed side as data, and the controller applies them again.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rules {
    /// Names that no change may touch, as [`protected::covers`] has it, and no link above those with a slash.
    pub protected: Vec<String>,
    /// What of these it may touch.
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
    /// Why nothing at `path` can be part of a change, if it cannot.
    pub(super) fn refuse(&self, path: &RepoPath) -> Option<String> {
        let text = path.as_str();
        if text.len() > PATH_BYTES {
            return Some(format!("its path is longer than {PATH_BYTES} bytes"));
        }
        if text.split('/').any(is_git) {
            return Some("it belongs to another repository inside this one".to_owned());
        }
        let holds = |rule: &&String| protected::covers(rule, text) && !self.grants.lift(rule, text);
        if let Some(rule) = self.protected.iter().find(holds) {
            return Some(format!("`{}` is protected", rule.trim_matches('/')));
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
        let above = |rule: &&String| rule.contains('/') && protected::leads_to(path.as_str(), rule);
        let rule = self.protected.iter().find(above)?;
        Some(format!("it is a link above `{}`, which is protected", rule.trim_matches('/')))
    }
}

/// Whether some file system takes this name for `.git`.
pub(crate) fn is_git(name: &str) -> bool {
    protected::covers(".git", name)
}
