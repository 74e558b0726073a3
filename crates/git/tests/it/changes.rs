use std::os::unix::fs::symlink;

use sequester_git::Dirty;

use crate::sandbox::Sandbox;

fn dirty(sandbox: &Sandbox) -> (usize, usize, String) {
    let repo = sandbox.repo();
    let Dirty { staged, changed, names } = repo.dirty(&repo.base().unwrap()).unwrap();
    let names: Vec<_> = names.iter().map(ToString::to_string).collect();
    (staged, changed, names.join(" "))
}

fn committed() -> Sandbox {
    let sandbox = Sandbox::new();
    for name in ["a", "b", "c", "d"] {
        sandbox.write(name, name);
    }
    symlink("a", sandbox.path("link")).unwrap();
    sandbox.commit("first");
    sandbox
}

#[test]
fn a_fresh_commit_is_clean_and_untracked_files_do_not_count() {
    let sandbox = committed();
    sandbox.write("untracked", "x");
    assert_eq!(dirty(&sandbox), (0, 0, String::new()));
    assert!(sandbox.repo().dirty(&sandbox.repo().base().unwrap()).unwrap().is_clean());
}

#[test]
fn changed_deleted_staged_and_added_files_count() {
    let sandbox = committed();
    sandbox.write("a", "changed, longer");
    sandbox.write("b", "B");
    std::fs::remove_file(sandbox.path("link")).unwrap();
    symlink("b", sandbox.path("link")).unwrap();
    std::fs::remove_file(sandbox.path("c")).unwrap();
    assert_eq!(dirty(&sandbox), (0, 4, "a b c link".to_owned()));
    sandbox.write("new", "new");
    sandbox.git(&["add", "a", "new"]);
    sandbox.git(&["rm", "--quiet", "--cached", "d"]);
    assert_eq!(dirty(&sandbox), (3, 3, "a b c d link".to_owned()));
}

#[test]
fn a_file_that_was_only_touched_is_clean() {
    let sandbox = committed();
    let file = std::fs::File::options().write(true).open(sandbox.path("a")).unwrap();
    file.set_modified(std::time::UNIX_EPOCH).unwrap();
    assert_eq!(dirty(&sandbox), (0, 0, String::new()));
}

#[test]
fn a_change_in_the_tick_of_the_index_with_the_same_size_is_seen() {
    for _ in 0..20 {
        let sandbox = committed();
        sandbox.write("a", "A");
        assert_eq!(dirty(&sandbox), (0, 1, "a".to_owned()));
    }
}

#[test]
fn what_a_sparse_checkout_leaves_out_is_not_deleted() {
    let sandbox = Sandbox::new();
    sandbox.write("in/a", "a");
    sandbox.write("out/b", "b");
    sandbox.commit("first");
    sandbox.git(&["sparse-checkout", "set", "in"]);
    assert!(!sandbox.path("out/b").exists());
    assert_eq!(dirty(&sandbox), (0, 0, String::new()));
    assert_eq!(sandbox.read("out/b").unwrap(), b"b");
}

#[test]
fn an_unmerged_file_counts_as_staged() {
    let sandbox = committed();
    sandbox.git(&["checkout", "--quiet", "-b", "side"]);
    sandbox.write("a", "side");
    sandbox.commit("side");
    sandbox.git(&["checkout", "--quiet", "main"]);
    sandbox.write("a", "main");
    sandbox.commit("main");
    crate::sandbox::git(&sandbox.root(), &["merge", "side"]);
    assert_eq!(dirty(&sandbox), (1, 0, "a".to_owned()));
}

#[test]
fn before_the_first_commit_all_that_is_staged_counts() {
    let sandbox = Sandbox::new();
    assert_eq!(dirty(&sandbox), (0, 0, String::new()));
    sandbox.write("a", "a");
    sandbox.git(&["add", "a"]);
    assert_eq!(dirty(&sandbox), (1, 0, "a".to_owned()));
}
