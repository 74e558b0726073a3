//! What tasks had left at an earlier moment of the run: whoever began then goes on by that, whatever was taken back since.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::event::TaskEnded;
use super::plan::TaskSpec;
use super::state::TaskRun;

/// A result that counts no more.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Past {
    /// As it was worked by.
    spec: Box<TaskSpec>,
    ended: TaskEnded,
    /// The event by which it was done, and the one that took it back.
    from: u64,
    until: u64,
    /// How much had happened to it by then.
    facts: usize,
}

impl TaskRun {
    /// Before an event takes back what it left.
    pub(super) fn set_aside(&mut self, until: u64) {
        self.doubt_notes();
        let Some(ended) = self.ended.clone().filter(|_| self.is_done()) else { return };
        let (spec, facts) = (Box::new(self.spec.clone()), self.facts.len());
        self.past.push(Past { spec, ended, from: self.ended_at, until, facts });
    }

    /// The event by which it was done, if it was after this one.
    pub fn done_by(&self, seq: u64) -> Option<u64> {
        if self.is_done() && self.ended_at <= seq {
            return Some(self.ended_at);
        }
        let past = self.past.iter().find(|past| past.from <= seq && seq < past.until);
        past.map(|past| past.from)
    }

    /// As it was after this event, if it was done then.
    pub fn as_of(&self, seq: u64) -> Option<Cow<'_, Self>> {
        let from = self.done_by(seq)?;
        if self.is_done() && self.ended_at == from {
            return Some(Cow::Borrowed(self));
        }
        let past = self.past.iter().find(|past| past.from == from)?;
        Some(Cow::Owned(Self {
            spec: (*past.spec).clone(),
            facts: self.facts[..past.facts].to_vec(),
            ended: Some(past.ended.clone()),
            ended_at: from,
            ..self.clone()
        }))
    }

    /// The event by which its attempt under way began, and with that all that was delegated by it.
    pub fn began(&self) -> Option<u64> {
        let own = self.running.values().find(|one| one.started.parent.is_none());
        own.map(|one| one.began)
    }
}
