//! What a person is offered when a task does not succeed by itself.

use super::event::About;
use super::next::Next;
use crate::report::{Choice, Question};

pub const GIVE_UP: &str = "Give up";
pub const TRY_AGAIN: &str = "Try again";
pub const ACCEPT: &str = "Accept as it is";
pub const EDIT: &str = "Edit it myself";
pub const SKIP_WITH_DEPENDANTS: &str = "Skip this task and what needs it";
pub const SKIP: &str = "Skip this task only";

/// How the question ends that goes with the offer.
pub(super) const WHAT_NOW: &str = " How should I continue?";

/// What is tried again where a person wants it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RetryScope {
    /// The change, from the clean base.
    Change,
    /// The step that stopped, on the change that is there.
    Step,
}

/// What can become of the change that is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ChangeOffer {
    AcceptOrEdit,
    /// It cannot be committed as it is.
    Edit,
    /// The person edits it already.
    Accept,
    /// The person edits it already, and it cannot be committed as it is.
    Neither,
}

/// Neither accepting nor any other option is a default: a run without a person never takes one.
pub(super) fn offer(
    why: &str,
    details: Option<String>,
    scope: RetryScope,
    change: ChangeOffer,
) -> Next {
    let choice = |label: &str, description: &str| Choice {
        label: label.to_owned(),
        description: Some(description.to_owned()),
    };
    let again = match scope {
        RetryScope::Change => "From the clean base.",
        RetryScope::Step => "Only the step that stopped.",
    };
    let again = &format!("{again} Any other answer is shown to the subagent as advice.");
    let mut options = vec![
        choice(TRY_AGAIN, again),
        choice(GIVE_UP, "The task has failed; what needs it is blocked."),
    ];
    if matches!(change, ChangeOffer::AcceptOrEdit | ChangeOffer::Accept) {
        options.push(choice(
            ACCEPT,
            "The change, if there is one, is committed as yours to answer for, not as verified. A reason may follow: `Accept as it is: REASON`.",
        ));
    }
    if matches!(change, ChangeOffer::AcceptOrEdit | ChangeOffer::Edit) {
        options.push(choice(
            EDIT,
            "`sequester open RUN TASK` makes a worktree of the change, `sequester hand-back RUN TASK` takes it back and verifies it.",
        ));
    }
    options.push(choice(SKIP_WITH_DEPENDANTS, "All of them end as skipped."));
    options.push(choice(SKIP, "Tasks that need it are built without its change."));
    let question =
        Question { question: format!("{why}{WHAT_NOW}"), options, ..Question::default() };
    Next::Ask { questions: vec![(About::Failure, question)], details }
}
