mod apart;
mod by_person;
mod contradiction;
mod edit;
mod ending;
mod fit;
mod golden;
mod group;
mod line;
mod property;
mod purse;
mod stage;
mod view;
mod walk;
mod withdraw;

use crate::agent::{self, Fault};
use crate::provider;
use crate::report::{Complexity, Question, Status};
use crate::run::*;
use stage::{Brought, Stage, started, task};

fn one(workflow: &str, models: &[&str]) -> Stage {
    let spec = TaskSpec { workflow: workflow.to_owned(), ..task("a", &[]) };
    Stage::new(started(vec![spec], models))
}

/// Brings these in turn, then what an attempt brings on a good day.
fn bring(stage: &mut Stage, script: Vec<Brought>) {
    let (mut script, mut good) = (script.into_iter(), Stage::new(started(Vec::new(), &[])).attempt);
    stage.attempt = Box::new(move |id, order| script.next().unwrap_or_else(|| good(id, order)));
}

#[test]
fn a_task_is_written_checked_and_reviewed_then_committed() {
    let mut stage = one("build", &["m"]);
    assert_eq!(stage.play(), Outcome::Done);
    assert_eq!(stage.tried("a"), ["write first m", "review first m"]);
    assert_eq!(stage.committed(), ["a"]);
}

#[test]
fn each_workflow_takes_its_steps() {
    for (workflow, steps) in [
        ("solo", vec!["write"]),
        ("chain", vec!["research", "write", "validate"]),
        ("pipeline", vec!["plan", "review", "execute", "verify"]),
        ("parallel", vec![]),
        ("adaptive", vec!["analyze", "research", "architect", "write"]),
    ] {
        let mut stage = one(workflow, &["m"]);
        assert_eq!(stage.play(), Outcome::Done, "{workflow}");
        let tried: Vec<&Tried> = stage.state.tasks[0].tried().collect();
        let taken: Vec<&str> = tried.iter().map(|tried| tried.step.as_str()).collect();
        assert_eq!(taken, steps);
    }
    let mut stage = one("adaptive", &["m"]);
    let simple =
        Said::Proceed { passed: None, complexity: Some(Complexity::Simple), against: Vec::new() };
    bring(&mut stage, vec![Brought { said: Some(simple), changes: false, ..Brought::done() }]);
    stage.play();
    assert_eq!(stage.tried("a"), ["analyze first m", "quick-write first m"]);
}

#[test]
fn where_there_is_no_model_only_files_are_written_and_it_is_said() {
    let mut stage = one("build", &[LITERAL]);
    assert_eq!(stage.play(), Outcome::Done);
    assert_eq!(stage.tried("a"), ["write first literal"]);
    let skipped = |one: &&Recorded| matches!(&one.entry.event, Event::StepSkipped { step, reason } if step == "review" && reason == NO_MODEL);
    assert_eq!(stage.log.iter().filter(skipped).count(), 1);
}

#[test]
fn failing_checks_are_mended_twice_then_a_stronger_model_starts_clean_then_somebody_is_asked() {
    let mut stage = one("build", &["m", "strong"]);
    stage.verify = Box::new(|_| false);
    assert_eq!(stage.play(), Outcome::Waiting);
    assert_eq!(
        stage.tried("a"),
        ["write first m", "write fix m", "write fix m", "write stronger strong"]
    );
    let from: Vec<Option<String>> = stage
        .log
        .iter()
        .filter_map(|one| match &one.entry.event {
            Event::AttemptStarted(started) => Some(started.from.as_ref().map(ToString::to_string)),
            _ => None,
        })
        .collect();
    assert_eq!(from, [None, Some("a@1".to_owned()), Some("a@2".to_owned()), None]);
    stage.answer("r1-1", "Use the other parser.");
    stage.resume(&[]);
    stage.verify = Box::new(|_| true);
    assert_eq!(stage.play(), Outcome::Done);
    assert_eq!(stage.tried("a")[4], "write answered strong");
}

#[test]
fn what_is_given_up_has_failed_and_blocks_what_needs_it() {
    let mut stage =
        Stage::new(started(vec![task("a", &[]), task("b", &["a"]), task("c", &[])], &["m"]));
    stage.verify = Box::new(|id| id.as_str() != "a");
    assert_eq!(stage.play(), Outcome::Waiting);
    let details = |stage: &Stage| stage.state.inbox().next().unwrap().1.asked.details.clone();
    assert_eq!(details(&stage).as_deref(), Some("It fails."));
    assert_eq!(stage.committed(), ["c"], "the rest of the graph goes on");
    stage.answer("r1-1", GIVE_UP);
    stage.resume(&[]);
    assert_eq!(stage.play(), Outcome::Failed);
    assert_eq!((stage.ended("a"), stage.ended("b")), (Some(Ended::Failed), Some(Ended::Blocked)));
}

#[test]
fn a_reviewer_who_objects_leads_to_a_fix_and_another_review() {
    let mut stage = one("build", &["m"]);
    bring(&mut stage, vec![Brought::done(), Brought::judged(false)]);
    assert_eq!(stage.play(), Outcome::Done);
    assert_eq!(
        stage.tried("a"),
        ["write first m", "review first m", "write fix m", "review first m"]
    );
}

#[test]
fn a_stop_of_a_judging_phase_is_mended_and_of_another_ends_the_task() {
    let mut stage = one("chain", &["m"]);
    bring(&mut stage, vec![Brought::done(), Brought::done(), Brought::stopped(Status::Complete)]);
    assert_eq!(stage.play(), Outcome::Done);
    assert_eq!(stage.tried("a")[3], "write fix m");
    let mut stage = one("chain", &["m", "n"]);
    bring(&mut stage, vec![Brought::stopped(Status::Partial)]);
    assert_eq!(stage.play(), Outcome::Failed);
    assert_eq!(stage.tried("a").len(), 1);
}

#[test]
fn whoever_is_blocked_hands_over_to_the_next_model_from_the_clean_base() {
    let mut stage = one("build", &[LITERAL, "n"]);
    bring(&mut stage, vec![Brought::stopped(Status::Blocked)]);
    assert_eq!(stage.play(), Outcome::Done);
    assert_eq!(
        stage.tried("a"),
        ["write first literal", "write next_model n", "review first literal"]
    );
}

#[test]
fn no_report_is_one_more_attempt_and_then_a_failure() {
    let none = || {
        let fault = Fault::NoReport { faults: Vec::new() };
        Brought::ended(agent::Outcome::Failed { fault })
    };
    let mut stage = one("solo", &["m", "n"]);
    bring(&mut stage, vec![none()]);
    assert_eq!(stage.play(), Outcome::Done);
    assert_eq!(stage.tried("a"), ["write first m", "write repeat n"]);
    let mut stage = one("solo", &["m"]);
    bring(&mut stage, vec![none(), none()]);
    assert_eq!(stage.play(), Outcome::Failed);
}

#[test]
fn time_is_given_once_more_with_less_to_do_then_somebody_is_asked() {
    let mut stage = one("solo", &["m"]);
    stage.attempt = Box::new(|_, _| Brought::ended(agent::Outcome::TimedOut));
    assert_eq!(stage.play(), Outcome::Waiting);
    assert_eq!(stage.tried("a"), ["write first m", "write simplified m"]);
}

#[test]
fn a_provider_that_fails_is_replaced_where_another_is_named() {
    let error = provider::Error {
        kind: provider::Kind::Overloaded,
        message: "It is overloaded.".to_owned(),
        retry_after: None,
    };
    let fails = Brought::ended(agent::Outcome::Failed { fault: Fault::Provider { error } });
    let mut stage = one("solo", &["m", "n"]);
    bring(&mut stage, vec![fails.clone()]);
    assert_eq!(stage.play(), Outcome::Done);
    assert_eq!(stage.tried("a"), ["write first m", "write next_model n"]);
    let mut stage = one("solo", &["m"]);
    bring(&mut stage, vec![fails]);
    assert_eq!(stage.play(), Outcome::Failed);
}

#[test]
fn loops_and_spent_budgets_end_a_task() {
    for (outcome, whole) in [
        (agent::Outcome::Looped { call: "Bash".to_owned(), times: 5 }, Outcome::Failed),
        (
            agent::Outcome::BudgetExhausted { limit: crate::budget::Limit::Tokens },
            Outcome::BudgetExhausted,
        ),
    ] {
        let mut stage = one("solo", &["m", "n"]);
        bring(&mut stage, vec![Brought::ended(outcome)]);
        assert_eq!(stage.play(), whole);
        assert_eq!(stage.ended("a"), Some(Ended::Failed));
    }
}

#[test]
fn a_question_parks_its_task_alone_and_the_answer_goes_to_a_fresh_attempt() {
    let mut stage = Stage::new(started(vec![task("a", &[]), task("b", &[])], &["m"]));
    let question = || Question { question: "Which?".to_owned(), ..Question::default() };
    let mut asked = false;
    stage.attempt = Box::new(move |id, order| match order.phase {
        crate::report::Phase::Review => Brought::judged(true),
        _ if id.as_str() == "a" && !std::mem::replace(&mut asked, true) => {
            Brought::asking(vec![question(), question()])
        }
        _ => Brought::done(),
    });
    assert_eq!(stage.play(), Outcome::Waiting);
    assert_eq!(stage.ended("b"), Some(Ended::Done));
    stage.answer("r1-1", "This one.");
    stage.resume(&[]);
    assert_eq!(stage.play(), Outcome::Waiting, "the other question is open");
    stage.answer("r1-2", "That one.");
    stage.resume(&[]);
    assert_eq!(stage.play(), Outcome::Done);
    assert_eq!(stage.tried("a"), ["write first m", "write answered m", "review first m"]);
    assert_eq!(stage.state.tasks[0].clarifications.len(), 2);
}

#[test]
fn unattended_questions_take_their_defaults_or_fail() {
    let ask = |default: Option<&str>| {
        let spec = TaskSpec { workflow: "solo".to_owned(), ..task("a", &[]) };
        let mut all = started(vec![spec], &["m"]);
        all.settings.unattended = true;
        let mut stage = Stage::new(all);
        let default = default.map(ToOwned::to_owned);
        let question = Question { question: "Which?".to_owned(), default, ..Question::default() };
        bring(&mut stage, vec![Brought::asking(vec![question])]);
        stage.play()
    };
    assert_eq!(ask(Some("This one.")), Outcome::Done);
    assert_eq!(ask(None), Outcome::Failed);
}

#[test]
fn a_default_is_taken_when_its_deadline_is_over() {
    let mut stage = one("solo", &["m"]);
    let question = Question {
        question: "Which?".to_owned(),
        default: Some("This one.".to_owned()),
        deadline: Some("1h".to_owned()),
        ..Question::default()
    };
    bring(&mut stage, vec![Brought::asking(vec![question])]);
    assert_eq!(stage.play(), Outcome::Waiting);
    stage.clock += 3_600_000;
    stage.resume(&[]);
    assert_eq!(stage.play(), Outcome::Done);
}

#[test]
fn a_conflict_is_done_again_on_the_new_base_and_then_asked_about() {
    let mut stage = Stage::new(started(vec![task("a", &[]), task("b", &[])], &["m"]));
    let mut first = true;
    stage.conflict = Box::new(move |id| id.as_str() == "b" && std::mem::replace(&mut first, false));
    assert_eq!(stage.play(), Outcome::Done);
    assert_eq!(stage.committed(), ["a", "b"]);
    let bases: Vec<String> =
        stage.state.tasks[1].tried().map(|tried| tried.base.to_string()).collect();
    assert_eq!(bases, ["base+", "base+", "base+a@1", "base+a@1"]);
    stage = Stage::new(started(vec![task("a", &[]), task("b", &[])], &["m"]));
    stage.conflict = Box::new(|id| id.as_str() == "b");
    assert_eq!(stage.play(), Outcome::Waiting);
}

#[test]
fn who_waited_is_done_again_on_top_of_what_came_onto_the_branch_meanwhile() {
    let tasks = vec![task("a", &[]), task("b", &[]), task("c", &["a"])];
    let mut stage = Stage::new(started(tasks, &["m"]));
    let mut clashes = true;
    stage.asks_once("a");
    stage.conflict =
        Box::new(move |id| id.as_str() == "a" && std::mem::replace(&mut clashes, false));
    assert_eq!(stage.play(), Outcome::Waiting);
    assert_eq!(stage.committed(), ["b"]);
    stage.answer("r1-1", "This one.");
    stage.resume(&[]);
    assert_eq!(stage.play(), Outcome::Done);
    assert_eq!(stage.committed(), ["b", "a", "c"]);
    assert_eq!(stage.state.tasks[0].tried().next_back().unwrap().base.as_str(), "base+b@1");
    assert_eq!(stage.state.foundation(2), [1, 0], "what it was done on top of comes first");
}

#[test]
fn changes_reach_the_branch_in_the_plans_order_whatever_ends_first() {
    let tasks = vec![task("a", &[]), task("b", &[]), task("c", &["b"])];
    let mut stage = Stage::new(started(tasks, &["m"]));
    stage.turn = Box::new(|count| count - 1);
    assert_eq!(stage.play(), Outcome::Done);
    assert_eq!(stage.committed(), ["a", "b", "c"]);
}

#[test]
fn a_budget_that_is_used_up_starts_nothing_more() {
    let tasks = vec![task("a", &[]), task("b", &["a"]), task("c", &["b"])];
    let mut all = started(tasks, &["m"]);
    all.settings.budget = Cap { tokens: Some(2_500), price: None };
    let mut stage = Stage::new(all);
    assert_eq!(stage.play(), Outcome::BudgetExhausted);
    assert_eq!((stage.ended("a"), stage.ended("c")), (Some(Ended::Done), None));
    assert!(stage.state.cost.usage.total() <= 3_300);
}

#[test]
fn a_cancelled_run_ends_what_is_left() {
    let mut stage = Stage::new(started(vec![task("a", &[]), task("b", &["a"])], &["m"]));
    stage.tell(Scope::default(), Event::RunCancelled { by: "somebody".to_owned() });
    assert_eq!(stage.play(), Outcome::Cancelled);
    assert_eq!(stage.ended("b"), Some(Ended::Cancelled));
}

#[test]
fn what_failed_can_be_tried_again_with_all_that_it_blocked() {
    let mut stage = Stage::new(started(vec![task("a", &[]), task("b", &["a"])], &["m"]));
    bring(&mut stage, vec![Brought::stopped(Status::Blocked)]);
    assert_eq!(stage.play(), Outcome::Failed);
    stage.resume(&["a"]);
    assert_eq!(stage.play(), Outcome::Done);
    assert_eq!(stage.committed(), ["a", "b"]);
}

#[test]
fn an_edited_plan_changes_open_tasks_and_keeps_what_is_done() {
    let mut stage = Stage::new(started(vec![task("a", &[]), task("b", &["a"])], &["m"]));
    stage.attempt = Box::new(|id, order| match (id.as_str(), order.phase) {
        ("b", _) => Brought::stopped(Status::Complete),
        (_, crate::report::Phase::Review) => Brought::judged(true),
        _ => Brought::done(),
    });
    assert_eq!(stage.play(), Outcome::Failed);
    let b = TaskSpec { text: crate::digest::Digest::of(b"another"), ..task("b", &["a"]) };
    let tasks = vec![task("a", &[]), b, task("c", &["b"])];
    stage.edit(tasks);
    bring(&mut stage, Vec::new());
    assert_eq!(stage.play(), Outcome::Done);
    assert_eq!(stage.committed(), ["a", "b", "c"]);
    assert_eq!(stage.tried("a").len(), 2, "what is done is not done again");
}

#[test]
fn what_is_done_again_is_committed_again_in_the_place_of_what_it_left_before() {
    let mut stage = Stage::new(started(vec![task("a", &[]), task("b", &["a"])], &["m"]));
    assert_eq!(stage.play(), Outcome::Done);
    let before = stage.state.task(&"a".into()).unwrap().result().cloned();
    stage.resume(&["a"]);
    assert_eq!(stage.play(), Outcome::Done);
    assert_eq!(stage.committed(), ["a", "b", "a"]);
    assert_eq!(stage.state.task(&"a".into()).unwrap().replaced, before);
    assert_eq!(stage.tried("b").len(), 2, "what was built on it stays");
}

#[test]
fn what_is_blocked_names_the_task_that_failed_and_its_reason_once() {
    let tasks = vec![task("a", &[]), task("b", &["a"]), task("c", &["b"]), task("d", &["c"])];
    let mut stage = Stage::new(started(tasks, &["m"]));
    bring(&mut stage, vec![Brought::stopped(Status::Complete)]);
    assert_eq!(stage.play(), Outcome::Failed);
    let view = RunView::of(&stage.state, false);
    let why = view.tasks[0].reason.clone().unwrap();
    let wanted = [
        format!("It needs `a`, which has failed. {why}"),
        format!("It needs `b`, and so `a`, which has failed. {why}"),
        format!("It needs `c`, and so `a`, which has failed. {why}"),
    ];
    for (task, wanted) in view.tasks[1..].iter().zip(wanted) {
        assert_eq!(
            (task.reason.clone(), task.blocked_by.clone()),
            (Some(wanted), Some("a".into()))
        );
        assert_eq!(task.resolution, view.tasks[0].resolution);
    }
}
