//! Worktrees in which a person edits: made whole or not at all, and never removed with what is nowhere else.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use sequester_core::id::{CommitId, TreeId};
use sequester_core::repository::Error;
use sequester_git::{Trees, WorktreeLosses};

use crate::sandbox::{Sandbox, discover, git};
use crate::trees::{head, trees};

/// The reason that git is given to hold a worktree which is not filled yet.
const OPENING: &str = "sequester is opening it";

fn sample() -> Sandbox {
    let sandbox = Sandbox::new();
    for path in ["a.txt", "src/lib.rs", "docs/a.md"] {
        sandbox.write(path, format!("{path}\n"));
    }
    sandbox.write(".gitignore", "*.log\n/out/\n");
    sandbox.commit("first");
    sandbox
}

fn commit(sandbox: &Sandbox) -> CommitId {
    CommitId::new(sandbox.git(&["rev-parse", "HEAD"]))
}

fn open(sandbox: &Sandbox, at: &Path, note: &str) -> Result<(), Error> {
    let (commit, tree, now) = (commit(sandbox), head(sandbox), SystemTime::UNIX_EPOCH);
    trees(sandbox).open_worktree(at, &commit, &tree, note, now)
}

fn opened(sandbox: &Sandbox) -> PathBuf {
    let at = sandbox.outside("edit");
    open(sandbox, &at, "a note").unwrap();
    at
}

fn told(at: &Path, arguments: &[&str]) -> String {
    let output = git(at, arguments);
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn is_whole(sandbox: &Sandbox, at: &Path) {
    assert_eq!(names(at), [".git", ".gitignore", "a.txt", "docs", "src"]);
    assert_eq!(told(at, &["status", "--porcelain"]), "");
    assert!(!sandbox.git(&["worktree", "list", "--porcelain"]).contains("locked"));
    let notes = trees(sandbox).open_worktrees().unwrap();
    assert_eq!(notes, [(at.to_owned(), "a note".to_owned())]);
    assert_eq!(discover(at).unwrap().unwrap().worktree_note().as_deref(), Some("a note"));
}

#[test]
fn what_a_killed_open_left_is_made_again() {
    let sandbox = sample();
    let at = sandbox.outside("edit");
    let add = ["worktree", "add", "-q", "--no-checkout", "--detach", "--lock", "--reason", OPENING];
    sandbox.git(&[&add[..], &[at.to_str().unwrap(), "HEAD"]].concat());
    fs::create_dir_all(at.join(".sequester-1-2/src")).unwrap();
    fs::write(at.join("a.txt"), "half\n").unwrap();
    assert_eq!(trees(&sandbox).open_worktrees().unwrap(), [], "half made is not open");
    // Nothing beside it is in the way.
    fs::create_dir(sandbox.outside("edit.new")).unwrap();
    open(&sandbox, &at, "a note").unwrap();
    is_whole(&sandbox, &at);
    assert!(open(&sandbox, &at, "another").is_err(), "what is open stays");
    is_whole(&sandbox, &at);
}

#[test]
fn a_worktree_that_was_deleted_by_hand_is_made_again() {
    let sandbox = sample();
    let at = opened(&sandbox);
    fs::remove_dir_all(&at).unwrap();
    assert_eq!(trees(&sandbox).open_worktrees().unwrap(), []);
    open(&sandbox, &at, "a note").unwrap();
    is_whole(&sandbox, &at);
}

#[test]
fn an_open_that_fails_leaves_nothing() {
    let sandbox = sample();
    let name = sandbox.git(&["rev-parse", "HEAD:src/lib.rs"]);
    fs::remove_file(sandbox.path(&format!(".git/objects/{}/{}", &name[..2], &name[2..]))).unwrap();
    sandbox.write("src/lib.rs", "other\n");
    assert!(open(&sandbox, &sandbox.outside("edit"), "a note").is_err());
    assert_eq!(names(&sandbox.outside("")), ["repo"]);
    assert_eq!(sandbox.git(&["worktree", "list"]).lines().count(), 1);
}

#[test]
fn opens_at_one_time_do_not_take_each_other_for_leftovers() {
    let sandbox = sample();
    std::thread::scope(|scope| {
        for number in 0..6 {
            let (at, sandbox) = (sandbox.outside(&format!("edit-{number}")), &sandbox);
            scope.spawn(move || open(sandbox, &at, "a note").unwrap());
        }
    });
    assert_eq!(trees(&sandbox).open_worktrees().unwrap().len(), 6);
}

/// What lies there is read, then more comes.
fn losses(sandbox: &Sandbox, at: &Path, later: impl FnOnce()) -> WorktreeLosses {
    let (trees, commit) = (trees(sandbox), commit(sandbox));
    let read = trees.read_worktree(at, &head(sandbox), "__pycache__/\n").unwrap();
    later();
    trees.worktree_losses(at, &read.tree, &commit).unwrap()
}

#[test]
fn what_no_tree_holds_is_named_before_a_worktree_is_removed() {
    let sandbox = sample();
    let at = opened(&sandbox);
    fs::write(at.join("a.txt"), "edited\n").unwrap();
    fs::create_dir_all(at.join("new/empty")).unwrap();
    fs::write(at.join("new/file"), "new\n").unwrap();
    symlink("a.txt", at.join("link")).unwrap();
    fs::remove_file(at.join("docs/a.md")).unwrap();
    assert_eq!(losses(&sandbox, &at, || ()), WorktreeLosses::default());

    for path in ["out/deep/x", "src/x.log", "__pycache__/x.pyc", ".sequester/x", "sub/file"] {
        fs::create_dir_all(at.join(path).parent().unwrap()).unwrap();
        fs::write(at.join(path), "x\n").unwrap();
    }
    told(&at.join("sub"), &["init", "-q"]);
    // A repository around files that are in the tree.
    told(&at.join("src"), &["init", "-q"]);
    let found = losses(&sandbox, &at, || fs::write(at.join("a.txt"), "later\n").unwrap());
    let paths = [".sequester/", "__pycache__/", "a.txt", "out/", "src/.git/", "src/x.log", "sub/"];
    let paths = paths.map(str::to_owned).to_vec();
    assert_eq!(found, WorktreeLosses { paths, has_commits: false });
}

#[test]
fn commits_on_no_branch_are_known_before_a_worktree_is_removed() {
    let sandbox = sample();
    let at = opened(&sandbox);
    fs::write(at.join("a.txt"), "edited\n").unwrap();
    told(&at, &["commit", "-qam", "my own"]);
    let tree = TreeId::new(told(&at, &["rev-parse", "HEAD^{tree}"]).trim());
    let read = trees(&sandbox).read_worktree(&at, &head(&sandbox), "").unwrap();
    assert_eq!(read.tree, tree, "what is committed is part of what is read");
    let found = losses(&sandbox, &at, || ());
    assert_eq!(found, WorktreeLosses { paths: Vec::new(), has_commits: true });
    told(&at, &["switch", "-qc", "mine"]);
    assert!(losses(&sandbox, &at, || ()).is_empty());
}

#[test]
fn litter_is_not_part_of_what_is_read_unless_it_is_tracked() {
    let sandbox = sample();
    let at = opened(&sandbox);
    for path in ["src/__pycache__/a.pyc", "src/__pycache__/.env", "kept/__pycache__/b.pyc"] {
        fs::create_dir_all(at.join(path).parent().unwrap()).unwrap();
        fs::write(at.join(path), "x\n").unwrap();
    }
    told(&at, &["add", "kept"]);
    let trees: Trees = trees(&sandbox);
    let read = trees.read_worktree(&at, &head(&sandbox), "__pycache__/\n").unwrap();
    let listed = sandbox.git(&["ls-tree", "-r", "--name-only", read.tree.as_str()]);
    assert_eq!(listed, ".gitignore\na.txt\ndocs/a.md\nkept/__pycache__/b.pyc\nsrc/lib.rs");
    assert!(read.secrets.is_empty());
}
