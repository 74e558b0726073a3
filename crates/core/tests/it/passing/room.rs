//! Which of the records that a task is handed have room in its context.

use std::collections::BTreeMap;

use sequester_core::context::{IsolatedContext, Kind, Refusal, Request, Share};
use sequester_core::id::TaskId;
use sequester_core::limits::Limits;
use sequester_core::recall::Relevance;
use sequester_core::tokens;
use sequester_testkit::{TaskText, World};

use super::{Told, plan_of, planned};
use crate::desk::{built, writer};

fn task(at: usize, needs: impl Iterator<Item = usize>) -> TaskText {
    TaskText {
        id: format!("t{at}"),
        title: format!("Build part {at}"),
        text: "Write it.".to_owned(),
        needs: needs.map(|need| format!("t{need}")).collect(),
        ..TaskText::default()
    }
}

/// Direct needs of the last task, which all need the first: that one alone is what the last task's text is about.
fn context(direct: usize, limit: usize) -> IsolatedContext {
    let last = direct + 1;
    let mut tasks = vec![task(0, 0..0)];
    tasks.extend((1..last).map(|at| task(at, 0..1)));
    tasks.push(task(last, 1..last));
    let mut told = Told::new(planned(tasks.clone(), Share::Needs, Relevance::Words));
    told.done("t0", &format!("Lanterns: {}", "oil, wicks and glass are kept. ".repeat(15)));
    for at in 1..last {
        told.done(&format!("t{at}"), &"Bread is baked at dawn, then sold. ".repeat(12));
    }
    let id = TaskId::new(format!("t{last}"));
    let handed = told.handed(id.as_str(), "Lanterns need oil, wicks and glass");
    assert_eq!(handed.chosen.len(), direct + 1, "{:?}", handed.passed_over);
    let world = World { plan: plan_of(tasks), files: BTreeMap::new(), records: Vec::new() };
    let limits = Limits { records: limit, ..Limits::default() };
    let request = Request { records: &handed, ..Request::new(&id, writer()) };
    built(&world, &limits, &request).unwrap()
}

fn shown(context: &IsolatedContext) -> Vec<&str> {
    context.manifest.records().collect()
}

fn without_room(context: &IsolatedContext) -> Vec<&str> {
    let rows = context.manifest.withheld.iter().filter(|one| one.kind == Kind::Record);
    let rows = rows.filter(|one| one.rule == Refusal::OverBudget);
    rows.map(|one| one.source.as_str()).collect()
}

#[test]
fn a_direct_need_gets_room_before_one_that_merely_matches_and_the_best_is_read_first() {
    let both = context(1, 2_000);
    assert_eq!((shown(&both), without_room(&both)), (vec!["t0/summary", "t1/summary"], vec![]));
    let tight = context(1, 200);
    assert_eq!(shown(&tight), ["t1/summary"]);
    assert_eq!(without_room(&tight), ["1 record: t0/summary"]);
}

#[test]
fn forty_direct_needs_stay_within_the_limit_and_the_rest_is_counted_and_named() {
    let crowded = context(40, 2_000);
    let rows = crowded.manifest.fragments.iter().filter(|row| row.kind == Kind::Record);
    let size: usize = rows.map(|row| tokens::count(&crowded.prompt[row.start..row.end])).sum();
    assert!((1_500..=2_000).contains(&size), "{size}");
    let shown = shown(&crowded);
    assert_eq!(shown[0], "t40/summary", "the last of the needs first: {shown:?}");
    let left = 41 - shown.len();
    let [told] = without_room(&crowded).try_into().unwrap();
    assert!(left > 20 && told.starts_with(&format!("{left} records: t")), "{told}");
    assert!(told.ends_with(&format!(" and {} more", left - 20)), "{told}");
}
