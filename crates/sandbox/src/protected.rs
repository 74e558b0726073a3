//! Names at a workspace's root that make editors, agents, git or a build service do something. A writer cannot write
//! them unless the person grants it.
//!
//! Not among them: `.gitattributes`, `.gitignore` and `.gitmodules`. Tasks edit them rightly, and what they could start
//! stands in `.git/config`, which is shut.

use std::path::Path;

use crate::blueprint::Kind;

use Kind::{File, Folder};

#[rustfmt::skip]
pub const NAMES: &[(&str, Kind)] = &[
    (".git", Folder), (".sequester", Folder), ("sequester.toml", File),
    // Agents
    (".claude", Folder), (".mcp.json", File), (".cursor", Folder), (".codex", Folder), (".gemini", Folder), (".opencode", Folder),
    // Editors and shells
    (".vscode", Folder), (".idea", Folder), (".devcontainer", Folder), (".envrc", File), (".husky", Folder),
    (".pre-commit-config.yaml", File), ("lefthook.yml", File),
    // Build services
    (".github/workflows", Folder), (".github/actions", Folder), (".gitlab-ci.yml", File), (".circleci", Folder),
    (".forgejo/workflows", Folder), (".gitea/workflows", Folder), (".woodpecker", Folder),
    (".buildkite", Folder), (".travis.yml", File), (".drone.yml", File), (".woodpecker.yml", File), (".cirrus.yml", File),
    ("azure-pipelines.yml", File), ("bitbucket-pipelines.yml", File), ("appveyor.yml", File), ("Jenkinsfile", File),
];

/// The protected name that the path, relative to a workspace's root, is or lies in.
pub fn covering(path: &Path) -> Option<&'static str> {
    NAMES.iter().map(|(name, _)| *name).find(|name| path.starts_with(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kinds_are_those_of_the_names_that_no_change_may_hold() {
        assert!(NAMES.iter().map(|(name, _)| name).eq(sequester_core::protected::NAMES));
    }

    #[test]
    fn a_name_covers_itself_and_what_is_below() {
        assert_eq!(covering(Path::new(".github/workflows/ci.yml")), Some(".github/workflows"));
        assert_eq!(covering(Path::new(".mcp.json")), Some(".mcp.json"));
        for path in
            [".github/CODEOWNERS", "src/.claude/a", ".gitignore", ".gitattributes", ".mcp.jsonx"]
        {
            assert_eq!(covering(Path::new(path)), None, "{path}");
        }
    }
}
