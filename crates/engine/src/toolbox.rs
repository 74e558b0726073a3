//! Wrappers of toolboxes: each does one thing to whatever it wraps.

mod capped;
mod filtered;
mod joined;
mod lazy;
mod redacted;
pub(crate) mod requests;

pub use capped::Capped;
pub use filtered::Filtered;
pub use joined::Joined;
pub use lazy::Lazy;
pub use redacted::Redacted;
pub use requests::{Requests, Standing};

#[cfg(test)]
mod tests;
