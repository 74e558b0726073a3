//! The architectural context, file ranking and outlines.

mod architecture;
mod outline;

pub use architecture::architecture;
pub use outline::Outlines;
