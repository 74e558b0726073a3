//! What a task costs in the repository, processor time of all processes included.
//!
//! `cargo bench -p sequester-git --bench trees` prints milliseconds per task: time that passed, and processor time.

#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::disallowed_methods)]

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use sequester_core::change::{Action, Change, Entry, Mode};
use sequester_core::id::{CommitId, RunId, TreeId};
use sequester_core::moment::Moment;
use sequester_core::repository::{Draft, Merge, Repository};
use sequester_git::{Home, Repo, Trees};

const FILES: usize = 1_000;
const TASKS: usize = 100;

fn main() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    make(&root);
    measure(&root, "with_change", |trees, base, at| {
        trees.with_change(base, &change(at, "change")).unwrap();
    });
    measure(&root, "with_change + merge (nothing beside it) + commit", |trees, base, at| {
        let tree = trees.with_change(base, &change(at, "alone")).unwrap();
        let merged = trees.merge(base, base, &tree).unwrap();
        commit(trees, clean(merged), at);
    });
    measure(&root, "2 with_change + merge (other files) + commit", |trees, base, at| {
        let one = trees.with_change(base, &change(at, "one")).unwrap();
        let two = trees.with_change(base, &change(at + 500, "two")).unwrap();
        commit(trees, clean(trees.merge(base, &one, &two).unwrap()), at);
    });
    measure(&root, "2 with_change + merge (3 files by lines) + commit", |trees, base, at| {
        let one = trees.with_change(base, &edit(at, 0, "one")).unwrap();
        let two = trees.with_change(base, &edit(at, 40, "two")).unwrap();
        commit(trees, clean(trees.merge(base, &one, &two).unwrap()), at);
    });
    measure(&root, "snapshot", |trees, base, _| drop(trees.snapshot(base).unwrap()));
    measure(&root, "with_change + between", |trees, base, at| {
        let tree = trees.with_change(base, &change(at, "between")).unwrap();
        trees.between(base, &tree).unwrap();
    });
    measure(&root, "hold", |trees, base, at| {
        let run = RunId::new(format!("r{}", at % 4));
        trees.hold(&run, std::slice::from_ref(base), &[]).unwrap();
    });
    let tip = std::cell::RefCell::new(None::<CommitId>);
    measure(&root, "commit + move_branch", |trees, base, at| {
        let made = commit(trees, base.clone(), at);
        trees.move_branch("sequester/bench", tip.borrow().as_ref(), &made).unwrap();
        tip.replace(Some(made));
    });
}

fn clean(merged: Merge) -> TreeId {
    match merged {
        Merge::Clean(tree) => tree,
        Merge::Conflict(paths) => unreachable!("{paths:?}"),
    }
}

fn commit(trees: &Trees, tree: TreeId, at: usize) -> CommitId {
    let author = Some("A <a@example.org>".to_owned());
    let (message, at) = (format!("task {at}"), Moment(at as u64 * 1_000));
    trees.commit(&Draft { tree, parent: None, message, author, at }).unwrap()
}

fn path(at: usize) -> String {
    format!("src/module{}/file{at}.rs", at % 40)
}

fn lines(at: usize) -> Vec<String> {
    (0..60).map(|line| format!("line {line} of file {at}, as long as lines are\n")).collect()
}

/// Three files of a task.
fn entries(text: impl Fn(usize) -> String, at: usize) -> Change {
    let entry = |at: usize| {
        let content = text(at % FILES).into_bytes();
        Entry {
            path: path(at % FILES),
            action: Action::Modify,
            was: Some(Mode::File),
            mode: Some(Mode::File),
            added: None,
            removed: None,
            in_patch: false,
            size: content.len() as u64,
            content,
        }
    };
    Change { entries: (0..3).map(|nth| entry(at + nth * 7)).collect(), ..Change::default() }
}

fn change(at: usize, word: &str) -> Change {
    entries(|file| format!("{word} {at}\n{}", lines(file).concat()), at)
}

fn edit(at: usize, line: usize, word: &str) -> Change {
    let text = |file| {
        let mut lines = lines(file);
        lines[line] = format!("{word} {at}\n");
        lines.concat()
    };
    entries(text, at)
}

fn git(root: &Path, arguments: &[&str]) {
    let identity = ["-c", "user.name=A", "-c", "user.email=a@example.org"];
    let done = Command::new("git").args(identity).args(arguments).current_dir(root).status();
    assert!(done.unwrap().success());
}

/// A repository whose objects are packed, as after a clone.
fn make(root: &Path) {
    git(root, &["init", "--quiet"]);
    for at in 0..FILES {
        let path = root.join(path(at));
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, lines(at).concat()).unwrap();
    }
    git(root, &["add", "--all"]);
    git(root, &["commit", "--quiet", "-m", "first"]);
    git(root, &["gc", "--quiet"]);
}

fn measure(root: &Path, what: &str, task: impl Fn(&Trees, &TreeId, usize)) {
    let repo = Repo::discover(root, &std::env::var_os("PATH").unwrap()).unwrap().unwrap();
    let trees = Trees::of(&repo, Home::default());
    let base = trees.start(false).unwrap().tree;
    let (started, before) = (Instant::now(), processor());
    for at in 0..TASKS {
        task(&trees, &base, at);
    }
    let passed = started.elapsed().as_secs_f64();
    // Processes that read objects count when they have ended.
    drop((trees, repo));
    let used = processor() - before;
    let per = 1_000.0 / TASKS as f64;
    println!("{what:<52} {:7.2} ms passed {:7.2} ms processor", passed * per, used * per);
}

/// Seconds that this process and its children used, by the kernel's clock of 100 ticks.
fn processor() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let after_name = stat.rsplit_once(')').unwrap().1;
    let figures: Vec<f64> =
        after_name.split_whitespace().skip(11).take(4).map(|one| one.parse().unwrap()).collect();
    figures.iter().sum::<f64>() / 100.0
}
