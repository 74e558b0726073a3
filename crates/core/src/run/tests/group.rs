//! Steps of one task that run side by side: what they cost, and what stops them.

use super::stage::{Brought, Stage};
use super::walk::{begun_and_ended, beside, four_judges, step, taking};
use crate::agent;
use crate::budget::Limit;
use crate::report::{Complexity, Phase};
use crate::run::*;

/// How often a step was tried before.
fn count(seen: &mut Vec<String>, order: &Order) -> usize {
    seen.push(order.step.clone());
    seen.iter().filter(|step| **step == order.step).count() - 1
}

#[test]
fn a_person_has_only_the_step_tried_again_that_stopped_and_objections_beside_it_count() {
    for jobs in [1, 2, 4] {
        let mut stage = taking(four_judges(), &["m"]);
        stage.jobs = jobs;
        let mut seen = Vec::new();
        stage.attempt =
            Box::new(move |_, order| match (order.step.as_str(), count(&mut seen, order)) {
                ("write", _) => Brought::done(),
                ("two", 0 | 1) => Brought::ended(agent::Outcome::TimedOut),
                ("three", 0) => Brought::judged(false),
                _ => Brought::judged(true),
            });
        assert_eq!(stage.play(), Outcome::Waiting);
        assert_eq!(
            stage.tried("a")[5..],
            ["two simplified m"],
            "a stop counts more than an objection"
        );
        stage.answer("r1-1", "Go on.");
        stage.resume(&[]);
        assert_eq!(stage.play(), Outcome::Done);
        let rest = ["one first m", "two first m", "three first m", "four first m"];
        let again = [&["two answered m", "write fix m"][..], &rest].concat();
        assert_eq!(stage.tried("a")[6..], again, "{jobs}");
    }
}

#[test]
fn a_writer_that_a_person_has_tried_again_begins_anew_and_what_was_found_before_it_stands() {
    let mut stage = taking(vec![step("look", "researcher"), step("write", "writer")], &["m"]);
    let mut seen = Vec::new();
    stage.attempt =
        Box::new(move |_, order| match (order.step.as_str(), count(&mut seen, order)) {
            ("write", 0 | 1) => Brought::ended(agent::Outcome::TimedOut),
            ("write", _) => Brought::done(),
            _ => Brought { changes: false, ..Brought::done() },
        });
    assert_eq!(stage.play(), Outcome::Waiting);
    stage.answer("r1-1", "Go on.");
    stage.resume(&[]);
    assert_eq!(stage.play(), Outcome::Done);
    let tried = ["look first m", "write first m", "write simplified m", "write answered m"];
    assert_eq!(stage.tried("a"), tried);
}

#[test]
fn steps_side_by_side_share_what_is_left_however_many_there_is_room_for() {
    for jobs in [1, 2, 4] {
        let mut stage = taking(four_judges(), &["m"]);
        stage.jobs = jobs;
        stage.state.started.settings.budget = Cap { tokens: Some(41_100), price: None };
        let mut seen = Vec::new();
        stage.attempt =
            Box::new(move |_, order| match (order.step.as_str(), count(&mut seen, order)) {
                ("write", _) => Brought::done(),
                ("two" | "four", 0) => Brought::ended(agent::Outcome::Failed {
                    fault: agent::Fault::NoReport { faults: Vec::new() },
                }),
                _ => Brought::judged(true),
            });
        assert_eq!(stage.play(), Outcome::Done);
        let caps: Vec<Option<u64>> = stage.caps().into_values().collect();
        // Of the 40,000 that the writer leaves a part each; of what they leave a half for those that are tried again.
        let parts = [41_100, 10_000, 10_000, 10_000, 10_000, 17_800, 17_800].map(Some);
        assert_eq!(caps, parts, "{jobs}");
    }
}

#[test]
fn a_step_that_is_skipped_takes_no_part_of_what_is_left() {
    for jobs in [1, 4] {
        let steps = vec![
            step("write", "writer"),
            beside("good", "reviewer", &["write"]),
            beside("works", "verifier", &["write"]),
            beside("valid", "validator", &["write"]),
        ];
        let mut stage = taking(steps, &["m"]);
        stage.jobs = jobs;
        let started = &mut stage.state.started;
        started.agents.get_mut("reviewer").unwrap().models = vec![LITERAL.to_owned()];
        started.settings.budget = Cap { tokens: Some(41_100), price: None };
        assert_eq!(stage.play(), Outcome::Done);
        let caps: Vec<Option<u64>> = stage.caps().into_values().collect();
        assert_eq!(caps, [41_100, 20_000, 20_000].map(Some), "{jobs}");
    }
}

#[test]
fn steps_that_a_person_has_tried_again_run_side_by_side_whatever_each_was_tried_before() {
    let mut stage = taking(four_judges(), &["m"]);
    let mut seen = Vec::new();
    stage.attempt = Box::new(move |_, order| {
        let looped = agent::Outcome::Looped { call: "Read".to_owned(), times: 3 };
        match (order.step.as_str(), count(&mut seen, order)) {
            ("write", _) => Brought::done(),
            ("two", 0 | 1) => Brought::ended(agent::Outcome::TimedOut),
            ("four", 0) => Brought::ended(looped),
            _ => Brought::judged(true),
        }
    });
    assert_eq!(stage.play(), Outcome::Waiting);
    stage.answer("r1-1", "Go on.");
    stage.resume(&[]);
    assert_eq!(stage.play(), Outcome::Done);
    let begun = begun_and_ended(&stage);
    assert_eq!(begun[begun.len() - 4..], ["+two", "+four", "-two", "-four"]);
}

#[test]
fn more_budget_helps_a_step_that_used_up_its_part_of_it() {
    let mut stage = taking(four_judges(), &["m"]);
    stage.state.started.settings.budget = Cap { tokens: Some(5_500), price: None };
    stage.attempt = Box::new(|_, order| match order.step.as_str() {
        "write" => Brought::done(),
        "one" => Brought::ended(agent::Outcome::BudgetExhausted { limit: Limit::Tokens }),
        _ => Brought::judged(true),
    });
    assert_eq!(stage.play(), Outcome::BudgetExhausted);
    assert_eq!(stage.state.poor(), ["a".into()]);
    // Where its agent may use less than its part, more for the run does not help.
    let mut stage = taking(four_judges(), &["m"]);
    stage.state.started.settings.budget = Cap { tokens: Some(500_000), price: None };
    stage.least = ("a", 1_100);
    stage.attempt = Box::new(|_, order| match order.step.as_str() {
        "write" => Brought::done(),
        "one" => Brought::ended(agent::Outcome::BudgetExhausted { limit: Limit::Tokens }),
        _ => Brought::judged(true),
    });
    assert_eq!(stage.play(), Outcome::BudgetExhausted);
    assert_eq!(stage.state.poor(), []);
}

#[test]
fn a_step_that_uses_up_its_budget_is_told_whoever_ends_after_it() {
    let mut stage = taking(four_judges(), &["m"]);
    stage.attempt = Box::new(|_, order| match order.step.as_str() {
        "write" => Brought::done(),
        "one" => Brought::ended(agent::Outcome::BudgetExhausted { limit: Limit::Tokens }),
        _ => Brought::judged(true),
    });
    assert_eq!((stage.play(), stage.ended("a")), (Outcome::BudgetExhausted, Some(Ended::Failed)));
}

#[test]
fn all_that_were_cancelled_side_by_side_leave_the_task_cancelled() {
    let mut stage = taking(four_judges(), &["m"]);
    stage.attempt = Box::new(|_, order| match order.step.as_str() {
        "write" => Brought::done(),
        _ => Brought::ended(agent::Outcome::Cancelled),
    });
    stage.play();
    assert_eq!(stage.ended("a"), Some(Ended::Cancelled));
}

/// The steps that run side by side, by their ids.
fn groups(stage: &Stage) -> Vec<Vec<&str>> {
    let task = stage.state.task(&"a".into()).unwrap();
    let groups = stage.state.side_by_side(task).into_iter();
    groups.map(|group| group.iter().map(|step| step.id.as_str()).collect()).collect()
}

#[test]
fn a_step_that_an_analysis_may_leave_out_runs_after_it() {
    let simple =
        |id: &str| Step { when: Some(Complexity::Simple), ..beside(id, "researcher", &[]) };
    let steps = vec![
        beside("look", "researcher", &[]),
        beside("analyze", "analyzer", &[]),
        simple("left"),
        simple("right"),
        step("write", "writer"),
    ];
    let mut stage = taking(steps, &["m"]);
    assert_eq!(groups(&stage), [["look", "analyze"], ["left", "right"]]);
    stage.attempt = Box::new(|_, order| {
        let said = Said::Proceed {
            passed: None,
            complexity: Some(Complexity::Complex),
            against: Vec::new(),
        };
        let is_analysis = order.phase == Phase::Analyze;
        let said = if is_analysis { Some(said) } else { Brought::done().said };
        Brought { said, changes: order.step == "write", ..Brought::done() }
    });
    assert_eq!(stage.play(), Outcome::Done);
    assert_eq!(stage.tried("a"), ["look first m", "analyze first m", "write first m"]);
}

#[test]
fn a_step_that_needs_one_that_an_analysis_may_leave_out_runs_after_the_analysis() {
    let steps = vec![
        Step { when: Some(Complexity::Complex), ..step("look", "researcher") },
        beside("analyze", "analyzer", &[]),
        beside("more", "researcher", &["look"]),
        step("write", "writer"),
    ];
    assert_eq!(groups(&taking(steps, &["m"])), Vec::<Vec<&str>>::new());
}

#[test]
fn of_two_analyses_side_by_side_the_one_that_finds_more_counts() {
    for hard in ["one", "two"] {
        let quick = Step { when: Some(Complexity::Simple), ..step("quick", "quick-writer") };
        let long = Step { when: Some(Complexity::Complex), ..step("long", "writer") };
        let analyses = ["one", "two"].map(|id| beside(id, "analyzer", &[]));
        let mut stage = taking([&analyses[..], &[quick, long]].concat(), &["m"]);
        stage.attempt = Box::new(move |_, order| {
            let found = if order.step == hard { Complexity::Complex } else { Complexity::Simple };
            let said = Said::Proceed { passed: None, complexity: Some(found), against: Vec::new() };
            let is_analysis = order.phase == Phase::Analyze;
            let said = if is_analysis { Some(said) } else { Brought::done().said };
            Brought { said, changes: !is_analysis, ..Brought::done() }
        });
        assert_eq!(stage.play(), Outcome::Done);
        assert_eq!(stage.tried("a")[2..], ["long first m"]);
    }
}
