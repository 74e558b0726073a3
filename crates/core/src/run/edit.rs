//! A plan that was edited while its run was under way.

use std::collections::{BTreeMap, BTreeSet};

use super::plan::TaskSpec;
use super::queue::Queue;
use super::state::{RunState, TaskRun};
use super::workflow::WRITER;
use crate::id::{QuestionId, TaskId};

const GONE: &str = "It is no longer in the plan.";

impl RunState {
    /// Open tasks take what the plan says now; those that are done stay as they are. What the plan no longer has is left out
    /// until it has it again, and what it left stands.
    pub(super) fn change(&mut self, specs: &[TaskSpec]) {
        let on_top = self.on_top();
        let done = self.tasks.iter().filter(|task| task.is_done());
        let done: Vec<TaskId> = done.map(|task| task.spec.id.clone()).collect();
        let places: BTreeMap<&TaskId, usize> =
            specs.iter().enumerate().map(|(at, spec)| (&spec.id, at)).collect();
        let fresh = specs.iter().enumerate().filter(|(_, spec)| self.position(&spec.id).is_none());
        let fresh = fresh.map(|(at, spec)| ((at, usize::MAX), TaskRun::new(spec.clone())));
        let mut placed: Vec<((usize, usize), TaskRun)> = fresh.collect();
        // What is gone stands right before what came after it.
        let mut next = specs.len();
        let mut unasked = Vec::new();
        for (at, mut task) in std::mem::take(&mut self.tasks).into_iter().enumerate().rev() {
            match places.get(&task.spec.id) {
                Some(place) => {
                    next = *place;
                    unasked.extend(task.change(&specs[next], self.seq));
                    placed.push(((next, usize::MAX), task));
                }
                None if task.has_begun() => {
                    unasked.extend(task.leave());
                    placed.push(((next, at), task));
                }
                None => {}
            }
        }
        placed.sort_by_key(|(place, _)| *place);
        self.tasks = placed.into_iter().map(|(_, task)| task).collect();
        self.unblock();
        self.list();
        self.stand_on(&on_top);
        let is_another = |task: &TaskId| self.task(task).is_some_and(|task| !task.is_done());
        for task in done.into_iter().filter(is_another).collect::<Vec<_>>() {
            self.begin_anew_on(&task);
        }
        self.unask(unasked);
        self.undo_doubts();
    }

    /// What is done stays as it is.
    pub(super) fn change_agents(
        &mut self,
        models: &BTreeMap<String, Vec<String>>,
        profile: Option<&str>,
    ) {
        for (name, agent) in &mut self.started.agents {
            if let Some(models) = models.get(name) {
                agent.models.clone_from(models);
            }
        }
        if let Some(profile) = profile {
            self.started.settings.profile = Some(profile.to_owned());
        }
        let clear = |spec: &mut TaskSpec| {
            let agent = spec.agent.as_deref().unwrap_or(WRITER);
            if models.contains_key(agent) && !spec.asks_person {
                spec.models.clear();
            }
        };
        for task in self.tasks.iter_mut().filter(|task| !task.is_done()) {
            clear(&mut task.spec);
            if let Some(planned) = &mut task.planned {
                clear(planned);
            }
        }
    }

    /// What is doubtful in a plan that was edited is asked anew, also where it was decided before.
    fn undo_doubts(&mut self) {
        for (question, contradiction, _) in &self.decided {
            let at = self.index.get(&contradiction.task).copied();
            if let Some(task) = at.and_then(|at| self.tasks.get_mut(at)) {
                task.clarifications.retain(|told| told.id != question.as_str());
            }
        }
        let doubts = self.questions.iter().filter(|(_, open)| !open.asked.about.is_of_task());
        let doubts: Vec<QuestionId> = doubts.map(|(id, _)| id.clone()).collect();
        for task in &mut self.tasks {
            task.open.retain(|one| !doubts.contains(one));
        }
        self.unask(doubts);
        self.queue = Queue::of(&self.tasks);
    }

    /// Nobody needs to answer these any more.
    pub(super) fn unask(&mut self, questions: impl IntoIterator<Item = QuestionId>) {
        for question in questions {
            self.questions.remove(&question);
            self.void.insert(question);
        }
    }
}

impl TaskRun {
    /// Takes what the plan says now, unless it is done. One that comes back with another text is another task, in the place of
    /// what it left. Gives back what it asked about the old text.
    fn change(&mut self, spec: &TaskSpec, seq: u64) -> BTreeSet<QuestionId> {
        let is_another = std::mem::take(&mut self.gone) && self.planned().text != spec.text;
        if self.is_done() && !is_another {
            return BTreeSet::new();
        }
        let is_same = self.planned() == spec && self.spec.left_out == spec.left_out;
        if is_same {
            (self.spec, self.planned) = (spec.clone(), None);
            return BTreeSet::new();
        }
        if let Some(handed_back) = self.kept_hand_back(spec) {
            (self.spec, self.planned) = (spec.clone(), None);
            // A person's own edit counts, whether its box is ticked or not.
            self.amend().left_out = None;
            if !self.is_hand_back_unchecked() {
                self.facts.push(handed_back);
            }
        } else {
            self.reopen(seq);
            (self.spec, self.planned) = (spec.clone(), None);
        }
        self.clarifications.clear();
        self.granted.clear();
        std::mem::take(&mut self.open)
    }

    fn leave(&mut self) -> BTreeSet<QuestionId> {
        self.gone = true;
        if !self.is_done() {
            self.ended = None;
            self.running.clear();
            self.amend().left_out = Some(GONE.to_owned());
        }
        std::mem::take(&mut self.open)
    }
}

impl TaskRun {
    /// As the plan has it.
    pub fn planned(&self) -> &TaskSpec {
        self.planned.as_deref().unwrap_or(&self.spec)
    }

    /// What is worked by, where a person decides otherwise than the plan.
    pub(super) fn amend(&mut self) -> &mut TaskSpec {
        self.planned.get_or_insert_with(|| Box::new(self.spec.clone()));
        &mut self.spec
    }
}
