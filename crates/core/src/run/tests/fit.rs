//! Conflicts that show only in what a task is built on.

use super::apart::Apart;
use super::stage::{Stage, started, task};
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
