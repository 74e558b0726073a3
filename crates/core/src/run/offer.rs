//! What a person is offered when a task does not succeed by itself.

use super::event::About;
use super::next::Next;
use crate::report::{Choice, Question};

pub const GIVE_UP: &str = "Give up";
pub const TRY_AGAIN: &str = "Try again";

/// How the question ends that goes with the offer.
pub(super) const WHAT_NOW: &str = " What now?";

/// What is tried again where a person wants it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RetryScope {
    /// The change, from the clean base.
    Change,
    /// The step that stopped, on the change that is there.
    Step,
}

pub(super) fn offer(why: &str, details: Option<String>, scope: RetryScope) -> Next {
    let choice = |label: &str, description: &str| Choice {
        label: label.to_owned(),
        description: Some(description.to_owned()),
    };
    let again = match scope {
        RetryScope::Change => "From the clean base.",
        RetryScope::Step => "Only the step that stopped.",
    };
    let again = &format!("{again} Any other answer is shown to the subagent as advice.");
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
