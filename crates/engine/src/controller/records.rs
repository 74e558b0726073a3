//! What earlier tasks left: gathered from the store once, and handed to those that may see it.

use std::sync::{Mutex, PoisonError};

use sequester_core::id::TaskId;
use sequester_core::recall::Query;
use sequester_core::record::{Catalogue, Chosen, Handed, Seeker};
use sequester_core::run::RunState;
use sequester_core::store::RunStore;

use super::log::Log;
use super::world::{Asking, Trouble};

/// In memory; it fills from the store as tasks ask.
#[derive(Default)]
pub(super) struct Records {
    catalogue: Mutex<Catalogue>,
}

impl Records {
    /// What a task is shown before it begins.
    pub(super) fn hand(
        &self,
        log: &Log,
        store: &dyn RunStore,
        task: &TaskId,
        asking: &Asking,
    ) -> Result<Handed, Trouble> {
        let query = Query { text: &asking.text, paths: &asking.paths };
        let found = self.look(log, store, task, |catalogue, seeker| catalogue.hand(seeker, &query));
        Ok(found?.unwrap_or_default())
    }

    /// What a subagent of a task asks for.
    pub(super) fn recall(
        &self,
        log: &Log,
        store: &dyn RunStore,
        task: &TaskId,
        text: &str,
    ) -> Result<Vec<Chosen>, Trouble> {
        let found = self.look(log, store, task, |catalogue, seeker| catalogue.recall(seeker, text));
        Ok(found?.unwrap_or_default())
    }

    fn look<T>(
        &self,
        log: &Log,
        store: &dyn RunStore,
        task: &TaskId,
        look: impl FnOnce(&Catalogue, &Seeker) -> T,
    ) -> Result<Option<T>, Trouble> {
        let mut catalogue = self.catalogue.lock().unwrap_or_else(PoisonError::into_inner);
        // The log is not held while the disk is read.
        let wanted = |run: &RunState| {
            let seeker = Seeker::of(run, task)?;
            let missing = catalogue.missing(run, &seeker);
            Some((seeker, missing))
        };
        let Some((seeker, missing)) = log.read(wanted) else { return Ok(None) };
        catalogue.fill(&missing, |digest| store.blob(digest))?;
        Ok(Some(look(&catalogue, &seeker)))
    }
}
