//! Names that make editors, agents, git or a build service do something. A writer cannot write
//! them unless the person grants it.
//!
//! Not among them: `.gitattributes`, `.gitignore` and `.gitmodules`. Tasks edit them rightly, and what they could start
//! stands in `.git/config`, which is shut.

use sequester_core::protected::covers;

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

/// The protected name that a file or folder of this name is, wherever it lies.
pub(crate) fn covering(name: &str) -> Option<&'static str> {
    let mut names = NAMES.iter().map(|(name, _)| *name).filter(|name| !name.contains('/'));
    names.find(|protected| covers(protected, name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kinds_are_those_of_the_names_that_no_change_may_hold() {
        assert!(NAMES.iter().map(|(name, _)| name).eq(sequester_core::protected::NAMES));
    }

    #[test]
    fn a_name_without_a_slash_is_known_wherever_it_lies() {
        assert_eq!(covering(".mcp.json"), Some(".mcp.json"));
        assert_eq!(covering(".GIT"), Some(".git"));
        for name in [".github", "workflows", ".gitignore", ".gitattributes", ".mcp.jsonx"] {
            assert_eq!(covering(name), None, "{name}");
        }
    }
}
