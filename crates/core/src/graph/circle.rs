//! Circles among the needs: found, named whole, and cut.

use std::collections::HashSet;
use std::fmt::Write as _;

use crate::fault::{Code, Fault};
use crate::id::TaskId;
use crate::plan::{Plan, Reason};

use super::explain;

/// A circle of more tasks than this is named by its first ones.
const SHOWN: usize = 40;

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    New,
    Open,
    Closed,
}

/// So many circles are named one by one.
const NAMED: usize = 100;

/// Takes the need that closes each circle away, and says so; with the tasks that had such a need.
///
/// A need that is done is met: a circle through it holds nothing up, and is cut without a word.
pub(super) fn cut(plan: &Plan, needs: &mut [Vec<usize>]) -> (Vec<Fault>, Vec<usize>) {
    let mut faults = Vec::new();
    let found = cut_through(
        needs,
        |need| plan.tasks.get(need).is_none_or(|task| !task.done),
        |circle| {
            if faults.len() < NAMED {
                faults.push(name(plan, &circle()));
            }
        },
    );
    if let (true, Some(last)) = (found.len() > NAMED, faults.last_mut()) {
        last.hint = format!("{} There are {} more circles.", last.hint, found.len() - NAMED);
    }
    cut_through(needs, |_| true, |_| {});
    (faults, found.into_iter().map(|(task, _)| task).collect())
}

/// Cuts the circles of the needs that `follow` lets pass; says which needs closed them.
///
/// One walk in depth: a need on a task that is still open closes a circle, and the open tasks from there on are the circle.
fn cut_through(
    needs: &mut [Vec<usize>],
    follow: impl Fn(usize) -> bool,
    mut tell: impl FnMut(&dyn Fn() -> Vec<usize>),
) -> HashSet<(usize, usize)> {
    let mut closing: HashSet<(usize, usize)> = HashSet::new();
    let mut state = vec![State::New; needs.len()];
    for root in 0..needs.len() {
        let mut path: Vec<(usize, usize)> = Vec::new();
        if state[root] == State::New {
            state[root] = State::Open;
            path.push((root, 0));
        }
        while let Some((task, next)) = path.last_mut() {
            let task = *task;
            let Some(need) = needs[task].get(*next).copied() else {
                state[task] = State::Closed;
                path.pop();
                continue;
            };
            *next += 1;
            if !follow(need) || state[need] == State::Closed {
                continue;
            }
            if state[need] == State::New {
                state[need] = State::Open;
                path.push((need, 0));
            } else {
                closing.insert((task, need));
                tell(&|| {
                    path.iter().map(|(task, _)| *task).skip_while(|task| *task != need).collect()
                });
            }
        }
    }
    for (task, needs) in needs.iter_mut().enumerate() {
        needs.retain(|need| !closing.contains(&(task, *need)));
    }
    closing
}

fn name(plan: &Plan, circle: &[usize]) -> Fault {
    let groups: Vec<&TaskId> = plan.groups.keys().collect();
    let id = |node: usize| match plan.tasks.get(node) {
        Some(task) => &task.id,
        None => groups[node - plan.tasks.len()],
    };
    let first = circle.iter().enumerate().min_by_key(|(_, task)| **task).map_or(0, |(at, _)| at);
    let mut message = "Tasks need each other in a circle: ".to_owned();
    let mut place = None;
    for step in 0..circle.len() {
        // A group has no words of its own: the task before it names it as what it needs.
        let Some(task) = plan.tasks.get(circle[(first + step) % circle.len()]) else {
            continue;
        };
        let next = id(circle[(first + step + 1) % circle.len()]);
        let Some(need) = task.needs.iter().find(|need| need.id == *next) else {
            continue;
        };
        if need.reason == Reason::Declared {
            place = place.or(Some(need.place));
        }
        if step < SHOWN {
            if step > 0 {
                message.push_str(", ");
            }
            explain(&mut message, &task.id, need);
        }
    }
    if circle.len() > SHOWN {
        let _ = write!(message, ", and {} more", circle.len() - SHOWN);
    }
    message.push('.');
    let place = place.unwrap_or(plan.tasks[circle[first]].place);
    Fault::new(Code::Cycle, place, message, "Take one of these needs away.")
}
