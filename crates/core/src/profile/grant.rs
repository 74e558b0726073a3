//! One entry of a profile's tools.

use std::fmt;

use serde::{Serialize, Serializer};

use crate::spelling;

/// The tools a profile can name, besides those of MCP servers. The product's own (report, ask, ...) are every agent's.
pub const TOOLS: [&str; 9] =
    ["Read", "Grep", "Glob", "Bash", "Write", "Edit", "WebFetch", "WebSearch", TASK];

/// The tool that gives work to another subagent.
pub const TASK: &str = "Task";

/// `Read`, `WebSearch?` for one that may be absent, `mcp__server__*` for all tools of a server.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Grant {
    pub name: String,
    pub optional: bool,
}

impl Grant {
    /// The error says what is wrong.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (name, optional) = match text.strip_suffix('?') {
            Some(name) => (name, true),
            None => (text, false),
        };
        let grant = Self { name: name.to_owned(), optional };
        if let Some(of_server) = name.strip_prefix("mcp__") {
            let stem = of_server.strip_suffix('*').unwrap_or(of_server);
            let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
            if of_server.is_empty() || !stem.chars().all(fits) {
                return Err(format!("`{text}` is no tool of an MCP server."));
            }
            return Ok(grant);
        }
        if TOOLS.contains(&name) { Ok(grant) } else { Err(format!("There is no tool `{name}`.")) }
    }

    /// What may have been meant by a text that is no grant.
    pub(crate) fn hint(text: &str) -> String {
        match spelling::nearest(text.trim_end_matches('?'), TOOLS) {
            Some(meant) => format!("Perhaps `{meant}` is meant."),
            None => {
                format!("Known tools are {}, and `mcp__server__*` patterns.", TOOLS.join(", "))
            }
        }
    }

    /// Whether it is of an MCP server.
    pub(super) fn is_of_server(&self) -> bool {
        self.name.starts_with("mcp__")
    }

    /// What a pattern's names begin with; nothing for a plain name.
    fn stem(&self) -> Option<&str> {
        self.name.strip_suffix('*')
    }

    /// Whether a tool of that name, or all that a pattern stands for, are granted.
    pub fn covers(&self, name: &str) -> bool {
        match self.stem() {
            Some(stem) => name.starts_with(stem),
            None => self.name == name,
        }
    }

    /// The tools among `available` that are granted.
    pub(super) fn among<'a>(&self, available: &[&'a str]) -> Vec<&'a str> {
        let mut found: Vec<&str> =
            available.iter().copied().filter(|name| self.covers(name)).collect();
        found.sort_unstable();
        found
    }
}

impl fmt::Display for Grant {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}{}", self.name, if self.optional { "?" } else { "" })
    }
}

impl Serialize for Grant {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
