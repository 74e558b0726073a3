//! States that a run makes, with git itself as the judge.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use sequester_core::change::{Action, Change, Entry, Mode};
use sequester_core::id::{CommitId, RunId, TreeId};
use sequester_core::moment::Moment;
use sequester_core::path::RepoPath;
use sequester_core::repository::{Draft, ErrorKind, Merge, Repository, Snapshot};
use sequester_git::{Home, Trees};

use crate::sandbox::{LIMIT, Sandbox, discover, git};

pub(crate) fn trees(sandbox: &Sandbox) -> Trees {
    Trees::of(&sandbox.repo(), Home::default())
}

pub(crate) fn head(sandbox: &Sandbox) -> TreeId {
    TreeId::new(sandbox.git(&["rev-parse", "HEAD^{tree}"]))
}

/// A file with a content, or one that goes.
pub(crate) fn entry(path: &str, mode: Option<Mode>, content: impl AsRef<[u8]>) -> Entry {
    let content = content.as_ref().to_vec();
    Entry {
        path: path.to_owned(),
        action: if mode.is_some() { Action::Create } else { Action::Delete },
        was: None,
        mode,
        added: None,
        removed: None,
        in_patch: false,
        size: content.len() as u64,
        content,
    }
}

pub(crate) fn change(entries: Vec<Entry>) -> Change {
    let mut change = Change { entries, ..Change::default() };
    change.entries.sort_by(|one, other| one.path.cmp(&other.path));
    change
}

pub(crate) fn clean(merge: Merge) -> TreeId {
    match merge {
        Merge::Clean(tree) => tree,
        Merge::Conflict(paths) => unreachable!("{paths:?}"),
    }
}

fn write(path: &str, content: &str) -> Entry {
    entry(path, Some(Mode::File), content)
}

fn listed(sandbox: &Sandbox, tree: &str) -> String {
    sandbox.git(&["ls-tree", "-r", "--format=%(objectmode) %(path)", tree])
}

fn sample() -> Sandbox {
    let sandbox = Sandbox::new();
    for path in ["a.txt", "src/lib.rs", "src/deep/er/x.rs", "docs/a.md"] {
        sandbox.write(path, format!("{path}\n"));
    }
    sandbox.commit("first");
    sandbox
}

#[test]
fn a_change_becomes_the_tree_that_git_would_write() {
    let sandbox = sample();
    let trees = trees(&sandbox);
    let change = change(vec![
        write("a.txt", "new\n"),
        entry("run.sh", Some(Mode::Executable), "#!/bin/sh\n"),
        entry("link", Some(Mode::Link), "a.txt"),
        entry("docs/a.md", None, ""),
        entry("src/lib.rs", None, ""),
        write("src/lib.rs/now/a/folder", "x"),
        entry("src/deep/er/x.rs", None, ""),
        write("src/deep", "now a file"),
    ]);
    let tree = trees.with_change(&head(&sandbox), &change).unwrap();
    sandbox.write("a.txt", "new\n");
    sandbox.write("run.sh", "#!/bin/sh\n");
    let runs = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(sandbox.path("run.sh"), runs).unwrap();
    symlink("a.txt", sandbox.path("link")).unwrap();
    for gone in ["docs", "src"] {
        std::fs::remove_dir_all(sandbox.path(gone)).unwrap();
    }
    sandbox.write("src/lib.rs/now/a/folder", "x");
    sandbox.write("src/deep", "now a file");
    sandbox.git(&["add", "--all"]);
    assert_eq!(tree.as_str(), sandbox.git(&["write-tree"]));
    sandbox.git(&["fsck", "--strict"]);
    let snapshot = trees.snapshot(&tree).unwrap();
    let path = RepoPath::parse("src/deep").unwrap();
    assert_eq!(snapshot.read(&path, LIMIT).unwrap(), b"now a file");
}

#[test]
fn many_at_once_write_the_same_and_an_empty_object_is_written_again() {
    let sandbox = sample();
    let trees = trees(&sandbox);
    let (base, change) = (head(&sandbox), change(vec![write("src/new", "the same\n")]));
    let made: Vec<TreeId> = std::thread::scope(|scope| {
        let work = || (0..10).map(|_| trees.with_change(&base, &change).unwrap()).next_back();
        let workers: Vec<_> = (0..8).map(|_| scope.spawn(work)).collect();
        workers.into_iter().filter_map(|worker| worker.join().unwrap()).collect()
    });
    assert!(made.len() == 8 && made.iter().all(|tree| *tree == made[0]));
    let blob = sandbox.git(&["rev-parse", &format!("{}:src/new", made[0])]);
    let file = sandbox.path(&format!(".git/objects/{}/{}", &blob[..2], &blob[2..]));
    std::fs::remove_file(&file).unwrap();
    std::fs::write(&file, "").unwrap();
    assert_eq!(trees.with_change(&base, &change).unwrap(), made[0]);
    assert_eq!(sandbox.git(&["cat-file", "blob", &blob]), "the same");
}

#[test]
fn a_path_that_leaves_or_names_git_is_refused() {
    let sandbox = sample();
    let trees = trees(&sandbox);
    let paths = "../x /etc/x a/../b ./a .git/hooks/x src/.GIT/config .git git~1/x .git./x a//b ~/x";
    for path in paths.split(' ') {
        let change = change(vec![write(path, "x")]);
        let error = trees.with_change(&head(&sandbox), &change).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Denied, "{path}: {error}");
    }
}

#[test]
fn a_change_without_its_contents_or_against_a_file_is_refused() {
    let sandbox = sample();
    let trees = trees(&sandbox);
    let mut hollow = change(vec![write("x", "content")]);
    hollow.entries[0].content.clear();
    let under_file = change(vec![write("a.txt/b", "x")]);
    let over_folder = change(vec![write("src", "x")]);
    let before = std::fs::read_dir(sandbox.path(".git/objects")).unwrap().count();
    for change in [hollow, under_file, over_folder] {
        let error = trees.with_change(&head(&sandbox), &change).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Denied, "{error}");
    }
    let after = std::fs::read_dir(sandbox.path(".git/objects")).unwrap().count();
    assert_eq!(after, before, "a draft was left behind");
}

#[test]
fn what_lies_between_two_trees_leads_from_one_to_the_other() {
    let sandbox = sample();
    sandbox.write("bytes", b"\0\x01\xff".repeat(50));
    sandbox.write("no end", "one\ntwo");
    sandbox.write("q\"uote", "x\n");
    sandbox.commit("second");
    let (from, trees) = (head(&sandbox), trees(&sandbox));
    let to = change(vec![
        entry("bytes", Some(Mode::File), b"\0other".repeat(30)),
        write("no end", "one\ntwo\nthree"),
        entry("q\"uote", Some(Mode::Executable), "x\n"),
        entry("a.txt", Some(Mode::Link), "src"),
        entry("src/lib.rs", None, ""),
        write("src/new file.rs", "fn\n"),
        write("empty", ""),
        write("größe.txt", "ü\n"),
    ]);
    let to = trees.with_change(&from, &to).unwrap();
    let found = trees.between(&from, &to).unwrap();
    assert_eq!(trees.with_change(&from, &found).unwrap(), to);
    let actions: Vec<_> = found.entries.iter().map(|one| (&*one.path, one.action)).collect();
    assert_eq!(
        actions,
        [
            ("a.txt", Action::Modify),
            ("bytes", Action::Modify),
            ("empty", Action::Create),
            ("größe.txt", Action::Create),
            ("no end", Action::Modify),
            ("q\"uote", Action::Mode),
            ("src/lib.rs", Action::Delete),
            ("src/new file.rs", Action::Create),
        ]
    );
    assert!(found.entries.iter().all(|entry| entry.in_patch), "{}", found.patch);
    // What lies in the checkout does not count.
    sandbox.write(".gitattributes", "* -diff\n");
    assert_eq!(trees.between(&from, &to).unwrap(), found);
    std::fs::remove_file(sandbox.path(".gitattributes")).unwrap();
    let lines = |at: usize| (found.entries[at].added, found.entries[at].removed);
    assert_eq!((lines(1), lines(4)), ((None, None), (Some(2), Some(1))));
    std::fs::write(sandbox.outside("patch"), &found.patch).unwrap();
    let patch = sandbox.outside("patch");
    sandbox.git(&["apply", "--index", patch.to_str().unwrap()]);
    assert_eq!(sandbox.git(&["write-tree"]), to.as_str());
}

#[test]
fn a_long_patch_is_cut_and_large_contents_are_an_error() {
    let sandbox = sample();
    let (from, trees) = (head(&sandbox), trees(&sandbox));
    let long = "0123456789\n".repeat(80_000);
    let cut = change(vec![write("long", &long), write("long2", &long), write("z", "short\n")]);
    let to = trees.with_change(&from, &cut).unwrap();
    let found = trees.between(&from, &to).unwrap();
    assert!(found.patch.len() <= 1 << 20);
    assert!(found.patch.ends_with("The patch is cut: 1 file is not in it.\n"));
    let held: Vec<_> = found.entries.iter().map(|entry| entry.in_patch).collect();
    assert_eq!(held, [true, false, true]);
    assert_eq!(found.entries[1].added, Some(80_000));
    assert_eq!(trees.with_change(&from, &found).unwrap(), to);

    let large = vec![b'x'; (16 << 20) + 1];
    let large = change(vec![entry("large", Some(Mode::File), large)]);
    let to = trees.with_change(&from, &large).unwrap();
    let error = trees.between(&from, &to).unwrap_err();
    assert_eq!(error.kind, ErrorKind::TooLarge);
    assert!(error.message.contains("`large`"), "{error}");
    // The other way round it only goes.
    let found = trees.between(&to, &from).unwrap();
    assert_eq!((found.entries[0].action, found.entries[0].in_patch), (Action::Delete, false));
}

#[test]
fn the_same_draft_is_the_same_commit_and_git_reads_it() {
    let sandbox = sample();
    let trees = trees(&sandbox);
    let parent = CommitId::new(sandbox.git(&["rev-parse", "HEAD"]));
    let draft = Draft {
        tree: head(&sandbox),
        parent: Some(parent.clone()),
        message: "topic: what\n\nwhy ü\n\nRun: x\n".to_owned(),
        author: Some("Ann Example <ann@example.org>".to_owned()),
        at: Moment(1_794_819_912_345),
    };
    let commit = trees.commit(&draft).unwrap();
    assert_eq!(trees.commit(&draft).unwrap(), commit);
    let format = "--format=%an <%ae>|%cn|%ad|%ct|%P|%s|%(trailers:key=Run,valueonly)";
    let shown = sandbox.git(&["show", "--no-patch", "--date=raw", format, commit.as_str()]);
    let expected = format!(
        "Ann Example <ann@example.org>|Ann Example|1794819912 +0000|1794819912|{parent}|topic: what|x"
    );
    assert_eq!(shown.trim_end(), expected);
    sandbox.git(&["fsck", "--strict"]);
    for author in ["Ann", "A <b> <c>", "A\n <b>", "A <b>\nparent x", " <b>"] {
        let draft = Draft { author: Some(author.to_owned()), ..draft.clone() };
        assert_eq!(trees.commit(&draft).unwrap_err().kind, ErrorKind::Denied, "{author}");
    }
    let missing = Draft { tree: TreeId::new("1".repeat(40)), ..draft };
    assert_eq!(trees.commit(&missing).unwrap_err().kind, ErrorKind::Broken);
}

#[test]
fn commits_are_by_whom_the_person_configured() {
    let sandbox = sample();
    let draft = Draft {
        tree: head(&sandbox),
        parent: None,
        message: "x".to_owned(),
        author: None,
        at: Moment(0),
    };
    let author = |home: Home| {
        let commit = Trees::of(&sandbox.repo(), home).commit(&draft).unwrap();
        sandbox.git(&["show", "--no-patch", "--format=%an <%ae>", commit.as_str()])
    };
    let home = sandbox.outside("home");
    std::fs::create_dir(&home).unwrap();
    let nobody = Home { folder: Some(home.clone()), ..Home::default() };
    assert_eq!(author(nobody.clone()), "sequester <sequester@localhost>");
    let config =
        "[user]\n\tname = Ann <Ex>\n\temail = ann@example.org\n[commit]\n\tgpgsign = true\n";
    std::fs::write(home.join(".gitconfig"), config).unwrap();
    assert_eq!(author(nobody.clone()), "Ann Ex <ann@example.org>");
    sandbox.git(&["config", "user.name", "Local"]);
    assert_eq!(author(nobody.clone()), "Local <ann@example.org>");
    let told = Home { name: Some("Env <x>\n".to_owned()), ..nobody.clone() };
    assert_eq!(author(told.clone()), "Env x <ann@example.org>");
    let told = Home { address: Some("env@example.org".to_owned()), ..told };
    assert_eq!(author(told), "Env x <env@example.org>");
    let empty = Home { name: Some(" ".to_owned()), ..nobody };
    assert_eq!(author(empty), "Local <ann@example.org>");
}

#[test]
fn a_branch_that_holds_what_would_be_lost_is_not_moved() {
    let sandbox = sample();
    let trees = trees(&sandbox);
    let commit = |message: &str| {
        sandbox.commit(message);
        CommitId::new(sandbox.git(&["rev-parse", "HEAD"]))
    };
    let (one, two, three) = (commit("one"), commit("two"), commit("three"));
    trees.move_branch("sequester/r1", None, &one).unwrap();
    trees.move_branch("sequester/r1", Some(&one), &three).unwrap();
    let error = trees.move_branch("sequester/r1", Some(&three), &two).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Denied, "{error}");
    assert!(error.message.contains("git branch -m sequester/r1"), "{error}");
    assert_eq!(trees.branch("sequester/r1").unwrap(), Some(three));
}

#[test]
fn a_branch_moves_only_from_where_it_was_seen() {
    let sandbox = sample();
    let trees = trees(&sandbox);
    let one = CommitId::new(sandbox.git(&["rev-parse", "HEAD"]));
    sandbox.commit("second");
    let two = CommitId::new(sandbox.git(&["rev-parse", "HEAD"]));
    assert_eq!(trees.branch("sequester/r1").unwrap(), None);
    trees.move_branch("sequester/r1", None, &one).unwrap();
    assert_eq!(trees.branch("sequester/r1").unwrap(), Some(one.clone()));
    for from in [None, Some(&two)] {
        let error = trees.move_branch("sequester/r1", from, &two).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Denied, "{error}");
        assert!(error.message.contains(one.as_str()), "{error}");
    }
    sandbox.git(&["pack-refs", "--all"]);
    trees.move_branch("sequester/r1", Some(&one), &two).unwrap();
    assert_eq!(trees.branch("sequester/r1").unwrap(), Some(two.clone()));
    let error = trees.move_branch("main", Some(&two), &one).unwrap_err();
    assert!(error.message.contains("checked out"), "{error}");
    let worktree = sandbox.outside("worktree");
    sandbox.git(&["worktree", "add", "-q", worktree.to_str().unwrap(), "sequester/r1"]);
    let error = trees.move_branch("sequester/r1", Some(&two), &one).unwrap_err();
    assert!(error.message.contains("checked out"), "{error}");
    // From inside the linked worktree it is the same repository.
    let linked = Trees::of(&discover(&worktree).unwrap().unwrap(), Home::default());
    assert!(linked.move_branch("main", Some(&two), &one).is_err());
    assert_eq!(linked.start(false).unwrap().commit, Some(two.clone()));
    linked.move_branch("sequester/r2", None, &two).unwrap();
    assert_eq!(trees.branch("sequester/r2").unwrap(), Some(two));
    for bad in ["", "-x", "a b", "a..b", "x.lock", "*", "a//b", "@", "a\n"] {
        assert_eq!(trees.branch(bad).unwrap_err().kind, ErrorKind::Denied, "{bad}");
    }
}

#[test]
fn what_is_held_outlives_a_clean_up_until_it_is_released() {
    let sandbox = sample();
    let trees = trees(&sandbox);
    let make =
        |name: &str| trees.with_change(&head(&sandbox), &change(vec![write(name, name)])).unwrap();
    let (one, two, loose) = (make("one"), make("two"), make("loose"));
    let draft = Draft {
        tree: make("three"),
        parent: None,
        message: "three".to_owned(),
        author: None,
        at: Moment(1_000),
    };
    let (run, commit) = (RunId::from("r1"), trees.commit(&draft).unwrap());
    trees.hold(&run, &[one.clone(), one.clone()], &[]).unwrap();
    trees.hold(&run, std::slice::from_ref(&two), std::slice::from_ref(&commit)).unwrap();
    sandbox.git(&["gc", "--quiet", "--prune=now"]);
    let is_there =
        |tree: &TreeId| git(&sandbox.root(), &["ls-tree", "-r", tree.as_str()]).status.success();
    let three = &draft.tree;
    assert_eq!([&one, &two, three, &loose].map(is_there), [true, true, true, false]);
    trees.move_branch("sequester/r1", None, &commit).unwrap();
    sandbox.git(&["branch", "--quiet", "-D", "sequester/r1"]);
    assert_eq!(trees.between(&one, &two).unwrap().entries.len(), 2);
    trees.release(&run).unwrap();
    trees.release(&run).unwrap();
    sandbox.git(&["gc", "--quiet", "--prune=now"]);
    assert_eq!([&one, &two, three].map(is_there), [false, false, false]);
}

#[test]
fn a_start_is_head_or_the_working_tree_as_it_is() {
    let sandbox = sample();
    sandbox.write(".gitignore", "ignored\n");
    sandbox.write(".sequester/agents/a.md", "as committed");
    sandbox.commit("second");
    let trees = trees(&sandbox);
    let start = trees.start(false).unwrap();
    assert_eq!((start.tree.clone(), start.left_out), (head(&sandbox), false));
    assert_eq!(trees.start(true).unwrap().tree, head(&sandbox));

    sandbox.write("a.txt", "changed");
    sandbox.write("staged", "staged");
    sandbox.git(&["add", "staged"]);
    sandbox.write("staged", "and changed after");
    sandbox.git(&["rm", "--quiet", "--cached", "docs/a.md"]);
    std::fs::remove_dir_all(sandbox.path("src/deep")).unwrap();
    symlink("lib.rs", sandbox.path("src/deep")).unwrap();
    sandbox.write("run", "x");
    let runs = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(sandbox.path("run"), runs).unwrap();
    for left_out in ["ignored", ".env", ".sequester/runs.db", ".sequester/agents/a.md"] {
        sandbox.write(left_out, "not in it");
    }
    let nested = sandbox.path("nested");
    std::fs::create_dir(&nested).unwrap();
    git(&nested, &["init", "--quiet"]);
    std::fs::write(nested.join("x"), "x").unwrap();
    let index = std::fs::read(sandbox.path(".git/index")).unwrap();

    assert!(trees.start(false).unwrap().left_out);
    let start = trees.start(true).unwrap();
    assert!(!start.left_out);
    let expected = "100644 .gitignore\n100644 .sequester/agents/a.md\n100644 a.txt\n100644 docs/a.md\n\
                    100755 run\n120000 src/deep\n100644 src/lib.rs\n100644 staged";
    assert_eq!(listed(&sandbox, start.tree.as_str()), expected);
    let shown = |path: &str| sandbox.git(&["show", &format!("{}:{path}", start.tree)]);
    assert_eq!((shown("a.txt"), shown("staged")), ("changed".into(), "and changed after".into()));
    assert_eq!(shown(".sequester/agents/a.md"), "as committed");
    assert_eq!(std::fs::read(sandbox.path(".git/index")).unwrap(), index);
}

#[test]
fn without_a_commit_a_run_starts_from_nothing_or_from_what_lies_there() {
    let sandbox = Sandbox::new();
    let trees = trees(&sandbox);
    let start = trees.start(true).unwrap();
    assert_eq!((start.commit, start.left_out), (None, false));
    assert_eq!(start.tree, trees.start(false).unwrap().tree);
    sandbox.write("a.txt", "x");
    let empty = trees.start(false).unwrap();
    assert!(empty.left_out);
    assert_eq!(trees.snapshot(&empty.tree).unwrap().entries(), []);
    let full = trees.start(true).unwrap().tree;
    assert_eq!(listed(&sandbox, full.as_str()), "100644 a.txt");
    let next = trees.with_change(&empty.tree, &change(vec![write("b", "y")])).unwrap();
    let merged = clean(trees.merge(&empty.tree, &full, &next).unwrap());
    assert_eq!(listed(&sandbox, merged.as_str()), "100644 a.txt\n100644 b");
    let gone = change(vec![entry("b", None, "")]);
    assert_eq!(trees.with_change(&next, &gone).unwrap(), empty.tree);
}

/// One round of everything.
fn go_round(root: &Path) {
    let run = |arguments: &[&str]| {
        let output = git(root, arguments);
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
    };
    let trees = Trees::of(&discover(root).unwrap().unwrap(), Home::default());
    let start = trees.start(false).unwrap();
    let one = trees.with_change(&start.tree, &change(vec![write("src/one", "1\n")])).unwrap();
    let two = trees.with_change(&start.tree, &change(vec![write("src/lib.rs", "2\n")])).unwrap();
    let tree = clean(trees.merge(&start.tree, &one, &two).unwrap());
    let found = trees.between(&start.tree, &tree).unwrap();
    assert_eq!(trees.with_change(&start.tree, &found).unwrap(), tree);
    let draft = Draft {
        tree: tree.clone(),
        parent: start.commit,
        message: "both".to_owned(),
        author: None,
        at: Moment(1_000),
    };
    let commit = trees.commit(&draft).unwrap();
    trees.move_branch("sequester/x", None, &commit).unwrap();
    trees.hold(&"x".into(), std::slice::from_ref(&tree), &[]).unwrap();
    run(&["fsck", "--strict"]);
    assert_eq!(run(&["show", "sequester/x:src/one"]), "1");
    let written = root.join("../written");
    std::fs::create_dir(&written).unwrap();
    let export = trees.tree(&tree).unwrap();
    export.without(|_| false).write(&written, std::time::SystemTime::UNIX_EPOCH).unwrap();
    assert_eq!(std::fs::read_to_string(written.join("tree/src/lib.rs")).unwrap(), "2\n");
    let paths = git(&written.join("tree"), &["--git-dir=../git", "ls-files"]).stdout;
    assert_eq!(String::from_utf8(paths).unwrap().lines().count(), export.entries().len());
    std::fs::remove_dir_all(&written).unwrap();
    trees.release(&"x".into()).unwrap();
}

#[test]
fn all_of_it_works_in_every_kind_of_repository() {
    let sandbox = sample();
    let old = sandbox.outside("old");
    let sources = format!("file://{}", sandbox.root().display());
    sandbox.commit("second");
    sandbox.git(&["clone", "--quiet", "--depth=1", &sources, "../shallow"]);
    sandbox.git(&["clone", "--quiet", "--shared", ".", "../borrowing"]);
    sandbox.git(&["worktree", "add", "--quiet", old.to_str().unwrap(), "HEAD~1"]);
    for name in ["shallow", "borrowing", "old", "repo"] {
        go_round(&sandbox.outside(name));
        sandbox.git(&["update-ref", "-d", "refs/heads/sequester/x"]);
    }
    sandbox.git(&["gc", "--quiet"]);
    go_round(&sandbox.root());
    let newer = Sandbox::with(&["--object-format=sha256"]);
    newer.write("src/lib.rs", "x");
    newer.commit("first");
    go_round(&newer.root());
    // Git 2.45 brought tables of refs.
    if !git(&sandbox.root(), &["init", "--ref-format=reftable", "../probe"]).status.success() {
        return;
    }
    let tables = Sandbox::with(&["--ref-format=reftable"]);
    tables.write("src/lib.rs", "x");
    tables.commit("first");
    go_round(&tables.root());
    let commit = CommitId::new(tables.git(&["rev-parse", "HEAD"]));
    assert!(trees(&tables).move_branch("main", Some(&commit), &commit).is_err());
}

#[test]
fn a_submodule_stays_as_it_is() {
    let sandbox = sample();
    let name = sandbox.git(&["rev-parse", "HEAD"]);
    let entry_of = format!("160000,{name},sub");
    sandbox.git(&["update-index", "--add", "--cacheinfo", &entry_of]);
    sandbox.git(&["commit", "--quiet", "-m", "with a submodule"]);
    let trees = trees(&sandbox);
    let from = head(&sandbox);
    sandbox.write("sub/file", "of the submodule");
    assert_eq!(trees.start(true).unwrap().tree, from);
    for bad in [write("sub", "x"), write("sub/x", "x"), entry("sub", None, "")] {
        assert!(trees.with_change(&from, &change(vec![bad])).is_err());
    }
    let to = trees.with_change(&from, &change(vec![write("a.txt", "2")])).unwrap();
    assert_eq!(trees.between(&from, &to).unwrap().entries.len(), 1);
    let before = TreeId::new(sandbox.git(&["rev-parse", "HEAD~1^{tree}"]));
    let found = trees.between(&before, &to).unwrap();
    assert_eq!((found.entries.len(), found.refused[0].path.as_str()), (1, "sub"));
}

#[test]
fn drafts_of_objects_go_when_nobody_writes_them_any_more() {
    let sandbox = sample();
    let objects = sandbox.path(".git/objects");
    let [left, held] = ["tmp_obj_sequester_1_0", "tmp_obj_sequester_1_1"].map(|name| {
        let path = objects.join(name);
        std::fs::write(&path, "half").unwrap();
        path
    });
    let writer = std::fs::File::open(&held).unwrap();
    writer.lock().unwrap();
    trees(&sandbox).sweep();
    assert_eq!((left.exists(), held.exists()), (false, true));
    drop(writer);
    trees(&sandbox).sweep();
    assert!(!held.exists());
    assert_eq!(sandbox.git(&["fsck", "--strict"]), "");
}
