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

use std::io::{self, BufWriter, Write};
use std::path::Path;

/// Where a jail for a harvest has the workspace, and what it started from.
pub(crate) const WORK: &str = "/work";
pub(crate) const BASE: &str = "/base";

/// The jailed side.
pub(crate) fn send(rules: &Rules, to: impl Write) -> io::Result<()> {
    let mut to = BufWriter::new(to);
    compute(Path::new(WORK), Path::new(BASE), rules)?.send(&mut to)?;
    to.flush()
}

pub use change::{Action, Change, Entry, Error, Mode, Refused};
pub use compare::compute;
pub use rules::Rules;
