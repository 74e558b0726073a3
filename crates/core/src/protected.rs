//! Names that make editors, agents, git or a build service do something. No change may hold one, unless it is
//! granted.
//!
//! Not among them: `.gitattributes`, `.gitignore` and `.gitmodules`. Tasks edit them rightly, and what they could start
//! stands in `.git/config`, which is shut.

mod grants;

use serde::{Deserialize, Serialize};

use crate::fold;
use crate::path::RepoPath;
use crate::secret::is_secret_name;

pub use grants::{Error, Grants};

/// What stands at a protected name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    File,
    Folder,
}

/// Who may let a change hold a protected name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grantor {
    /// The runtime commits, its settings are the person's, and agents take orders from the others.
    Nobody,
    Person,
    /// Also a task, for files of build services that it names.
    Task,
}

use Grantor::{Nobody, Person, Task};
use Kind::{File, Folder};

#[rustfmt::skip]
pub const NAMES: &[(&str, Kind, Grantor)] = &[
    (".git", Folder, Nobody), (".sequester", Folder, Nobody), ("sequester.toml", File, Nobody),
    // Agents
    (".claude", Folder, Nobody), (".mcp.json", File, Nobody), (".cursor", Folder, Nobody), (".codex", Folder, Nobody), (".gemini", Folder, Nobody),
    (".opencode", Folder, Nobody), (".cursorrules", File, Nobody), (".roo", Folder, Nobody),
    (".windsurf", Folder, Nobody), (".windsurfrules", File, Nobody), (".clinerules", File, Nobody), (".continue", Folder, Nobody), (".kiro", Folder, Person),
    (".amazonq", Folder, Nobody), (".aider.conf.yml", File, Nobody),
    // Editors and shells
    (".vscode", Folder, Person), (".idea", Folder, Person), (".devcontainer", Folder, Person), (".envrc", File, Person), (".husky", Folder, Person),
    (".pre-commit-config.yaml", File, Person), ("lefthook.yml", File, Person), ("lefthook.yaml", File, Person), (".lefthook.yml", File, Person),
    (".lefthook.yaml", File, Person), (".zed", Folder, Person), ("mise.toml", File, Person), (".mise.toml", File, Person),
    (".gitpod.yml", File, Person), (".exrc", File, Person), (".nvim.lua", File, Person), (".dir-locals.el", File, Person), (".fleet", Folder, Person),
    // Build services
    (".github/workflows", Folder, Task), (".github/actions", Folder, Task), (".gitlab-ci.yml", File, Task), (".circleci", Folder, Task),
    (".forgejo/workflows", Folder, Task), (".gitea/workflows", Folder, Task), (".woodpecker", Folder, Task), (".buildkite", Folder, Task),
    (".travis.yml", File, Task), (".drone.yml", File, Task), (".woodpecker.yml", File, Task), (".cirrus.yml", File, Task),
    ("azure-pipelines.yml", File, Task), ("bitbucket-pipelines.yml", File, Task), ("appveyor.yml", File, Task), ("Jenkinsfile", File, Task),
    (".appveyor.yml", File, Task), (".drone.yaml", File, Task), (".woodpecker.yaml", File, Task), (".tekton", Folder, Task),
];

/// All of them.
pub fn names() -> impl Iterator<Item = &'static str> + Clone {
    NAMES.iter().map(|(name, ..)| *name)
}

/// The protected name that a file or folder of this name is, wherever it lies.
pub fn covering(name: &str) -> Option<&'static str> {
    names().filter(|protected| !protected.contains('/')).find(|protected| covers(protected, name))
}

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
    let name = names().find(|name| covers(name, text) && !grants.lift(name, text));
    name.map(|name| format!("`{name}` is protected"))
        .or_else(|| is_secret_name(text).map(|rule| format!("it is secret by its name ({rule})")))
}

/// Whether anybody could let a change hold this path, which is refused now.
pub fn can_be_granted(path: &RepoPath) -> bool {
    let mut covering = NAMES.iter().filter(|(name, ..)| covers(name, path.as_str()));
    covering.all(|(_, _, grantor)| *grantor != Nobody) && is_secret_name(path.as_str()).is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_grants_cannot_be_granted_and_what_a_person_may_can() {
        let can = |path: &&str| can_be_granted(&RepoPath::parse(path).unwrap());
        assert!([".vscode/a.json", ".github/workflows/ci.yml"].iter().all(can));
        assert!(![".git/hooks/x", "a/.claude/x", ".vscode/.claude", ".env"].iter().any(can));
    }

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
    fn a_name_without_a_slash_is_known_wherever_it_lies() {
        assert_eq!(covering(".mcp.json"), Some(".mcp.json"));
        assert_eq!(covering(".GIT"), Some(".git"));
        for name in [".github", "workflows", ".gitignore", ".gitattributes", ".mcp.jsonx"] {
            assert_eq!(covering(name), None, "{name}");
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
