//! How runs and tasks end, and how they are taken up again.

use super::stage::{Brought, Stage, started, task};
use super::{bring, one};
use crate::report::{Question, Status};
use crate::run::*;

fn solo(id: &str, needs: &[&str]) -> TaskSpec {
    TaskSpec { workflow: "solo".to_owned(), ..task(id, needs) }
}

fn question() -> Question {
    Question { question: "Which?".to_owned(), ..Question::default() }
}

#[test]
fn what_is_done_reaches_the_branch_though_the_run_is_being_stopped() {
    let mut stage = Stage::new(started(vec![solo("a", &[]), solo("b", &["a"])], &["m"]));
    stage.stop_after("a");
    assert_eq!(stage.play(), Outcome::Stopped);
    assert_eq!(stage.committed(), ["a"]);
    let mut stage = one("solo", &["m"]);
    stage.stop_after("a");
    assert_eq!(stage.play(), Outcome::Done);
    assert_eq!(stage.committed(), ["a"]);
}

#[test]
fn a_stopped_run_commits_nothing_out_of_the_plans_order() {
    let mut stage = Stage::new(started(vec![solo("a", &[]), solo("b", &[])], &["m"]));
    stage.turn = Box::new(|count| count - 1);
    stage.stop_after("b");
    assert_eq!(stage.play(), Outcome::Stopped);
    assert_eq!(stage.committed(), Vec::<String>::new());
    stage.stopping = false;
    stage.resume(&[]);
    assert_eq!(stage.play(), Outcome::Done);
    assert_eq!(stage.committed(), ["a", "b"]);
}

#[test]
fn what_is_done_reaches_the_branch_of_a_cancelled_run() {
    let mut stage = Stage::new(started(vec![solo("a", &[]), solo("b", &[])], &["m"]));
    stage.attempt = Box::new(|id, _| match id.as_str() {
        "a" => Brought::asking(vec![question()]),
        _ => Brought::done(),
    });
    stage.stop_after("b");
    assert_eq!(stage.play(), Outcome::Waiting);
    assert_eq!(stage.committed(), Vec::<String>::new());
    stage.resume(&[]);
    stage.tell(Scope::default(), Event::RunCancelled { by: "somebody".to_owned() });
    assert_eq!(stage.play(), Outcome::Cancelled);
    assert_eq!(stage.committed(), ["b"]);
}

#[test]
fn a_task_that_has_used_its_own_budget_ends_and_says_so() {
    let spec = TaskSpec { budget: Cap { tokens: Some(1_000), price: None }, ..task("a", &[]) };
    let mut stage = Stage::new(started(vec![spec, task("b", &["a"])], &["m"]));
    stage.verify = Box::new(|id| id.as_str() != "a");
    assert_eq!(stage.play(), Outcome::BudgetExhausted);
    assert_eq!((stage.ended("a"), stage.ended("b")), (Some(Ended::Failed), Some(Ended::Blocked)));
    let ended = stage.state.tasks[0].ended.clone().unwrap();
    assert!(ended.reason.unwrap().contains("budget"));
}

#[test]
fn what_is_tried_again_forgets_what_it_asked() {
    let asks = || {
        let mut stage = one("solo", &["m"]);
        bring(&mut stage, vec![Brought::asking(vec![question()])]);
        assert_eq!(stage.play(), Outcome::Waiting);
        stage
    };
    let mut stage = asks();
    stage.resume(&["a"]);
    assert!(stage.state.questions.is_empty());
    assert_eq!(stage.play(), Outcome::Done);
    let mut stage = asks();
    let text = crate::digest::Digest::of(b"without a question");
    stage.edit(vec![TaskSpec { text, ..solo("a", &[]) }]);
    assert_eq!(stage.play(), Outcome::Done);
    let mut stage = asks();
    stage.edit(vec![task("b", &[])]);
    assert!(stage.state.questions.is_empty(), "what is no longer in the plan asks nothing");
    assert_eq!(stage.play(), Outcome::Done);
}

#[test]
fn what_nobody_could_answer_can_be_tried_again() {
    let mut all = started(vec![solo("a", &[])], &["m"]);
    all.settings.unattended = true;
    let mut stage = Stage::new(all);
    bring(&mut stage, vec![Brought::asking(vec![question()])]);
    assert_eq!(stage.play(), Outcome::Failed);
    stage.resume(&["a"]);
    assert_eq!(stage.play(), Outcome::Done);
}

#[test]
fn an_unattended_failure_says_what_failed() {
    let mut all = started(vec![task("a", &[])], &["m"]);
    all.settings.unattended = true;
    let mut stage = Stage::new(all);
    stage.verify = Box::new(|_| false);
    assert_eq!(stage.play(), Outcome::Failed);
    let reason = stage.state.tasks[0].ended.clone().unwrap().reason.unwrap();
    assert!(reason.contains("still fail"), "{reason}");
    assert!(!reason.contains("How should"), "{reason}");
}

#[test]
fn a_plan_that_mends_a_need_opens_what_it_blocked() {
    let mut stage = Stage::new(started(vec![task("a", &[]), task("b", &["a"])], &["m"]));
    bring(&mut stage, vec![Brought::stopped(Status::Complete)]);
    assert_eq!(stage.play(), Outcome::Failed);
    assert_eq!(stage.ended("b"), Some(Ended::Blocked));
    let a = TaskSpec { text: crate::digest::Digest::of(b"mended"), ..task("a", &[]) };
    stage.edit(vec![a, task("b", &["a"])]);
    assert_eq!(stage.play(), Outcome::Done);
    assert_eq!(stage.committed(), ["a", "b"]);
}

#[test]
fn what_a_task_stands_on_is_known_after_tasks_were_moved_and_taken_out() {
    let tasks = vec![task("a", &[]), task("x", &[]), task("b", &[])];
    let mut stage = Stage::new(started(tasks, &["m"]));
    let mut clashes = true;
    stage.asks_once("a");
    stage.conflict =
        Box::new(move |id| id.as_str() == "a" && std::mem::replace(&mut clashes, false));
    assert_eq!(stage.play(), Outcome::Waiting);
    stage.answer("r1-1", "This one.");
    stage.resume(&[]);
    assert_eq!(stage.play(), Outcome::Done);
    assert_eq!(stage.committed(), ["x", "b", "a"]);
    stage.edit(vec![task("n", &["a"]), task("b", &[]), task("a", &[])]);
    let at = |id: &str| stage.state.position(&id.into()).unwrap();
    assert_eq!(stage.state.foundation(at("a")), [at("x"), at("b")]);
    assert_eq!(stage.state.foundation(at("n")), [at("x"), at("b"), at("a")]);
    assert_eq!(stage.play(), Outcome::Done);
}

#[test]
fn what_comes_before_a_task_that_was_done_out_of_turn_is_waited_for() {
    let done = TaskSpec { left_out: Some("It is done already.".to_owned()), ..task("b", &["a"]) };
    let mut stage = Stage::new(started(vec![task("a", &[]), done, task("c", &["b"])], &["m"]));
    assert_eq!(stage.play(), Outcome::Done);
    let at = |wanted: &dyn Fn(&Entry) -> bool| stage.log.iter().position(|one| wanted(&one.entry));
    let ended =
        at(&|one| one.scope.task == Some("a".into()) && matches!(one.event, Event::TaskEnded(_)));
    let begun = at(&|one| {
        one.scope.task == Some("c".into()) && matches!(one.event, Event::AttemptStarted(_))
    });
    assert!(ended.is_some() && ended < begun, "{ended:?} {begun:?}");
}

#[test]
fn what_was_looked_at_for_notes_before_a_run_ended_is_not_looked_at_again() {
    let mut stage = Stage::new(started(vec![task("a", &[]), task("b", &["a"])], &["m"]));
    assert_eq!(stage.play(), Outcome::Done);
    assert_eq!(stage.state.unnoted(), []);
    stage.resume(&["a"]);
    assert_eq!(stage.play(), Outcome::Done);
    assert_eq!(stage.state.unnoted(), []);
    let merged = |stage: &mut Stage, task: &str, sections: &[&str], told: &[&str]| {
        let owned = |all: &[&str]| all.iter().map(|one| (*one).to_owned()).collect();
        let ended = stage.state.task(&task.into()).unwrap().ended_at();
        let (sections, told) = (owned(sections), owned(told));
        let scope = Scope { task: Some(task.into()), ..Scope::default() };
        stage.tell(scope, Event::NotesMerged { ended, sections, told });
    };
    // While the file refuses one, nobody knows of the others.
    stage.resume(&["a", "b"]);
    merged(&mut stage, "a", &[], &["The disk is full."]);
    assert_eq!(stage.play(), Outcome::Done);
    assert_eq!(stage.state.unnoted(), ["a".into(), "b".into()]);
    merged(&mut stage, "a", &["Findings"], &[]);
    assert_eq!(stage.state.unnoted(), ["b".into()]);
    assert_eq!(stage.state.overnoted(), []);
    stage.resume(&["a"]);
    assert_eq!(stage.state.overnoted(), ["a".into()]);
    merged(&mut stage, "a", &[], &[]);
    assert_eq!(stage.state.overnoted(), []);
}

#[test]
fn what_was_done_when_nobody_had_said_yet_what_became_of_its_notes_may_be_in_their_file() {
    let mut whole = Stage::new(started(vec![solo("a", &[]), solo("b", &["a"])], &["m"]));
    assert_eq!(whole.play(), Outcome::Done);
    let is_end = |one: &Recorded| matches!(one.entry.event, Event::TaskEnded(_));
    let ended = whole.log.iter().position(is_end).unwrap();
    // The process is killed right after that.
    let mut stage = Stage::new(started(vec![solo("a", &[]), solo("b", &["a"])], &["m"]));
    for Recorded { entry: Entry { scope, event }, .. } in whole.log[1..=ended].iter().cloned() {
        stage.tell(scope, event);
    }
    assert_eq!(stage.state.overnoted(), []);
    let first = stage.state.task(&"a".into()).unwrap().ended_at();
    stage.resume(&["a"]);
    assert_eq!(stage.state.overnoted(), ["a".into()]);
    let unsure = |stage: &Stage| -> Vec<u64> {
        stage.state.task(&"a".into()).unwrap().unsure().map(|one| one.ended_at()).collect()
    };
    assert_eq!(unsure(&stage), [first]);
    bring(&mut stage, vec![Brought::stopped(Status::Complete)]);
    assert_eq!(stage.play(), Outcome::Failed);
    assert_eq!(stage.state.overnoted(), [], "when the run ended all was looked at");
    assert_eq!(RunState::replay(&stage.log).unwrap(), stage.state);
}
