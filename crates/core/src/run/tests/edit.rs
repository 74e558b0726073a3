//! Plans that were edited while their runs waited.

use super::stage::{Stage, started, task};
use crate::digest::Digest;
use crate::run::*;

fn spec(id: &str, needs: &[&str], text: &str) -> TaskSpec {
    TaskSpec { text: Digest::of(text.as_bytes()), ..task(id, needs) }
}

/// `a` and `b`, which needs it, are done; `q` waits for an answer.
fn waiting() -> Stage {
    let tasks = vec![task("a", &[]), task("b", &["a"]), task("q", &[])];
    let mut stage = Stage::new(started(tasks, &["m"]));
    stage.asks_once("q");
    assert_eq!(stage.play(), Outcome::Waiting);
    stage
}

#[test]
fn what_is_taken_out_of_the_plan_leaves_its_commit_and_is_done_when_it_comes_back() {
    let mut stage = waiting();
    stage.edit(vec![task("b", &["a"]), task("q", &[])]);
    assert_eq!(stage.play(), Outcome::Waiting);
    assert_eq!(stage.ended("a"), Some(Ended::Done), "what it left stands");
    stage.edit(vec![task("a", &[]), task("b", &["a"]), task("q", &[])]);
    stage.answer("r1-1", "This one.");
    assert_eq!(stage.play(), Outcome::Done);
    assert_eq!(stage.committed(), ["a", "b", "q"]);
    assert_eq!(stage.tried("a").len(), 2);
}

#[test]
fn what_comes_back_with_another_text_is_done_again_in_the_place_of_what_it_left() {
    let mut stage = waiting();
    stage.edit(vec![task("b", &["a"]), task("q", &[])]);
    assert_eq!(stage.play(), Outcome::Waiting);
    stage.edit(vec![spec("a", &[], "another"), task("b", &["a"]), task("q", &[])]);
    stage.answer("r1-1", "This one.");
    assert_eq!(stage.play(), Outcome::Done);
    assert_eq!(stage.committed(), ["a", "b", "a", "q"]);
    let again = stage.state.task(&"a".into()).unwrap();
    assert_eq!(again.replaced.as_ref().unwrap().as_str(), "a@1");
    assert_eq!(again.result().unwrap().as_str(), "a@3", "attempts are counted on");
}

#[test]
fn what_others_were_built_on_stays_beneath_them_when_the_plan_no_longer_has_it() {
    let mut stage = waiting();
    stage.edit(vec![task("b", &[]), task("q", &[]), task("c", &["b"])]);
    stage.answer("r1-1", "This one.");
    assert_eq!(stage.play(), Outcome::Done);
    let c = stage.state.task(&"c".into()).unwrap();
    assert_eq!(c.base.as_ref().unwrap().as_str(), "base+a@1+b@1");
}

#[test]
fn what_waits_and_is_taken_out_asks_nothing_more_and_begins_anew_when_it_comes_back() {
    let mut stage = waiting();
    stage.edit(vec![task("a", &[]), task("b", &["a"])]);
    assert_eq!(stage.state.inbox().count(), 0);
    assert_eq!(stage.play(), Outcome::Done);
    assert_eq!(stage.ended("q"), Some(Ended::Skipped));
    stage.answer("r1-1", "Too late.");
    stage.edit(vec![task("a", &[]), task("b", &["a"]), task("q", &[])]);
    assert_eq!(stage.play(), Outcome::Done);
    assert_eq!(stage.tried("q"), ["write first m", "write first m", "review first m"]);
    assert_eq!(stage.committed(), ["a", "b", "q"]);
}

#[test]
fn what_stands_after_tasks_that_were_put_before_it_is_still_built_on_the_same() {
    let tasks = vec![task("a", &[]), task("b", &[]), task("q", &[])];
    let mut stage = Stage::new(started(tasks, &["m"]));
    let mut clashes = true;
    stage.conflict = Box::new(move |id| id.as_str() == "b" && std::mem::take(&mut clashes));
    stage.asks_once("q");
    assert_eq!(stage.play(), Outcome::Waiting);
    let tasks = ["n", "m", "a", "b", "q"].map(|id| task(id, &[])).into_iter();
    stage.edit(tasks.chain([task("c", &["b"])]).collect());
    stage.answer("r1-1", "This one.");
    assert_eq!(stage.play(), Outcome::Done);
    let c = stage.state.task(&"c".into()).unwrap();
    assert!(c.base.as_ref().unwrap().as_str().ends_with("a@1+b@3"), "{:?}", c.base);
}

#[test]
fn no_task_comes_before_one_that_it_needs() {
    let tasks = vec![task("a", &["c"]), task("b", &[]), task("c", &["d"]), task("d", &[])];
    let mut stage = Stage::new(started(tasks, &["m"]));
    assert_eq!(stage.play(), Outcome::Done);
    assert_eq!(stage.committed(), ["b", "d", "c", "a"]);
}

#[test]
fn what_is_under_way_on_a_task_that_comes_back_as_another_begins_anew() {
    let tasks = || vec![task("a", &[]), task("b", &["a"]), task("c", &["b"])];
    let mut stage = Stage::new(started(tasks(), &["m"]));
    stage.asks_once("c");
    assert_eq!(stage.play(), Outcome::Waiting);
    stage.edit(tasks().split_off(1));
    assert_eq!(stage.state.inbox().count(), 1);
    let mut again = tasks();
    again[0].text = Digest::of(b"another");
    stage.edit(again);
    assert_eq!(stage.state.inbox().count(), 0, "it asked about what is no more");
    assert_eq!(stage.play(), Outcome::Done);
    assert_eq!(stage.tried("c"), ["write first m", "write rebased m", "review first m"]);
    let c = stage.state.task(&"c".into()).unwrap();
    assert_eq!(c.base.as_ref().unwrap().as_str(), "base+a@3+b@1");
}
