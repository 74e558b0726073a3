//! Which tasks are done, and whether what they left for the project's notes is in their file.

use std::borrow::Cow;

use super::event::Ended;
use super::state::{RunState, TaskRun};
use crate::id::TaskId;

impl RunState {
    /// Done tasks whose notes nobody put into the file yet, as far as anybody knows, in the order in which they were done.
    pub fn unnoted(&self) -> Vec<TaskId> {
        let open = self.tasks.iter().filter(|task| task.is_done() && task.noted != task.ended_at);
        let mut open: Vec<&TaskRun> = open.collect();
        open.sort_by_key(|task| task.ended_at);
        open.into_iter().map(|task| task.spec.id.clone()).collect()
    }

    /// Tasks whose notes are in the file, or may be, and which are done no more.
    pub fn overnoted(&self) -> Vec<TaskId> {
        let is_there = |task: &TaskRun| task.in_notes || !task.unsure.is_empty();
        let taken_back = self.tasks.iter().filter(|task| is_there(task) && !task.is_done());
        taken_back.map(|task| task.spec.id.clone()).collect()
    }

    /// When a run ends all was looked at, unless the file refused something.
    pub(super) fn note_end(&mut self) {
        if self.tasks.iter().any(|task| task.unwritten > 0) {
            return;
        }
        for task in &mut self.tasks {
            task.unsure.clear();
            if task.is_done() {
                task.noted = task.ended_at;
            }
        }
    }
}

impl TaskRun {
    pub fn is_done(&self) -> bool {
        self.ended.as_ref().is_some_and(|ended| ended.state == Ended::Done)
    }

    /// Whether the file has notes of it.
    pub fn in_notes(&self) -> bool {
        self.in_notes
    }

    /// As it was by earlier ends that were taken back before anybody said what became of their notes: whoever merged them may have
    /// been killed before that.
    pub fn unsure(&self) -> impl Iterator<Item = Cow<'_, Self>> {
        self.unsure.iter().filter_map(|end| self.as_of(*end))
    }

    /// Before an event takes back what it left.
    pub(super) fn doubt_notes(&mut self) {
        if self.is_done() && self.noted != self.ended_at {
            self.unsure.insert(self.ended_at);
        }
    }

    /// What became of its notes: they are in the file, there are none any more, or the file refused them.
    pub(super) fn note(&mut self, ended: u64, sections: &[String], told: &[String]) {
        if sections.is_empty() && !told.is_empty() {
            self.unwritten = ended;
            return;
        }
        (self.noted, self.unwritten) = (ended, 0);
        // All that it had in the file gave way to this.
        self.unsure.retain(|end| *end > ended);
        self.in_notes = !sections.is_empty();
    }
}
