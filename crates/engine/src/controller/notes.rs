//! What a done task left for the project's notes goes into their file, once.

use std::cell::RefCell;
use std::sync::Arc;

use sequester_core::digest::Digest;
use sequester_core::id::TaskId;
use sequester_core::notes::Note;
use sequester_core::record;
use sequester_core::run::{Event, TaskRun};
use sequester_core::store::{self, RunStore};

use super::world::Trouble;
use super::{Controller, blocking};

impl Controller {
    /// Whoever was killed between the file and the record does it again, which changes nothing. What cannot be written is said,
    /// and is no reason for the run to end: it is in the store all the same.
    pub(super) async fn note(&self, task: &TaskId) -> Result<(), Trouble> {
        let known = self.log.read(|run| {
            let is_on = run.started.settings.records.notes;
            let known = run.task(task).filter(|known| is_on && known.is_done());
            known.map(|known| (run.run.clone(), known.clone()))
        });
        let Some((run, known)) = known else { return Ok(()) };
        let (store, book) = (Arc::clone(&self.world.store), Arc::clone(&self.world.notes));
        let ended = known.ended_at();
        let merged = blocking(move || {
            let notes = left(&known, store.as_ref())?;
            if notes.is_empty() {
                return Ok::<_, Trouble>(None);
            }
            let told = book.merge(&run, &known.spec.id, &notes);
            let sections = notes.into_iter().map(|note| note.section).collect();
            Ok(Some(match told {
                Ok(told) => (sections, told),
                Err(why) => (Vec::new(), vec![why]),
            }))
        });
        let Some((sections, told)) = merged.await?? else { return Ok(()) };
        self.tell(task, Event::NotesMerged { ended, sections, told }).await
    }
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
