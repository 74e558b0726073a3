//! Merges and changes of random trees, with git as the judge.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Command, Stdio};

use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use sequester_core::change::{Change, Entry, Mode};
use sequester_core::id::TreeId;
use sequester_core::repository::{Merge, Repository};

use crate::sandbox::{Sandbox, git, search_path};
use crate::trees::{change, entry, trees};

type Files = BTreeMap<String, (Mode, Vec<u8>)>;

/// Names that sort differently as files and as folders, and can be both.
fn paths() -> impl Strategy<Value = String> {
    let part = prop_oneof![Just("a"), Just("a-b"), Just("a.b"), Just("a0"), Just("b"), Just("é")];
    prop::collection::vec(part, 1..4).prop_map(|parts| parts.join("/"))
}

fn contents() -> impl Strategy<Value = (Mode, Vec<u8>)> {
    let mode = prop_oneof![4 => Just(Mode::File), 1 => Just(Mode::Executable)];
    let text = prop::collection::vec(prop_oneof![Just("x\n"), Just("y\n"), Just("z")], 0..6);
    let bytes = prop_oneof![
        4 => text.prop_map(|lines| lines.concat().into_bytes()),
        1 => prop::collection::vec(any::<u8>(), 0..40),
    ];
    let link = (Just(Mode::Link), "[a-z]{1,5}".prop_map(String::into_bytes));
    prop_oneof![6 => (mode, bytes), 1 => link]
}

/// Nothing that is a file and a folder.
fn files() -> impl Strategy<Value = Files> {
    prop::collection::btree_map(paths(), contents(), 0..12).prop_map(settle)
}

fn settle(mut files: Files) -> Files {
    let paths: Vec<String> = files.keys().map(|file| format!("{file}/")).collect();
    files.retain(|path, _| !paths.iter().any(|file| path.starts_with(file)));
    files
}

fn feed(sandbox: &Sandbox, index: &str, arguments: &[&str], input: &[u8]) -> String {
    let mut command = Command::new("git");
    command.args(arguments).current_dir(sandbox.root()).env_clear();
    command.env("PATH", search_path()).env("GIT_INDEX_FILE", sandbox.outside(index));
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
}

/// The tree of these files, as git writes it.
fn git_tree(sandbox: &Sandbox, files: &Files) -> TreeId {
    let mut lines = String::new();
    for (path, (mode, bytes)) in files {
        let blob = feed(sandbox, "index", &["hash-object", "-w", "--stdin"], bytes);
        let _ = write!(lines, "{} {blob}\t{path}\0", mode.as_str());
    }
    let _ = std::fs::remove_file(sandbox.outside("index"));
    feed(sandbox, "index", &["update-index", "-z", "--index-info"], lines.as_bytes());
    TreeId::new(feed(sandbox, "index", &["write-tree"], b""))
}

fn all(files: &Files) -> Change {
    change(files.iter().map(|(path, (mode, bytes))| entry(path, Some(*mode), bytes)).collect())
}

/// What of an entry counts: its path, its modes before and after, its content.
type Core = (String, Option<Mode>, Option<Mode>, Vec<u8>);

fn core(change: &Change) -> Vec<Core> {
    let one = |entry: &Entry| (entry.path.clone(), entry.was, entry.mode, entry.content.clone());
    change.entries.iter().map(one).collect()
}

/// What leads from some files to others, counted by hand.
fn expected(from: &Files, to: &Files) -> Vec<Core> {
    let mut paths: Vec<&String> = from.keys().chain(to.keys()).collect();
    paths.sort();
    paths.dedup();
    let differs = paths.into_iter().filter(|path| from.get(*path) != to.get(*path));
    let one = |path: &String| {
        let (was, is) = (from.get(path), to.get(path));
        let content = is.map(|is| is.1.clone()).unwrap_or_default();
        (path.clone(), was.map(|was| was.0), is.map(|is| is.0), content)
    };
    differs.map(one).collect()
}

fn runner(cases: u32) -> TestRunner {
    let config = ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() };
    let rng =
        prop::test_runner::TestRng::deterministic_rng(prop::test_runner::RngAlgorithm::ChaCha);
    TestRunner::new_with_rng(config, rng)
}

#[test]
fn changes_and_trees_lead_to_each_other() {
    let sandbox = Sandbox::new();
    let trees = trees(&sandbox);
    let empty = trees.start(false).unwrap().tree;
    let case = |(from, to): (Files, Files)| {
        let written = [git_tree(&sandbox, &from), git_tree(&sandbox, &to)];
        prop_assert_eq!(&trees.with_change(&empty, &all(&from)).unwrap(), &written[0]);
        let found = trees.between(&written[0], &written[1]).unwrap();
        prop_assert_eq!(core(&found), expected(&from, &to));
        prop_assert_eq!(&trees.with_change(&written[0], &found).unwrap(), &written[1]);
        prop_assert!(found.entries.iter().all(|entry| entry.in_patch), "{}", found.patch);
        let _ = std::fs::remove_file(sandbox.outside("index"));
        feed(&sandbox, "index", &["read-tree", written[0].as_str()], b"");
        if !found.patch.is_empty() {
            feed(&sandbox, "index", &["apply", "--cached", "-"], found.patch.as_bytes());
        }
        let applied = feed(&sandbox, "index", &["write-tree"], b"");
        prop_assert_eq!(&applied, written[1].as_str());
        Ok(())
    };
    runner(40).run(&(files(), files()), case).unwrap();
}

/// Some of the files, changed: other lines, gone, or new beside them.
fn edited(base: &Files, edits: &[(usize, Edit)], side: &str) -> Files {
    let mut files = base.clone();
    for (at, edit) in edits {
        let path = base.keys().nth(at % base.len().max(1)).cloned().unwrap_or_default();
        match edit {
            Edit::Line(line) => {
                if let Some((Mode::File, bytes)) = files.get_mut(&path) {
                    let mut lines: Vec<String> =
                        String::from_utf8_lossy(bytes).lines().map(str::to_owned).collect();
                    let line = line % lines.len().max(1);
                    if let Some(text) = lines.get_mut(line) {
                        *text = format!("{side} {text}");
                    }
                    *bytes = (lines.join("\n") + "\n").into_bytes();
                }
            }
            Edit::Gone => drop(files.remove(&path)),
            Edit::Runs => {
                if let Some((mode @ Mode::File, _)) = files.get_mut(&path) {
                    *mode = Mode::Executable;
                }
            }
            Edit::New(path, same) => {
                let content = if *same { "same\n".to_owned() } else { format!("{side}\n") };
                files.insert(path.clone(), (Mode::File, content.into_bytes()));
            }
        }
    }
    settle(files)
}

#[derive(Clone, Debug)]
enum Edit {
    Line(usize),
    Gone,
    Runs,
    New(String, bool),
}

fn edits() -> impl Strategy<Value = Vec<(usize, Edit)>> {
    let edit = prop_oneof![
        5 => (0_usize..24).prop_map(Edit::Line),
        1 => Just(Edit::Gone),
        1 => Just(Edit::Runs),
        1 => (paths(), any::<bool>()).prop_map(|(path, same)| Edit::New(path, same)),
    ];
    prop::collection::vec((0_usize..8, edit), 1..4)
}

/// Files whose lines are all different: where lines repeat there is more than one good answer.
fn base() -> impl Strategy<Value = Files> {
    let lines = |path: &String| {
        let lines: Vec<String> = (0..24).map(|at| format!("{path} {at}\n")).collect();
        lines.concat()
    };
    prop::collection::btree_set(paths(), 1..6).prop_map(move |paths| {
        let file = |path: String| (path.clone(), (Mode::File, lines(&path).into_bytes()));
        settle(paths.into_iter().map(file).collect())
    })
}

/// What `git merge-tree` makes of it, over commits, as every version takes them; nothing if there are conflicts.
fn git_merge(sandbox: &Sandbox, base: &TreeId, ours: &TreeId, theirs: &TreeId) -> Option<String> {
    let root = sandbox.git(&["commit-tree", "-m", "base", base.as_str()]);
    let side =
        |tree: &TreeId| sandbox.git(&["commit-tree", "-m", "side", "-p", &root, tree.as_str()]);
    let (ours, theirs) = (side(ours), side(theirs));
    let arguments =
        ["-c", "merge.renames=false", "merge-tree", "--write-tree", "--name-only", &ours, &theirs];
    let output = git(&sandbox.root(), &arguments);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(matches!(output.status.code(), Some(0 | 1)), "{text}");
    output.status.success().then(|| text.trim_end().to_owned())
}

#[test]
fn a_merge_is_what_git_makes_of_it() {
    let sandbox = Sandbox::new();
    let trees = trees(&sandbox);
    let (clean, conflicts) = (std::cell::Cell::new(0), std::cell::Cell::new(0));
    let case = |(base, ours, theirs): (Files, Vec<_>, Vec<_>)| {
        let [base, ours, theirs] =
            [base.clone(), edited(&base, &ours, "ours"), edited(&base, &theirs, "theirs")]
                .map(|files| git_tree(&sandbox, &files));
        let merged = trees.merge(&base, &ours, &theirs).unwrap();
        match (&merged, git_merge(&sandbox, &base, &ours, &theirs)) {
            (Merge::Clean(tree), Some(other)) => {
                prop_assert_eq!(tree.as_str(), other);
                clean.set(clean.get() + 1);
            }
            (Merge::Conflict(paths), None) => {
                prop_assert!(!paths.is_empty() && paths.is_sorted());
                conflicts.set(conflicts.get() + 1);
            }
            (merged, other) => prop_assert!(false, "{:?} {:?}", merged, other),
        }
        // The other way round it is the same.
        let swapped = trees.merge(&base, &theirs, &ours).unwrap();
        prop_assert_eq!(swapped, merged);
        Ok(())
    };
    runner(60).run(&(base(), edits(), edits()), case).unwrap();
    assert!(clean.get() > 20 && conflicts.get() > 5, "{clean:?} {conflicts:?}");
}

#[test]
fn conflicts_are_named_and_nothing_is_guessed() {
    let sandbox = Sandbox::new();
    let trees = trees(&sandbox);
    let text = (0..20).map(|at| format!("{at}\n")).collect::<Vec<_>>().concat();
    let empty = trees.start(false).unwrap().tree;
    let file = |path: &str, text: &str| entry(path, Some(Mode::File), text);
    let gone = |path: &str| entry(path, None, "");
    let put = |on: &TreeId, entries: Vec<Entry>| trees.with_change(on, &change(entries)).unwrap();
    let base = put(&empty, vec![file("a", &text), file("b", &text), file("d/e", "x\n")]);
    let first = text.replacen("0\n", "zero\n", 1);
    let last = text.replacen("19\n", "nineteen\n", 1);
    for (ours, theirs, conflicts) in [
        (vec![file("a", &first)], vec![file("a", &last)], ""),
        (vec![file("a", &first)], vec![file("a", &text.replacen("0\n", "null\n", 1))], "a"),
        // What one renamed and the other changed is no guess.
        (vec![gone("a"), file("c", &text)], vec![file("a", &last)], "a"),
        (vec![gone("a")], vec![gone("a"), file("a/x", "x")], ""),
        (vec![file("n", "1")], vec![file("n/x", "2")], "n"),
        (vec![file("n", "1"), gone("b")], vec![file("n", "2"), file("b", &last)], "b n"),
        (vec![file("n", "")], vec![file("n", "2")], ""),
        (vec![entry("n", Some(Mode::Link), "1")], vec![entry("n", Some(Mode::Link), "2")], "n"),
        (
            vec![entry("n", Some(Mode::File), b"\0a")],
            vec![entry("n", Some(Mode::File), b"\0b")],
            "n",
        ),
        (vec![gone("d/e"), file("d/f", "x")], vec![gone("d/e"), file("d", "x")], "d"),
        (vec![gone("d/e")], vec![gone("d/e"), file("d", "x")], ""),
        (vec![entry("a", Some(Mode::Executable), &first)], vec![file("a", &last)], ""),
    ] {
        let (ours, theirs) = (put(&base, ours), put(&base, theirs));
        match trees.merge(&base, &ours, &theirs).unwrap() {
            Merge::Clean(_) => assert_eq!(conflicts, ""),
            Merge::Conflict(paths) => assert_eq!(paths.join(" "), conflicts),
        }
    }
    assert_eq!(trees.merge(&base, &base, &empty).unwrap(), Merge::Clean(empty.clone()));
    assert_eq!(trees.merge(&base, &empty, &base).unwrap(), Merge::Clean(empty.clone()));
    assert_eq!(trees.merge(&base, &empty, &empty).unwrap(), Merge::Clean(empty));
    let left: Vec<_> = std::fs::read_dir(sandbox.path(".git/objects")).unwrap().collect();
    let is_draft = |name: &std::ffi::OsStr| name.to_string_lossy().starts_with("tmp_");
    assert!(!left.iter().any(|one| is_draft(&one.as_ref().unwrap().file_name())));
}
