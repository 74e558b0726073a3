use super::*;
use crate::protected::{refuse, refuse_deletion};

fn grants(names: &[&str]) -> Grants {
    let mut grants = Grants::default();
    for name in names {
        grants.grant(name).unwrap();
    }
    grants
}

fn paths(names: &[&str]) -> Vec<RepoPath> {
    names.iter().map(|name| RepoPath::parse(name).unwrap()).collect()
}

fn refused<'p>(grants: &Grants, names: &[&'p str]) -> Vec<&'p str> {
    let is_refused = |name: &&&str| refuse(&RepoPath::parse(name).unwrap(), grants).is_some();
    names.iter().filter(is_refused).copied().collect()
}

#[test]
fn a_grant_is_for_its_own_name_and_what_is_below() {
    let paths = [
        ".github/workflows/a.yml",
        ".github/actions/a.yml",
        "web/.vscode/a",
        ".vscode/.husky/a",
        ".vscode/.claude/a",
        ".vscode/.env",
    ];
    assert_eq!(refused(&grants(&[]), &paths), paths);
    assert_eq!(
        refused(&grants(&["./.github/workflows/", ".vscode"]), &paths),
        [paths[1], paths[3], paths[4], paths[5]]
    );
    let one = grants(&[".github/workflows/a.yml"]);
    assert_eq!(refused(&one, &[paths[0], ".github/workflows/b.yml"]), [".github/workflows/b.yml"]);
    assert!(one.touch(".github/workflows") && !one.open(".github/workflows"));
    assert!(grants(&["Jenkinsfile"]).open("Jenkinsfile"));
}

#[test]
fn a_grant_lifts_nothing_that_is_spelled_otherwise() {
    let others = [
        ".github/workflows/ci~1.yml",
        ".github/workflows/ci.yml.",
        ".github/workflows/ci.yml:x",
        ".github/workflows/CI.yml",
        ".github/Workflows/ci.yml",
        ".GITHUB/workflows/ci.yml",
    ];
    let path = ".github/workflows/ci.yml";
    let named = Grants::default().with_named(&paths(&[path]));
    for grants in [grants(&[path]), named] {
        assert_eq!(refused(&grants, &[path]), Vec::<&str>::new());
        assert_eq!(refused(&grants, &others), others);
    }
    let whole = grants(&[".vscode", "Jenkinsfile"]);
    let others = [".VSCODE/a", "VSCODE~1/a", ".vscode./a", "jenkinsfile", "Jenkinsfile:x"];
    assert_eq!(refused(&whole, &others), others);
    assert_eq!(refused(&whole, &[".vscode/a", "web/.vscode/a", "Jenkinsfile"]), Vec::<&str>::new());
}

#[test]
fn some_names_are_granted_to_nobody_and_others_need_no_grant() {
    let grant = |name: &str| Grants::default().grant(name).unwrap_err();
    for name in [".git", ".git/hooks", "a/.Git", ".hg", ".claude/.git", "sequester.toml"] {
        assert!(matches!(grant(name), Error::Never(_)), "{name}");
    }
    for name in [".github", "src", "", "/etc", "../.vscode", "*"] {
        assert_eq!(grant(name), Error::Unprotected, "{name}");
    }
    assert!(matches!(grant("./.git/hooks"), Error::Never(".git")));
    let own = grants(&["./ci/hooks"]);
    assert!(own.reach("ci/hooks") && own.reach("ci/hooks/a"));
    assert!(!own.reach("ci") && !own.reach("a/ci/hooks"));
}

#[test]
fn a_task_grants_build_services_by_naming_their_files() {
    let named = paths(&[
        ".github/workflows/a.yml",
        "Jenkinsfile",
        ".claude/a",
        ".vscode/a",
        ".circleci/.claude/a",
        "src/a.rs",
    ]);
    let grants = Grants::default().with_named(&named);
    assert_eq!(grants.iter().collect::<Vec<_>>(), ["/.github/workflows/a.yml", "/Jenkinsfile"]);
    assert_eq!(
        refused(&grants, &["Jenkinsfile", "a/Jenkinsfile", ".github/workflows/b.yml"]),
        ["a/Jenkinsfile", ".github/workflows/b.yml"]
    );
}

#[test]
fn what_a_task_deletes_may_go_with_the_files_of_build_services_in_it() {
    let named = paths(&["skills/x/node_modules", ".github", "Jenkinsfile"]);
    let grants = Grants::default().with_deleted(&named);
    let deleted = ["skills/x/node_modules/a/Jenkinsfile", ".github/workflows/a.yml", "Jenkinsfile"];
    assert_eq!(refused(&grants, &deleted), deleted);
    let is_refused = |path: &&&str| refuse_deletion(path, &grants).is_some();
    assert_eq!(deleted.iter().filter(is_refused).count(), 0);
    let others = ["skills/x/Jenkinsfile", "skills/x/node_modules/a/.vscode/b", ".github/hooks/a"];
    assert_eq!(others.iter().filter(is_refused).count(), others.len());
    assert!(grants.touch(".github/workflows") && !grants.touch(".github/hooks"));
    assert!(!grants.open("Jenkinsfile") && !grants.reach(".github/a"));
}
