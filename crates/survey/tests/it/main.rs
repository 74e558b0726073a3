//! The survey as a whole, over snapshots held in memory.

mod architecture;
mod outline;
