//! A person has the last word on a task that does not succeed by itself.

use super::super::fact::Fact;
use super::stage::{Stage, started, task};
use crate::run::*;

/// A task whose checks never pass, and two that build on it one after the other.
fn failing() -> Stage {
    let tasks = vec![task("a", &[]), task("b", &["a"]), task("c", &["b"])];
    let mut stage = Stage::new(started(tasks, &["m"]));
    stage.verify = Box::new(|id| id.as_str() != "a");
    assert_eq!(stage.play(), Outcome::Waiting);
    stage
}

fn answer(stage: &mut Stage, words: &str) {
    let question = stage.state.inbox().next().unwrap().0.clone();
    let event = Event::QuestionAnswered { question, answer: words.to_owned(), by: "Ada".into() };
    let scope = Scope { task: Some("a".into()), ..Scope::default() };
    stage.tell(scope, event);
    stage.resume(&[]);
}

fn hand_back(stage: &mut Stage, id: &str, tree: &str) {
    let base = stage.state.task(&id.into()).unwrap().base.clone().unwrap_or_else(|| "start".into());
    let event =
        Event::TaskHandedBack { base, tree: tree.into(), by: "Ada".into(), left_out: Vec::new() };
    stage.tell(Scope { task: Some(id.into()), ..Scope::default() }, event);
    stage.resume(&[]);
}

fn person(stage: &Stage, id: &str) -> Option<PersonDecision> {
    stage.state.task(&id.into()).unwrap().ended.as_ref().unwrap().person.clone()
}

#[test]
fn what_a_person_accepts_is_done_by_their_word_and_what_needs_it_goes_on() {
    let mut stage = failing();
    let parked = stage.state.tasks[0].parked().unwrap().tree.clone();
    answer(&mut stage, "Accept as it is: the check is wrong");
    assert_eq!(stage.play(), Outcome::Done);
    assert_eq!(stage.committed(), ["a", "b", "c"]);
    let known = person(&stage, "a").unwrap();
    assert_eq!((known.choice, known.by.as_str()), (PersonChoice::Accepted, "Ada"));
    assert_eq!(known.why.as_deref(), Some("the check is wrong"));
    assert_eq!(stage.state.tasks[0].result(), Some(&parked));
    assert_eq!(person(&stage, "b"), None);
}

#[test]
fn a_task_is_skipped_alone_or_with_all_that_needs_it() {
    let mut stage = failing();
    answer(&mut stage, "Skip this task only");
    assert_eq!(stage.play(), Outcome::Done);
    assert_eq!(stage.committed(), ["b", "c"]);
    assert_eq!(stage.ended("a"), Some(Ended::Skipped));

    let mut stage = failing();
    answer(&mut stage, "Skip this task and what needs it: later");
    assert_eq!(stage.play(), Outcome::Done);
    assert_eq!(stage.committed(), Vec::<String>::new());
    assert_eq!(["a", "b", "c"].map(|id| stage.ended(id)), [Some(Ended::Skipped); 3]);
    let reason =
        |id: &str| stage.state.task(&id.into()).unwrap().ended.clone().unwrap().reason.unwrap();
    assert_eq!(reason("a"), "Skipped by Ada, with the tasks that need it: later.");
    assert_eq!(reason("c"), "It needs `b`, and so `a`, which is skipped.");
    // A person may change their mind.
    stage.verify = Box::new(|_| true);
    stage.resume(&["a"]);
    assert_eq!(stage.play(), Outcome::Done);
    assert_eq!(stage.committed(), ["a", "b", "c"]);
}

#[test]
fn an_edit_is_awaited_then_verified_and_no_subagent_touches_it() {
    let mut stage = failing();
    answer(&mut stage, "Edit it myself");
    assert_eq!(stage.play(), Outcome::Waiting);
    let (_, open) = stage.state.inbox().next().unwrap();
    assert!(open.asked.text.contains("`sequester hand-back RUN a`"), "{}", open.asked.text);
    let attempts = stage.state.tasks[0].attempts;
    hand_back(&mut stage, "a", "mine");
    assert_eq!(stage.play(), Outcome::Waiting, "the checks still fail");
    let (_, open) = stage.state.inbox().next().unwrap();
    let labels: Vec<&str> = open.asked.options.iter().map(|one| one.label.as_str()).collect();
    assert!(labels.contains(&ACCEPT) && labels.contains(&EDIT), "{labels:?}");
    stage.verify = Box::new(|_| true);
    hand_back(&mut stage, "a", "mine, better");
    assert_eq!(stage.play(), Outcome::Done);
    assert_eq!(person(&stage, "a").unwrap().choice, PersonChoice::HandedBack);
    assert_eq!(stage.state.tasks[0].attempts, attempts);
    assert_eq!(stage.state.tasks[0].result(), Some(&"mine, better".into()));
    assert_eq!(stage.committed(), ["a", "b", "c"]);
}

#[test]
fn a_subagent_writes_again_where_the_person_gives_the_task_back() {
    let mut stage = failing();
    hand_back(&mut stage, "a", "mine");
    assert_eq!(stage.play(), Outcome::Waiting);
    let attempts = stage.state.tasks[0].attempts;
    stage.verify = Box::new(|_| true);
    answer(&mut stage, "Try again");
    assert_eq!(stage.play(), Outcome::Done);
    assert_eq!(person(&stage, "a"), None);
    let next = stage.state.tasks[0].tried().find(|tried| tried.number > attempts).unwrap();
    assert_eq!((next.step.as_str(), &next.from), ("write", &None));
}

#[test]
fn a_task_that_ended_or_was_left_out_is_open_again_by_what_is_handed_back() {
    let mut stage = failing();
    answer(&mut stage, "Give up");
    assert_eq!(stage.play(), Outcome::Failed);
    stage.verify = Box::new(|_| true);
    hand_back(&mut stage, "a", "mine");
    assert_eq!(stage.play(), Outcome::Done);
    assert_eq!(stage.committed(), ["a", "b", "c"]);

    let mut stage = failing();
    let left_out = Some("It is ticked.".to_owned());
    let plan = [TaskSpec { left_out, ..task("a", &[]) }, task("b", &["a"]), task("c", &["b"])];
    stage.edit(plan.to_vec());
    assert_eq!(stage.play(), Outcome::Done);
    assert_eq!(
        (stage.ended("a"), stage.committed()),
        (Some(Ended::Skipped), vec!["b".into(), "c".into()])
    );
    stage.verify = Box::new(|_| true);
    hand_back(&mut stage, "a", "mine");
    assert_eq!(stage.play(), Outcome::Done);
    assert_eq!(stage.ended("a"), Some(Ended::Done));
}

#[test]
fn words_that_no_option_says_are_advice() {
    let mut stage = failing();
    stage.verify = Box::new(|_| true);
    answer(&mut stage, "Accept nothing but the best");
    assert_eq!(stage.play(), Outcome::Done);
    assert_eq!(person(&stage, "a"), None);
    assert_eq!(stage.state.tasks[0].clarifications.len(), 1);
}

#[test]
fn a_run_without_a_person_never_accepts() {
    let mut all = started(vec![task("a", &[])], &["m"]);
    all.settings.unattended = true;
    let mut stage = Stage::new(all);
    stage.verify = Box::new(|_| false);
    assert_eq!(stage.play(), Outcome::Failed);
    assert_eq!(person(&stage, "a"), None);
    let mut stage = failing();
    let (_, open) = stage.state.inbox().next().unwrap();
    assert_eq!((&open.asked.default, open.asked.deadline), (&None, None));
    answer(&mut stage, "Accept as it is");
    stage.tell(Scope::default(), Event::RunCancelled { by: "Ada".into() });
    assert_eq!(stage.play(), Outcome::Cancelled);
}

#[test]
fn checks_of_an_earlier_tree_say_nothing_of_what_was_handed_back() {
    for failing_check in [None, Some(crate::digest::Digest::of(b"failing"))] {
        let mut stage = failing();
        let earlier = stage.state.tasks[0].parked().unwrap().tree.clone();
        hand_back(&mut stage, "a", "mine");
        let event = Event::TaskVerified {
            steps: vec!["checks".to_owned()],
            evidence: crate::digest::Digest::of(b"evidence"),
            tree: earlier,
            failing: failing_check,
            gist: None,
        };
        stage.tell(Scope { task: Some("a".into()), ..Scope::default() }, event);
        let mut looked = 0;
        stage.verify = Box::new(move |id| {
            looked += usize::from(id.as_str() == "a");
            id.as_str() != "a" || looked > 1
        });
        assert_eq!(stage.play(), Outcome::Waiting, "the checks run on the person's tree");
    }
}

#[test]
fn a_change_that_is_accepted_late_does_not_take_the_place_of_what_was_handed_back() {
    let mut stage = failing();
    let parked = stage.state.tasks[0].parked().unwrap().tree.clone();
    answer(&mut stage, "Accept as it is");
    stage.verify = Box::new(|_| true);
    hand_back(&mut stage, "a", "mine");
    let event = Event::ChangeAccepted { tree: parked, left_out: Vec::new() };
    stage.tell(Scope { task: Some("a".into()), ..Scope::default() }, event);
    assert_eq!(stage.play(), Outcome::Done);
    assert_eq!(person(&stage, "a").unwrap().choice, PersonChoice::HandedBack);
    assert_eq!(stage.state.tasks[0].result(), Some(&"mine".into()));
}

#[test]
fn a_word_that_is_older_than_a_persons_last_one_is_not_taken() {
    let mut stage = failing();
    let seen = stage.state.seq;
    assert!(stage.state.takes_hand_back(&"a".into(), seen));
    hand_back(&mut stage, "a", "mine, newer");
    assert!(stage.state.tasks[0].is_hand_back_unchecked(), "no attempt begins meanwhile");
    assert!(!stage.state.takes_hand_back(&"a".into(), seen));
    assert!(stage.state.takes_hand_back(&"a".into(), stage.state.seq));
}

#[test]
fn an_edited_plan_keeps_what_was_handed_back_and_has_it_verified_again() {
    let edited = |id: &str, needs: &[&str]| TaskSpec {
        text: crate::digest::Digest::of(b"another"),
        ..task(id, needs)
    };
    let ticked = TaskSpec { left_out: Some("ticked".to_owned()), ..task("a", &[]) };
    for (a, is_checked) in [
        (edited("a", &[]), true),
        (edited("a", &[]), false),
        (ticked, false),
        (task("a", &[]), true),
    ] {
        let mut stage = failing();
        hand_back(&mut stage, "a", "mine");
        if is_checked {
            assert_eq!(stage.play(), Outcome::Waiting, "the checks fail");
        }
        stage.verify = Box::new(|_| true);
        let is_same = a == task("a", &[]);
        stage.edit(vec![a, task("b", &["a"]), task("c", &["b"])]);
        let wanted = if is_same { Outcome::Waiting } else { Outcome::Done };
        assert_eq!(stage.play(), wanted);
        assert_eq!(stage.state.tasks[0].handed_back(), Some(&"mine".into()));
    }
}

#[test]
fn what_was_handed_back_does_not_stand_on_other_needs() {
    let mut stage = Stage::new(started(vec![task("a", &[]), task("b", &[])], &["m"]));
    stage.verify = Box::new(|id| id.as_str() != "b");
    assert_eq!(stage.play(), Outcome::Waiting);
    hand_back(&mut stage, "b", "mine");
    stage.edit(vec![task("a", &[]), task("b", &["a"])]);
    assert_eq!(stage.state.task(&"b".into()).unwrap().handed_back(), None);
}

#[test]
fn an_attempt_that_changed_nothing_takes_no_earlier_change_from_a_person() {
    let mut stage = failing();
    let parked = stage.state.tasks[0].parked().unwrap().tree.clone();
    let mut tried = stage.state.tasks[0].tried().last().unwrap().clone();
    tried.tree = None;
    stage.state.tasks[0].facts.push(Fact::Tried(Box::new(tried)));
    assert_eq!(stage.state.tasks[0].parked().unwrap().tree, &parked);
}

#[test]
fn a_reason_may_follow_giving_up() {
    let mut stage = failing();
    let attempts = stage.state.tasks[0].attempts;
    answer(&mut stage, "Give up: it is obsolete");
    assert_eq!(stage.play(), Outcome::Failed);
    assert_eq!(stage.state.tasks[0].attempts, attempts);
    let reason = stage.state.tasks[0].ended.clone().unwrap().reason.unwrap();
    assert_eq!(reason, "A person gave it up: it is obsolete.");
}

#[test]
fn models_for_one_agent_leave_those_of_tasks_of_others() {
    let own = |id: &str, asks_person| {
        let models = vec!["literal".to_owned()];
        TaskSpec { models, asks_person, ..task(id, &[]) }
    };
    let other = TaskSpec { agent: Some("reviewer".to_owned()), ..own("c", false) };
    let models = |names: &[&str]| {
        let mut stage =
            Stage::new(started(vec![own("a", false), own("b", true), other.clone()], &["m"]));
        let models = names.iter().map(|name| ((*name).to_owned(), vec!["x".to_owned()])).collect();
        stage.tell(Scope::default(), Event::AgentsChanged { models, profile: None });
        stage.state.tasks.iter().map(|task| task.spec.models.len()).collect::<Vec<_>>()
    };
    assert_eq!(models(&["reviewer"]), [1, 1, 0]);
    assert_eq!(models(&["writer", "reviewer"]), [0, 1, 0]);
}
