//! A run: what happens is recorded, folded to a state, and the state decides what happens next. All of it pure.

mod attempts;
mod climb;
mod contradiction;
mod cost;
mod deadline;
mod decide;
mod edit;
mod event;
mod fact;
mod fit;
mod grounds;
mod history;
mod line;
mod next;
mod noted;
mod offer;
mod order;
mod outcome;
mod past;
mod person;
mod plan;
mod purse;
mod queue;
mod reach;
mod replay;
mod said;
mod savings;
mod sentence;
mod state;
mod task_end;
mod view;
mod withdraw;
pub mod workflow;

pub use attempts::{Running, Tried};
pub use climb::climb;
pub use contradiction::{Contradiction, Doubt, Ground, Remedy, contradictions};
pub use cost::{Bill, Cost, Part, by_phase};
pub use decide::{Decision, Effect, Now, decide};
pub use event::{
    About, Agent, Asked, AttemptEnded, AttemptStarted, Base, CheckEnded, Delegation, Ended, Entry,
    Event, Found, Purpose, Recorded, Scope, Shown, Source, Sources, Started, TaskEnded, VERSION,
};
pub use fact::Fact;
pub use fit::Awaited;
pub use grounds::{Grounds, Lay, Survey};
pub use history::{Attempt, History, Skipped, Verification};
pub use next::{Because, LITERAL, NO_MODEL, Next, Order, next};
pub use offer::{ACCEPT, EDIT, GIVE_UP, SKIP, SKIP_WITH_DEPENDANTS, TRY_AGAIN};
pub use outcome::{Outcome, Tally};
pub use person::{ParkedChange, PersonChoice, PersonDecision};
pub use plan::{Cap, FileSpec, HintSpec, Review, Settings, TaskSpec};
pub use replay::{Replayed, Unreplayable, replay};
pub use said::Said;
pub use savings::{Row, Savings, savings, window};
pub use sentence::sentence;
pub use state::{Misfit, Open, RunState, TaskRun};
pub use view::{RunView, State, TaskState, TaskView, Waiting};
pub use withdraw::Upon;
pub use workflow::{Step, Workflow, Workflows};

#[cfg(test)]
mod tests;
