//! What was built on a result that did not fit.

use std::cell::Cell;
use std::rc::Rc;

use super::stage::{Brought, Stage, started, task};
use crate::report::{Phase, Question};
use crate::run::*;

/// `x` and `a` do not fit; `c` and, through it, `d` are built on `a`.
fn tasks() -> Vec<TaskSpec> {
    vec![task("x", &[]), task("a", &[]), task("c", &["a"]), task("d", &["c"])]
}

/// A stage on which `x` ends only when all else has come as far as it can, and `a` does not fit once.
fn stage(tasks: Vec<TaskSpec>) -> Stage {
    let mut stage = Stage::new(started(tasks, &["m"]));
    let mut first = true;
    stage.conflict = Box::new(move |id| id.as_str() == "a" && std::mem::take(&mut first));
    stage.turn = Box::new(|count| count - 1);
    stage
}

fn bases(stage: &Stage, task: &str) -> Vec<String> {
    let task = stage.state.task(&task.into()).unwrap();
    task.tried().map(|tried| tried.base.to_string()).collect()
}

#[test]
fn what_waits_in_line_behind_a_result_that_does_not_fit_begins_anew() {
    let mut stage = stage(tasks());
    assert_eq!(stage.play(), Outcome::Done);
    assert_eq!(stage.committed(), ["x", "a", "c", "d"]);
    assert_eq!(stage.tried("a")[2..], ["write rebased m", "review first m"]);
    for task in ["c", "d"] {
        let wanted = ["write first m", "review first m", "write rebased m", "review first m"];
        assert_eq!(stage.tried(task), wanted, "{task}");
    }
    assert_eq!(bases(&stage, "c"), ["base+a@1", "base+a@1", "base+x@1+a@3", "base+x@1+a@3"]);
    assert_eq!(bases(&stage, "d")[2], "base+x@1+a@3+c@3");
    assert_eq!(
        stage.state.cost.usage.total(),
        14 * 1_100,
        "what counts no more was paid all the same"
    );
}

#[test]
fn an_attempt_under_way_counts_no_more_whether_it_is_stopped_or_runs_out() {
    for stops in [true, false] {
        let mut stage = stage(vec![task("x", &[]), task("a", &[]), task("c", &["a"])]);
        stage.stops = stops;
        // The first attempt of `c` is under way until `x` is on the branch.
        let mut order = ["x", "a"].into_iter().cycle();
        stage.turn = Box::new(move |count| usize::from(order.next() == Some("a") && count > 1));
        assert_eq!(stage.play(), Outcome::Done);
        let last = stage.state.task(&"c".into()).unwrap();
        assert_eq!(last.base, Some(stage.base(&"c".into())), "{stops}");
        assert_eq!(stage.committed(), ["x", "a", "c"]);
    }
}

#[test]
fn what_was_tried_on_a_withdrawn_result_is_not_held_against_a_task() {
    let mut stage = stage(vec![task("x", &[]), task("a", &[]), task("c", &["a"])]);
    let anew = Rc::new(Cell::new(false));
    let again = Rc::clone(&anew);
    let seen = Rc::clone(&anew);
    stage.attempt = Box::new(move |id, order| {
        anew.set(anew.get() || id.as_str() == "a" && order.purpose == Purpose::Rebased);
        match order.phase {
            Phase::Review => Brought::judged(true),
            _ => Brought::done(),
        }
    });
    // All that may be mended is mended, and a person is asked: on what is withdrawn.
    stage.verify = Box::new(move |id| id.as_str() != "c" || again.get());
    assert_eq!(stage.play(), Outcome::Done);
    assert!(seen.get());
    let tried = stage.tried("c");
    assert_eq!(tried[..3], ["write first m", "write fix m", "write fix m"]);
    assert_eq!(tried[3..], ["write rebased m", "review first m"]);
    assert!(stage.state.questions.is_empty() && stage.state.tasks[2].open.is_empty());
    stage.answer("r1-1", "Use the other parser.");
    assert_eq!(
        stage.ended("c"),
        Some(Ended::Done),
        "an answer that comes too late decides nothing"
    );
}

#[test]
fn who_failed_or_was_blocked_on_a_withdrawn_result_begins_anew_too() {
    let mut stage = stage(tasks());
    let mut stops = true;
    stage.attempt = Box::new(move |id, order| match order.phase {
        Phase::Review => Brought::judged(true),
        _ if id.as_str() == "c" && std::mem::take(&mut stops) => {
            Brought::stopped(crate::report::Status::Complete)
        }
        _ => Brought::done(),
    });
    assert_eq!(stage.play(), Outcome::Done);
    assert_eq!(stage.tried("c")[..2], ["write first m", "write rebased m"]);
    assert_eq!(stage.tried("d"), ["write first m", "review first m"]);
}

#[test]
fn what_somebody_said_of_a_task_before_he_knew_of_the_withdrawal_counts_for_nothing() {
    let mut stage = stage(vec![task("x", &[]), task("a", &[]), task("c", &["a"])]);
    stage.conflict = Box::new(|_| false);
    let about = |task: &str| Scope { task: Some(task.into()), ..Scope::default() };
    let ended = |tree: &str| {
        let tree = Some(tree.into());
        Event::TaskEnded(Box::new(TaskEnded { tree, ..TaskEnded::new(Ended::Done, None) }))
    };
    stage.tell(about("a"), ended("a@1"));
    stage.tell(about("a"), Event::MergeConflicted { paths: vec!["a.rs".to_owned()] });
    let asked = Asked {
        question: "r1-1".into(),
        text: Question::default().question,
        details: None,
        options: Vec::new(),
        default: None,
        deadline: None,
        about: About::Clarification,
    };
    stage.tell(about("c"), Event::QuestionAsked(Box::new(asked)));
    stage.tell(about("c"), ended("c@1"));
    assert_eq!(stage.ended("c"), None);
    assert_eq!(stage.state.inbox().count(), 0);
    assert_eq!(stage.play(), Outcome::Done);
    assert_eq!(stage.tried("c"), ["write first m", "review first m"]);
}

#[test]
fn who_conflicted_can_be_tried_again_by_a_person() {
    let tasks = vec![task("x", &[]), task("a", &[])];
    let mut stage = stage(tasks);
    let mut good = 1;
    stage.attempt = Box::new(move |id, order| match order.phase {
        Phase::Review => Brought::judged(true),
        _ if id.as_str() == "a" && order.purpose == Purpose::Rebased && good > 0 => {
            good -= 1;
            Brought::stopped(crate::report::Status::Complete)
        }
        _ => Brought::done(),
    });
    assert_eq!(stage.play(), Outcome::Failed);
    stage.resume(&["a"]);
    assert_eq!(stage.play(), Outcome::Done);
    assert_eq!(stage.committed(), ["x", "a"]);
}

#[test]
fn what_is_done_again_withdraws_what_is_under_way_on_it_and_nothing_that_is_done() {
    let tasks = vec![task("a", &[]), task("c", &["a"]), task("d", &["a"])];
    let mut stage = Stage::new(started(tasks, &["m"]));
    stage.asks_once("c");
    assert_eq!(stage.play(), Outcome::Waiting);
    stage.resume(&["a"]);
    assert_eq!(stage.state.inbox().count(), 0);
    assert_eq!(stage.play(), Outcome::Done);
    assert_eq!(stage.tried("c"), ["write first m", "write rebased m", "review first m"]);
    assert_eq!(stage.tried("d").len(), 2, "what is done stays");
    assert_eq!(bases(&stage, "c").last().unwrap(), "base+a@3");
}

#[test]
fn who_is_built_on_what_is_done_again_is_known_before() {
    let tasks = vec![task("a", &[]), task("c", &["a"]), task("d", &["a"]), task("e", &["c"])];
    let mut stage = Stage::new(started([tasks, vec![task("x", &[])]].concat(), &["m"]));
    stage.asks_once("c");
    assert_eq!(stage.play(), Outcome::Waiting);
    let upon = |again: &[&str]| {
        let again: Vec<crate::id::TaskId> = again.iter().map(|one| (*one).into()).collect();
        let Upon { anew, stays } = stage.state.upon(&again);
        (anew, stays)
    };
    assert_eq!(upon(&["a"]), (vec!["c".into()], vec!["d".into()]));
    assert_eq!(upon(&["a", "d"]), (vec!["c".into()], vec![]));
    assert_eq!(upon(&["x"]), (vec![], vec![]));
}

#[test]
fn what_has_not_begun_waits_again_however_far_below_it_something_was_withdrawn() {
    // The stage compares what can go on with what would be found anew. `x` comes to its end after so many others did.
    for others in 0..24 {
        let mut tasks = [tasks(), vec![task("e", &["d"]), task("f", &["d"])]].concat();
        (tasks[0].workflow, tasks[4].workflow) = ("solo".to_owned(), "pipeline".to_owned());
        let mut stage = stage(tasks);
        stage.jobs = 2;
        let mut ends = 0;
        stage.turn = Box::new(move |count| {
            ends += 1;
            if ends <= others { count - 1 } else { 0 }
        });
        assert_eq!(stage.play(), Outcome::Done);
    }
}

#[test]
fn nothing_begins_on_what_stands_until_what_is_done_again_below_it_has_ended() {
    for jobs in [1, 4] {
        let solo = |id, needs: &[&str]| TaskSpec { workflow: "solo".to_owned(), ..task(id, needs) };
        let tasks = vec![solo("a", &[]), solo("b", &["a"]), solo("c", &["b"]), solo("d", &["c"])];
        let mut stage = Stage::new(started(tasks, &["m"]));
        stage.jobs = jobs;
        stage.stop_after("c");
        stage.play();
        let ended = stage.state.tasks.iter().filter(|task| task.ended.is_some()).count();
        stage.stopping = false;
        stage.resume(&["a"]);
        let d = stage.state.task(&"d".into()).unwrap();
        assert!(ended == 3 && stage.state.has_needs(d) && !stage.state.is_founded(d));
        assert_eq!(stage.play(), Outcome::Done);
        let ends = stage.log.iter().filter(|one| matches!(one.entry.event, Event::TaskEnded(_)));
        let ends: Vec<String> =
            ends.map(|one| one.entry.scope.task.as_ref().unwrap().to_string()).collect();
        assert_eq!(ends, ["a", "b", "c", "a", "d"], "{jobs} jobs");
    }
}

/// Each stands on the one before, but for `x`, which stands on none and asks something first. Stopped when `b` is done, `a` is done
/// again.
fn redone(ids: &[&str], again: fn() -> Brought) -> Stage {
    let needs = |at: usize| if ids[at] == "a" { 0..0 } else { at.saturating_sub(1)..at };
    let solo = |at| TaskSpec { workflow: "solo".to_owned(), ..task(ids[at], &ids[needs(at)]) };
    let mut stage = Stage::new(started((0..ids.len()).map(solo).collect(), &["m"]));
    stage.asks_once("x");
    stage.stop_after("b");
    stage.play();
    assert_eq!(stage.ended("b"), Some(Ended::Done));
    stage.stopping = false;
    stage.attempt =
        Box::new(move |id, _| if id.as_str() == "a" { again() } else { Brought::done() });
    stage.resume(&["a"]);
    stage
}

fn lost() -> Brought {
    Brought::stopped(crate::report::Status::Complete)
}

#[test]
fn nothing_begins_on_what_stands_if_what_is_done_again_below_it_fails() {
    let mut stage = redone(&["a", "b", "c", "d"], lost);
    assert_eq!(stage.play(), Outcome::Failed);
    assert_eq!(stage.ended("b"), Some(Ended::Done), "what is done stays");
    assert!(stage.tried("c").is_empty() && stage.tried("d").is_empty());
    let reason = |task: &str| {
        let task = stage.state.task(&task.into()).unwrap();
        task.ended.as_ref().unwrap().reason.clone().unwrap()
    };
    assert_eq!(reason("c"), "It needs `b`, and so `a`, which has failed.");
    assert_eq!(reason("d"), "It needs `c`, and so `a`, which has failed.");
    let view = RunView::of(&stage.state, false);
    let blocked_by: Vec<_> = view.tasks.iter().map(|task| task.blocked_by.clone()).collect();
    assert_eq!(blocked_by, [None, None, Some("a".into()), Some("a".into())]);
    // Done at last, all goes on.
    stage.attempt = Box::new(|_, _| Brought::done());
    stage.resume(&["a"]);
    assert_eq!(stage.play(), Outcome::Done);
    assert_eq!(bases(&stage, "c"), ["base+a@3+b@1"]);
}

#[test]
fn what_stands_on_what_is_lost_does_not_come_onto_the_branch() {
    // `x` is not done when `b` is: nothing is on the branch yet.
    let mut stage = redone(&["x", "a", "b", "c", "d"], lost);
    assert_eq!((stage.play(), stage.committed().len()), (Outcome::Waiting, 0));
    stage.answer("r1-1", "Yes.");
    stage.resume(&[]);
    assert_eq!(stage.play(), Outcome::Failed);
    assert_eq!(stage.committed(), ["x"]);
    let view = RunView::of(&stage.state, false);
    let b = &view.tasks[2];
    assert!(b.off_branch);
    assert_eq!(b.comes_after, Some("a".into()));
    stage.attempt = Box::new(|_, _| Brought::done());
    stage.resume(&["a"]);
    assert_eq!(stage.play(), Outcome::Done);
    assert_eq!(stage.committed(), ["x", "a", "b", "c", "d"]);
}

#[test]
fn what_was_said_of_a_task_counts_for_nothing_however_far_below_it_something_was_withdrawn() {
    let mut stage = redone(&["a", "b", "c"], Brought::done);
    let about = |task: &str| Scope { task: Some(task.into()), ..Scope::default() };
    let ended = TaskEnded::new(Ended::Failed, None);
    stage.tell(about("c"), Event::TaskEnded(Box::new(ended)));
    assert_eq!(stage.ended("c"), None);
    assert_eq!(stage.play(), Outcome::Done);
}
