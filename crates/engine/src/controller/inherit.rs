//! What an attempt begins with of what others left, beside its context; and what it may leave itself.

use std::collections::BTreeSet;
use std::sync::Arc;

use sequester_core::agent::{Inherited, Kept};
use sequester_core::context::IsolatedContext;
use sequester_core::digest::Digest;
use sequester_core::record::{self, Pack, Switches};
use sequester_core::run::{Event, Order, TaskRun};
use sequester_core::secret::redact;

use super::world::{Member, Trouble};
use super::{Controller, blocking};

/// TODOs that a run's last event names; `records` lists them all.
const TODOS: usize = 1_000;

impl Controller {
    /// It is recorded with the attempt's start: whoever takes it up later has the same.
    pub(super) async fn inherit(
        &self,
        known: &TaskRun,
        order: &Order,
        member: &Member,
        (context, pack): (&IsolatedContext, Option<Pack>),
    ) -> Result<Inherited, Trouble> {
        let mut backpack = pack.map(|pack| pack.items).unwrap_or_default();
        // Its tools tell it of nothing that its context does not show.
        let shown: BTreeSet<&str> = context.manifest.records().collect();
        backpack.retain(|one| shown.contains(&*redact(&one.id).text));
        if !self.switches(false).artifacts {
            return Ok(Inherited { backpack, ..Inherited::default() });
        }
        let beside = self.steps_beside(known, &order.step);
        let mut before = record::before(known, &order.step, order.purpose);
        before.retain(|tried| !beside.contains(&tried.step));
        let before: Vec<Digest> = before.into_iter().map(|tried| tried.kept.clone()).collect();
        let store = Arc::clone(&self.world.store);
        let read = blocking(move || {
            let read = |digest: &Digest| Ok::<_, Trouble>(store.blob(digest)?);
            before.iter().map(read).collect::<Result<Vec<_>, _>>()
        });
        let read = read.await??;
        let kept: Vec<Kept> =
            read.iter().filter_map(|bytes| serde_json::from_slice(bytes).ok()).collect();
        Ok(Inherited {
            backpack,
            records: context.manifest.records().map(str::to_owned).collect(),
            artifacts: record::artifact_ids(&kept),
            words: record::artifact_words(&kept),
            step: (!beside.is_empty()).then(|| order.step.clone()),
            owes: member.owes.clone(),
        })
    }

    /// The other steps of a group that run side by side.
    fn steps_beside(&self, known: &TaskRun, step: &str) -> Vec<String> {
        self.log.read(|run| {
            let groups = run.side_by_side(known).into_iter();
            let mut own = groups.filter(|group| group.iter().any(|one| one.id == step));
            let others = own.next().into_iter().flatten().filter(|one| one.id != step);
            others.map(|one| one.id.clone()).collect()
        })
    }

    /// Whoever works for another subagent leaves its summary to that one, and nothing to later tasks.
    pub(super) fn switches(&self, is_delegated: bool) -> Switches {
        let switches = self.log.read(|run| run.started.settings.records);
        if is_delegated {
            return Switches { notes: false, artifacts: false, backpack: false, ..switches };
        }
        switches
    }

    /// The end of a run says what its tasks left to be done.
    pub(super) async fn list_todos(&self, event: &mut Event) -> Result<(), Trouble> {
        let Event::RunEnded { todos, .. } = event else { return Ok(()) };
        if !self.switches(false).artifacts {
            return Ok(());
        }
        let (records, log) = (Arc::clone(&self.records), Arc::clone(&self.log));
        let store = Arc::clone(&self.world.store);
        *todos = blocking(move || records.todos(&log, store.as_ref())).await??;
        todos.truncate(TODOS);
        Ok(())
    }
}
