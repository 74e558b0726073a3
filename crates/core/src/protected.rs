//! Names that make editors, agents, git or a build service do something. No change may hold one, unless it is
//! granted.
//!
//! Not among them: `.gitattributes`, `.gitignore` and `.gitmodules`. Tasks edit them rightly, and what they could start
//! stands in `.git/config`, which is shut.

mod grants;

use crate::path::RepoPath;
use crate::secret::is_secret_name;

pub use grants::{Error, Grants};

#[rustfmt::skip]
pub const NAMES: &[&str] = &[
    ".git", ".sequester", "sequester.toml",
    // Agents
    ".claude", ".mcp.json", ".cursor", ".codex", ".gemini", ".opencode",
    // Editors and shells
    ".vscode", ".idea", ".devcontainer", ".envrc", ".husky", ".pre-commit-config.yaml", "lefthook.yml",
    // Build services
    ".github/workflows", ".github/actions", ".gitlab-ci.yml", ".circleci", ".forgejo/workflows", ".gitea/workflows", ".woodpecker", ".buildkite", ".travis.yml", ".drone.yml",
    ".woodpecker.yml", ".cirrus.yml", "azure-pipelines.yml", "bitbucket-pipelines.yml", "appveyor.yml", "Jenkinsfile",
];

/// Whether a name covers a path. Without a slash: a file or folder of this name, wherever it lies. With one, be it the first
/// letter: this path and all beneath it. File systems that do not tell cases apart would take one for the other, so that none does.
pub fn covers(name: &str, path: &str) -> bool {
    let (name, path) = (name.to_lowercase(), path.to_lowercase());
    if name.contains('/') {
        let rest = path.strip_prefix(name.trim_matches('/'));
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    } else {
        path.split('/').any(|part| part == name)
    }
}

/// Why a change may not hold a path, by its name alone.
pub fn refuse(path: &RepoPath, grants: &Grants) -> Option<String> {
    let text = path.as_str();
    let name = NAMES.iter().find(|name| covers(name, text) && !grants.lift(name, text));
    name.map(|name| format!("`{name}` is protected"))
        .or_else(|| is_secret_name(text).map(|rule| format!("it is secret by its name ({rule})")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_covers_itself_and_what_is_below() {
        let refused = |path: &str| refuse(&RepoPath::parse(path).unwrap(), Grants::none());
        for path in [".github/workflows/ci.yml", "web/.vscode/a.json", "jenkinsfile", ".env"] {
            assert!(refused(path).is_some(), "{path}");
        }
        for path in [".github/CODEOWNERS", "a/.github/workflows/ci.yml", ".gitignore", "a.txt"] {
            assert_eq!(refused(path), None, "{path}");
        }
    }
}
