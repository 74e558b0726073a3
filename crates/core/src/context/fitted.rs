//! Records in a context: which of the chosen ones have room, and in which order they are read.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::admit::{Refusal, View, admit};
use super::fragment::{Kind, Provenance};
use super::manifest::Withheld;
use super::render::{Page, Ready};
use super::section::Room;
use crate::record::{self, Chosen, Handed};
use crate::report::Label;
use crate::secret::redact;

/// How many records without room a manifest names.
const NAMED: usize = 20;

/// Records that have room, and how many are refused for which reason.
pub(super) struct FittedRecords<'a> {
    admitted: Vec<(&'a Chosen, Ready<'a>)>,
    /// By their names.
    refused: BTreeMap<&'static str, (Refusal, usize)>,
    without_room: Vec<String>,
}

impl<'a> FittedRecords<'a> {
    pub(super) fn new(handed: &Handed) -> Self {
        let refused = BTreeMap::new();
        let mut fitted = Self { admitted: Vec::new(), refused, without_room: Vec::new() };
        for (refusal, count) in &handed.passed_over {
            fitted.refuse(*refusal, *count);
        }
        fitted
    }

    fn refuse(&mut self, refusal: Refusal, count: usize) {
        self.refused.entry(refusal.as_str()).or_insert((refusal, 0)).1 += count;
    }

    /// Gives room in the order in which records were chosen.
    pub(super) fn fit(
        &mut self,
        chosen: impl Iterator<Item = (&'a Chosen, &'a String)>,
        view: &View,
        mut left: Room,
    ) {
        for (chosen, text) in chosen {
            if let Err(refusal) = admit(&provenance(chosen), view) {
                self.refuse(refusal, 1);
                continue;
            }
            let ready = Ready { why: chosen.reason(), ..Ready::whole(text) };
            let is_note = chosen.record.kind == record::Kind::Note;
            let left = if is_note { &mut left.notes } else { &mut left.records };
            if ready.tokens > *left {
                self.refuse(Refusal::OverBudget, 1);
                self.without_room.push(record::line(&chosen.record.id));
                continue;
            }
            *left -= ready.tokens;
            self.admitted.push((chosen, ready));
        }
    }

    /// Writes them kind by kind, artifacts last and under the headings of their types, and of each the best first.
    pub(super) fn write(&mut self, page: &mut Page<'_>) {
        self.admitted.sort_by(|(one, _), (other, _)| reading_order(one, other));
        let mut group = None;
        for (chosen, ready) in &self.admitted {
            let label = chosen.record.artifact_type();
            if let Some(label) = label.filter(|_| label != group) {
                page.frame(artifact_heading(label));
            }
            group = label;
            page.write(&provenance(chosen), ready);
        }
    }

    pub(super) fn withheld(&self) -> impl Iterator<Item = Withheld> {
        self.refused.values().map(|(refusal, count)| {
            let mut source = format!("{count} record{}", if *count == 1 { "" } else { "s" });
            if *refusal == Refusal::OverBudget {
                let named = &self.without_room[..self.without_room.len().min(NAMED)];
                let _ = write!(source, ": {}", redact(&named.join(", ")).text);
                if let Some(more) = count.checked_sub(NAMED).filter(|more| *more > 0) {
                    let _ = write!(source, " and {more} more");
                }
            }
            Withheld { kind: Kind::Record, source, rule: *refusal }
        })
    }
}

fn reading_order(one: &Chosen, other: &Chosen) -> Ordering {
    let place = |chosen: &Chosen| match chosen.record.kind {
        record::Kind::Interface => 0,
        record::Kind::Summary => 1,
        record::Kind::Note => 2,
        record::Kind::Artifact | record::Kind::Backpack | record::Kind::Finding => 3,
    };
    let group = |chosen: &Chosen| (place(chosen), chosen.record.artifact_type());
    let score = |chosen: &Chosen| chosen.score.unwrap_or(0.0);
    group(one).cmp(&group(other)).then(score(other).total_cmp(&score(one)))
}

/// Above the artifacts of one type.
pub fn artifact_heading(label: Label) -> &'static str {
    match label {
        Label::Finding => "## Findings\n\n",
        Label::Decision => "## Decisions\n\n",
        Label::Resource => "## Resources\n\n",
        Label::Error => "## Errors\n\n",
        Label::Todo => "## To do\n\n",
    }
}

fn provenance(chosen: &Chosen) -> Provenance {
    Provenance::Record { id: chosen.record.id.clone(), task: chosen.record.task.clone() }
}
