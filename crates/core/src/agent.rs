//! Agents: named roles, and the machine that runs one attempt of them.

mod backpack;
mod claude;
mod delegate;
mod ending;
mod inherited;
mod kept;
mod own;
mod registry;
mod role;
mod run;
mod tally;
#[cfg(test)]
mod tests;

pub use backpack::{Category, Item, Priority};
pub use delegate::{UNTAKEN, hand_back, read_task, takes_tasks, task_spec};
pub use ending::{Ending, Fault, Outcome};
pub use inherited::Inherited;
pub use kept::{Kept, Left};
pub use own::{OWN, REPORT, count_calls, specs as own_specs};
pub use registry::{Registry, built_in, find};
pub use role::Role;
pub use run::{AgentRun, Brief, CUT_OFF, Step, YES, seed_of};
