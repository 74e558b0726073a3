//! Circles among the needs: found, named whole, and cut.

use std::collections::HashSet;
use std::fmt::Write as _;

use crate::fault::{Code, Fault};
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

/// Takes the need that closes each circle away, and says so.
///
/// One walk in depth: a need on a task that is still open closes a circle, and the open tasks from there on are the circle.
pub(super) fn cut(plan: &Plan, needs: &mut [Vec<usize>]) -> Vec<Fault> {
    let mut faults = Vec::new();
    let mut closing: HashSet<(usize, usize)> = HashSet::new();
    let mut state = vec![State::New; needs.len()];
    for root in 0..needs.len() {
        if state[root] != State::New {
            continue;
        }
        state[root] = State::Open;
        let mut path: Vec<(usize, usize)> = vec![(root, 0)];
        while let Some((task, next)) = path.last_mut() {
            let task = *task;
            let Some(need) = needs[task].get(*next).copied() else {
                state[task] = State::Closed;
                path.pop();
                continue;
            };
            *next += 1;
            match state[need] {
                State::New => {
                    state[need] = State::Open;
                    path.push((need, 0));
                }
                State::Closed => {}
                State::Open => {
                    closing.insert((task, need));
                    if closing.len() <= NAMED {
                        let from = path
                            .iter()
                            .rposition(|(open, _)| *open == need)
                            .unwrap_or(0);
                        let circle: Vec<usize> =
                            path[from..].iter().map(|(task, _)| *task).collect();
                        faults.push(name(plan, &circle));
                    }
                }
            }
        }
    }
    if let (true, Some(last)) = (closing.len() > NAMED, faults.last_mut()) {
        last.hint = format!(
            "{} There are {} more circles.",
            last.hint,
            closing.len() - NAMED
        );
    }
    for (task, needs) in needs.iter_mut().enumerate() {
        needs.retain(|need| !closing.contains(&(task, *need)));
    }
    faults
}

fn name(plan: &Plan, circle: &[usize]) -> Fault {
    let first = circle
        .iter()
        .enumerate()
        .min_by_key(|(_, task)| **task)
        .map_or(0, |(at, _)| at);
    let mut message = "Tasks need each other in a circle: ".to_owned();
    let mut place = None;
    for step in 0..circle.len() {
        let task = &plan.tasks[circle[(first + step) % circle.len()]];
        let next = &plan.tasks[circle[(first + step + 1) % circle.len()]];
        let Some(need) = task.needs.iter().find(|need| need.id == next.id) else {
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
