//! Somebody who watches a run. Nothing depends on it.

use sequester_core::run::{Recorded, Scope};

use crate::feed::{Feed, Silent};

pub trait Watch: Send + Sync {
    /// Every event once it is durable, in order.
    fn recorded(&self, recorded: &Recorded);

    /// For what happens within an attempt, while it happens. What another subagent asked for has a title of its own.
    fn attempt(&self, scope: &Scope, agent: &str, title: Option<&str>) -> Box<dyn Feed>;
}

/// Nobody.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unwatched;

impl Watch for Unwatched {
    fn recorded(&self, _: &Recorded) {}

    fn attempt(&self, _: &Scope, _: &str, _: Option<&str>) -> Box<dyn Feed> {
        Box::new(Silent)
    }
}
