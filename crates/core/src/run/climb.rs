//! Work that one subagent gave to another: whether a fresh attempt at it, perhaps with the next model, may help.

use super::attempts::Tried;
use super::event::Purpose;
use super::said::Said;
use crate::agent::{Fault, Outcome};
use crate::report::Status;

/// What comes next for a call whose attempts ended so: why there is another one, and which of the models takes it. The rules are
/// those of a task. Nothing where what the last one brought is handed back.
pub fn climb(tried: &[Tried], models: usize) -> Option<(Purpose, usize)> {
    let Some(last) = tried.last() else { return Some((Purpose::Delegated, 0)) };
    let next = (last.rung + 1 < models).then_some(last.rung + 1);
    let repeat = || {
        let is_first = tried.iter().all(|one| one.purpose != Purpose::Repeat);
        is_first.then(|| (Purpose::Repeat, next.unwrap_or(last.rung)))
    };
    match (&last.outcome, &last.said) {
        _ if last.trouble.is_some() => repeat(),
        (Outcome::Failed { fault: Fault::NoReport { .. } | Fault::Runtime { .. } }, _) => repeat(),
        (Outcome::Failed { fault: Fault::Provider { .. } } | Outcome::Refused { .. }, _)
        | (_, Some(Said::Stop { status: Status::Blocked, .. })) => {
            next.map(|rung| (Purpose::NextModel, rung))
        }
        _ => None,
    }
}
