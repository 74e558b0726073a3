//! Checks: commands that the runtime runs itself. No model is asked whether the tests pass.

mod counts;

mod missing_program;

mod times;

use std::fmt;

use serde::{Deserialize, Serialize};

pub use counts::counts;
pub(crate) use counts::without_colour;
pub use missing_program::{missing_program, programs};
pub(crate) use times::without_times;

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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Counts {
    pub passed: u64,
    pub failed: u64,
    pub skipped: u64,
}

impl Counts {
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            passed: self.passed.saturating_add(other.passed),
            failed: self.failed.saturating_add(other.failed),
            skipped: self.skipped.saturating_add(other.skipped),
        }
    }

    /// How many were run.
    pub fn ran(self) -> u64 {
        self.passed.saturating_add(self.failed)
    }
}

/// Whether a check passed. Tests that fail count whatever the command ends with, which may be a pipe's last program; and a
/// project whose tests run none has not been tested.
pub fn passed(kind: Kind, code: i32, counts: Option<Counts>) -> bool {
    let counts = counts.filter(|_| matches!(kind, Kind::Tests | Kind::Own));
    let none_failed = counts.is_none_or(|counts| counts.failed == 0);
    let any_ran = kind != Kind::Tests || counts.is_none_or(|counts| counts.ran() > 0);
    code == 0 && none_failed && any_ran
}

/// Whether a command came to an end of its own: it was there, could be started, and no signal ended it.
pub fn ended(code: i32) -> bool {
    (0..=255).contains(&code) && !matches!(code, 126 | 127 | 129..=159)
}
