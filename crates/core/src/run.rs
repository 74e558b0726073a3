//! A run: what happens is recorded, folded to a state, and the state decides what happens next. All of it pure.

mod attempts;
mod cost;
mod deadline;
mod decide;
mod event;
mod history;
mod next;
mod plan;
mod queue;
mod replay;
mod said;
mod savings;
mod sentence;
mod state;
mod view;
pub mod workflow;

pub use attempts::{Running, Tried};
pub use cost::Cost;
pub use decide::{Decision, Effect, Now, decide};
pub use event::{
    About, Agent, Asked, AttemptEnded, AttemptStarted, Base, CheckEnded, Delegation, Ended, Entry,
    Event, Found, Outcome, Purpose, Recorded, Scope, Shown, Source, Sources, Started, Tally,
    TaskEnded, VERSION,
};
pub use history::{Attempt, History, Skipped};
pub use next::{Because, GIVE_UP, LITERAL, NO_MODEL, Next, Order, TRY_AGAIN, next};
pub use plan::{Cap, FileSpec, Review, Settings, TaskSpec};
pub use replay::{Replayed, Unreplayable, replay};
pub use said::Said;
pub use savings::{Row, Savings, savings, window};
pub use sentence::sentence;
pub use state::{Fact, Misfit, Open, RunState, TaskRun};
pub use view::{RunView, State, TaskState, TaskView, Waiting};
pub use workflow::{Step, Workflow, Workflows};

#[cfg(test)]
mod tests;
