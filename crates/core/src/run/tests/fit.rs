//! Conflicts that show only in what a task is built on.

use std::collections::BTreeSet;

use super::apart::Apart;
use super::stage::{Brought, Stage, started, task};
use crate::report::{Question, Status};
use crate::run::*;

/// Of two tasks that do not fit each other where this one is not there too.
fn apart(one: &str, other: &str, unless: Option<&str>) -> Apart {
    let tasks = [one.to_owned(), other.to_owned()];
    Apart { tasks, unless: unless.map(ToOwned::to_owned), mostly: false }
}

fn stage(tasks: Vec<TaskSpec>, jobs: usize) -> Stage {
    let solo = |task| TaskSpec { workflow: "solo".to_owned(), ..task };
    let mut stage = Stage::new(started(tasks.into_iter().map(solo).collect(), &["m"]));
    stage.jobs = jobs;
    stage
}

#[test]
fn what_does_not_fit_in_a_base_far_above_is_done_again_before_it_is_on_the_branch() {
    // `t` is built on `a` and `b`, and needs neither itself; `x` hides on the branch that they do not fit.
    let near = vec![task("a", &[]), task("x", &[]), task("b", &[])];
    let far = vec![task("m", &["a"]), task("n", &["b"]), task("t", &["m", "n"])];
    for jobs in 1..5 {
        let mut stage = stage([near.clone(), far.clone()].concat(), jobs);
        stage.apart = vec![apart("a", "b", Some("x"))];
        assert_eq!(stage.play(), Outcome::Done);
        assert_eq!(stage.tried("b"), ["write first m", "write rebased m"], "{jobs} jobs");
        assert_eq!(stage.committed(), ["a", "x", "b", "m", "n", "t"], "{jobs} jobs");
        let base = stage.state.task(&"t".into()).unwrap().base.clone().unwrap().to_string();
        assert!(base.starts_with("base+a@1+x@1+b@2+"), "{base}");
    }
}

#[test]
fn who_cannot_begin_on_what_does_not_fit_together_waits_and_blames_nobody() {
    // Done again on top of `x`, `a` brings that along, and `b` fits it.
    let tasks = vec![task("x", &[]), task("a", &[]), task("b", &[]), task("t", &["a", "b"])];
    for jobs in 1..5 {
        let mut stage = stage(tasks.clone(), jobs);
        stage.turn = Box::new(|count| count - 1);
        stage.apart = vec![apart("x", "a", None), apart("a", "b", Some("x"))];
        assert_eq!(stage.play(), Outcome::Done);
        assert_eq!(stage.tried("a"), ["write first m", "write rebased m"], "{jobs} jobs");
        assert_eq!(stage.tried("b"), ["write first m"], "{jobs} jobs");
        assert_eq!(stage.tried("t"), ["write first m"], "{jobs} jobs");
    }
}

#[test]
fn who_waits_for_the_branch_holds_up_no_question_and_no_end() {
    let tasks = vec![task("x", &[]), task("a", &[]), task("b", &[]), task("t", &["a", "b"])];
    let mut stage = stage(tasks, 1);
    stage.asks_once("x");
    stage.apart = vec![apart("a", "b", None)];
    assert_eq!(stage.play(), Outcome::Waiting);
    assert_eq!(stage.committed(), ["a"], "`b` is done again when `x` is on the branch");
    stage.answer("r1-1", "This one.");
    stage.resume(&[]);
    assert_eq!(stage.play(), Outcome::Done);
    assert_eq!(stage.committed(), ["a", "x", "b", "t"]);
}

/// These ask once each.
fn ask_once(stage: &mut Stage, tasks: &'static [&str]) {
    let mut left: BTreeSet<&str> = tasks.iter().copied().collect();
    stage.attempt = Box::new(move |id, _| {
        if left.remove(id.as_str()) {
            Brought::asking(vec![Question::default()])
        } else {
            Brought::done()
        }
    });
}

/// Somebody answers this task alone.
fn answer(stage: &mut Stage, task: &str, answer: &str) {
    let of = |open: &Open| open.task.as_ref().is_some_and(|one| one.as_str() == task);
    let question = stage.state.questions.iter().find(|(_, open)| of(open)).unwrap().0.to_string();
    stage.answer(&question, answer);
    stage.resume(&[]);
}

#[test]
fn who_waits_for_what_can_never_come_onto_the_branch_is_not_kept_back() {
    let tasks =
        vec![task("e", &[]), task("q", &[]), task("y", &["q"]), task("p", &["y"]), task("r", &[])];
    let mut stage = stage(tasks, 1);
    ask_once(&mut stage, &["e"]);
    stage.apart = vec![apart("q", "r", None)];
    assert_eq!(stage.play(), Outcome::Waiting);
    assert_eq!(stage.committed(), ["q", "y", "p"]);
    // What `y` leaves next does not fit what was built on it.
    stage.apart.push(apart("y", "p", None));
    stage.resume(&["y"]);
    stage.stop_after("y");
    assert_eq!(stage.play(), Outcome::Stopped);
    stage.stopping = false;
    stage.attempt = Box::new(|id, _| match id.as_str() {
        "q" => Brought::stopped(Status::Blocked),
        _ => Brought::done(),
    });
    stage.resume(&["q"]);
    stage.play();
    assert_eq!(stage.ended("q"), Some(Ended::Failed));
    answer(&mut stage, "e", "This one.");
    stage.play();
    assert!(stage.ended("e").is_some());
    let r = stage.state.task(&"r".into()).unwrap();
    assert!(r.ended.is_some() || !r.open.is_empty(), "it waits for ever");
}

#[test]
fn what_comes_while_one_waits_to_be_done_again_is_in_its_base() {
    let tasks = ["p", "q", "r", "c", "b"].map(|id| task(id, &[])).to_vec();
    for jobs in 1..6 {
        let mut stage = stage(tasks.clone(), jobs);
        ask_once(&mut stage, &["q", "r", "c"]);
        stage.apart = vec![apart("p", "r", None), apart("q", "b", Some("c"))];
        assert_eq!(stage.play(), Outcome::Waiting);
        for task in ["r", "c", "q"] {
            answer(&mut stage, task, "This one.");
            stage.play();
        }
        assert_eq!(stage.state.ended, Some(Outcome::Done));
        assert_eq!(stage.committed(), ["p", "b", "c", "q", "r"], "{jobs} jobs: each once");
        assert_eq!(stage.tried("b").len(), 1, "{jobs} jobs");
    }
}

#[test]
fn what_comes_in_one_row_has_to_fit_what_comes_before_it_there() {
    let tasks = vec![
        task("a", &[]),
        task("x", &[]),
        task("b", &[]),
        task("t", &["a", "b"]),
        task("u", &["a"]),
    ];
    let mut stage = stage(tasks, 4);
    stage.turn = Box::new(|count| count - 1);
    stage.apart = vec![apart("a", "b", Some("x"))];
    assert_eq!(stage.play(), Outcome::Done);
    assert_eq!(stage.committed(), ["a", "x", "b", "t", "u"]);
    assert_eq!(stage.tried("b"), ["write first m", "write rebased m"]);
    let at = |id: &str| stage.state.position(&id.into()).unwrap();
    let order: Vec<usize> = ["a", "x", "b"].map(at).to_vec();
    let grounds = stage.state.grounds(&[at("u")], &order);
    let below: Vec<bool> = (0..3).map(|place| grounds.keys().next().unwrap().has(place)).collect();
    assert_eq!(below, [true, false, false]);
}

#[test]
fn a_commit_of_what_was_withdrawn_meanwhile_counts_for_nothing() {
    let mut stage = stage(vec![task("a", &[]), task("b", &[])], 1);
    ask_once(&mut stage, &["a"]);
    assert_eq!(stage.play(), Outcome::Waiting);
    assert_eq!(stage.committed(), ["b"]);
    stage.resume(&["b"]);
    let event = Event::TaskCommitted { commit: "late".into(), tree: "tip".into() };
    stage.tell(Scope { task: Some("b".into()), ..Scope::default() }, event);
    assert!(stage.state.task(&"b".into()).unwrap().committed.is_none());
    stage.play();
    answer(&mut stage, "a", "This one.");
    assert_eq!(stage.play(), Outcome::Done);
    assert_eq!(stage.committed(), ["b", "b", "b", "a"], "what was done again came there");
}
