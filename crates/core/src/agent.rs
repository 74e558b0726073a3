//! Agents: named roles, and the machine that runs one attempt of them.

mod claude;
mod delegate;
mod ending;
mod kept;
mod own;
mod registry;
mod role;
mod run;
mod tally;
#[cfg(test)]
mod tests;

pub use delegate::{UNTAKEN, hand_back, read_task, task_spec};
pub use ending::{Ending, Fault, Outcome};
pub use kept::{Item, Kept, Priority};
pub use own::{OWN, REPORT, count_calls, specs as own_specs};
pub use registry::{Registry, built_in, find};
pub use role::Role;
pub use run::{AgentRun, Brief, CUT_OFF, Step, YES, seed_of};
