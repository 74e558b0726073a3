//! What of all that a task may see it is handed, and why it is not handed the rest.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::{Catalogue, Filed, Seeker, Shelf, of_kind};
use crate::context::Refusal;
use crate::recall::{self, Query, Ranked, Relevance, Seen};
use crate::record::wish::Wish;
use crate::record::{Chosen, Handed, Kind};

/// If no record of a kind is about a task's text, it gets so many of the latest.
const FALLBACK: usize = 2;

/// Why a record is given.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SelectionReason {
    Matched,
    DirectNeed,
    Latest,
}

/// Record numbers with their reasons, each once, in the order in which they get room.
#[derive(Default)]
struct Selection {
    order: Vec<(usize, SelectionReason)>,
    taken: HashSet<usize>,
}

impl Selection {
    fn take(&mut self, records: impl IntoIterator<Item = usize>, reason: SelectionReason) {
        for at in records {
            if self.taken.insert(at) {
                self.order.push((at, reason));
            }
        }
    }
}

impl Catalogue {
    /// What a task is shown before it begins: interfaces that it consumes, then what its text is about and what it needs itself.
    pub fn hand(&self, seeker: &Seeker, query: &Query<'_>) -> Handed {
        let all = self.view(seeker);
        let by = seeker.settings.relevance;
        let mut chosen = self.interfaces(seeker);
        let not_consumed = of_kind(&all, Kind::Interface).len().saturating_sub(chosen.len());
        let mut passed_over = vec![(Refusal::NotConsumed, not_consumed)];
        for kind in [Kind::Summary, Kind::Note, Kind::Artifact] {
            let seen = of_kind(&all, kind);
            if !seeker.settings.records.has(kind) {
                passed_over.push((Refusal::SwitchedOff, seen.len()));
                continue;
            }
            let ranked = self.index.rank(query, &seen, by);
            let selection = self.select(seeker, kind, recall::choose(&ranked, seen.len()), &ranked);
            passed_over.extend(count_refusals(by, &seen, &ranked, &selection.taken));
            chosen.extend(self.explain(selection, &ranked));
        }
        passed_over.retain(|(_, count)| *count > 0);
        Handed { chosen, passed_over, ..seeker.nothing() }
    }

    /// What tasks produce that this one says it consumes, the latest first.
    fn interfaces(&self, seeker: &Seeker) -> Vec<Chosen> {
        let wishes: Vec<Wish<'_>> = seeker.consumes.iter().map(|text| Wish::of(text)).collect();
        let mut chosen = Vec::new();
        if wishes.is_empty() {
            return chosen;
        }
        for at in self.shelves(seeker).flat_map(|(_, shelf)| &shelf.records) {
            let Filed { record, offer, .. } = &self.records[*at];
            let Some(offer) = offer else { continue };
            let is_met = |wish: &&Wish<'_>| wish.is_met_by(record.task.as_str(), offer);
            if let Some(wish) = wishes.iter().find(is_met) {
                let why = format!("the task consumes {}", wish.text());
                chosen.push(Chosen { record: Arc::clone(record), score: None, why });
            }
        }
        chosen
    }

    /// Records of one kind. Summaries of direct needs come first: the plan itself says that they matter, so none gives way to one
    /// that merely shares words. The seed's rule knows no needs.
    fn select(
        &self,
        seeker: &Seeker,
        kind: Kind,
        matched: &[Ranked],
        ranked: &[Ranked],
    ) -> Selection {
        let by = seeker.settings.relevance;
        let direct = self.latest(self.needs(seeker).into_iter().rev(), kind);
        let mut selection = Selection::default();
        if kind == Kind::Summary && by != Relevance::Seed {
            let is_direct: HashSet<usize> = direct.iter().copied().collect();
            let numbers = |list: &[Ranked]| -> Vec<usize> {
                list.iter().map(|one| one.at).filter(|at| is_direct.contains(at)).collect()
            };
            selection.take(numbers(matched), SelectionReason::Matched);
            selection.take(numbers(ranked), SelectionReason::DirectNeed);
            selection.take(direct.iter().copied(), SelectionReason::DirectNeed);
        }
        selection.take(matched.iter().map(|one| one.at), SelectionReason::Matched);
        if by == Relevance::Off {
            selection.take(direct.into_iter().take(FALLBACK), SelectionReason::DirectNeed);
        } else if matched.is_empty() {
            let latest = self.latest(self.shelves(seeker).map(|(_, shelf)| shelf), kind);
            selection.take(latest.into_iter().take(FALLBACK), SelectionReason::Latest);
        }
        selection
    }

    /// The records of a kind on shelves that come with the last in the plan's order first.
    fn latest<'a>(&self, shelves: impl Iterator<Item = &'a Shelf>, kind: Kind) -> Vec<usize> {
        let all = shelves.flat_map(|shelf| shelf.records.iter().rev().copied());
        all.filter(|at| self.records[*at].record.kind == kind).collect()
    }

    /// With scores and reasons.
    fn explain(&self, selection: Selection, ranked: &[Ranked]) -> Vec<Chosen> {
        let ranked: HashMap<usize, &Ranked> = ranked.iter().map(|one| (one.at, one)).collect();
        let chosen = selection.order.into_iter().map(|(at, reason)| {
            let found = ranked.get(&at);
            Chosen {
                record: Arc::clone(&self.records[at].record),
                score: found.map(|one| one.score),
                why: why(reason, found.map_or("", |one| &one.why)),
            }
        });
        chosen.collect()
    }
}

/// A reason with the words that a record shares with the task.
fn why(reason: SelectionReason, words: &str) -> String {
    let told = match reason {
        SelectionReason::Matched => return words.to_owned(),
        SelectionReason::DirectNeed => "the task needs the one that left it",
        SelectionReason::Latest if words.is_empty() => "nothing matched; it is one of the latest",
        SelectionReason::Latest => "nothing matched well; it is one of the latest",
    };
    if words.is_empty() { told.to_owned() } else { format!("{words}; {told}") }
}

/// Why records of a kind that were seen are not among those that are given.
fn count_refusals(
    by: Relevance,
    seen: &[Seen],
    ranked: &[Ranked],
    given: &HashSet<usize>,
) -> Vec<(Refusal, usize)> {
    let left: HashSet<usize> =
        seen.iter().map(|one| one.at).filter(|at| !given.contains(at)).collect();
    if by == Relevance::Off {
        return vec![(Refusal::RelevanceIsOff, left.len())];
    }
    let scored: Vec<&Ranked> = ranked.iter().filter(|one| left.contains(&one.at)).collect();
    let is_worth = |one: &&&Ranked| recall::is_enough(one.score, seen.len());
    let worth = scored.iter().filter(is_worth).count();
    let silent = left.len() - scored.len();
    let too_old = match by {
        Relevance::Seed => silent.min(seen.len().saturating_sub(recall::LAST)),
        Relevance::Words | Relevance::Off => 0,
    };
    vec![
        (Refusal::PassedOver, worth),
        (Refusal::Slight, scored.len() - worth),
        (Refusal::TooOld, too_old),
        (Refusal::Unrelated, silent - too_old),
    ]
}
