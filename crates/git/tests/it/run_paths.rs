//! What of a tree git runs, or reads what it runs from.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

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

#[test]
fn hooks_that_lead_into_the_tree_are_told_with_what_they_lead_to() {
    let sandbox = committed();
    let hooks = sandbox.root().join(".git/hooks");
    fs::create_dir_all(&hooks).unwrap();
    std::os::unix::fs::symlink("../../tools/smudge.sh", hooks.join("pre-commit")).unwrap();
    assert_eq!(run_paths(&sandbox, &[]), ["tools/smudge.sh: git runs it as a hook"]);
    fs::remove_file(hooks.join("pre-commit")).unwrap();
    std::os::unix::fs::symlink("../../ci/later.sh", hooks.join("pre-push")).unwrap();
    assert_eq!(run_paths(&sandbox, &[]), ["ci/later.sh: git runs it as a hook"]);
    fs::remove_dir_all(&hooks).unwrap();
    std::os::unix::fs::symlink("../tools", hooks).unwrap();
    assert_eq!(run_paths(&sandbox, &[]), ["tools: git keeps the repository in it"]);
}

#[test]
fn a_git_folder_by_a_link_is_told() {
    let sandbox = committed();
    let root = sandbox.root();
    fs::rename(root.join(".git"), root.join(".bare")).unwrap();
    std::os::unix::fs::symlink(".bare", root.join(".git")).unwrap();
    let told = run_paths(&sandbox, &[]);
    assert!(told.contains(&".bare: git keeps the repository in it".to_owned()), "{told:?}");
}

#[test]
fn every_setting_that_names_a_program_counts_however_it_spells_the_place() {
    for (key, value) in [
        ("gpg.ssh.defaultKeyCommand", "tools/smudge.sh"),
        ("sendemail.headerCmd", "tools/smudge.sh"),
        ("imap.tunnel", "tools/smudge.sh"),
        ("difftool.x.path", "tools/smudge.sh"),
        ("mergetool.x.path", "./tools/smudge.sh"),
        ("browser.x.path", "tools/smudge.sh"),
        ("man.x.path", "tools/smudge.sh"),
        ("gc.recentObjectsHook", "tools/smudge.sh"),
        ("credential.helper", "!sh tools/smudge.sh"),
        ("alias.x", "-c core.editor=tools/smudge.sh commit"),
        ("core.editor", "\"tools/smu\"dge.sh"),
        ("core.editor", "tools\\/smudge.sh"),
        ("remote.x.url", "ext::sh tools/smudge.sh"),
        ("core.editor", "\"$PWD\"/tools/smudge.sh"),
        ("core.editor", "${PWD}/tools/smudge.sh"),
        ("core.editor", "$(git rev-parse --show-toplevel)/tools/smudge.sh"),
    ] {
        let told = run_paths(&committed(), &[(key, value)]);
        assert!(told.iter().any(|one| one.starts_with("tools/smudge.sh: ")), "{key}: {told:?}");
    }
}

#[test]
fn folders_with_the_name_of_a_program_or_an_argument_stay_as_they_are() {
    let sandbox = committed();
    for folder in ["store", "cache", "test", "docs", "code", "less", "bin"] {
        sandbox.write(&format!("{folder}/a.txt"), "a\n");
    }
    let told = run_paths(
        &sandbox,
        &[
            ("credential.helper", "store"),
            ("credential.helper", "cache --timeout 9"),
            ("alias.test", "!cargo test"),
            ("alias.lg", "log --oneline docs"),
            ("core.editor", "code --wait"),
            ("core.pager", "less -R"),
            ("sequence.editor", "/bin/sh -c true"),
            ("pager.log", "less"),
        ],
    );
    assert_eq!(told, Vec::<String>::new());
}

#[test]
fn programs_that_a_hook_starts_are_told_and_what_it_only_looks_at_is_not() {
    let sandbox = committed();
    let hooks = sandbox.root().join(".git/hooks");
    fs::create_dir_all(&hooks).unwrap();
    let text = "#!/bin/sh\n# sh tools/commented.sh\ngit diff --quiet README.md || exit 1\n\
        . \"$(git rev-parse --show-toplevel)/tools/smudge.sh\"\npython3 tools/textconv.py\nexec ./ci/later.sh\n";
    fs::write(hooks.join("pre-commit"), text).unwrap();
    let told = run_paths(&sandbox, &[]);
    let wanted = ["ci/later.sh", "tools/smudge.sh", "tools/textconv.py"];
    assert_eq!(told, wanted.map(|path| format!("{path}: git runs it as a hook")));
}

fn with_hook(sandbox: &Sandbox, text: &str) -> Vec<String> {
    let hooks = sandbox.root().join(".git/hooks");
    fs::create_dir_all(&hooks).unwrap();
    fs::write(hooks.join("pre-commit"), text).unwrap();
    run_paths(sandbox, &[])
}

#[test]
fn a_program_of_a_hook_is_found_from_the_hooks_folder_by_its_whole_path_and_behind_a_cd() {
    let sandbox = committed();
    let whole = sandbox.root().join("tools/smudge.sh");
    for text in [
        format!("exec {}\n", whole.display()),
        "\"$(dirname \"$0\")/../../tools/smudge.sh\"\n".to_owned(),
        "cd tools && sh ./smudge.sh\n".to_owned(),
        "cd \"$(git rev-parse --show-toplevel)/tools\"\nsh ./smudge.sh\n".to_owned(),
    ] {
        let told = with_hook(&sandbox, &text);
        assert_eq!(told, ["tools/smudge.sh: git runs it as a hook"], "{text}");
    }
}

#[test]
fn a_module_of_python_and_a_script_behind_a_cd_count_in_settings_too() {
    let sandbox = committed();
    let told = run_paths(&sandbox, &[("filter.c.clean", "python3 -m tools.textconv")]);
    assert!(told.contains(&"tools/textconv.py: `filter.c.clean` of git runs it".to_owned()));
    let told = run_paths(&sandbox, &[("alias.z", "!cd tools && ./smudge.sh")]);
    assert!(told.contains(&"tools/smudge.sh: `alias.z` of git runs it".to_owned()), "{told:?}");
}

#[test]
fn what_a_package_manager_installed_stays_free() {
    let sandbox = committed();
    sandbox.write("node_modules/lint/cli.js", "#!/usr/bin/env node\n");
    sandbox.write(".venv/bin/black", "#!/bin/sh\n");
    let text = "exec ./node_modules/lint/cli.js\n. .venv/bin/black\n";
    assert_eq!(with_hook(&sandbox, text), Vec::<String>::new());
    let told = run_paths(&sandbox, &[("core.hooksPath", "node_modules/hooks")]);
    assert_eq!(told, ["node_modules/hooks: `core.hookspath` of git names it"]);
}

#[test]
fn the_tree_s_name_of_a_hook_with_two_names_is_told() {
    let sandbox = committed();
    let hooks = sandbox.root().join(".git/hooks");
    fs::create_dir_all(&hooks).unwrap();
    fs::hard_link(sandbox.root().join("tools/smudge.sh"), hooks.join("post-checkout")).unwrap();
    assert_eq!(run_paths(&sandbox, &[]), ["tools/smudge.sh: git runs it as a hook"]);
}

#[test]
fn hooks_of_a_common_directory_in_the_tree_are_told() {
    let sandbox = committed();
    let root = sandbox.root();
    fs::create_dir_all(root.join(".common")).unwrap();
    for part in ["objects", "refs", "config"] {
        fs::rename(root.join(".git").join(part), root.join(".common").join(part)).unwrap();
    }
    fs::write(root.join(".git/commondir"), "../.common\n").unwrap();
    let told = run_paths(&sandbox, &[]);
    assert!(told.contains(&".common: git keeps the repository in it".to_owned()), "{told:?}");
}

#[test]
fn the_home_of_a_named_user_is_asked_of_git() {
    let sandbox = committed();
    let passwd = fs::read_to_string("/etc/passwd").unwrap();
    let home = |line: &str| {
        let fields: Vec<&str> = line.split(':').collect();
        Some((fields.first()?.to_string(), fields.get(5)?.to_string()))
    };
    let (name, home) = passwd.lines().filter_map(home).find(|(_, home)| home != "/").unwrap();
    let up = "../".repeat(home.matches('/').count());
    let tree = sandbox.root().canonicalize().unwrap();
    let value = format!("~{name}/{up}{}/hk", tree.display().to_string().trim_start_matches('/'));
    let told = run_paths(&sandbox, &[("core.hooksPath", &value)]);
    assert_eq!(told, ["hk: `core.hookspath` of git names it"]);
}

#[test]
fn a_bare_word_of_a_hook_is_not_a_program_of_the_tree() {
    let sandbox = committed();
    sandbox.write("test", "#!/bin/sh\n");
    fs::set_permissions(sandbox.root().join("test"), fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(with_hook(&sandbox, "cargo test\n"), Vec::<String>::new());
    assert_eq!(with_hook(&sandbox, "./test\n"), ["test: git runs it as a hook"]);
    assert_eq!(with_hook(&sandbox, "sh test\n"), ["test: git runs it as a hook"]);
}

#[test]
fn addresses_that_run_something_of_the_tree_are_told() {
    for (key, value) in [
        ("remote.m.url", "ext::tools/smudge.sh %S foo"),
        ("remote.m.pushurl", "ext::sh tools/smudge.sh %S foo"),
        ("url.ext::tools/smudge.sh %S foo.insteadOf", "foo:"),
        ("url.ext::sh -c 'tools/smudge.sh' %S.pushInsteadOf", "Foo:"),
        ("secrets.providers", "tools/smudge.sh"),
        ("lfs.customtransfer.own.path", "./tools/smudge.sh"),
        ("svn.authorsProg", "tools/smudge.sh"),
    ] {
        let told = run_paths(&committed(), &[(key, value)]);
        assert!(told.iter().any(|one| one.starts_with("tools/smudge.sh: ")), "{key}: {told:?}");
    }
    let told = run_paths(&committed(), &[("gitflow.path.hooks", "tools")]);
    assert_eq!(told, ["tools: `gitflow.path.hooks` of git names it"]);
}

#[test]
fn a_repository_of_the_tree_that_is_pushed_to_is_told() {
    let sandbox = committed();
    sandbox.git(&["init", "-q", "--bare", "Mirror.git"]);
    let whole = sandbox.path("Mirror.git").canonicalize().unwrap();
    for (key, value) in [
        ("remote.m.url", "./Mirror.git".to_owned()),
        ("remote.m.url", format!("file://{}", whole.display())),
        ("remote.m.pushurl", "Mirror.git".to_owned()),
        ("branch.main.remote", "./Mirror.git".to_owned()),
        ("url.Mirror.git.insteadOf", "foo:".to_owned()),
    ] {
        let told = run_paths(&sandbox, &[(key, &value)]);
        assert!(told.iter().any(|one| one.starts_with("Mirror.git: ")), "{key}: {told:?}");
        sandbox.git(&["config", "--unset-all", key]);
    }
    let told = run_paths(&sandbox, &[("remote.n.url", "./tools"), ("branch.main.remote", ".")]);
    assert_eq!(told, Vec::<String>::new(), "no repositories");
}
