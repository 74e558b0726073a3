//! The way through a workflow that is not one of the built-in ones.

use super::bring;
use super::stage::{Brought, Stage, started, task};
use crate::report::{Complexity, Phase, Question};
use crate::run::*;

fn step(id: &str, agent: &str) -> Step {
    Step { id: id.to_owned(), agent: Some(agent.to_owned()), ..Step::default() }
}

fn writes(name: &str) -> bool {
    crate::agent::find(name).unwrap().phase.changes_files()
}

/// One task that takes these steps.
fn taking(steps: Vec<Step>, models: &[&str]) -> Stage {
    let spec = TaskSpec { workflow: "own".to_owned(), ..task("a", &[]) };
    let mut all = started(vec![spec], models);
    let own = Workflow { name: "own".to_owned(), steps }.completed(writes);
    all.workflows.insert("own".to_owned(), own);
    Stage::new(all)
}

fn from(stage: &Stage) -> Vec<Option<String>> {
    let events = stage.log.iter().map(|one| &one.entry.event);
    let starts = events.filter_map(|event| match event {
        Event::AttemptStarted(started) => Some(started.from.as_ref().map(ToString::to_string)),
        _ => None,
    });
    starts.collect()
}

fn two_writers() -> Vec<Step> {
    vec![step("first", "executor"), step("second", "writer")]
}

#[test]
fn a_second_writer_who_begins_anew_keeps_what_the_first_left() {
    let mut stage = taking(two_writers(), &["m"]);
    let question = Question { question: "Which?".to_owned(), ..Question::default() };
    bring(&mut stage, vec![Brought::done(), Brought::asking(vec![question])]);
    assert_eq!(stage.play(), Outcome::Waiting);
    stage.answer("r1-1", "This one.");
    stage.resume(&[]);
    assert_eq!(stage.play(), Outcome::Done);
    let left = Some("a@1".to_owned());
    assert_eq!(from(&stage), [None, left.clone(), left]);
}

#[test]
fn all_writers_work_again_on_a_new_base() {
    let mut stage = taking(two_writers(), &["m"]);
    let mut clashes = true;
    stage.conflict = Box::new(move |_| std::mem::replace(&mut clashes, false));
    assert_eq!(stage.play(), Outcome::Done);
    assert_eq!(
        stage.tried("a"),
        ["first first m", "second first m", "first rebased m", "second first m"]
    );
    assert_eq!(from(&stage)[2..], [None, Some("a@3".to_owned())]);
}

#[test]
fn what_a_review_finds_reaches_the_model_that_wrote() {
    let spec = task("a", &[]);
    let mut all = started(vec![spec], &[LITERAL, "n"]);
    if let Some(reviewer) = all.agents.get_mut("reviewer") {
        reviewer.models = vec!["n".to_owned()];
    }
    let mut stage = Stage::new(all);
    let mut judged = 0;
    stage.attempt = Box::new(move |_, order| match (order.phase, order.model.as_str()) {
        (Phase::Review, _) => {
            judged += 1;
            Brought::judged(judged > 1)
        }
        (_, LITERAL) => Brought::stopped(crate::report::Status::Blocked),
        _ => Brought::done(),
    });
    assert_eq!(stage.play(), Outcome::Done);
    assert_eq!(
        stage.tried("a"),
        [
            "write first literal",
            "write next_model n",
            "review first n",
            "write fix n",
            "review first n"
        ]
    );
}

#[test]
fn evidence_is_looked_at_though_a_workflows_own_checks_are_left_out() {
    let check = |id: &str, when, needs: &[&str]| Step {
        id: id.to_owned(),
        when,
        needs: needs.iter().map(|need| (*need).to_owned()).collect(),
        ..Step::default()
    };
    let simple = Some(Complexity::Simple);
    for last in [check("tests", simple, &[]), check("tests", None, &["quick"])] {
        let quick = Step { when: simple, ..step("quick", "quick-writer") };
        let steps = vec![step("analyze", "analyzer"), quick, step("write", "writer"), last];
        let mut stage = taking(steps, &["m"]);
        stage.verify = Box::new(|_| false);
        assert_eq!(stage.play(), Outcome::Waiting, "it is not done without evidence");
    }
    let sure = vec![step("write", "writer"), check("tests", None, &["write"])];
    let whole = Workflow { name: "own".to_owned(), steps: sure };
    assert_eq!(whole.completed(writes), whole);
}
