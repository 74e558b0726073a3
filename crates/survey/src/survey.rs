//! One base, surveyed: all that contexts are made from besides the plan.

use std::collections::BTreeMap;

use sequester_core::agent::Role;
use sequester_core::architecture::Piece;
use sequester_core::cache::Cache;
use sequester_core::check::Kind;
use sequester_core::context::{self, IsolatedContext, Shelf};
use sequester_core::limits::Limits;
use sequester_core::plan::Plan;
use sequester_core::repository::{History, Redacted, Snapshot};

use crate::{Index, Outlines, architecture};

/// Surveyed once, shared by all contexts of a run.
pub struct Survey<'a> {
    pub architecture: Vec<Piece>,
    pub index: Index,
    pub shelf: Shelf<'a>,
}

impl<'a> Survey<'a> {
    /// `base` as subagents may know it; `cache` belongs to its repository alone.
    pub fn of(
        base: &'a dyn Snapshot,
        history: Option<&dyn History>,
        cache: &dyn Cache,
        limits: &Limits,
        checks: &BTreeMap<Kind, String>,
    ) -> Self {
        // Lines are taken out of files here: a secret must be gone before it can be cut in half.
        let architecture = architecture(&Redacted::new(base), limits).with_checks(checks);
        Self {
            architecture: architecture.render(limits.architecture),
            index: Index::open(base, history, cache, limits),
            shelf: Shelf::new(base, &Outlines, limits),
        }
    }

    /// The context of a plan's only task.
    pub fn single(
        &self,
        plan: &Plan,
        role: &Role,
        limits: &Limits,
    ) -> Result<IsolatedContext, context::Error> {
        context::single(plan, role, &self.architecture, &self.shelf, &self.index, limits)
    }
}
