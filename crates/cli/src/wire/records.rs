//! What the tasks of a run left, for people: all of it.

use std::convert::Infallible;
use std::sync::Arc;

use sequester_core::digest::Digest;
use sequester_core::record::{Catalogue, Record, Seeker};
use sequester_core::run::RunState;

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
    pub(crate) fn readable(runs: &Runs, state: &RunState) -> Self {
        let (mut catalogue, person) = (Catalogue::default(), Seeker::person(state));
        let missing = catalogue.missing(state, &person);
        let read = |digest: &Digest| runs.blob(&state.run, digest).or_else(|_| Ok(Vec::new()));
        let Ok(()) = catalogue.fill::<Infallible>(&missing, read);
        Self { catalogue, person }
    }

    /// In the plan's order, with how often each was made use of.
    pub(crate) fn all(&self) -> Vec<(Arc<Record>, u32)> {
        self.catalogue.all(&self.person)
    }
}
