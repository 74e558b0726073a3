use super::*;

#[test]
fn what_nobody_grants_cannot_be_granted_and_what_a_person_may_can() {
    let can = |path: &&str| can_be_granted(&RepoPath::parse(path).unwrap());
    assert!(
        [".vscode/a.json", ".github/workflows/ci.yml", "a/.claude/x", ".vscode/.mcp.json"]
            .iter()
            .all(can)
    );
    assert!(![".git/hooks/x", "a/.sequester/x", ".vscode/.git", ".env"].iter().any(can));
}

#[test]
fn every_line_of_the_list_is_a_name_with_a_reason() {
    let lines = LIST.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    assert_eq!(lines.count(), NAMES.len());
    for (at, known) in NAMES.iter().enumerate() {
        assert!(known.reason.len() > 8, "{known:?}");
        assert!(RepoPath::parse(known.name).is_ok(), "{known:?}");
        assert!(NAMES[..at].iter().all(|other| other.name != known.name), "{known:?} twice");
    }
}

#[test]
fn a_name_covers_itself_and_what_is_below() {
    let refused = |path: &str| refuse(&RepoPath::parse(path).unwrap(), Grants::none());
    for path in [
        ".github/workflows/ci.yml",
        "web/.vscode/a.json",
        "jenkinsfile",
        ".env",
        ".Travis.yml",
        "a/Jenkinsfile",
    ] {
        assert!(refused(path).is_some(), "{path}");
    }
    for path in [
        ".github/CODEOWNERS",
        "a/.github/workflows/ci.yml",
        ".gitignore",
        "a.txt",
        "node_modules/debug/.travis.yml",
        "web/.circleci/config.yml",
    ] {
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
fn the_index_finds_what_every_name_by_itself_covers() {
    let odd =
        ["GIT~1/x", ".g\u{200c}it", "a\\.git\\config", "MCP~1.JSO", "a/b~1", "x:.git", ".idea "];
    let each = NAMES
        .iter()
        .flat_map(|known| [known.name.to_owned(), format!("a/{}/b", known.name.to_uppercase())]);
    for path in each.chain(odd.map(str::to_owned)) {
        let slow = NAMES.iter().filter(|known| known.covers(&path));
        let mut slow: Vec<_> = slow.map(|known| known.name).collect();
        // A name goes before what has a star in it.
        if slow.iter().any(|name| !name.contains('*')) {
            slow.retain(|name| !name.contains('*'));
        }
        let mut quick: Vec<_> = ProtectedName::covering(&path).map(|known| known.name).collect();
        slow.sort_unstable();
        quick.sort_unstable();
        if path.contains('~') {
            assert_eq!(slow.is_empty(), quick.is_empty(), "{path}");
        } else {
            assert_eq!(slow, quick, "{path}");
        }
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
        (".vs\u{ad}code/tasks.json", ".vscode"),
        (".mcp\u{200b}.json\u{fe0f}", ".mcp.json"),
        (".\u{e0041}git\u{2060}", ".git"),
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

#[test]
fn a_name_of_the_root_alone_stands_there_alone() {
    for (path, name) in [(".travis.yml", ".travis.yml"), (".github/workflows", ".github/workflows")]
    {
        assert_eq!(standing_at(path), Some(name), "{path}");
    }
    for path in ["a/.travis.yml", ".circleci/config.yml", ".github/workflows/a.yml", ".vscode", ""]
    {
        assert_eq!(standing_at(path), None, "{path}");
    }
}
