//! The way through a workflow that is not one of the built-in ones.

use super::bring;
use super::stage::{Brought, Stage, started, task};
use crate::check::Kind;
use crate::report::{Complexity, Phase, Question, Status};
use crate::run::*;

pub(super) fn step(id: &str, agent: &str) -> Step {
    Step { id: id.to_owned(), agent: Some(agent.to_owned()), ..Step::default() }
}

fn phase(name: &str) -> Option<Phase> {
    crate::agent::find(name).map(|role| role.phase)
}

/// One task that takes these steps.
pub(super) fn taking(steps: Vec<Step>, models: &[&str]) -> Stage {
    let spec = TaskSpec { workflow: "own".to_owned(), ..task("a", &[]) };
    let mut all = started(vec![spec], models);
    let own = Workflow { name: "own".to_owned(), steps, ..Workflow::default() }.completed(phase);
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
        (_, LITERAL) => Brought::stopped(Status::Blocked),
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
        needs: Some(needs.iter().map(|need| (*need).to_owned()).collect()),
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
    let checks = Step { check: Kind::PROJECT.to_vec(), ..check("tests", None, &["write"]) };
    let whole = Workflow {
        name: "own".to_owned(),
        steps: vec![step("write", "writer"), checks],
        ..Workflow::default()
    };
    assert_eq!(whole.completed(phase), whole);
}

/// The ids of a workflow's steps once it is complete, with the kinds that checks run.
fn completed(steps: Vec<Step>) -> Vec<String> {
    let all = Workflow { name: "own".to_owned(), steps, ..Workflow::default() }.completed(phase);
    let told = |step: &Step| {
        let kinds: Vec<&str> = step.check.iter().map(|kind| kind.as_str()).collect();
        format!("{} {}", step.id, kinds.join(",")).trim_end().to_owned()
    };
    all.steps.iter().map(told).collect()
}

#[test]
fn all_checks_run_between_a_writer_and_whoever_judges() {
    let all = "check types,lint,tests,security";
    assert_eq!(completed(vec![step("write", "writer")]), ["write", all]);
    let judged = || vec![step("write", "writer"), step("review", "reviewer")];
    assert_eq!(completed(judged()), ["write", all, "review"]);
    let tests = Step { id: "t".to_owned(), check: vec![Kind::Tests], ..Step::default() };
    let mut late = judged();
    late.push(tests.clone());
    assert_eq!(completed(late), ["write", all, "review", "t tests"]);
    let mut early = judged();
    early.insert(1, tests);
    assert_eq!(completed(early), ["write", "t tests", "check types,lint,security", "review"]);
    let again = [judged(), vec![step("mend", "executor"), step("verify", "verifier")]].concat();
    assert_eq!(
        completed(again),
        ["write", all, "review", "mend", "check- types,lint,tests,security", "verify"]
    );
    assert_eq!(completed(vec![step("look", "Explore")]), ["look", "evidence"]);
}

pub(super) fn beside(id: &str, agent: &str, needs: &[&str]) -> Step {
    let needs = needs.iter().map(|need| (*need).to_owned()).collect();
    Step { needs: Some(needs), ..step(id, agent) }
}

/// Four that judge one change.
pub(super) fn four_judges() -> Vec<Step> {
    let judges = ["one", "two", "three", "four"].map(|id| beside(id, "reviewer", &["write"]));
    [vec![step("write", "writer")], judges.to_vec()].concat()
}

/// The steps of attempts in the order in which they begin and end.
pub(super) fn begun_and_ended(stage: &Stage) -> Vec<String> {
    let mut begun = std::collections::BTreeMap::new();
    let events = stage.log.iter().map(|one| &one.entry);
    let told = events.filter_map(|entry| match &entry.event {
        Event::AttemptStarted(started) => {
            begun.insert(entry.scope.attempt, started.step.clone());
            Some(format!("+{}", started.step))
        }
        Event::AttemptEnded(_) => Some(format!("-{}", begun[&entry.scope.attempt])),
        _ => None,
    });
    told.collect()
}

#[test]
fn steps_that_need_the_same_run_side_by_side_as_far_as_there_is_room() {
    let mut stage = taking(four_judges(), &["m"]);
    assert_eq!(stage.play(), Outcome::Done);
    let together = ["+write", "-write", "+one", "+two", "+three", "+four", "-one", "-two"];
    assert_eq!(begun_and_ended(&stage)[..8], together);
    let mut stage = taking(four_judges(), &["m"]);
    stage.jobs = 2;
    assert_eq!(stage.play(), Outcome::Done);
    let two = ["+one", "+two", "-one", "-two", "+three", "+four", "-three", "-four"];
    assert_eq!(begun_and_ended(&stage)[2..], two);
}

#[test]
fn all_side_by_side_answer_before_a_stop_counts() {
    for jobs in [1, 4] {
        let mut stage = taking(four_judges(), &["m"]);
        stage.jobs = jobs;
        stage.attempt = Box::new(|_, order| match (order.step.as_str(), order.because.len()) {
            ("two", _) => Brought::stopped(Status::Complete),
            ("three", _) => Brought::judged(false),
            ("write", _) => Brought::done(),
            _ => Brought::judged(true),
        });
        assert_eq!(stage.play(), Outcome::Waiting);
        let round = |purpose: &str| {
            vec![
                format!("write {purpose} m"),
                "one first m".to_owned(),
                "two first m".to_owned(),
                "three first m".to_owned(),
                "four first m".to_owned(),
            ]
        };
        let rounds = ["first", "fix", "fix"].map(round).concat();
        assert_eq!(stage.tried("a"), rounds, "{jobs}");
        let open = stage.state.questions.values().next().unwrap();
        let details = open.asked.details.as_deref().unwrap();
        assert_eq!(details, "two:\n- No.\nthree:\n- It is odd.\n", "both objections are told");
    }
}

#[test]
fn a_mending_attempt_is_told_all_objections_and_no_step_beside_it() {
    let seen = std::rc::Rc::new(std::cell::RefCell::new(Vec::new()));
    let told = std::rc::Rc::clone(&seen);
    let mut stage = taking(four_judges(), &["m"]);
    stage.jobs = 1;
    let mut first = true;
    stage.attempt = Box::new(move |_, order| {
        told.borrow_mut().push((order.step.clone(), order.because.len(), order.findings.len()));
        match order.step.as_str() {
            "write" => Brought::done(),
            "two" | "four" if first => {
                first = order.step != "four";
                Brought::judged(false)
            }
            _ => Brought::judged(true),
        }
    });
    assert_eq!(stage.play(), Outcome::Done);
    let seen = seen.borrow();
    assert_eq!(seen[5], ("write".to_owned(), 2, 0));
    assert!(seen.iter().filter(|one| one.0 != "write").all(|one| one.2 == 0), "{seen:?}");
}

#[test]
fn researchers_side_by_side_stop_the_task_together_and_ask_together() {
    let steps = || {
        let found = ["left", "right"].map(|id| beside(id, "researcher", &[]));
        [found.to_vec(), vec![step("write", "writer")]].concat()
    };
    let mut stage = taking(steps(), &["m"]);
    stage.attempt = Box::new(|_, _| Brought::stopped(Status::Complete));
    assert_eq!(stage.play(), Outcome::Failed);
    let ended = stage.state.task(&"a".into()).unwrap().ended.clone().unwrap();
    assert_eq!(ended.reason.as_deref(), Some("left: No. right: No."));

    let mut stage = taking(steps(), &["m"]);
    let question = Question { question: "Which?".to_owned(), ..Question::default() };
    let mut asks = 2;
    stage.attempt = Box::new(move |_, order| match order.step.as_str() {
        "write" => Brought::done(),
        _ if asks > 0 => {
            asks -= 1;
            Brought::asking(vec![question.clone()])
        }
        _ => Brought { changes: false, ..Brought::done() },
    });
    assert_eq!(stage.play(), Outcome::Waiting);
    stage.answer("r1-1", "This.");
    stage.answer("r1-2", "That.");
    stage.resume(&[]);
    assert_eq!(stage.play(), Outcome::Done);
    let tried =
        ["left first m", "right first m", "left answered m", "right answered m", "write first m"];
    assert_eq!(stage.tried("a"), tried);
}

#[test]
fn a_step_is_tried_again_as_often_as_its_workflow_says() {
    for retries in [0, 1, 3] {
        let write = Step { retries, once: retries == 0, ..step("write", "writer") };
        let mut stage = taking(vec![write], &["m"]);
        stage.attempt = Box::new(|_, _| {
            let fault = crate::agent::Fault::NoReport { faults: Vec::new() };
            Brought::ended(crate::agent::Outcome::Failed { fault })
        });
        assert_eq!(stage.play(), Outcome::Failed);
        assert_eq!(stage.tried("a").len(), 1 + retries as usize);
    }
}

#[test]
fn one_of_several_that_brings_no_report_is_tried_again_alone() {
    let mut stage = taking(four_judges(), &["m", "n"]);
    let mut fails = true;
    stage.attempt = Box::new(move |_, order| match order.step.as_str() {
        "write" => Brought::done(),
        "three" if std::mem::take(&mut fails) => {
            let message = "It broke.".to_owned();
            Brought::ended(crate::agent::Outcome::Failed {
                fault: crate::agent::Fault::Runtime { message },
            })
        }
        _ => Brought::judged(true),
    });
    assert_eq!(stage.play(), Outcome::Done);
    assert_eq!(stage.tried("a")[5..], ["three repeat n"]);
}
