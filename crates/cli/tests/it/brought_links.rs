//! Links that a repository brings in `.sequester`: nothing of ours follows them, and what they lead to stays as it was.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use crate::command::{Bench, FILES};

/// All that is beneath a folder, with the time that each was last changed.
fn all(folder: &Path) -> BTreeMap<PathBuf, (Vec<u8>, std::time::SystemTime)> {
    let mut found = BTreeMap::new();
    let mut waiting = vec![folder.to_owned()];
    while let Some(folder) = waiting.pop() {
        for entry in fs::read_dir(folder).unwrap().flatten() {
            let (path, about) = (entry.path(), entry.metadata().unwrap());
            let content = if about.is_dir() {
                waiting.push(path.clone());
                Vec::new()
            } else {
                fs::read(&path).unwrap()
            };
            found.insert(path, (content, about.modified().unwrap()));
        }
    }
    found
}

/// A folder of the person's, with a file of the kind that is swept away, and one that is none.
fn persons(bench: &Bench) -> PathBuf {
    let folder = bench.path("persons");
    fs::create_dir(&folder).unwrap();
    for name in ["0123456789abcdef".repeat(4).as_str(), "gate", "letter.txt"] {
        fs::write(folder.join(name), "mine\n").unwrap();
    }
    folder
}

const TASK: &str = "Create `made.txt`:\n\n```text\nmade\n```\n";

/// What writes something of ours.
fn use_it(bench: &Bench) {
    for words in [
        &["task", TASK, "--agent", "writer", "--model", "literal"][..],
        &["gc", "--older-than", "0"],
        &["init"],
        &["notes", "init"],
        &["status"],
        &["inbox"],
        &["trust", "--yes"],
        &["gc"],
    ] {
        let _ = bench.run(words);
    }
}

#[test]
fn a_link_among_our_files_leads_nobody_out() {
    for name in
        ["store.db-leases", "store.db", "git", "notes.lock", "NOTES.md", ".gitignore", "agents"]
    {
        let bench = Bench::with(&FILES);
        let folder = persons(&bench);
        fs::create_dir_all(bench.repo().join(".sequester")).unwrap();
        let is_folder = ["store.db-leases", "git", "agents"].contains(&name);
        let target = if is_folder { folder.clone() } else { folder.join("letter.txt") };
        symlink(&target, bench.repo().join(".sequester").join(name)).unwrap();
        let before = all(&folder);
        use_it(&bench);
        assert_eq!(all(&folder), before, "{name}");
    }
}

#[test]
fn a_link_in_the_place_of_our_folder_leads_nobody_out() {
    let bench = Bench::with(&FILES);
    let folder = persons(&bench);
    symlink(&folder, bench.repo().join(".sequester")).unwrap();
    let before = all(&folder);
    use_it(&bench);
    assert_eq!(all(&folder), before);
}

#[test]
fn a_folder_that_brings_a_link_to_another_repository_writes_nothing_there() {
    let (bench, other) = (Bench::with(&FILES), Bench::with(&FILES));
    fs::remove_dir_all(bench.repo().join(".git")).unwrap();
    fs::create_dir_all(bench.repo().join(".sequester")).unwrap();
    let git = other.repo().join(".git");
    symlink(&git, bench.repo().join(".sequester/git")).unwrap();
    let before = all(&git);
    use_it(&bench);
    assert_eq!(all(&git), before);
    // Once the link is gone, the same folder can be worked in.
    fs::remove_file(bench.repo().join(".sequester/git")).unwrap();
    let done = bench.run(&["task", TASK, "--agent", "writer", "--model", "literal"]);
    assert_eq!(done.code, Some(0), "{done:?}");
}
