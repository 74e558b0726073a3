//! Agents: named roles, and the machine that runs one attempt of them.

mod ending;
mod kept;
mod own;
mod role;
mod run;
mod tally;

pub use ending::{Ending, Fault, Outcome};
pub use kept::{Item, Kept, Priority};
pub use own::{OWN, specs as own_specs};
pub use role::{Error, Role, built_in, find, names};
pub use run::{AgentRun, Brief, Step};
