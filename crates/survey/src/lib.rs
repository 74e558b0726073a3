//! The architectural context, file ranking and outlines.

mod outline;

pub use outline::Outlines;
