//! Agents: named roles, each a Markdown file with front matter.

mod claude;
mod registry;
mod role;
#[cfg(test)]
mod tests;

pub use registry::{Registry, built_in, find};
pub use role::{PHASES, Role};
