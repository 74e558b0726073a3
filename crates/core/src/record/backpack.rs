//! Backpacks on their way along the edges: merged for who builds on several tasks, and handed on. What is in one depends on the
//! plan's order, the edges and what was packed, never on when.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Kind, Record};
use crate::agent::{Item, Kept};
use crate::id::TaskId;
use crate::secret;

/// Of all items of one backpack together.
pub const BACKPACK_TOKENS: usize = 500;

/// A thing in a backpack, and who packed it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Packed {
    /// Such as `TASK/pack-1`.
    pub id: Arc<str>,
    pub task: TaskId,
    #[serde(flatten)]
    pub item: Item,
}

/// A backpack as one task gets it or hands it on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pack {
    /// From the oldest on: in the plan's order of who packed them.
    pub items: Vec<Packed>,
    /// What tasks on the way took out: it does not come back by another way.
    pub removed: BTreeSet<Arc<str>>,
    /// What had no room, here or in what the next before handed on.
    pub left_out: Vec<Packed>,
}

impl Pack {
    /// What those hand on that a task builds on, in whatever order they are given. `place` is a task's place in the plan.
    pub fn merged<'a>(
        needs: impl IntoIterator<Item = &'a Self>,
        place: impl Fn(&TaskId) -> usize,
        most: usize,
    ) -> Self {
        let (mut items, mut left_out) = (BTreeMap::new(), BTreeMap::new());
        let mut removed = BTreeSet::new();
        let key = |one: &'a Packed| (place(&one.task), number(&one.id), &one.id);
        for need in needs {
            removed.extend(need.removed.iter().cloned());
            items.extend(need.items.iter().map(|one| (key(one), one)));
            left_out.extend(need.left_out.iter().map(|one| (key(one), one)));
        }
        // What one need had no room for may come by another.
        left_out.retain(|at, _| !items.contains_key(at));
        let left = |all: BTreeMap<_, &Packed>| -> Vec<Packed> {
            all.into_values().filter(|one| !removed.contains(&one.id)).cloned().collect()
        };
        let (items, left_out) = (left(items), left(left_out));
        Self { items, removed, left_out }.bounded(most)
    }

    /// What a task hands on that was given this, after those of its attempts that count. Secrets stay behind.
    #[must_use]
    pub fn after<'a>(
        &self,
        task: &TaskId,
        kept: impl IntoIterator<Item = &'a Kept>,
        most: usize,
    ) -> Self {
        let mut pack = Self { left_out: Vec::new(), ..self.clone() };
        let mut number = 0;
        for one in kept {
            pack.removed.extend(one.removed.iter().map(|id| id.as_str().into()));
            for item in &one.backpack {
                number += 1;
                let id = format!("{task}/pack-{number}").into();
                let text = secret::redact(&item.item).text.into_owned();
                let item = Item { item: text, ..item.clone() };
                pack.items.push(Packed { id, task: task.clone(), item });
            }
        }
        pack.items.retain(|one| !pack.removed.contains(&one.id));
        pack.bounded(most)
    }

    /// Over the limit the lowest priority, then the oldest, is left out.
    fn bounded(mut self, most: usize) -> Self {
        let mut taken: usize = self.items.iter().map(|one| one.item.tokens()).sum();
        while taken > most {
            let least = self.items.iter().enumerate();
            let least = least.min_by_key(|(at, one)| (one.item.priority, *at));
            let Some((at, _)) = least else { break };
            let one = self.items.remove(at);
            taken -= one.item.tokens();
            self.left_out.push(one);
        }
        self
    }

    /// What one task packed, as records of it.
    pub fn records(&self, task: &TaskId, title: &str, paths: &[String]) -> Vec<Record> {
        let own = self.items.iter().chain(&self.left_out).filter(|one| one.task == *task);
        let mut own: Vec<&Packed> = own.collect();
        own.sort_by_key(|one| number(&one.id));
        own.into_iter().map(|one| one.record(title, paths)).collect()
    }
}

impl Packed {
    /// As it stands in a context: on one line.
    pub fn line(&self) -> String {
        self.record("", &[]).packed_line()
    }

    /// Whether this is what a record says that was packed.
    pub fn is_of(&self, record: &Record) -> bool {
        let own = self.record(&record.title, &record.paths);
        own == *record
    }

    fn record(&self, title: &str, paths: &[String]) -> Record {
        Record {
            id: Arc::clone(&self.id),
            task: self.task.clone(),
            kind: Kind::Backpack,
            title: title.to_owned(),
            text: self.item.item.clone(),
            paths: paths.to_vec(),
            refs: Vec::new(),
            label: self.item.category.as_str().to_owned(),
        }
    }
}

impl Record {
    /// An item of a backpack as it stands in a context.
    pub fn packed_line(&self) -> String {
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        format!("- {} ({}) {}\n", words(&self.id), self.label, words(&self.text))
    }
}

/// The last part of an id.
fn number(id: &str) -> usize {
    id.rsplit('-').next().and_then(|number| number.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests;
