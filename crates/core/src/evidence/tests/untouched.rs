//! Files that prose mentions, and changes of nothing.

use super::*;
use crate::run::HintSpec;

#[test]
fn a_mentioned_file_is_told_and_nothing_is_refused_for_it() {
    use plan::Action::{Change as Touch, Read};
    let hints = specs(&[("cart.rs", Touch), ("gone.rs", Touch), ("old.rs", Touch), ("a.md", Read)]);
    let task = TaskSpec { hints: hints.into_iter().map(HintSpec).collect(), ..task(&[]) };
    let change = change(&[("src/cart.rs", Action::Modify)]);
    let scene = Scene { tree: &["src/cart.rs", "src/old.rs", "a.md"], ..Scene::of(&task, &change) };
    let evidence = scene.weigh();
    assert_eq!((evidence.fails, evidence.missing, evidence.undeclared), (vec![], vec![], vec![]));
    let told: Vec<_> = evidence.untouched_hints.iter().map(UntouchedHint::sentence).collect();
    let wanted = [
        "the plan names `gone.rs`, which is not there",
        "the plan names `old.rs`, which this change does not touch",
    ];
    assert_eq!(told, wanted);
    let others = [Other { task: "2".into(), files: Vec::new() }];
    assert!(Scene { others: &others, ..scene }.weigh().passed(), "hints of others declare nothing");
}

#[test]
fn an_empty_change_needs_a_reason_where_a_change_is_wanted() {
    let (plain, none) = (task(&[]), change(&[]));
    let claims = |files: &[&str]| {
        let files_changed = files.iter().map(|file| (*file).to_owned()).collect();
        report(Findings::Write(Claimed { files_changed, tests_written: Vec::new() }))
    };
    let weigh = |task: &TaskSpec, report: &Report| {
        let scene = Scene { report: Some(report), ..Scene::of(task, &none) };
        let evidence = scene.weigh();
        (evidence.passed(), evidence.empty_change.map(|empty| empty.reason))
    };
    let silent = Report { context_summary: "Did it.".to_owned(), ..claims(&[]) };
    assert_eq!(weigh(&plain, &silent), (false, Some(None)));
    let looks = TaskSpec { title: "Run the tests".to_owned(), ..plain.clone() };
    assert_eq!(weigh(&looks, &silent), (true, None));
    let why = "It is there already.".to_owned();
    for reasoned in [
        Report { issues: vec![why.clone()], ..silent.clone() },
        Report { context_summary: why.clone(), ..silent.clone() },
    ] {
        assert_eq!(weigh(&plain, &reasoned), (true, Some(Some(why.clone()))));
    }
    let lie = Report { issues: vec![why], ..claims(&["src/cart.rs"]) };
    assert_eq!(weigh(&plain, &lie), (false, Some(None)), "it claims a change");
}

#[test]
fn who_only_looks_may_name_no_file_of_the_tree_as_changed() {
    let none = change(&[]);
    let claims = |path: &str| {
        let files_changed = vec![path.to_owned()];
        report(Findings::Write(Claimed { files_changed, tests_written: Vec::new() }))
    };
    let looks = TaskSpec { title: "Run pnpm install to update it".to_owned(), ..task(&[]) };
    let weigh = |path: &str| {
        let report = claims(path);
        let tree: &[&str] = &["pnpm-lock.yaml"];
        Scene { tree, report: Some(&report), ..Scene::of(&looks, &none) }.weigh()
    };
    let lie = weigh("pnpm-lock.yaml");
    assert!(lie.fails[0].sentence.contains("the report names changed files"), "{:?}", lie.fails);
    assert!(weigh("dist/app.js").passed(), "git may ignore it");
}

#[test]
fn a_task_that_runs_declared_tests_may_leave_them_alone() {
    let none = change(&[]);
    let done = report(Findings::Write(Claimed { files_changed: vec![], tests_written: vec![] }));
    let files = [("tests/a.py", plan::Action::Test)];
    let weigh = |title: &str| {
        let task = TaskSpec { title: title.to_owned(), ..task(&files) };
        let tree: &[&str] = &["tests/a.py"];
        Scene { tree, report: Some(&done), ..Scene::of(&task, &none) }.weigh().passed()
    };
    assert!(weigh("Full verification") && !weigh("Add a cart"));
}

#[test]
fn a_conditional_task_takes_its_summary_for_a_reason() {
    let none = change(&[]);
    let said = Report {
        context_summary: "Grep finds no use of it.".to_owned(),
        ..report(Findings::Write(Claimed { files_changed: vec![], tests_written: vec![] }))
    };
    let weigh = |title: &str| {
        let task = TaskSpec { title: title.to_owned(), ..task(&[]) };
        Scene { report: Some(&said), ..Scene::of(&task, &none) }.weigh().passed()
    };
    assert!(weigh("Remove the flag if present") && !weigh("Remove the flag"));
}

#[test]
fn a_claim_may_name_a_directory_or_both_paths_of_a_rename() {
    let task = task(&[]);
    let change = change(&[
        ("src/cli/a.rs", Action::Create),
        ("b.rs", Action::Delete),
        ("c.rs", Action::Create),
    ]);
    let weigh = |path: &str| {
        let files_changed = vec![path.to_owned()];
        let report = report(Findings::Write(Claimed { files_changed, tests_written: Vec::new() }));
        Scene { report: Some(&report), ..Scene::of(&task, &change) }.weigh().contradictions.len()
    };
    for path in ["src/", "src/cli", "b.rs -> c.rs", "b.rs → c.rs"] {
        assert_eq!(weigh(path), 0, "{path}");
    }
    for path in ["sr", "src/lib", "b.rs -> d.rs"] {
        assert_eq!(weigh(path), 1, "{path}");
    }
}

#[test]
fn tests_that_fail_as_their_section_says_speak_against_nothing() {
    use crate::plan::TaskWording;
    let change = change(&[("tests/test_cart.py", Action::Create)]);
    let wording = TaskWording { expects_failing_tests: true, ..TaskWording::default() };
    let title = "Contract test for the cart".to_owned();
    let red = TaskSpec { title, wording, ..task(&[]) };
    let failing = [ran(Kind::Tests, 1, Some((3, 1)), Some((0, Some((3, 0)))))];
    assert!(Scene { checks: &failing, ..Scene::of(&red, &change) }.weigh().passed());
    let plain = TaskSpec { wording: TaskWording::default(), ..red.clone() };
    assert!(!Scene { checks: &failing, ..Scene::of(&plain, &change) }.weigh().passed());
}
