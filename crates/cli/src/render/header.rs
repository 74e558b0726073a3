//! The line above all subagents of a run: how many tasks stand how, and what they cost so far.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use sequester_core::id::{QuestionId, TaskId};
use sequester_core::run::{
    AttemptStarted, Cost, Ended, Entry, Event, RunState, Scope, TaskRun, TaskSpec,
};

use super::run::cost;

/// What is counted, from event to event.
#[derive(Default)]
pub(super) struct Header {
    all: usize,
    done: BTreeSet<TaskId>,
    /// What each task needs, in the order of the run.
    needs: Vec<(TaskId, Vec<TaskId>)>,
    running: BTreeMap<Scope, Box<AttemptStarted>>,
    /// Questions of tasks that nobody answered yet.
    waiting: BTreeMap<TaskId, BTreeSet<QuestionId>>,
    cost: Cost,
}

impl Header {
    pub(super) fn new(all: usize) -> Self {
        Self { all, ..Self::default() }
    }

    /// Of a run whose tasks in `again` are not done any more.
    pub(super) fn of(state: &RunState, again: &[TaskId]) -> Self {
        let stands = |task: &&TaskRun| !again.contains(&task.spec.id);
        let tasks = || state.tasks.iter().filter(|task| task.spec.left_out.is_none());
        let running = tasks().flat_map(|task| {
            task.running.values().map(|one| {
                let (task, phase) = (Some(task.spec.id.clone()), Some(one.phase));
                (Scope { task, phase, attempt: Some(one.number) }, one.started.clone())
            })
        });
        let waiting = tasks().filter(|task| !task.open.is_empty());
        Self {
            all: tasks().count(),
            done: tasks()
                .filter(stands)
                .filter(|task| task.is_done())
                .map(|task| task.spec.id.clone())
                .collect(),
            needs: Vec::new(),
            running: running.collect(),
            waiting: waiting.map(|task| (task.spec.id.clone(), task.open.clone())).collect(),
            cost: state.cost,
        }
    }

    pub(super) fn take(&mut self, Entry { scope, event }: &Entry) {
        match event {
            Event::AttemptStarted(started) => {
                self.running.insert(scope.clone(), started.clone());
            }
            Event::AttemptEnded(_) => {
                self.running.remove(scope);
            }
            Event::TurnEnded { usage, .. } => {
                let price = self.running.get(scope).and_then(|started| started.price(*usage));
                self.cost.count(*usage, price);
            }
            Event::QuestionAsked(asked) => {
                if let Some(task) = &scope.task {
                    let open = self.waiting.entry(task.clone()).or_default();
                    open.insert(asked.question.clone());
                }
            }
            Event::QuestionAnswered { question, .. } => {
                self.waiting.retain(|_, open| !open.remove(question) || !open.is_empty());
            }
            Event::TaskEnded(ended) => {
                self.done.extend(scope.task.clone().filter(|_| ended.state == Ended::Done));
                self.waiting.retain(|task, _| Some(task) != scope.task.as_ref());
            }
            Event::MergeConflicted { .. } => {
                let gone = self.built_on(scope.task.as_ref());
                self.done.retain(|task| !gone.contains(task));
            }
            _ => {}
        }
    }

    /// A task of the run, in its order.
    pub(super) fn know(&mut self, task: &TaskSpec) {
        self.needs.push((task.id.clone(), task.needs.clone()));
    }

    /// A task and all that need it, near and far.
    fn built_on(&self, task: Option<&TaskId>) -> BTreeSet<TaskId> {
        let mut built: BTreeSet<TaskId> = task.into_iter().cloned().collect();
        for (task, needs) in &self.needs {
            if needs.iter().any(|need| built.contains(need)) {
                built.insert(task.clone());
            }
        }
        built
    }

    /// `3 of 12 done, 4 running, 1 waiting; 12,300 tokens, $0.04`
    pub(super) fn text(&self) -> String {
        // Whoever waits for another subagent of its task is one with it.
        let running = self.running.values().filter(|one| one.parent.is_none()).count();
        let (done, all, waiting) = (self.done.len(), self.all, self.waiting.len());
        let mut text = format!("{done} of {all} done, {running} running, {waiting} waiting");
        let cost = cost(&self.cost.bill());
        if !cost.is_empty() {
            let _ = write!(text, "; {cost}");
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use sequester_core::digest::Digest;
    use serde_json::json;

    use super::*;

    fn digest() -> Digest {
        Digest::of(b"")
    }

    fn entry(event: serde_json::Value) -> Entry {
        serde_json::from_value(event).unwrap()
    }

    fn started(attempt: u32, model: &str, parent: Option<u32>) -> Entry {
        let mut event = json!({
            "task": "a", "phase": "write", "attempt": attempt, "event": "attempt_started", "step": "write",
            "agent": "writer", "profile": "writer", "model": model, "powers": {"schema": false, "free": false},
            "rung": 0, "purpose": "first", "base": "b",
            "context": {"digest": digest(), "system": digest(), "prompt": digest(), "text": {"start": 0, "end": 0}, "manifest": digest(), "tokens": 1},
            "tools": [], "specs": digest(), "budget": sequester_core::budget::Budget::default(),
        });
        if let Some(parent) = parent {
            event["parent"] =
                json!({"attempt": parent, "turn": 1, "call": "c", "description": "it"});
        }
        entry(event)
    }

    fn replied(attempt: u32) -> Entry {
        entry(json!({
            "task": "a", "phase": "write", "attempt": attempt, "event": "turn_ended", "turn": 1, "reply": digest(),
            "usage": {"input": 10_000, "cache_read": 0, "cache_write": 0, "output": 1_000}, "elapsed_ms": 1,
        }))
    }

    #[test]
    fn the_header_counts_tasks_tokens_and_what_is_known_of_the_price() {
        let mut header = Header::new(3);
        assert_eq!(header.text(), "0 of 3 done, 0 running, 0 waiting");
        header.take(&started(1, "anthropic/claude-sonnet-5", None));
        header.take(&started(2, "some/model", Some(1)));
        header.take(&replied(1));
        assert_eq!(header.text(), "0 of 3 done, 1 running, 0 waiting; 11,000 tokens, $0.03");
        header.take(&replied(2));
        let both = "22,000 tokens, $0.03 and 1 reply at an unknown price";
        assert_eq!(header.text(), format!("0 of 3 done, 1 running, 0 waiting; {both}"));
    }

    #[test]
    fn two_questions_of_a_task_are_one_task_that_waits() {
        let mut header = Header::new(1);
        let asked = |id: &str| {
            entry(json!({
                "task": "a", "event": "question_asked", "question": id, "text": "Which?", "about": "clarification",
            }))
        };
        let answered = |id: &str| {
            entry(json!({
                "task": "a", "event": "question_answered", "question": id, "answer": "One.", "by": "me",
            }))
        };
        for (event, waiting) in
            [(asked("r-1"), 1), (asked("r-2"), 1), (answered("r-1"), 1), (answered("r-2"), 0)]
        {
            header.take(&event);
            assert_eq!(header.text(), format!("0 of 1 done, 0 running, {waiting} waiting"));
        }
    }
}
