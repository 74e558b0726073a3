use super::stage::{Brought, Stage, started, task};
use crate::agent;
use crate::budget::Limit;
use crate::run::*;

/// A run of tasks of two attempts, 1,100 tokens each, that has so many tokens.
fn play(tasks: Vec<TaskSpec>, tokens: u64) -> (Outcome, Stage) {
    let mut all = started(tasks, &["m"]);
    all.settings.budget = Cap { tokens: Some(tokens), price: None };
    let mut stage = Stage::new(all);
    (stage.play(), stage)
}

fn cap(stage: &Stage, task: &str, attempt: u32) -> Option<u64> {
    stage.caps().get(&(task.to_owned(), attempt)).copied().flatten()
}

#[test]
fn tasks_that_need_nothing_have_equal_parts() {
    let tasks = ["a", "b", "c", "d"].map(|id| task(id, &[])).to_vec();
    let (outcome, stage) = play(tasks, 12_000);
    assert_eq!(outcome, Outcome::Done);
    for id in ["a", "b", "c", "d"] {
        assert_eq!((cap(&stage, id, 1), cap(&stage, id, 2)), (Some(3_000), Some(1_900)), "{id}");
    }
}

#[test]
fn a_task_that_all_others_wait_for_has_all_of_it_and_they_what_it_leaves() {
    let tasks = vec![task("a", &[]), task("b", &["a"]), task("c", &["a"]), task("d", &["c"])];
    let (outcome, stage) = play(tasks, 11_200);
    assert_eq!(outcome, Outcome::Done);
    let first = ["a", "b", "c", "d"].map(|id| cap(&stage, id, 1));
    // Of the 9,000 that `a` leaves a third is for `b`, two for `c` and `d`, which come one after the other.
    assert_eq!(first, [Some(11_200), Some(3_000), Some(6_000), Some(3_800)]);
}

#[test]
fn what_is_left_out_takes_no_part_and_holds_nothing_back() {
    let mut tasks = vec![task("a", &[]), task("b", &[]), task("c", &["b"])];
    for spec in &mut tasks[..2] {
        spec.left_out = Some("It is done already.".to_owned());
    }
    let (outcome, stage) = play(tasks, 5_000);
    assert_eq!((outcome, cap(&stage, "c", 1)), (Outcome::Done, Some(5_000)));
}

#[test]
fn what_others_left_is_parted_anew_when_a_run_is_taken_up_again() {
    let tasks =
        vec![task("a", &[]), TaskSpec { workflow: "pipeline".to_owned(), ..task("b", &[]) }];
    let (outcome, mut stage) = play(tasks, 6_600);
    assert_eq!((outcome, stage.ended("b")), (Outcome::BudgetExhausted, None));
    assert_eq!(stage.state.cost.usage.total(), 2_200 + 3_300);
    stage.resume(&[]);
    assert_eq!((stage.play(), stage.ended("b")), (Outcome::Done, Some(Ended::Done)));
    assert_eq!(cap(&stage, "b", 4), Some(1_100));
}

#[test]
fn a_run_whose_budget_is_spent_goes_on_with_a_new_one() {
    let tasks = vec![task("a", &[]), task("b", &["a"]), task("c", &["b"])];
    let (outcome, mut stage) = play(tasks, 2_500);
    assert_eq!((outcome, stage.ended("c")), (Outcome::BudgetExhausted, None));
    let used = stage.state.cost.usage.total();
    let (retry, budget) = (stage.state.poor(), Some(Cap { tokens: Some(9_000), price: None }));
    stage.tell(Scope::default(), Event::RunResumed { retry, budget });
    assert_eq!(stage.state.started.settings.budget.tokens, Some(9_000 + used));
    assert_eq!((stage.play(), stage.ended("c")), (Outcome::Done, Some(Ended::Done)));
}

#[test]
fn a_task_without_money_is_in_nobodys_way() {
    let mut tasks = vec![task("a", &[]), task("b", &[])];
    tasks[0].workflow = "pipeline".to_owned();
    let mut all = started(tasks, &["m"]);
    all.settings.budget = Cap { tokens: Some(4_400), price: None };
    let mut stage = Stage::new(all);
    stage.jobs = 1;
    assert_eq!(stage.play(), Outcome::BudgetExhausted);
    assert_eq!((stage.ended("a"), stage.ended("b")), (None, Some(Ended::Done)));
}

#[test]
fn a_new_budget_is_for_those_that_the_old_one_was_too_small_for() {
    let mut tasks = ["turns", "tokens", "own", "agent"].map(|id| task(id, &[])).to_vec();
    tasks[2].budget.tokens = Some(1_500);
    let mut all = started(tasks, &["m"]);
    all.settings.budget = Cap { tokens: Some(8_000), price: None };
    let mut stage = Stage::new(all);
    stage.attempt = Box::new(|id, _| {
        let limit = if id.as_str() == "turns" { Limit::Turns } else { Limit::Tokens };
        Brought::ended(agent::Outcome::BudgetExhausted { limit })
    });
    stage.least = ("agent", 1_200);
    assert_eq!(stage.play(), Outcome::BudgetExhausted);
    assert_eq!(cap(&stage, "agent", 1), Some(1_200));
    assert_eq!(stage.state.poor(), ["tokens".into()]);
    stage.state.started.settings.budget.tokens = None;
    assert_eq!(stage.state.poor(), [], "without a budget none is too small");
}
