//! What earlier tasks left: gathered from the store once, and handed to those that may see it.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use sequester_core::id::TaskId;
use sequester_core::recall::Query;
use sequester_core::record::{Catalogue, Chosen, Handed, Pack, Seeker, Todo};
use sequester_core::run::RunState;
use sequester_core::store::RunStore;

use super::log::Log;
use super::world::{Asking, Trouble};

/// In memory; it fills from the store as tasks ask.
#[derive(Default)]
pub(super) struct Records {
    catalogue: Mutex<Catalogue>,
    /// By which order of the run those were shown records that are about to begin.
    shown: Mutex<BTreeMap<(TaskId, u32), Seeker>>,
}

impl Records {
    /// What a task is shown before it begins, and the backpack that it begins with, where one passes. Both are of one moment, which
    /// is kept until the attempt is recorded.
    pub(super) fn hand(
        &self,
        log: &Log,
        store: &dyn RunStore,
        (task, number): (&TaskId, u32),
        asking: Option<&Asking>,
    ) -> Result<(Handed, Option<Pack>), Trouble> {
        let seek = |run: &RunState| Seeker::of(run, task);
        let found = self.look(log, store, seek, |catalogue, seeker| {
            let handed = match asking {
                Some(Asking { text, paths }) => catalogue.hand(seeker, &Query { text, paths }),
                None => seeker.nothing(),
            };
            (handed, catalogue.backpack(seeker), seeker.clone())
        });
        let Some((handed, pack, seeker)) = found? else { return Ok(Default::default()) };
        self.shown().insert((task.clone(), number), seeker);
        Ok((handed, pack))
    }

    /// Whether what a task is to begin with is still there.
    pub(super) fn hold(&self, run: &RunState, task: &TaskId, number: u32) -> bool {
        let key = (task.clone(), number);
        self.shown().get(&key).is_none_or(|seeker| seeker.holds(run, task))
    }

    /// Its attempt is recorded with it.
    pub(super) fn forget(&self, task: &TaskId, number: u32) {
        self.shown().remove(&(task.clone(), number));
    }

    fn shown(&self) -> MutexGuard<'_, BTreeMap<(TaskId, u32), Seeker>> {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What a subagent of a task asks for: of what was there when the attempt began.
    pub(super) fn recall(
        &self,
        log: &Log,
        store: &dyn RunStore,
        task: &TaskId,
        text: &str,
    ) -> Result<Vec<Chosen>, Trouble> {
        let seek = |run: &RunState| Seeker::begun(run, task);
        let found = self.look(log, store, seek, |catalogue, seeker| catalogue.recall(seeker, text));
        Ok(found?.unwrap_or_default())
    }

    /// What the tasks of the run left to be done, as far as anybody can tell now.
    pub(super) fn todos(&self, log: &Log, store: &dyn RunStore) -> Result<Vec<Todo>, Trouble> {
        let mut catalogue = self.catalogue.lock().unwrap_or_else(PoisonError::into_inner);
        let person = |run: &RunState| {
            let person = Seeker::person(run);
            let missing = catalogue.missing(run, &person);
            (person, missing)
        };
        let (person, missing) = log.read(person);
        catalogue.fill(&missing, |digest| store.blob(digest))?;
        Ok(catalogue.todos(&person))
    }

    fn look<T>(
        &self,
        log: &Log,
        store: &dyn RunStore,
        seek: impl FnOnce(&RunState) -> Option<Seeker>,
        look: impl FnOnce(&Catalogue, &Seeker) -> T,
    ) -> Result<Option<T>, Trouble> {
        let mut catalogue = self.catalogue.lock().unwrap_or_else(PoisonError::into_inner);
        // The log is not held while the disk is read.
        let wanted = |run: &RunState| {
            let seeker = seek(run)?;
            let missing = catalogue.missing(run, &seeker);
            Some((seeker, missing))
        };
        let Some((seeker, missing)) = log.read(wanted) else { return Ok(None) };
        catalogue.fill(&missing, |digest| store.blob(digest))?;
        Ok(Some(look(&catalogue, &seeker)))
    }
}
