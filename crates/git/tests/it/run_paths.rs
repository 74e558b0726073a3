//! What of a tree git runs, or reads what it runs from.

use std::fs;

use sequester_git::RunPath;

use crate::sandbox::Sandbox;

/// Of a repository, with the settings that `git config` is given.
fn run_paths(sandbox: &Sandbox, settings: &[(&str, &str)]) -> Vec<String> {
    for (key, value) in settings {
        sandbox.git(&["config", "--add", key, value]);
    }
    let found = sandbox.repo().run_paths().unwrap().into_iter();
    found.map(|RunPath { path, reason }| format!("{path}: {reason}")).collect()
}

fn committed() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("tools/smudge.sh", "#!/bin/sh\n");
    sandbox.write("tools/textconv.py", "print()\n");
    sandbox.write("README.md", "x\n");
    sandbox.commit("first");
    sandbox
}

#[test]
fn a_plain_repository_has_none() {
    assert_eq!(run_paths(&committed(), &[]), Vec::<String>::new());
}

#[test]
fn hooks_and_included_files_of_the_tree_are_told_whether_they_are_there_or_not() {
    let sandbox = committed();
    sandbox.write("conf/git", "[include]\n\tpath = deeper/git\n");
    sandbox.write("conf/other", "[include]\n\tpath = ../later/git\n[core]\n\thooksPath = late\n");
    let told = run_paths(
        &sandbox,
        &[
            ("core.hooksPath", "tools/../hooks"),
            ("include.path", "../conf/git"),
            ("includeIf.gitdir:/nowhere/.path", "../conf/other"),
            ("core.attributesFile", "conf/attributes"),
            ("include.path", "/etc/gitconfig-of-nobody"),
        ],
    );
    let wanted = [
        "conf/attributes: `core.attributesfile` of git names it",
        "conf/deeper/git: git takes configuration from it",
        "conf/git: git takes configuration from it",
        "conf/other: git takes configuration from it",
        "hooks: `core.hookspath` of git names it",
        "late: `core.hookspath` of git names it",
        "later/git: git takes configuration from it",
    ];
    assert_eq!(told, wanted);
}

#[test]
fn a_link_and_the_folder_behind_it_are_both_told() {
    let sandbox = committed();
    std::os::unix::fs::symlink("tools", sandbox.root().join("hooks")).unwrap();
    let told = run_paths(&sandbox, &[("core.hooksPath", "hooks")]);
    assert_eq!(
        told,
        ["hooks", "tools"].map(|at| format!("{at}: `core.hookspath` of git names it"))
    );
}

#[test]
fn programs_of_the_tree_that_a_setting_runs_are_told() {
    let told = run_paths(
        &committed(),
        &[
            ("filter.x.smudge", "sh tools/smudge.sh %f"),
            ("diff.x.textconv", "python3 './tools/textconv.py'"),
            ("alias.go", "!cd . && tools/absent.sh"),
            ("core.editor", "vim"),
        ],
    );
    let wanted = [
        "tools/absent.sh: `alias.go` of git runs it",
        "tools/smudge.sh: `filter.x.smudge` of git runs it",
        "tools/textconv.py: `diff.x.textconv` of git runs it",
    ];
    assert_eq!(told, wanted);
}

#[test]
fn a_git_folder_of_another_name_in_the_tree_is_told() {
    let sandbox = committed();
    let root = sandbox.root();
    fs::rename(root.join(".git"), root.join(".bare")).unwrap();
    fs::write(root.join(".git"), "gitdir: .bare\n").unwrap();
    let told = run_paths(&sandbox, &[]);
    assert_eq!(told[0], ".bare: git keeps the repository in it");
}
