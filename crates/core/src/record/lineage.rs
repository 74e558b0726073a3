//! Whose artifacts, packing and notes count: the attempts that made a task what it is, and those that they mended.

use std::sync::LazyLock;

use super::left::Read;
use crate::agent::{Kept, Outcome};
use crate::digest::Digest;
use crate::moment::Moment;
use crate::run::{Fact, Purpose, Said, TaskRun, Tried};

/// In order. Who mends builds on what was left before; who begins a step anew does not.
pub(super) fn lineage(task: &TaskRun) -> Vec<&Tried> {
    let mut all: Vec<&Tried> = Vec::new();
    let mut void = 0;
    for fact in &task.facts {
        match fact {
            Fact::Reopened => {
                all.clear();
                void = 0;
            }
            Fact::Withdrawn { attempts } => {
                all.clear();
                void = *attempts;
            }
            Fact::Tried(tried) if tried.number > void && is_taken(tried) => {
                cut(&mut all, &tried.step, tried.purpose);
                all.push(tried);
                // Steps that run side by side end in any order.
                all.sort_by_key(|one| one.place);
            }
            _ => {}
        }
    }
    all
}

/// The attempts that made a task what it is: of each step the one that completed it last. What was judged and mended, or
/// begun anew, counts no more; what was delegated never does.
pub fn counted(task: &TaskRun) -> Vec<&Tried> {
    let all = lineage(task);
    // Whoever mends stands right behind what it mends.
    let is_last = |at: usize| all.get(at + 1).is_none_or(|next| next.step != all[at].step);
    all.iter().enumerate().filter(|(at, _)| is_last(*at)).map(|(_, tried)| *tried).collect()
}

fn is_taken(tried: &Tried) -> bool {
    let proceeds = matches!(tried.said, Some(Said::Proceed { .. }));
    proceeds && tried.outcome == Outcome::Done && tried.trouble.is_none() && tried.parent.is_none()
}

/// Leaves those on which an attempt of this step builds.
fn cut(all: &mut Vec<&Tried>, step: &str, purpose: Purpose) {
    let is_step = |one: &&Tried| one.step == step;
    let end = match purpose {
        Purpose::Fix => all.iter().rposition(is_step).map(|at| at + 1),
        _ => all.iter().position(is_step),
    };
    all.truncate(end.unwrap_or(all.len()));
}

/// On which attempts of its task one of this step builds.
pub fn before<'a>(task: &'a TaskRun, step: &str, purpose: Purpose) -> Vec<&'a Tried> {
    let mut all = lineage(task);
    cut(&mut all, step, purpose);
    all
}

/// What was kept by the attempts of a task that count, and when that was recorded.
pub(super) fn kept(task: &TaskRun, read: Read<'_>) -> (Vec<Kept>, Vec<Moment>) {
    let kept = |tried: &Tried| Some((kept_by(tried, read)?, tried.ended_at));
    lineage(task).into_iter().filter_map(kept).unzip()
}

/// Nothing where it kept nothing.
pub(super) fn kept_by(tried: &Tried, read: Read<'_>) -> Option<Kept> {
    // Most keep nothing, which need not be read.
    static NOTHING: LazyLock<Digest> =
        LazyLock::new(|| Digest::of(&serde_json::to_vec(&Kept::default()).unwrap_or_default()));
    let bytes = if tried.kept == *NOTHING { None } else { read(&tried.kept) };
    serde_json::from_slice(&bytes?).ok()
}
