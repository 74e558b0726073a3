//! Declared paths that are written relative to another entry or to a subproject.

use plan::Action::{Change as Touch, Create, Delete, Modify, Test};

use super::super::untouched::UntouchedHint;
use super::*;

#[test]
fn a_change_whose_path_ends_with_a_declared_one_that_is_not_there_counts_as_it() {
    let task = task(&[
        ("web/locales/en.json", Modify),
        ("ru.json", Modify),
        ("src/new.ts", Create),
        ("parts", Create),
        ("tests/new.test.ts", Test),
    ]);
    let change = change(&[
        ("web/locales/en.json", Action::Modify),
        ("web/locales/ru.json", Action::Modify),
        ("web/src/new.ts", Action::Create),
        ("web/parts/a.ts", Action::Create),
        ("web/tests/new.test.ts", Action::Create),
    ]);
    let paths: Vec<&str> = change.entries.iter().map(|entry| entry.path.as_str()).collect();
    let tree = [&paths[..], &["web/parts"]].concat();
    // Another task names the whole path.
    let others = [Other { task: "2".into(), files: specs(&[("web/locales/ru.json", Modify)]) }];
    let evidence = Scene { tree: &tree, others: &others, ..Scene::of(&task, &change) }.weigh();
    assert_eq!((evidence.fails, evidence.missing, evidence.undeclared), (vec![], vec![], vec![]));
}

#[test]
fn a_path_that_names_a_file_of_the_repository_loosely_is_no_deliverable() {
    let task = task(&[("src/lib.rs", Modify), ("mod.rs", Touch), ("old.rs", Delete)]);
    let some = change(&[("docs/a.md", Action::Modify)]);
    let tree = ["docs/a.md", "a/src/lib.rs", "b/src/lib.rs", "a/mod.rs", "a/old.rs"];
    let mut scene = Scene { tree: &tree, ..Scene::of(&task, &some) };
    assert_eq!(scene.fails(), Vec::<String>::new());
    // Where nothing was changed, that is still said.
    let none = Change::default();
    scene.change = &none;
    assert_eq!(scene.weigh().missing.len(), 2);
}

#[test]
fn what_was_removed_or_not_created_is_missing_and_what_never_was_there_is_shown() {
    let task = task(&[("src/lib.rs", Modify), ("src/new.rs", Create), ("gone.rs", Modify)]);
    let mut change = change(&[("src/lib.rs", Action::Delete), ("b.rs", Action::Create)]);
    change.entries[0].mode = None;
    let tree = ["a/src/lib.rs", "a/src/new.rs", "b.rs", "bygone.rs"];
    let evidence = Scene { tree: &tree, ..Scene::of(&task, &change) }.weigh();
    let missing: Vec<&str> = evidence.missing.iter().map(|one| one.path.as_str()).collect();
    assert_eq!(missing, ["src/lib.rs", "src/new.rs"]);
    let untouched = evidence.untouched_hints.iter().map(UntouchedHint::sentence);
    assert_eq!(untouched.collect::<Vec<_>>(), ["the plan names `gone.rs`, which is not there"]);
    let extra: Vec<&str> = evidence.undeclared.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(extra, ["b.rs"]);
}
