use std::os::unix::fs::{PermissionsExt, symlink};

use sequester_core::path::RepoPath;
use sequester_core::repository::{EntryKind, ErrorKind, Snapshot, Stamp};

use crate::sandbox::{LIMIT, Sandbox, discover, git, paths, read_all};

#[test]
fn a_base_is_what_head_holds_whatever_the_working_tree_says() {
    let sandbox = Sandbox::new();
    for name in ["changed", "staged", "deleted", "same"] {
        sandbox.write(name, format!("{name} in head\n"));
    }
    sandbox.commit("first");
    sandbox.write("changed", "otherwise\n");
    sandbox.write("staged", "otherwise\n");
    sandbox.write("added", "new\n");
    sandbox.git(&["add", "staged", "added"]);
    sandbox.write("untracked", "new\n");
    std::fs::remove_file(sandbox.path("deleted")).unwrap();

    let base = sandbox.repo().base().unwrap();
    let head = |name: &str| (name.to_owned(), Ok(format!("{name} in head\n").into_bytes()));
    assert_eq!(read_all(&base), ["changed", "deleted", "same", "staged"].map(head));
    assert_eq!(base.commit(), Some(sandbox.git(&["rev-parse", "HEAD"]).as_str()));
    assert!(base.label().starts_with("HEAD ("), "{}", base.label());
}

#[test]
fn every_file_comes_once_and_in_order_wherever_it_is_read_from() {
    let sandbox = Sandbox::new();
    let content = |at: usize| format!("file {at}\n").repeat(at * 7 % 900);
    let name = |at: usize| format!("d{}/f{at:04}", at % 7);
    for at in 0..400 {
        sandbox.write(&name(at), content(at));
    }
    sandbox.commit("many");
    for at in (0..400).filter(|at| at % 3 != 0) {
        sandbox.write(&name(at), "changed");
    }
    let base = sandbox.repo().base().unwrap();
    let mut expected: Vec<_> =
        (0..400).map(|at| (name(at), Ok(content(at).into_bytes()))).collect();
    expected.sort();
    assert_eq!(read_all(&base), expected);
    let mut odd = Vec::new();
    base.read_many(&[1, 3, 399], LIMIT, &mut |at, result| {
        odd.push((at, result.is_ok()));
    });
    assert_eq!(odd, [(1, true), (3, true), (399, true)]);
}

#[test]
fn reading_inside_a_reading_does_not_wait_for_itself() {
    let sandbox = Sandbox::new();
    sandbox.write("a", "one");
    sandbox.write("b", "two");
    sandbox.commit("first");
    sandbox.write("a", "changed");
    sandbox.write("b", "changed");
    let base = sandbox.repo().base().unwrap();
    let mut seen = Vec::new();
    base.read_many(&[0], LIMIT, &mut |_, outer| {
        let inner = base.read(&RepoPath::parse("b").unwrap(), LIMIT).unwrap();
        seen = [outer.unwrap(), &inner].concat();
    });
    assert_eq!(seen, b"onetwo");
}

#[test]
fn links_and_submodules_are_listed_and_never_followed() {
    let sandbox = Sandbox::new();
    sandbox.write("file", "x");
    symlink("file", sandbox.path("link")).unwrap();
    sandbox.write("run.sh", "x");
    std::fs::set_permissions(sandbox.path("run.sh"), std::fs::Permissions::from_mode(0o755))
        .unwrap();
    sandbox.commit("first");
    let head = sandbox.git(&["rev-parse", "HEAD"]);
    let info = format!("160000,{head},other");
    sandbox.git(&["update-index", "--add", "--cacheinfo", &info]);
    sandbox.git(&["commit", "--quiet", "-m", "module"]);

    let base = sandbox.repo().base().unwrap();
    let kinds: Vec<_> = base.entries().iter().map(|e| (e.path.as_str(), e.kind)).collect();
    assert_eq!(
        kinds,
        [
            ("file", EntryKind::File),
            ("link", EntryKind::Symlink),
            ("other", EntryKind::Submodule),
            ("run.sh", EntryKind::File),
        ]
    );
    assert_eq!(base.entries()[2].stamp, Stamp::Content(head));
    for path in ["link", "other"] {
        assert_eq!(sandbox.read(path).unwrap_err().kind, ErrorKind::Denied);
    }
    assert_eq!(sandbox.read("run.sh").unwrap(), b"x");
    assert_eq!(sandbox.read("nowhere").unwrap_err().kind, ErrorKind::NotFound);
}

#[test]
fn before_the_first_commit_the_base_is_empty() {
    let sandbox = Sandbox::new();
    sandbox.write("staged", "x");
    sandbox.git(&["add", "--all"]);
    let base = sandbox.repo().base().unwrap();
    assert_eq!((base.entries(), base.commit()), (&[][..], None));
    assert_eq!(base.label(), "an empty base (no commit yet)");
}

#[test]
fn a_repository_is_found_from_below_detached_and_as_a_worktree() {
    let sandbox = Sandbox::new();
    sandbox.write("deep/down/a", "one");
    sandbox.commit("first");
    sandbox.write("deep/down/a", "two");
    sandbox.commit("second");
    let worktree = sandbox.outside("worktree");
    let add = ["worktree", "add", "--quiet", "--detach", worktree.to_str().unwrap(), "HEAD~1"];
    sandbox.git(&add);

    let below = discover(&sandbox.path("deep/down")).unwrap().unwrap();
    assert_eq!(below.root(), sandbox.root());
    let other = discover(&worktree.join("deep")).unwrap().unwrap();
    assert_eq!(other.root(), worktree);
    let path = RepoPath::parse("deep/down/a").unwrap();
    assert_eq!(below.base().unwrap().read(&path, LIMIT).unwrap(), b"two");
    assert_eq!(other.base().unwrap().read(&path, LIMIT).unwrap(), b"one");
}

#[test]
fn a_folder_without_git_is_no_repository_and_a_bare_one_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join(".git")).unwrap();
    assert!(discover(folder.path()).unwrap().is_none());
    let bare = folder.path().join("bare");
    std::fs::create_dir(&bare).unwrap();
    assert!(git(&bare, &["init", "--bare", "--quiet"]).status.success());
    for place in [bare.clone(), bare.join("refs")] {
        let error = discover(&place).unwrap_err();
        assert!(error.message.contains("without files to work on"), "{error}");
    }
    assert_eq!(discover(&bare.join("nowhere")).unwrap_err().kind, ErrorKind::NotFound);
}

#[test]
fn the_newer_object_format_is_read_too() {
    let sandbox = Sandbox::with(&["--object-format=sha256"]);
    sandbox.write("same", "same");
    sandbox.write("changed", "head");
    sandbox.commit("first");
    sandbox.write("changed", "otherwise");
    assert_eq!(sandbox.read("same").unwrap(), b"same");
    assert_eq!(sandbox.read("changed").unwrap(), b"head");
    let base = sandbox.repo().base().unwrap();
    assert!(matches!(&base.entries()[0].stamp, Stamp::Content(name) if name.len() == 64));
}

#[test]
fn names_with_spaces_quotes_and_other_alphabets_are_kept_and_the_impossible_are_named() {
    let sandbox = Sandbox::new();
    let good = ["a b", "quo\"te", "tést", "データ/ファイル.txt", "back\\slash"];
    let bad = ["new\nline", "~tilde"];
    for name in good.iter().chain(&bad) {
        sandbox.write(name, name);
    }
    let invalid = std::ffi::OsStr::new("inv");
    let invalid = [invalid.as_encoded_bytes(), &[0xff]].concat();
    let invalid = <std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(&invalid);
    std::fs::write(sandbox.root().join(invalid), "x").unwrap();
    sandbox.commit("names");
    for name in good {
        assert_eq!(sandbox.read(name).unwrap(), name.as_bytes());
        sandbox.write(name, "changed");
        assert_eq!(sandbox.read(name).unwrap(), name.as_bytes());
    }
    let base = sandbox.repo().base().unwrap();
    let mut sorted = good;
    sorted.sort_unstable();
    assert_eq!(paths(&base), sorted);
    assert_eq!(
        base.problems(),
        [
            "\"inv\u{fffd}\" was left out: its name is not UTF-8.",
            "\"new\\nline\" was left out: the path holds a control character.",
            "\"~tilde\" was left out: the path is absolute.",
        ]
    );
}

#[test]
fn a_file_over_the_limit_is_refused_without_reading_it() {
    let sandbox = Sandbox::new();
    sandbox.write("large", vec![b'x'; LIMIT as usize + 1]);
    sandbox.write("limit", vec![b'x'; LIMIT as usize]);
    sandbox.write("small", "x");
    sandbox.commit("sizes");
    for changed in [false, true] {
        if changed {
            for name in ["large", "limit", "small"] {
                sandbox.write(name, "changed");
            }
        }
        let all = read_all(&sandbox.repo().base().unwrap());
        let sizes: Vec<_> = all.iter().map(|(_, result)| result.as_ref().map(Vec::len)).collect();
        let too_large = "TooLarge".to_owned();
        assert_eq!(sizes, [Err(&too_large), Ok(LIMIT as usize), Ok(1)]);
    }
}
