//! What became of a workspace: the change, computed inside a jail and doubted outside.
//!
//! [`compute`] runs in a jail, over a tree that an agent wrote. The controller takes its answer with [`Change::receive`], which checks all
//! of it again: whoever breaks the jailed side gains nothing but a refusal.

mod change;
mod compare;
mod link;
mod patch;
mod rules;
#[cfg(test)]
mod tests;

pub use change::{Action, Change, Entry, Error, Mode, Refused};
pub use compare::compute;
pub use rules::Rules;
