//! Of few records: which are shown, and why others are not.

use sequester_core::context::{Refusal, Share};
use sequester_core::recall::Relevance;
use sequester_core::record::Handed;
use sequester_core::run::Started;

use super::{Told, begun};

/// Four tasks, the last of which needs the three before it, and what it is handed.
fn of_three(text: &str, change: impl Fn(&mut Started)) -> Handed {
    let mut started =
        begun(&[vec![], vec![], vec![], vec![0, 1, 2]], Share::Needs, Relevance::Words);
    change(&mut started);
    let mut told = Told::new(started);
    told.done("t0", "The lantern is lit at dusk.");
    told.done("t1", "Bread is baked at dawn.");
    told.done("t2", "Sheep are counted at night.");
    told.handed("t3", text)
}

fn ids(handed: &Handed) -> Vec<&str> {
    handed.chosen.iter().map(|one| &*one.record.id).collect()
}

#[test]
fn in_a_small_plan_the_record_that_plainly_matches_is_the_only_one_shown() {
    let handed = of_three("Put the lantern out\n\nIt is lit too early.", |_| {});
    assert_eq!(ids(&handed), ["t0/summary"]);
    assert!(handed.chosen[0].score.is_some_and(|score| score >= 1.0), "{handed:?}");
    assert_eq!(handed.passed_over, [(Refusal::Unrelated, 2)]);
}

#[test]
fn where_nothing_matches_well_what_is_needed_comes_by_what_little_matches_and_then_the_last() {
    let handed = of_three("Sweep the yard\n\nBefore the lantern burns.", |_| {});
    assert_eq!(ids(&handed), ["t0/summary", "t2/summary"]);
    let why: Vec<&str> = handed.chosen.iter().map(|one| one.why.as_str()).collect();
    assert_eq!(
        why,
        [
            "lantern; nothing matched better, and the task needs the one that left it",
            "nothing matched; the task needs the one that left it"
        ]
    );
    assert_eq!(handed.passed_over, [(Refusal::Unrelated, 1)]);
    assert_eq!(ids(&of_three("Sweep the yard", |_| {})), ["t2/summary", "t1/summary"]);
}

#[test]
fn why_a_record_is_not_shown_is_said_as_it_is() {
    let text = "Put the lantern out\n\nIt is lit too early, and bread goes with it.";
    let handed = of_three(text, |_| {});
    assert_eq!(handed.passed_over, [(Refusal::Slight, 1), (Refusal::Unrelated, 1)]);
    let off = of_three(text, |started| started.settings.relevance = Relevance::Off);
    assert_eq!(off.passed_over, [(Refusal::RelevanceIsOff, 1)]);
    assert_eq!(off.chosen[0].why, "the task needs the one that left it");
    let none = of_three(text, |started| started.settings.records.summaries = false);
    assert_eq!((ids(&none), &none.passed_over[..]), (vec![], &[(Refusal::SwitchedOff, 3)][..]));
}
