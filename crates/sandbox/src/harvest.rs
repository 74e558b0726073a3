//! What became of a workspace: the change, computed inside a jail and doubted outside.
//!
//! [`compute`] runs in a jail, over a tree that an agent wrote. The controller takes its answer with [`receive`], which checks again
//! what would be written: paths, kinds, links, sizes and the rules. What is only shown, the patch, the counts of lines and the names of
//! what was refused, is bounded but taken as told: whoever breaks the jailed side can lie there, and nowhere else.

mod binary;
mod change;
mod compare;
mod head;
mod link;
mod look;
mod patch;
mod rules;
mod side;
#[cfg(test)]
mod tests;

use std::io::{self, BufWriter, Write};
use std::path::Path;

/// Where a jail for a harvest has the workspace, and what it started from.
pub(crate) const WORK: &str = "/work";
pub(crate) const BASE: &str = "/base";

/// The jailed side. That there is no change to be had is an answer too.
pub(crate) fn send(rules: &Rules, to: impl Write) -> io::Result<()> {
    let mut to = BufWriter::new(to);
    match compute(Path::new(WORK), Path::new(BASE), rules) {
        Ok(change) => change::send(&change, &mut to)?,
        Err(error) => change::send_trouble(&error.to_string(), &mut to)?,
    }
    to.flush()
}

pub(crate) use change::receive;
pub use change::{Error, refuse};
pub use compare::compute;
pub use head::is_head;
pub use look::Look;
pub use rules::Rules;
pub(crate) use rules::is_git;
