//! Agents: named roles, each a Markdown file with front matter.

mod role;

pub use role::{Error, Role, built_in, find, names};
