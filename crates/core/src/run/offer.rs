//! What a person is offered when a task does not succeed by itself.

use super::event::About;
use super::next::Next;
use crate::report::{Choice, Question};

pub const GIVE_UP: &str = "Give up";
pub const TRY_AGAIN: &str = "Try again";

/// How the question ends that goes with the offer.
pub(super) const WHAT_NOW: &str = " What now?";

pub(super) fn offer(why: &str, details: Option<String>) -> Next {
    let choice = |label: &str, description: &str| Choice {
        label: label.to_owned(),
        description: Some(description.to_owned()),
    };
    let again = "From the clean base. Any other answer is shown to the subagent as advice.";
    let question = Question {
        question: format!("{why}{WHAT_NOW}"),
        options: vec![
            choice(TRY_AGAIN, again),
            choice(GIVE_UP, "The task has failed; what needs it is blocked."),
        ],
        ..Question::default()
    };
    Next::Ask { questions: vec![(About::Failure, question)], details }
}
