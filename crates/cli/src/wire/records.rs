//! What the tasks of a run left, for people: all of it.

use std::convert::Infallible;

use sequester_core::digest::Digest;
use sequester_core::record::{Catalogue, ListedRecord, Seeker, Todo};
use sequester_core::run::RunState;
use sequester_core::store::RunStore as _;
use sequester_store::Store;

use super::runs::Runs;
use crate::failure::Failure;

/// All records of a run, and the catalogue that ranks them.
pub(crate) struct Shelves {
    pub(crate) catalogue: Catalogue,
    pub(crate) person: Seeker,
}

impl Shelves {
    pub(crate) fn of(runs: &Runs, state: &RunState) -> Result<Self, Failure> {
        let (mut catalogue, person) = (Catalogue::default(), Seeker::person(state));
        let missing = catalogue.missing(state, &person);
        catalogue.fill(&missing, |digest| runs.blob(&state.run, digest))?;
        Ok(Self { catalogue, person })
    }

    /// The same as far as it can be read, where it stands beside other things that must be seen.
    pub(crate) fn readable(store: &Store, state: &RunState) -> Self {
        let (mut catalogue, person) = (Catalogue::default(), Seeker::person(state));
        let missing = catalogue.missing(state, &person);
        let read = |digest: &Digest| store.blob(digest).or_else(|_| Ok(Vec::new()));
        let Ok(()) = catalogue.fill::<Infallible>(&missing, read);
        Self { catalogue, person }
    }

    /// In the plan's order.
    pub(crate) fn all(&self) -> Vec<ListedRecord> {
        self.catalogue.all(&self.person)
    }

    /// What is still to be done.
    pub(crate) fn todos(&self) -> Vec<Todo> {
        self.catalogue.todos(&self.person)
    }
}

/// What the tasks of a run left to be done, as far as it can be read; nothing where no artifacts pass.
pub(crate) fn todos(store: &Store, state: &RunState) -> Vec<Todo> {
    let passes = state.started.settings.records.artifacts;
    if passes { Shelves::readable(store, state).todos() } else { Vec::new() }
}
