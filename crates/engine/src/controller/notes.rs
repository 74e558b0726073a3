//! What a done task left for the project's notes goes into their file, once, and out of it if it is taken back.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sequester_core::digest::Digest;
use sequester_core::id::TaskId;
use sequester_core::notes::Note;
use sequester_core::record;
use sequester_core::run::{Event, TaskRun};
use sequester_core::store::{self, RunStore};

use super::world::Trouble;
use super::{Controller, blocking};

/// Done tasks whose notes are to be merged, in line.
#[derive(Default)]
pub(super) struct Unmerged(Mutex<Line>);

#[derive(Default)]
struct Line {
    tasks: VecDeque<TaskId>,
    /// Somebody came since it was last begun with.
    is_fresh: bool,
    is_under_way: bool,
    /// What was taken back was looked for when the run came to its end.
    is_tidied: bool,
}

impl Unmerged {
    fn line(&self) -> MutexGuard<'_, Line> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn add(&self, tasks: Vec<TaskId>) {
        let mut line = self.line();
        line.is_fresh |= !tasks.is_empty();
        line.tasks.extend(tasks);
    }

    /// Whether somebody is to begin with them now.
    pub(super) fn begin(&self) -> bool {
        let mut line = self.line();
        let begins = line.is_fresh && !line.is_under_way;
        if begins {
            (line.is_fresh, line.is_under_way) = (false, true);
        }
        begins
    }

    /// Whether there is something in the file that counts no more, once: what the file refuses must not keep the run from ending.
    pub(super) fn tidy(&self, overnoted: impl FnOnce() -> Vec<TaskId>) -> bool {
        if std::mem::replace(&mut self.line().is_tidied, true) {
            return false;
        }
        let tasks = overnoted();
        let is_needed = !tasks.is_empty();
        self.add(tasks);
        is_needed
    }

    pub(super) fn is_under_way(&self) -> bool {
        self.line().is_under_way
    }
}

impl Controller {
    /// One after the other. Where the file refuses one it would refuse all: they wait until the next task is done, or the run is
    /// taken up again.
    pub(super) async fn merge_notes(&self) -> Result<(), Trouble> {
        let mut done = Ok(true);
        while let Ok(true) = done {
            let Some(task) = self.unmerged.line().tasks.front().cloned() else { break };
            done = self.note(&task).await;
            if let Ok(true) = done {
                self.unmerged.line().tasks.pop_front();
            }
        }
        self.unmerged.line().is_under_way = false;
        done.map(|_| ())
    }

    /// Says whether there is nothing more to try. Whoever was killed between the file and the record does it again, which changes nothing. What cannot be written is said,
    /// and is no reason for the run to end: it is in the store all the same.
    async fn note(&self, task: &TaskId) -> Result<bool, Trouble> {
        let known = self.log.read(|run| {
            let is_on = run.started.settings.records.notes;
            let known = run.task(task);
            known.filter(|_| is_on).map(|known| (run.run.clone(), known.clone()))
        });
        let Some((run, known)) = known else { return Ok(true) };
        let (store, book) = (Arc::clone(&self.world.store), Arc::clone(&self.world.notes));
        let ended = known.ended_at();
        let merged = blocking(move || {
            // Of one that is done no more there is nothing.
            let notes = if known.is_done() { left(&known, store.as_ref())? } else { Vec::new() };
            if notes.is_empty() && !is_in_file(&known, store.as_ref())? {
                return Ok::<_, Trouble>(None);
            }
            let told = book.merge(&run, &known.spec.id, &notes);
            let sections: Vec<String> = notes.into_iter().map(|note| note.section).collect();
            Ok(Some(match told {
                // Without a section words are a refusal.
                Ok(_) if sections.is_empty() => (true, sections, Vec::new()),
                Ok(told) => (true, sections, told),
                Err(why) => (false, Vec::new(), vec![why]),
            }))
        });
        let Some((is_merged, sections, told)) = merged.await?? else { return Ok(true) };
        self.tell(task, Event::NotesMerged { ended, sections, told }).await?;
        Ok(is_merged)
    }
}

/// Whether the file has anything of it, or may have: who put it there may have been killed before that was recorded.
fn is_in_file(task: &TaskRun, store: &dyn RunStore) -> Result<bool, Trouble> {
    let mut is_there = task.in_notes();
    for before in task.unsure() {
        is_there = is_there || !left(&before, store)?.is_empty();
    }
    Ok(is_there)
}

fn left(task: &TaskRun, store: &dyn RunStore) -> Result<Vec<Note>, Trouble> {
    let failed: RefCell<Option<store::Error>> = RefCell::default();
    let read = |digest: &Digest| match store.blob(digest) {
        Ok(bytes) => Some(bytes),
        Err(error) => {
            failed.borrow_mut().get_or_insert(error);
            None
        }
    };
    let notes = record::notes(task, &read);
    failed.into_inner().map_or(Ok(notes), |error| Err(Trouble::Store(error)))
}
