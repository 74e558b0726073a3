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
