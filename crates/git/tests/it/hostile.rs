//! What a repository may try: to run something, to hang, to show other bytes.

use std::ffi::OsStr;
use std::os::unix::fs::{PermissionsExt, symlink};

use sequester_core::change::Mode;
use sequester_core::moment::Moment;
use sequester_core::repository::{Draft, ErrorKind, History, Repository};
use sequester_git::{Application, Applied, Apply, Home, Refusal, Repo, Trees, Unclean};

use crate::sandbox::{Sandbox, git, read_all, search_path};
use crate::trees::{change, clean, entry};

/// Does everything this crate can do; gives the content of `a.txt`.
fn use_everything(sandbox: &Sandbox) -> Vec<u8> {
    let repo = sandbox.repo();
    let base = repo.base().unwrap();
    repo.dirty(&base).unwrap();
    repo.history().unwrap().commits(10).unwrap();
    let written = sandbox.outside("written");
    std::fs::create_dir(&written).unwrap();
    base.without(|_| false).write(&written, std::time::SystemTime::UNIX_EPOCH).unwrap();
    base.without(|_| false).touched(&written, std::time::SystemTime::UNIX_EPOCH).unwrap();
    std::fs::remove_dir_all(&written).unwrap();
    use_trees(&repo);
    let all = read_all(&base);
    all.into_iter().find(|(path, _)| path == "a.txt").unwrap().1.unwrap()
}

/// A round of what a run does. It brings attributes of its own, as an agent may.
fn use_trees(repo: &Repo) {
    let trees = Trees::of(repo, Home::default());
    let start = trees.start(false).unwrap();
    trees.start(true).unwrap();
    let put = |path: &str, text: &str| {
        let attributes =
            "* filter=evil diff=evil merge=evil text eol=crlf working-tree-encoding=UTF-16\n";
        let entries = vec![
            entry(".gitattributes", Some(Mode::File), attributes),
            entry(path, Some(Mode::File), text),
        ];
        trees.with_change(&start.tree, &change(entries)).unwrap()
    };
    let text = |first: &str, last: &str| format!("{first}\n{}{last}\n", "same\n".repeat(20));
    let base = put("b.txt", &text("1", "1"));
    let (ours, theirs) = (put("b.txt", &text("2", "1")), put("b.txt", &text("1", "2")));
    let tree = clean(trees.merge(&base, &ours, &theirs).unwrap());
    assert!(trees.between(&base, &tree).unwrap().patch.contains("+2\n"));
    let (message, at) = ("x".to_owned(), Moment(0));
    let draft = Draft { tree: tree.clone(), parent: start.commit, message, author: None, at };
    let commit = trees.commit(&draft).unwrap();
    let before = trees.branch("sequester/x").unwrap();
    trees.move_branch("sequester/x", before.as_ref(), &commit).unwrap();
    trees.hold(&"x".into(), &[tree], &[]).unwrap();
    trees.release(&"x".into()).unwrap();
    let (apply, unclean, message) = (Apply::Patch, Unclean::Keep, "");
    let applied = trees
        .apply(&Application { commit: &commit, began: None, apply, unclean, message, at })
        .unwrap();
    // The second round meets what the first one staged.
    assert!(matches!(applied, Applied::Changed(2) | Applied::Refused(Refusal::Unclean(_))));
}

#[test]
fn nothing_that_a_repository_configures_is_run() {
    let sandbox = Sandbox::new();
    sandbox.write("a.txt", "one\ntwo\n");
    sandbox.write(".gitattributes", "* text eol=crlf filter=evil diff=evil merge=evil\n");
    sandbox.commit("first");
    // A commit that claims to be signed, so that whatever checks signatures would.
    let raw = sandbox.git(&["cat-file", "commit", "HEAD"]);
    let (head, body) = raw.split_once("\n\n").unwrap();
    let signature = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----";
    sandbox.write("../signed", format!("{head}\n{signature}\n\n{body}\n"));
    let signed = sandbox.outside("signed");
    let name = sandbox.git(&["hash-object", "-t", "commit", "-w", signed.to_str().unwrap()]);
    sandbox.git(&["reset", "--quiet", "--soft", &name]);

    let canary = sandbox.outside("canary");
    let evil = sandbox.outside("evil");
    let script = format!("#!/bin/sh\necho \"$0 $*\" >> '{}'\ncat\n", canary.display());
    std::fs::write(&evil, script).unwrap();
    std::fs::set_permissions(&evil, std::fs::Permissions::from_mode(0o755)).unwrap();
    set_traps(&sandbox, evil.to_str().unwrap());

    assert_eq!(use_everything(&sandbox), b"one\ntwo\n");
    sandbox.write("a.txt", "one\r\ntwo\r\n");
    assert_eq!(use_everything(&sandbox), b"one\ntwo\n");
    let ran = std::fs::read_to_string(&canary).unwrap_or_default();
    assert_eq!(ran, "");
    // The trap is a trap: git as a person runs it does start these programs.
    git(&sandbox.root(), &["--work-tree=.", "log"]);
    git(&sandbox.root(), &["--work-tree=.", "status"]);
    let ran = std::fs::read_to_string(&canary).unwrap_or_default();
    assert!(ran.contains("evil"), "{ran}");
}

/// Configures `evil` wherever git takes a program.
fn set_traps(sandbox: &Sandbox, evil: &str) {
    let programs = "core.fsmonitor core.pager pager.log pager.ls-files core.sshCommand core.askPass core.editor \
        core.alternateRefsCommand core.gitProxy diff.external diff.evil.command diff.evil.textconv \
        filter.evil.clean filter.evil.smudge filter.evil.process merge.evil.driver gpg.program gpg.ssh.program \
        credential.helper remote.origin.uploadpack uploadpack.packObjectsHook";
    for key in programs.split_whitespace() {
        sandbox.git(&["config", key, evil]);
    }
    for name in
        "cat-file ls-tree ls-files rev-parse rev-list diff-tree merge-file update-ref update-index \
        for-each-ref merge-base config"
            .split_whitespace()
    {
        let (key, value) = (format!("alias.{name}"), format!("!{evil}"));
        sandbox.git(&["config", &key, &value]);
    }
    for (key, value) in [
        ("filter.evil.required", "true"),
        ("log.showSignature", "true"),
        ("core.autocrlf", "true"),
        ("core.untrackedCache", "true"),
        ("remote.origin.promisor", "true"),
        ("remote.origin.url", "ext::sh -c evil"),
        ("core.worktree", "/"),
        ("core.logAllRefUpdates", "always"),
        ("merge.default", "evil"),
        ("commit.gpgSign", "true"),
        ("include.path", "../../included"),
    ] {
        sandbox.git(&["config", key, value]);
    }
    let included = format!("[core]\n\tfsmonitor = {evil}\n\thooksPath = hooks\n");
    std::fs::write(sandbox.outside("included"), included).unwrap();
    std::fs::create_dir_all(sandbox.path(".git/hooks")).unwrap();
    let hooks = "post-index-change fsmonitor-watchman reference-transaction post-merge post-checkout \
        pre-merge-commit commit-msg pre-commit post-commit";
    for hook in hooks.split_whitespace() {
        symlink(evil, sandbox.path(&format!(".git/hooks/{hook}"))).unwrap();
    }
}

#[test]
fn the_root_is_where_git_lies_whatever_the_configuration_names() {
    let sandbox = Sandbox::new();
    sandbox.write("a.txt", "x");
    sandbox.commit("first");
    sandbox.git(&["config", "core.worktree", "/etc"]);
    assert_eq!(sandbox.repo().root(), sandbox.root());
    assert_eq!(use_everything(&sandbox), b"x");
}

#[test]
fn what_stands_in_place_of_a_file_neither_hangs_nor_shows() {
    let sandbox = Sandbox::new();
    for name in ["a.txt", "fifo", "link", "folder", "under/file", "closed"] {
        sandbox.write(name, format!("{name}\n"));
    }
    sandbox.commit("first");
    for name in ["fifo", "link", "folder"] {
        std::fs::remove_file(sandbox.path(name)).unwrap();
    }
    let made = std::process::Command::new("mkfifo").arg(sandbox.path("fifo")).status();
    assert!(made.unwrap().success());
    symlink("/etc/passwd", sandbox.path("link")).unwrap();
    std::fs::create_dir(sandbox.path("folder")).unwrap();
    std::fs::remove_dir_all(sandbox.path("under")).unwrap();
    let elsewhere = sandbox.outside("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    std::fs::write(elsewhere.join("file"), "secret").unwrap();
    symlink(&elsewhere, sandbox.path("under")).unwrap();
    let closed = std::fs::Permissions::from_mode(0o000);
    std::fs::set_permissions(sandbox.path("closed"), closed).unwrap();

    use_everything(&sandbox);
    for (path, content) in read_all(&sandbox.repo().base().unwrap()) {
        assert_eq!(content, Ok(format!("{path}\n").into_bytes()));
    }
}

#[test]
fn a_damaged_object_is_an_error_of_its_file_alone() {
    let sandbox = Sandbox::new();
    for name in ["a.txt", "b", "c", "d"] {
        sandbox.write(name, format!("{name}\n").repeat(100));
    }
    sandbox.commit("first");
    for (name, damage) in [("b", "garbage"), ("c", "")] {
        let object = sandbox.git(&["rev-parse", &format!("HEAD:{name}")]);
        let object = sandbox.path(&format!(".git/objects/{}/{}", &object[..2], &object[2..]));
        std::fs::remove_file(&object).unwrap();
        if !damage.is_empty() {
            std::fs::write(&object, damage).unwrap();
        }
    }
    for name in ["a.txt", "b", "c", "d"] {
        sandbox.write(name, "changed");
    }
    let all = read_all(&sandbox.repo().base().unwrap());
    let kinds: Vec<_> = all.iter().map(|(_, result)| result.as_ref().map(Vec::len)).collect();
    let broken = "Broken".to_owned();
    assert_eq!(kinds, [Ok(600), Err(&broken), Err(&broken), Ok(200)]);
    let error = sandbox.read("b").unwrap_err();
    assert_eq!(error.kind, ErrorKind::Broken);
    assert!(error.message.starts_with("`b` cannot be read"), "{error}");
    // The same files unchanged in the working tree need no object.
    sandbox.write("b", "b\n".repeat(100));
    assert_eq!(sandbox.read("b").unwrap().len(), 200);
}

#[test]
fn a_damaged_branch_is_not_taken_for_a_repository_without_commits() {
    let sandbox = Sandbox::new();
    sandbox.write("a.txt", "x");
    sandbox.commit("first");
    for damage in ["garbage", "1234567890123456789012345678901234567890"] {
        sandbox.write(".git/refs/heads/main", damage);
        assert_eq!(sandbox.repo().base().unwrap_err().kind, ErrorKind::Broken, "{damage}");
    }
    sandbox.write(".git/config", "[core");
    let error = Repo::discover(&sandbox.root(), &search_path()).unwrap_err();
    assert!(error.message.contains("cannot read the repository"), "{error}");
}

#[test]
fn trees_that_name_each_other_do_not_fill_the_memory() {
    let sandbox = Sandbox::new();
    sandbox.write("a.txt", "x");
    sandbox.commit("first");
    let mut tree = sandbox.git(&["rev-parse", "HEAD^{tree}"]);
    for _ in 0..9 {
        let long = format!("\u{1}{}", "d".repeat(2000));
        let line = |at| format!("040000 tree {tree}\t{long}{at}\n");
        let lines = (10..40).map(line).collect::<Vec<_>>().concat();
        sandbox.write("../lines", lines);
        let make = format!("git mktree < {}", sandbox.outside("lines").display());
        let mut made = std::process::Command::new("sh");
        made.args(["-c", &make]).current_dir(sandbox.root());
        tree = String::from_utf8(made.output().unwrap().stdout).unwrap().trim().to_owned();
    }
    let commit = sandbox.git(&["commit-tree", "-m", "bomb", &tree]);
    sandbox.git(&["update-ref", "refs/heads/main", &commit]);
    assert_eq!(sandbox.repo().base().unwrap_err().kind, ErrorKind::Broken);
}

#[test]
fn without_git_the_remedy_is_named_and_relative_folders_are_not_searched() {
    let sandbox = Sandbox::new();
    sandbox.write("git", "#!/bin/sh\n");
    std::fs::set_permissions(sandbox.path("git"), std::fs::Permissions::from_mode(0o755)).unwrap();
    for search_path in ["", ".", "/nowhere:."] {
        let error = Repo::discover(&sandbox.root(), OsStr::new(search_path)).unwrap_err();
        assert!(error.message.contains("Install git"), "{error}");
    }
}
