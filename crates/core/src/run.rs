//! A run: what happens is recorded, folded to a state, and the state decides what happens next. All of it pure.

mod event;
mod plan;
mod workflow;

pub use event::{
    About, Agent, Asked, AttemptEnded, AttemptStarted, Base, CheckEnded, Ended, Entry, Event,
    Outcome, Parked, Purpose, Recorded, Scope, Shown, Source, Started, Tally, TaskEnded, VERSION,
};
pub use plan::{Cap, FileSpec, Review, Settings, TaskSpec};
pub use workflow::{Step, When, Workflow};
