//! The project's notes: one Markdown file that people and subagents write together.
//!
//! A section is a line `## Name` and what follows it. Inside a section, what a subagent wrote stands under a mark that names its
//! task and run and holds a check of the words below it, and ends at a line that says so; everything else is a person's, also words under a mark whose
//! check no longer fits: whoever changes them makes them theirs. So the file itself remembers who wrote what. A table or a second
//! file would have to be kept in step with this one through every crash, checkout and removal of old runs; here the words
//! and their author are one write. Who can forge a mark can edit the file anyway, and what a mark brings is less to be seen, not more.
//!
//! A heading between fences is none, if a person opened and closed them: a fence that nobody closed hides nobody's section.

mod book;
mod compact;
mod fence;
mod file;
mod mark;
mod merge;
mod rescue;
mod standing;
#[cfg(test)]
mod tests;

pub use book::Notebook;
pub use file::{Author, Entry, Notes};
pub use merge::{Merged, joined};
pub use rescue::rescue;
pub use standing::Standing;

pub use crate::report::Note;
use file::{Part, Section, heading};

/// Where the file lies, from the root of a project.
pub const PATH: &str = ".sequester/NOTES.md";
/// What the file may have before what subagents wrote is shortened.
pub const BYTES: usize = 64 << 10;
/// A larger file is not read at all.
pub const LARGEST: usize = 1 << 20;
/// The sections that a new file is offered with.
pub const TEMPLATE: [&str; 4] = ["Findings", "Decisions", "TODO", "Resources"];

/// Above everything in a file that is made anew.
const TITLE: &str = "# Notes\n";
