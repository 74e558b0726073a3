//! Which records a task is given, and why it is not given others.

use sequester_core::context::{Refusal, Share};
use sequester_core::recall::Relevance;
use sequester_core::record::Handed;
use sequester_core::run::Started;

use super::{Told, begun};

const THREE: [&str; 3] =
    ["The lantern is lit at dusk.", "Bread is baked at dawn.", "Sheep are counted at night."];

/// What the last task is handed after these summaries.
fn handed(
    needs: &[Vec<usize>],
    summaries: &[&str],
    text: &str,
    change: impl Fn(&mut Started),
) -> Handed {
    let mut started = begun(needs, Share::Needs, Relevance::Words);
    change(&mut started);
    let mut told = Told::new(started);
    for (at, summary) in summaries.iter().enumerate() {
        told.done(&format!("t{at}"), summary);
    }
    told.handed(&format!("t{}", summaries.len()), text)
}

/// The last of four tasks needs the three before it.
fn of_three(text: &str, change: impl Fn(&mut Started)) -> Handed {
    handed(&[vec![], vec![], vec![], vec![0, 1, 2]], &THREE, text, change)
}

/// Each task needs the one before it.
fn of_chain(summaries: &[&str], text: &str, change: impl Fn(&mut Started)) -> Handed {
    let need = |at: usize| at.checked_sub(1).into_iter().collect();
    let needs: Vec<Vec<usize>> = (0..=summaries.len()).map(need).collect();
    handed(&needs, summaries, text, change)
}

/// Twelve summaries, so that a stray word is too little.
fn twelve() -> Vec<&'static str> {
    let others = ["Wool is spun", "Ropes are tied", "Nets are mended", "Masts are set"];
    THREE.into_iter().chain(others).chain(["Tar is boiled"; 5]).collect()
}

fn seed(started: &mut Started) {
    started.settings.relevance = Relevance::Seed;
}

fn off(started: &mut Started) {
    started.settings.relevance = Relevance::Off;
}

fn ids(handed: &Handed) -> Vec<&str> {
    handed.chosen.iter().map(|one| &*one.record.id).collect()
}

fn why(handed: &Handed) -> Vec<&str> {
    handed.chosen.iter().map(|one| one.why.as_str()).collect()
}

const NEEDED: &str = "the task needs the one that left it";

#[test]
fn summaries_of_direct_needs_come_by_what_matches_and_then_the_last() {
    let handed = of_three("Put the lantern out\n\nIt is lit too early.", |_| {});
    assert_eq!(ids(&handed), ["t0/summary", "t2/summary", "t1/summary"]);
    assert!(handed.chosen[0].score.is_some_and(|score| score >= 1.0), "{handed:?}");
    assert_eq!(why(&handed), ["lantern, lit", NEEDED, NEEDED]);
    assert_eq!(handed.passed_over, []);
}

#[test]
fn in_a_small_plan_any_evidence_brings_a_record_of_an_ancestor() {
    let text = "Sweep the yard\n\nBefore the lantern burns.";
    let handed = of_chain(&THREE, text, |_| {});
    assert_eq!(ids(&handed), ["t2/summary", "t0/summary"]);
    assert_eq!(why(&handed), [NEEDED, "lantern"]);
    assert_eq!(handed.passed_over, [(Refusal::Unrelated, 1)]);
}

#[test]
fn among_many_records_a_stray_word_is_too_little_but_not_for_a_direct_need() {
    let mut summaries = twelve();
    let text = "Sweep the yard\n\nBefore the lantern burns.";
    let handed = of_chain(&summaries, text, |_| {});
    assert_eq!(ids(&handed), ["t11/summary", "t10/summary"]);
    assert_eq!(why(&handed)[1], "nothing matched; it is one of the latest");
    assert_eq!(handed.passed_over, [(Refusal::Slight, 1), (Refusal::Unrelated, 9)]);

    summaries[11] = "A lantern is hung.";
    let handed = of_chain(&summaries, text, |_| {});
    assert_eq!(ids(&handed), ["t11/summary", "t10/summary"]);
    assert_eq!(why(&handed)[0], format!("lantern; {NEEDED}"));
}

#[test]
fn where_nothing_matches_the_last_two_of_all_ancestors_are_given() {
    for change in [|_: &mut Started| {}, seed] {
        let handed = of_chain(&THREE, "Sweep the yard", change);
        assert_eq!(ids(&handed), ["t2/summary", "t1/summary"]);
        assert_eq!(handed.passed_over, [(Refusal::Unrelated, 1)]);
    }
    let handed = of_chain(&THREE[..1], "Sweep the yard", |_| {});
    assert_eq!(ids(&handed), ["t0/summary"]);
}

#[test]
fn the_seeds_rule_knows_no_needs_and_relevance_that_is_off_nothing_else() {
    let text = "Put the lantern out\n\nIt is lit too early.";
    let by_seed = of_three(text, seed);
    assert_eq!(ids(&by_seed), ["t0/summary"]);
    assert_eq!(by_seed.passed_over, [(Refusal::Unrelated, 2)]);
    let by_needs = of_chain(&THREE, text, off);
    assert_eq!((ids(&by_needs), why(&by_needs)), (vec!["t2/summary"], vec![NEEDED]));
    assert_eq!(by_needs.passed_over, [(Refusal::RelevanceIsOff, 2)]);
    let all = of_three(text, off);
    assert_eq!(ids(&all), ["t2/summary", "t1/summary", "t0/summary"]);
}

#[test]
fn what_matches_beyond_three_is_passed_over_and_a_kind_may_be_switched_off() {
    let text = "Lanterns, bread, sheep and wool";
    let summaries = [&THREE[..], &["Wool is spun.", "Tar is boiled."]].concat();
    let handed = of_chain(&summaries, text, |_| {});
    assert_eq!(handed.chosen.len(), 4, "three that match, and the direct need");
    assert_eq!(ids(&handed)[0], "t4/summary");
    assert_eq!(handed.passed_over, [(Refusal::PassedOver, 1)]);
    let none = of_three(text, |started| started.settings.records.summaries = false);
    assert_eq!((ids(&none), &none.passed_over[..]), (vec![], &[(Refusal::SwitchedOff, 3)][..]));
}
