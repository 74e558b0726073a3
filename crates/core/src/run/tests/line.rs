//! In which order changes come onto the branch.

use std::collections::BTreeMap;

use super::stage::{Stage, started, task};
use crate::context::Share;
use crate::run::*;

/// `z` comes last in the plan, is the slowest and does not fit once; nobody needs it.
fn stage(share: Share) -> Stage {
    let tasks = vec![task("a", &[]), task("b", &["a"]), task("c", &["b"]), task("z", &[])];
    let mut started = started(tasks, &["m"]);
    started.settings.share = share;
    let mut stage = Stage::new(started);
    let mut first = true;
    stage.conflict = Box::new(move |id| id.as_str() == "z" && std::mem::take(&mut first));
    stage
}

#[test]
fn it_is_the_plans_order_and_where_all_earlier_waves_are_shared_wave_after_wave() {
    let orders = [
        (Share::Needs, ["a", "b", "c", "z"]),
        (Share::None, ["a", "b", "c", "z"]),
        (Share::AllEarlier, ["a", "z", "b", "c"]),
    ];
    for (share, order) in orders {
        let mut stage = stage(share);
        assert_eq!(stage.play(), Outcome::Done);
        assert_eq!(stage.committed(), order, "{share:?}");
    }
}

#[test]
fn what_was_done_again_is_what_a_later_wave_is_shown_first() {
    let mut stage = stage(Share::AllEarlier);
    assert_eq!(stage.play(), Outcome::Done);
    assert_eq!(stage.tried("z").len(), 4, "it was done again");
    let shown = |task: &str| stage.admitted[&(task.to_owned(), 1)].clone();
    let seen = |all: &[&str]| all.iter().map(|one| (*one).to_owned()).collect::<Vec<_>>();
    assert_eq!(shown("b"), ("base+a@1".to_owned(), seen(&["a@2", "z@4"])));
    // What it is shown of is told in the plan's order.
    assert_eq!(shown("c"), ("base+a@1+b@1".to_owned(), seen(&["a@2", "b@2", "z@4"])));
    assert_eq!(stage.tried("b").len(), 2, "and nobody began before");
}

#[test]
fn a_question_of_an_earlier_wave_is_waited_for() {
    let mut stage = stage(Share::AllEarlier);
    stage.asks_once("a");
    assert_eq!(stage.play(), Outcome::Waiting);
    assert!(stage.tried("b").is_empty());
    assert_eq!(
        stage.committed(),
        [""; 0],
        "it did not fit, and is done again when all before it is settled"
    );
    stage.answer("r1-1", "This one.");
    stage.resume(&[]);
    assert_eq!(stage.play(), Outcome::Done);
    assert_eq!(stage.committed(), ["a", "z", "b", "c"]);
}

#[test]
fn who_is_left_out_brings_others_into_an_earlier_wave() {
    let mut stage = stage(Share::AllEarlier);
    let remedies = BTreeMap::from([("Leave it out".to_owned(), Remedy::LeaveOut)]);
    let contradiction = Contradiction { task: "a".into(), told: "No.".to_owned(), remedies };
    let asked = Asked {
        question: "r1-1".into(),
        text: "It cannot be.".to_owned(),
        details: None,
        options: Vec::new(),
        default: None,
        deadline: None,
        about: About::Plan(Box::new(contradiction)),
    };
    let scope = Scope { task: Some("a".into()), ..Scope::default() };
    stage.tell(scope, Event::QuestionAsked(Box::new(asked)));
    stage.answer("r1-1", "Leave it out");
    assert_eq!(stage.play(), Outcome::Done);
    assert_eq!(stage.committed(), ["b", "z", "c"]);
}
