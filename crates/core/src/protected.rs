//! Names that make editors, agents, git or a build service do something. No change may hold one, unless it is
//! granted.
//!
//! Not among them: `.gitattributes`, `.gitignore` and `.gitmodules`. Tasks edit them rightly, and what they could start
//! stands in `.git/config`, which is shut.

mod grants;

use crate::fold;
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
/// letter: this path and all beneath it. What some file system would take for the name is covered on all.
pub fn covers(name: &str, path: &str) -> bool {
    let mut parts = fold::parts(path);
    if name.contains('/') {
        let mut names = fold::parts(name.trim_matches('/'));
        names.all(|name| parts.next().is_some_and(|part| is(&part, &name)))
    } else {
        parts.any(|part| fold::parts(name).any(|name| is(&part, &name)))
    }
}

/// Whether a path is one from the root or lies above it, as [`covers`] takes names.
pub fn leads_to(path: &str, name: &str) -> bool {
    let mut names = fold::parts(name.trim_matches('/'));
    fold::parts(path).all(|part| names.next().is_some_and(|name| is(&part, &name)))
}

fn is(part: &str, name: &str) -> bool {
    part == name || fold::is_short(part, name)
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

    #[test]
    fn a_path_leads_to_what_is_below_it() {
        for path in
            [".github", ".GITHUB", "github~1", ".github/workflows", ".github./work\u{200c}flows"]
        {
            assert!(leads_to(path, "/.github/workflows"), "{path}");
        }
        for path in [".git", "workflows", ".github/workflows/a", "a/.github"] {
            assert!(!leads_to(path, ".github/workflows"), "{path}");
        }
    }

    #[test]
    fn what_another_file_system_takes_for_a_name_is_covered() {
        for (path, name) in [
            (".GIT/config", ".git"),
            ("a/.git::$INDEX_ALLOCATION/config", ".git"),
            (".git./config", ".git"),
            (".git . ./config", ".git"),
            ("GIT~1/config", ".git"),
            ("a\\.git\\config", ".git"),
            (".g\u{200c}it", ".git"),
            ("\u{feff}.GI\u{206f}T", ".git"),
            (".v\u{17f}code/tasks.json", ".vscode"),
            (".github/wor\u{212a}flows/ci.yml", ".github/workflows"),
            ("github~1/WORKFL~2/ci.yml", ".github/workflows"),
            (".mcp.json:x", ".mcp.json"),
            ("MCP~1.JSO", ".mcp.json"),
            ("JENKI~10", "Jenkinsfile"),
            (".idea ", ".idea"),
        ] {
            assert!(covers(name, path), "{path:?} is {name}");
        }
        for (path, name) in [
            (".gitignore", ".git"),
            ("git", ".git"),
            ("git~", ".git"),
            ("gi~1", ".git"),
            ("git~1.txt", ".git"),
            (".github", ".github/workflows"),
            ("x:.git", ".git"),
            (".g it", ".git"),
            ("...", ".git"),
        ] {
            assert!(!covers(name, path), "{path:?} is not {name}");
        }
    }
}
