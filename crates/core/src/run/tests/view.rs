//! What is shown of a run.

use super::stage::{Brought, Stage, started, task};
use super::{bring, one};
use crate::report::{Phase, Question};
use crate::run::*;
use crate::usage::Usage;

fn view(stage: &Stage, live: bool) -> RunView {
    RunView::of(&stage.state, live)
}

fn history(stage: &Stage, task: &str) -> History {
    History::of(&stage.log, &task.into())
}

#[test]
fn a_run_is_called_reviewed_only_if_a_reviewer_let_every_change_stand() {
    let mut reviewed = one("build", &["m"]);
    reviewed.play();
    let shown = view(&reviewed, false);
    assert_eq!((shown.state, shown.reviewed), (State::Done, true));
    assert_eq!(shown.tasks[0].state, TaskState::Done);
    for (workflow, model) in [("build", LITERAL), ("solo", "m")] {
        let mut unseen = one(workflow, &[model]);
        unseen.play();
        assert!(!view(&unseen, false).reviewed, "{workflow}");
    }
    let mut unseen = one("build", &[LITERAL]);
    unseen.play();
    let skipped = Skipped { step: "review".to_owned(), reason: NO_MODEL.to_owned() };
    assert_eq!(history(&unseen, "a").skipped, [skipped]);
}

#[test]
fn a_question_waits_until_it_is_answered_and_then_the_run_can_go_on() {
    let mut stage = Stage::new(started(vec![task("a", &[]), task("b", &["a"])], &["m"]));
    let question = Question { question: "Which?".to_owned(), ..Question::default() };
    bring(&mut stage, vec![Brought::asking(vec![question])]);
    assert_eq!(stage.play(), Outcome::Waiting);
    let shown = view(&stage, false);
    assert_eq!(shown.state, State::Waiting);
    let states: Vec<TaskState> = shown.tasks.iter().map(|task| task.state).collect();
    assert_eq!(states, [TaskState::Waiting, TaskState::Pending]);
    assert_eq!((shown.inbox[0].id.as_str(), shown.inbox[0].phase), ("r1-1", Some(Phase::Write)));
    stage.answer("r1-1", "That.");
    let shown = view(&stage, false);
    assert_eq!((shown.state, shown.inbox.len()), (State::Stopped, 0));
    assert_eq!(view(&stage, true).tasks[0].state, TaskState::Running);
}

#[test]
fn what_the_runtime_saw_stands_with_the_attempt_that_made_the_change() {
    let mut stage = one("build", &["m"]);
    let mut times = 0;
    stage.verify = Box::new(move |_| {
        times += 1;
        times > 1
    });
    assert_eq!(stage.play(), Outcome::Done);
    let history = history(&stage, "a");
    let told = history.attempts.iter().map(|one| (one.phase, one.purpose, one.failing.is_some()));
    assert_eq!(
        told.collect::<Vec<_>>(),
        [
            (Phase::Write, Purpose::First, true),
            (Phase::Write, Purpose::Fix, false),
            (Phase::Review, Purpose::First, false)
        ]
    );
    let seen: Vec<bool> = history.attempts.iter().map(|one| one.evidence.is_some()).collect();
    assert_eq!(seen, [true, true, false]);
}

/// An attempt of a phase whose turns sent and brought so many tokens.
fn attempt(phase: Phase, turns: &[(u64, u64)]) -> Attempt {
    let mut stage = one("solo", &["m"]);
    stage.play();
    let mut attempt = history(&stage, "a").attempts.remove(0);
    let usage =
        |(input, output): &(u64, u64)| Usage { input: *input, output: *output, ..Usage::default() };
    attempt.phase = phase;
    attempt.turns = turns.iter().map(usage).collect();
    attempt
}

fn sum(attempts: Vec<Attempt>) -> Savings {
    savings(&[History { attempts, ..History::default() }]).unwrap()
}

#[test]
fn savings_are_what_a_conversation_with_all_that_was_said_would_have_sent() {
    let found = sum(vec![
        attempt(Phase::Research, &[(1_000, 100), (5_000, 500)]),
        attempt(Phase::Write, &[(2_000, 100), (3_000, 300)]),
    ]);
    // The same work: 1,000 and 5,000. Then it drags 4,000 of reading and 500 of words along: 5,500 and 6,500.
    let rows: Vec<_> = found.phases.iter().map(|row| (row.isolated, row.monolithic)).collect();
    assert_eq!(rows, [(6_000, 6_000), (5_000, 12_000)]);
    assert_eq!((found.phases[0].saved, found.phases[1].saved, found.total.saved), (0, 58, 38));
    assert_eq!((found.total.isolated, found.total.monolithic), (11_000, 18_000));
    // Of 200,000, rounded up: 5,500 and 6,800.
    assert_eq!((found.total.isolated_share, found.total.monolithic_share), (3, 4));
    assert!(!found.assumptions.is_empty());
}

#[test]
fn what_would_not_have_fit_is_counted_and_free_models_are_measured_by_their_contexts() {
    let long = || attempt(Phase::Write, &[(1_000, 0), (150_000, 1_000)]);
    let found = sum(vec![long(), long(), long()]);
    assert_eq!((found.total.over, found.total.isolated_share), (3, 76));
    let free = sum(vec![attempt(Phase::Write, &[(0, 0), (0, 0)])]);
    assert_eq!((free.total.isolated, free.total.monolithic, free.total.saved), (200, 200, 0));
    assert_eq!(savings(&[History::default()]), None);
    assert_eq!(window("anthropic/claude-sonnet-5-20260901"), Some(1_000_000));
    assert_eq!(window("somebody/model"), None);
}

#[test]
fn every_event_of_a_run_is_told_in_a_sentence() {
    let mut stage = one("build", &["m"]);
    stage.conflict = Box::new({
        let mut left = 1;
        move |_| std::mem::replace(&mut left, 0) == 1
    });
    stage.play();
    for recorded in &stage.log {
        let told = sentence(&recorded.entry.event);
        assert!(told.ends_with('.') && told.len() > 10, "{told}");
    }
    let last = stage.log.last().map(|recorded| sentence(&recorded.entry.event));
    assert_eq!(last.as_deref(), Some("The run ends: done. 1 done."));
}
