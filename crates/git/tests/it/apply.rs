//! A branch brought into the person's checkout.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use sequester_core::change::{Entry, Mode};
use sequester_core::id::CommitId;
use sequester_core::moment::Moment;
use sequester_core::repository::{Draft, Repository, Start};
use sequester_git::{Application, Applied, Apply, Home, Refusal, Trees, Unclean};

use crate::sandbox::{Sandbox, discover, git};
use crate::trees::{change, entry, trees};

fn sample() -> Sandbox {
    let sandbox = Sandbox::new();
    for path in ["a", "b", "src/x", "src/y", "old/only"] {
        sandbox.write(path, format!("{path}\n"));
    }
    sandbox.commit("first");
    sandbox
}

/// A commit of a run, over HEAD.
fn work(sandbox: &Sandbox, entries: Vec<Entry>) -> CommitId {
    let trees = trees(sandbox);
    let start = trees.start(false).unwrap();
    let tree = trees.with_change(&start.tree, &change(entries)).unwrap();
    let (message, author, at) = ("the task".to_owned(), None, Moment(5_000));
    trees.commit(&Draft { tree, parent: start.commit, message, author, at }).unwrap()
}

fn usual() -> Vec<Entry> {
    vec![
        entry("a", Some(Mode::File), "new a\n"),
        entry("old/only", None, ""),
        entry("src/x", None, ""),
        entry("src/y", None, ""),
        entry("src", Some(Mode::Executable), "#!/bin/sh\n"),
        entry("deep/er/new", Some(Mode::File), "new\n"),
        entry("link", Some(Mode::Link), "a"),
    ]
}

fn apply(root: &Path, commit: &CommitId, apply: Apply, unclean: Unclean) -> Applied {
    let repo = discover(root).unwrap().unwrap();
    let (message, at) = ("Merge the run", Moment(9_000));
    let application = Application { commit, began: None, apply, unclean, message, at };
    Trees::of(&repo, Home::default()).apply(&application).unwrap()
}

fn status(sandbox: &Sandbox) -> String {
    sandbox.git(&["status", "--porcelain"])
}

/// Every file with its content, the index and HEAD.
fn state(sandbox: &Sandbox) -> String {
    let tar = "find . -path ./.git -prune -o -print | sort | tar --mtime=@0 --no-recursion -cf - -T - | sha256sum";
    let mut all = std::process::Command::new("sh");
    all.args(["-c", tar]).current_dir(sandbox.root());
    let files = String::from_utf8(all.output().unwrap().stdout).unwrap();
    let index = sandbox.git(&["ls-files", "-s"]);
    format!("{files}{index}{}", sandbox.git(&["rev-parse", "HEAD"]))
}

#[test]
fn a_fast_forward_moves_head_index_and_files() {
    let sandbox = sample();
    let commit = work(&sandbox, usual());
    let applied = apply(&sandbox.root(), &commit, Apply::FastForward, Unclean::Refuse);
    assert_eq!(applied, Applied::Moved(commit.clone()));
    assert_eq!(sandbox.git(&["rev-parse", "main"]), commit.as_str());
    assert_eq!(sandbox.git(&["symbolic-ref", "HEAD"]), "refs/heads/main");
    assert_eq!(status(&sandbox), "");
    assert!(!sandbox.path("old").exists());
    assert_eq!(sandbox.path("link").read_link().unwrap(), Path::new("a"));
    let mode = sandbox.path("src").metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o100, 0o100);
    let again = apply(&sandbox.root(), &commit, Apply::FastForward, Unclean::Refuse);
    assert_eq!(again, Applied::Nothing);
    // And back again: a file that becomes a folder.
    let back =
        CommitId::new(sandbox.git(&["commit-tree", "-p", "HEAD", "-m", "back", "HEAD~1^{tree}"]));
    apply(&sandbox.root(), &back, Apply::FastForward, Unclean::Refuse);
    assert_eq!((status(&sandbox), sandbox.path("src/x").is_file()), (String::new(), true));
}

#[test]
fn a_merge_joins_both_and_a_patch_commits_nothing() {
    for how in [Apply::Merge, Apply::Patch] {
        let sandbox = sample();
        let commit = work(&sandbox, usual());
        sandbox.write("b", "the person's\n");
        sandbox.commit("meanwhile");
        let before = sandbox.git(&["rev-parse", "HEAD"]);
        let refused = apply(&sandbox.root(), &commit, Apply::FastForward, Unclean::Refuse);
        assert_eq!(refused, Applied::Refused(Refusal::Diverged));
        let applied = apply(&sandbox.root(), &commit, how, Unclean::Refuse);
        assert_eq!(std::fs::read(sandbox.path("a")).unwrap(), b"new a\n");
        assert_eq!(std::fs::read(sandbox.path("b")).unwrap(), b"the person's\n");
        if how == Apply::Merge {
            let parents = sandbox.git(&["show", "--no-patch", "--format=%P|%s|%ct", "HEAD"]);
            assert_eq!(parents, format!("{before} {commit}|Merge the run|9"));
            assert_eq!(applied, Applied::Moved(CommitId::new(sandbox.git(&["rev-parse", "HEAD"]))));
            assert_eq!(status(&sandbox), "");
        } else {
            assert_eq!(applied, Applied::Changed(7));
            assert_eq!(sandbox.git(&["rev-parse", "HEAD"]), before);
            assert_eq!(sandbox.git(&["diff", "--name-only"]), "");
            assert_eq!(sandbox.git(&["diff", "--cached", "--name-only"]).lines().count(), 7);
        }
    }
}

#[test]
fn conflicts_are_named_and_nothing_is_touched() {
    let sandbox = sample();
    let commit = work(&sandbox, usual());
    sandbox.write("a", "the person's\n");
    sandbox.write("src/x", "the person's\n");
    sandbox.commit("meanwhile");
    let before = state(&sandbox);
    for how in [Apply::Merge, Apply::Patch] {
        let refused = apply(&sandbox.root(), &commit, how, Unclean::Refuse);
        let names = ["a", "src/x"].map(str::to_owned).to_vec();
        assert_eq!(refused, Applied::Refused(Refusal::Conflict(names)));
        assert_eq!(state(&sandbox), before);
    }
}

#[test]
fn what_is_not_committed_is_never_lost() {
    let sandbox = sample();
    let commit = work(&sandbox, usual());
    sandbox.write("b", "not committed");
    let before = state(&sandbox);
    let unclean = |names: &[&str]| {
        Applied::Refused(Refusal::Unclean(names.iter().map(ToString::to_string).collect()))
    };
    let refused = apply(&sandbox.root(), &commit, Apply::FastForward, Unclean::Refuse);
    assert_eq!((refused, state(&sandbox)), (unclean(&["b"]), before));
    // Where it touches the same files it is refused in any case, be they tracked, untracked or ignored.
    let runs = || std::fs::Permissions::from_mode(0o755);
    let spoil: [(&str, &dyn Fn()); 6] = [
        ("a", &|| std::fs::set_permissions(sandbox.path("a"), runs()).unwrap()),
        ("a", &|| sandbox.write("a", "mine")),
        ("deep/er/new", &|| sandbox.write("deep/er/new", "mine")),
        ("link", &|| symlink("b", sandbox.path("link")).unwrap()),
        ("old/only", &|| std::fs::remove_file(sandbox.path("old/only")).unwrap()),
        ("src/x", &|| {
            sandbox.write("src/x", "staged");
            sandbox.git(&["add", "src/x"]);
        }),
    ];
    for (name, spoil) in spoil {
        spoil();
        let before = state(&sandbox);
        let refused = apply(&sandbox.root(), &commit, Apply::FastForward, Unclean::Keep);
        assert_eq!((refused, state(&sandbox)), (unclean(&[name]), before), "{name}");
        sandbox.git(&["reset", "--quiet", "--", "src", "a", "old"]);
        sandbox.git(&["checkout", "--quiet", "--", "src", "a", "old"]);
        sandbox.git(&["clean", "--quiet", "-fd"]);
    }
    let applied = apply(&sandbox.root(), &commit, Apply::FastForward, Unclean::Keep);
    assert_eq!(applied, Applied::Moved(commit));
    assert_eq!(status(&sandbox), " M b");
}

#[test]
fn what_fails_midway_is_undone() {
    let sandbox = sample();
    let commit = work(&sandbox, usual());
    // A file that nobody knows keeps the folder `src` from becoming a file.
    sandbox.write("src/untracked", "mine");
    let try_it = || {
        let trees = trees(&sandbox);
        let (apply, unclean, message, at) =
            (Apply::FastForward, Unclean::Refuse, "Merge", Moment(0));
        trees.apply(&Application { commit: &commit, began: None, apply, unclean, message, at })
    };
    let before = state(&sandbox);
    let error = try_it().unwrap_err();
    assert!(error.message.contains("`src` cannot be put in place"), "{error}");
    assert_eq!(state(&sandbox), before);
    std::fs::remove_file(sandbox.path("src/untracked")).unwrap();
    // Another git holds the index, or the branch.
    for lock in [".git/index.lock", ".git/refs/heads/main.lock"] {
        let before = state(&sandbox);
        sandbox.write(lock, "");
        try_it().unwrap_err();
        std::fs::remove_file(sandbox.path(lock)).unwrap();
        assert_eq!((state(&sandbox), status(&sandbox)), (before, String::new()), "{lock}");
    }
    try_it().unwrap();
    assert_eq!(status(&sandbox), "");
}

#[test]
fn a_merge_that_somebody_began_is_left_alone() {
    let sandbox = sample();
    let commit = work(&sandbox, usual());
    sandbox.write(".git/MERGE_HEAD", format!("{commit}\n"));
    let refused = apply(&sandbox.root(), &commit, Apply::Merge, Unclean::Keep);
    assert_eq!(refused, Applied::Refused(Refusal::Busy("a merge")));
}

#[test]
fn a_link_in_the_working_tree_leads_nowhere() {
    let sandbox = sample();
    let commit = work(&sandbox, vec![entry("new/file", Some(Mode::File), "x")]);
    let elsewhere = sandbox.outside("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    symlink(&elsewhere, sandbox.path("new")).unwrap();
    let trees = trees(&sandbox);
    let (apply, unclean, message, at) = (Apply::Patch, Unclean::Keep, "", Moment(0));
    trees
        .apply(&Application { commit: &commit, began: None, apply, unclean, message, at })
        .unwrap_err();
    assert_eq!(std::fs::read_dir(&elsewhere).unwrap().count(), 0);
    assert!(sandbox.path("new").is_symlink());
}

#[test]
fn a_linked_worktree_a_detached_head_and_a_first_commit_work_too() {
    let sandbox = sample();
    let commit = work(&sandbox, usual());
    let linked = sandbox.outside("linked");
    sandbox.git(&["worktree", "add", "--quiet", "--detach", linked.to_str().unwrap()]);
    let applied = apply(&linked, &commit, Apply::FastForward, Unclean::Refuse);
    assert_eq!(applied, Applied::Moved(commit.clone()));
    let shown = git(&linked, &["status", "--porcelain"]);
    assert_eq!((shown.stdout, status(&sandbox)), (Vec::new(), String::new()));
    assert_ne!(sandbox.git(&["rev-parse", "HEAD"]), commit.as_str());

    let fresh = Sandbox::new();
    let commit = work(&fresh, vec![entry("first", Some(Mode::File), "x")]);
    let applied = apply(&fresh.root(), &commit, Apply::FastForward, Unclean::Refuse);
    assert_eq!((applied, status(&fresh)), (Applied::Moved(commit), String::new()));
}

/// A run that began with what was not committed, and one task of it: what it began with, and its last commit.
fn begun(trees: &Trees) -> (Start, CommitId) {
    let draft = |tree, parent, message: &str| Draft {
        tree,
        parent,
        message: message.to_owned(),
        author: None,
        at: Moment(5_000),
    };
    let begun = trees.start(true).unwrap();
    let parent = trees.commit(&draft(begun.tree.clone(), begun.commit.clone(), "before")).unwrap();
    let changed = change(vec![
        entry("a", Some(Mode::File), "not committed, and more\n"),
        entry("made", Some(Mode::File), "made\n"),
    ]);
    let tree = trees.with_change(&begun.tree, &changed).unwrap();
    let commit = trees.commit(&draft(tree, Some(parent.clone()), "the task")).unwrap();
    (Start { commit: Some(parent), ..begun }, commit)
}

fn application<'a>(began: &'a Start, commit: &'a CommitId, apply: Apply) -> Application<'a> {
    let (message, unclean, at) = ("Merge the run", Unclean::Refuse, Moment(9_000));
    Application { commit, began: Some(began), apply, unclean, message, at }
}

#[test]
fn a_checkout_that_is_still_as_the_run_began_with_it_takes_the_branch() {
    for (how, committed) in [(Apply::FastForward, true), (Apply::Patch, false)] {
        let sandbox = sample();
        let head = sandbox.git(&["rev-parse", "HEAD"]);
        sandbox.write("a", "not committed\n");
        sandbox.write("b", "not committed\n");
        sandbox.write("untracked", "new\n");
        sandbox.git(&["add", "b"]);
        let trees = trees(&sandbox);
        let (began, commit) = begun(&trees);
        let application = application(&began, &commit, how);
        sandbox.write("b", "something else\n");
        let refused = trees.apply(&application).unwrap();
        assert!(matches!(refused, Applied::Refused(Refusal::Unclean(_))), "{refused:?}");
        sandbox.write("b", "not committed\n");
        let applied = trees.apply(&application).unwrap();
        let read = |path: &str| std::fs::read_to_string(sandbox.path(path)).unwrap();
        assert_eq!(read("a"), "not committed, and more\n");
        assert_eq!((read("b").as_str(), read("made").as_str()), ("not committed\n", "made\n"));
        if committed {
            assert_eq!((applied, status(&sandbox)), (Applied::Moved(commit), String::new()));
        } else {
            assert_eq!((applied, sandbox.git(&["rev-parse", "HEAD"])), (Applied::Changed(2), head));
            assert_eq!(status(&sandbox), "M  a\nM  b\nA  made\n?? untracked");
        }
    }
}

#[test]
fn what_is_only_staged_is_not_lost_to_a_run_that_began_without_it() {
    for how in [Apply::FastForward, Apply::Merge, Apply::Patch] {
        let sandbox = sample();
        sandbox.write("a", "staged alone\n");
        sandbox.git(&["add", "a"]);
        sandbox.write("a", "not committed\n");
        let staged = sandbox.git(&["ls-files", "-s"]);
        let trees = trees(&sandbox);
        let (began, commit) = begun(&trees);
        let application = application(&began, &commit, how);
        let refused = Applied::Refused(Refusal::Unclean(vec!["a".to_owned()]));
        assert_eq!(trees.apply(&application).unwrap(), refused, "{how:?}");
        let kept = Application { unclean: Unclean::Keep, ..application.clone() };
        assert_eq!(trees.apply(&kept).unwrap(), refused, "{how:?}");
        assert_eq!(sandbox.git(&["ls-files", "-s"]), staged);
        // What the run began with, what HEAD has, and a name alone are all there afterwards.
        sandbox.git(&["reset", "-q", "a"]);
        sandbox.write("made", "");
        sandbox.git(&["add", "-N", "made"]);
        std::fs::remove_file(sandbox.path("made")).unwrap();
        let applied = trees.apply(&application).unwrap();
        assert!(matches!(applied, Applied::Moved(_) | Applied::Changed(_)), "{applied:?}");
    }
}
