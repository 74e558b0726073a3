//! Facts that decide how a task goes on.

use serde::{Deserialize, Serialize};

use super::attempts::Tried;
use super::event::About;
use super::person::PersonDecision;
use crate::change::Refused;
use crate::digest::Digest;
use crate::id::TreeId;

/// Something that decides how a task goes on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "fact", rename_all = "snake_case")]
pub enum Fact {
    Tried(Box<Tried>),
    Skipped {
        step: String,
    },
    Verified {
        steps: Vec<String>,
        tree: TreeId,
        #[serde(default)]
        evidence: Option<Digest>,
        failing: Option<Digest>,
        gist: Option<String>,
    },
    Answered {
        about: About,
        answer: String,
        /// What a person decided by it about a failure, where that is more than advice.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        decision: Option<PersonDecision>,
    },
    /// What a person accepted can be committed: this tree.
    Accepted {
        tree: TreeId,
        left_out: Vec<Refused>,
    },
    /// Nothing of what a person accepted can be committed.
    AcceptRefused {
        why: String,
    },
    /// A person's own edit takes the place of what attempts left.
    HandedBack {
        base: TreeId,
        tree: TreeId,
        by: String,
    },
    Conflicted {
        paths: Vec<String>,
    },
    /// A person wants it tried again, or its text is another one now.
    Reopened,
    /// What it was built on is withdrawn: so many attempts count no more, and it begins anew.
    Withdrawn {
        attempts: u32,
    },
}
