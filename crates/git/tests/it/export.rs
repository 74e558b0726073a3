//! A base written out: its files, and the repository beside them.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use sequester_core::repository::{Entry, Repository as _, Snapshot as _};
use sequester_git::{Home, Repo, Trees};

use crate::sandbox::{Sandbox, git};

const NOW: u64 = 2_000_000_000;

fn now() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(NOW)
}

fn nothing(_: &Entry) -> bool {
    false
}

/// Writes what HEAD holds, without what is hidden.
fn write(sandbox: &Sandbox, name: &str, hidden: impl Fn(&Entry) -> bool) -> PathBuf {
    let to = sandbox.outside(name);
    fs::create_dir(&to).unwrap();
    sandbox.repo().base().unwrap().without(hidden).write(&to, now()).unwrap();
    to
}

/// Git in the written base, as a program in the jail would run it.
fn ask(base: &Path, arguments: &[&str]) -> String {
    let (git_dir, tree) = (base.join("git"), base.join("tree"));
    let named =
        [format!("--git-dir={}", git_dir.display()), format!("--work-tree={}", tree.display())];
    let all: Vec<&str> =
        named.iter().map(String::as_str).chain(arguments.iter().copied()).collect();
    let output = git(&tree, &all);
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
}

#[test]
fn a_base_is_written_with_its_bits_and_links_and_without_what_is_hidden() {
    let sandbox = Sandbox::new();
    sandbox.write("src/main.rs", "fn main() {}\n");
    sandbox.write("src/empty", "");
    sandbox.write("run.sh", "#!/bin/sh\n");
    sandbox.write("\"quoted\" name", [0, 159, 146, 150]);
    fs::set_permissions(sandbox.path("run.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    symlink("src/main.rs", sandbox.path("link")).unwrap();
    symlink("/nowhere/at/all", sandbox.path("dangling")).unwrap();
    sandbox.write("plan.md", "the plan");
    sandbox.commit("first");
    fs::remove_file(sandbox.path("dangling")).unwrap();
    sandbox.write("src/main.rs", "changed\n");
    sandbox.write("untracked", "x");

    let base = write(&sandbox, "base", |entry| entry.path.as_str() == "plan.md");
    let tree = base.join("tree");
    assert_eq!(fs::read(tree.join("src/main.rs")).unwrap(), b"fn main() {}\n");
    assert_eq!(fs::read(tree.join("src/empty")).unwrap(), b"");
    assert_eq!(fs::read(tree.join("\"quoted\" name")).unwrap(), [0, 159, 146, 150]);
    assert_eq!(fs::read_link(tree.join("link")).unwrap(), Path::new("src/main.rs"));
    assert_eq!(fs::read_link(tree.join("dangling")).unwrap(), Path::new("/nowhere/at/all"));
    let mode = |path: &str| fs::metadata(tree.join(path)).unwrap().mode() & 0o7777;
    assert_eq!((mode("run.sh"), mode("src/main.rs"), mode("src")), (0o755, 0o644, 0o755));
    for absent in ["plan.md", "untracked"] {
        assert!(fs::symlink_metadata(tree.join(absent)).is_err(), "{absent}");
    }
    assert_eq!(fs::read_dir(tree.join(".git")).unwrap().count(), 0, "a place to mount at");
    assert_eq!(ask(&base, &["status", "--porcelain"]), "");
    assert_eq!(ask(&base, &["fsck", "--strict"]), "");
}

#[test]
fn unchanged_files_and_folders_keep_the_time_of_the_working_tree_and_the_others_are_new() {
    let sandbox = Sandbox::new();
    for name in ["same", "changed", "gone", "kept/in/same"] {
        sandbox.write(name, name);
    }
    symlink("same", sandbox.path("link")).unwrap();
    sandbox.commit("first");
    sandbox.write("changed", "otherwise");
    fs::remove_file(sandbox.path("gone")).unwrap();

    let base = write(&sandbox, "base", nothing);
    let time = |path: PathBuf| {
        let seen = fs::symlink_metadata(path).unwrap();
        (seen.mtime(), seen.mtime_nsec())
    };
    let (ours, theirs) =
        (|name| time(base.join("tree").join(name)), |name| time(sandbox.path(name)));
    assert_eq!((ours("same"), ours("link")), (theirs("same"), theirs("link")));
    assert_eq!((ours("kept"), ours("kept/in")), (theirs("kept"), theirs("kept/in")));
    for name in ["changed", "gone", "."] {
        assert_eq!(ours(name), (NOW.cast_signed(), 0), "{name}");
    }
    assert_eq!(ask(&base, &["status", "--porcelain"]), "");
}

#[test]
fn what_the_person_touches_later_is_named_with_the_time_it_should_have() {
    let sandbox = Sandbox::new();
    for name in ["same", "edited", "touched", "removed"] {
        sandbox.write(name, name);
    }
    sandbox.commit("first");
    let base = sandbox.repo().base().unwrap();
    let export = base.without(nothing);
    let to = write(&sandbox, "base", nothing);
    let later = SystemTime::UNIX_EPOCH + Duration::from_secs(NOW + 9);
    assert_eq!(export.touched(&to, later).unwrap(), []);

    sandbox.write("edited", "edited otherwise");
    fs::remove_file(sandbox.path("removed")).unwrap();
    let moment = SystemTime::UNIX_EPOCH + Duration::from_secs(1_234_567_890);
    fs::File::options()
        .append(true)
        .open(sandbox.path("touched"))
        .unwrap()
        .set_modified(moment)
        .unwrap();
    let touched = export.touched(&to, later).unwrap();
    let touched: Vec<_> = touched.iter().map(|one| (one.path.as_str(), one.modified)).collect();
    assert_eq!(touched, [("edited", later), ("removed", later), ("touched", moment)]);
}

#[test]
fn no_object_holds_any_version_of_what_is_hidden() {
    let sandbox = Sandbox::new();
    for version in 0..3 {
        sandbox.write("plan.md", format!("CANARY plan {version}\n"));
        sandbox.write("conf/.env", format!("CANARY env {version}\n"));
        sandbox.write("code.rs", format!("fn v{version}() {{}}\n"));
        sandbox.commit(&format!("CANARY message {version}"));
        sandbox.git(&["tag", "-m", "CANARY tag", &format!("v{version}")]);
    }
    sandbox.git(&["repack", "-adq"]);
    let hidden = ["plan.md", "conf/.env"];
    let base = write(&sandbox, "base", |entry| hidden.contains(&entry.path.as_str()));

    let objects = ask(&base, &["cat-file", "--batch-all-objects", "--batch", "--unordered"]);
    assert!(objects.contains("fn v2()"), "{objects}");
    for secret in ["CANARY", "plan.md", ".env", "conf", "fn v1()"] {
        assert!(!objects.contains(secret), "{secret}: {objects}");
    }
    let all = ask(&base, &["cat-file", "--batch-all-objects", "--batch-check=%(objecttype)"]);
    let mut kinds: Vec<&str> = all.lines().collect();
    kinds.sort_unstable();
    assert_eq!(kinds, ["blob", "commit", "tree"]);
    let mut files: Vec<String> = Vec::new();
    let mut folders = vec![base.join("git")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().flatten() {
            if entry.file_type().unwrap().is_dir() {
                folders.push(entry.path());
            } else {
                files.push(entry.path().display().to_string());
            }
        }
    }
    for file in files {
        let bytes = fs::read(&file).unwrap();
        let leaks = |text: &str| bytes.windows(text.len()).any(|part| part == text.as_bytes());
        for secret in ["CANARY", "plan.md", ".env", sandbox.root().to_str().unwrap()] {
            assert!(!leaks(secret), "{file} holds {secret}");
        }
    }
    assert_eq!(ask(&base, &["rev-list", "--all", "--count"]), "1");
    assert_eq!(ask(&base, &["for-each-ref", "--format=%(refname)"]), "refs/heads/main");
    assert_eq!(ask(&base, &["remote"]), "");
    assert_eq!(fs::read_dir(&base).unwrap().count(), 3, "git, times and tree");
}

#[test]
fn equal_bases_have_one_name_and_one_commit_whatever_came_before() {
    let [one, other] = [Sandbox::new(), Sandbox::new()];
    other.write("old", "x");
    other.commit("zeroth");
    fs::remove_file(other.path("old")).unwrap();
    for sandbox in [&one, &other] {
        sandbox.write("a/b", "content");
        sandbox.commit("first");
    }
    let name = |sandbox: &Sandbox| sandbox.repo().base().unwrap().without(nothing).digest();
    assert_eq!(name(&one), name(&other));
    let commit = |sandbox: &Sandbox| ask(&write(sandbox, "base", nothing), &["rev-parse", "HEAD"]);
    assert_eq!(commit(&one), commit(&other));
    other.write("a/b", "otherwise");
    other.commit("second");
    assert_ne!(name(&one), name(&other));
}

#[test]
fn what_is_not_committed_is_carried_in_when_asked_for() {
    for commits in [0, 1] {
        let sandbox = Sandbox::new();
        sandbox.write("kept", "kept\n");
        sandbox.write("changed", "before\n");
        sandbox.write("deleted", "before\n");
        (0..commits).for_each(|_| sandbox.commit("first"));
        sandbox.write("changed", "after\n");
        fs::remove_file(sandbox.path("deleted")).unwrap();
        sandbox.write("\"new\"/file.sh", "new\n");
        sandbox.write(".env", "CANARY");
        fs::set_permissions(sandbox.path("\"new\"/file.sh"), fs::Permissions::from_mode(0o755))
            .unwrap();
        symlink("changed", sandbox.path("link")).unwrap();
        let hidden = |entry: &Entry| entry.path.as_str() == ".env";
        let trees = Trees::of(&sandbox.repo(), Home::default());
        let tree = trees.tree(&trees.start(true).unwrap().tree).unwrap();
        let export = tree.without(hidden);
        let to = sandbox.outside("base");
        fs::create_dir(&to).unwrap();
        export.write(&to, now()).unwrap();
        let listed: BTreeSet<_> =
            ask(&to, &["ls-tree", "-r", "-z", "--format=%(objectmode) %(path)", "HEAD"])
                .split_terminator('\0')
                .map(str::to_owned)
                .collect();
        let expected =
            ["100644 changed", "100644 kept", r#"100755 "\"new\"/file.sh""#, "120000 link"];
        assert_eq!(listed, expected.map(str::to_owned).into());
        assert_eq!(ask(&to, &["show", "HEAD:changed"]), "after");
        assert_eq!(ask(&to, &["status", "--porcelain"]), "");
        assert_eq!(ask(&to, &["fsck", "--strict"]), "");
    }
}

#[test]
fn a_folder_that_is_no_repository_is_kept_in_one_of_our_own() {
    let sandbox = Sandbox::new();
    let folder = sandbox.outside("plain");
    fs::create_dir_all(folder.join("src")).unwrap();
    fs::write(folder.join("src/a"), "a\n").unwrap();
    fs::write(folder.join(".gitignore"), "out\n").unwrap();
    fs::write(folder.join("out"), "built\n").unwrap();
    let path = std::env::var_os("PATH").unwrap();
    // Made once, and found again.
    for _ in 0..2 {
        let own = Repo::own(&folder, &folder.join(".sequester/git"), &path).unwrap();
        assert!(own.is_own() && !sandbox.repo().is_own());
        let trees = Trees::of(&own, Home::default());
        let start = trees.start(true).unwrap();
        assert_eq!(start.commit, None);
        let tree = trees.tree(&start.tree).unwrap();
        let paths: Vec<&str> = tree.entries().iter().map(|entry| entry.path.as_str()).collect();
        assert_eq!(paths, [".gitignore", "src/a"]);
    }
    assert!(!folder.join(".git").exists());
}

#[test]
fn both_object_formats_and_an_empty_base_make_a_sound_repository() {
    let newer = Sandbox::with(&["--object-format=sha256"]);
    newer.write("a/b", "content");
    newer.commit("first");
    let base = write(&newer, "base", nothing);
    assert_eq!(ask(&base, &["rev-parse", "HEAD"]).len(), 64);
    assert_eq!(ask(&base, &["status", "--porcelain"]), "");
    let fresh = Sandbox::new();
    let base = write(&fresh, "base", nothing);
    assert_eq!(ask(&base, &["rev-list", "--all", "--count"]), "1");
    assert_eq!(ask(&base, &["ls-tree", "HEAD"]), "");
    assert_eq!(ask(&base, &["status", "--porcelain"]), "");
}

#[test]
fn a_tree_that_would_be_written_through_a_link_is_refused() {
    let sandbox = Sandbox::new();
    let target = sandbox.outside("target");
    fs::create_dir(&target).unwrap();
    sandbox.write("../inner", "escaped");
    let blob = sandbox.git(&["hash-object", "-w", "../inner"]);
    sandbox.write("../to", target.to_str().unwrap());
    let link = sandbox.git(&["hash-object", "-w", "../to"]);
    let make = |listing: String| {
        sandbox.write("../listing", listing);
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", "git mktree < ../listing"]).current_dir(sandbox.root());
        let output = shell.output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    let inner = make(format!("100644 blob {blob}\tb\n"));
    let tree = make(format!("120000 blob {link}\ta\n040000 tree {inner}\ta\n"));
    let commit = sandbox.git(&["commit-tree", "-m", "evil", &tree]);
    sandbox.git(&["update-ref", "HEAD", &commit]);
    let to = sandbox.outside("base");
    fs::create_dir(&to).unwrap();
    let error = sandbox.repo().base().unwrap().without(nothing).write(&to, now()).unwrap_err();
    assert!(error.message.contains("`a` cannot be written"), "{error}");
    assert_eq!(fs::read_dir(&target).unwrap().count(), 0);
}
