//! Checks: commands that the runtime runs itself. No model is asked whether the tests pass.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What a check looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    Types,
    Lint,
    Tests,
    Security,
    /// A command that the task itself names.
    Own,
}

impl Kind {
    /// Those of a project.
    pub const PROJECT: [Self; 4] = [Self::Types, Self::Lint, Self::Tests, Self::Security];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Types => "types",
            Self::Lint => "lint",
            Self::Tests => "tests",
            Self::Security => "security",
            Self::Own => "own",
        }
    }

    pub fn parse(name: &str) -> Option<Self> {
        Self::PROJECT.into_iter().find(|kind| kind.as_str() == name)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// A command to be run.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Check {
    pub kind: Kind,
    pub command: String,
}

/// What a test runner said of its tests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    pub passed: u64,
    pub failed: u64,
    pub skipped: u64,
}
