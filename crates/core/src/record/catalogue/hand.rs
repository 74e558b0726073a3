//! What of all that a task may see it is handed, and why it is not handed the rest.

use std::collections::HashSet;
use std::sync::Arc;

use super::{Catalogue, Filed, Seeker, of_kind};
use crate::context::Refusal;
use crate::recall::{self, Query, Ranked, Relevance, Seen};
use crate::record::wish::Wish;
use crate::record::{Chosen, Handed, Kind, Record};

/// If no record of a kind is about a task's text, it gets so many of what it needs itself.
const FALLBACK: usize = 2;

impl Catalogue {
    /// What a task is shown before it begins: interfaces that it consumes, then what its text is about.
    pub fn hand(&self, seeker: &Seeker, query: &Query<'_>) -> Handed {
        let all = self.view(seeker);
        let mut chosen = self.interfaces(seeker);
        let not_consumed = of_kind(&all, Kind::Interface).len().saturating_sub(chosen.len());
        let mut passed_over = vec![(Refusal::NotConsumed, not_consumed)];
        for kind in [Kind::Summary, Kind::Artifact, Kind::Note] {
            let seen = of_kind(&all, kind);
            if !seeker.settings.records.has(kind) {
                passed_over.push((Refusal::SwitchedOff, seen.len()));
                continue;
            }
            let ranked = self.index.rank(query, &seen, seeker.settings.relevance);
            let mut given: Vec<Chosen> =
                recall::choose(&ranked, recall::TOP).iter().map(|one| self.chosen(one)).collect();
            if given.is_empty() {
                given = self.fallback(seeker, kind, &ranked);
            }
            passed_over.extend(left_out(seeker.settings.relevance, &seen, &ranked, &given));
            chosen.extend(given);
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
            let Filed { record, offer } = &self.records[*at];
            let Some(offer) = offer else { continue };
            let is_met = |wish: &&Wish<'_>| wish.is_met_by(record.task.as_str(), offer);
            if let Some(wish) = wishes.iter().find(is_met) {
                let why = format!("the task consumes {}", wish.text());
                chosen.push(Chosen { record: Arc::clone(record), score: None, why });
            }
        }
        chosen
    }

    /// Of what the task needs itself: what its text is at least a little about, then the last.
    fn fallback(&self, seeker: &Seeker, kind: Kind, ranked: &[Ranked]) -> Vec<Chosen> {
        let needs = self.needs(seeker).into_iter().rev();
        let last = needs.flat_map(|shelf| shelf.records.iter().rev().copied());
        let last: Vec<usize> = last.filter(|at| self.records[*at].record.kind == kind).collect();
        let needed: HashSet<usize> = last.iter().copied().collect();
        let slight: Vec<&Ranked> = ranked.iter().filter(|one| needed.contains(&one.at)).collect();
        let taken: HashSet<usize> = slight.iter().map(|one| one.at).collect();
        let slight = slight.into_iter().map(|one| Chosen {
            why: format!("{}; nothing matched better, and {NEEDED}", one.why),
            ..self.chosen(one)
        });
        let why = match seeker.settings.relevance {
            Relevance::Off => NEEDED.to_owned(),
            Relevance::Words | Relevance::Seed => format!("nothing matched; {NEEDED}"),
        };
        let record = |at: usize| -> Arc<Record> { Arc::clone(&self.records[at].record) };
        let others = last.into_iter().filter(|at| !taken.contains(at)).map(|at| Chosen {
            record: record(at),
            score: None,
            why: why.clone(),
        });
        slight.chain(others).take(FALLBACK).collect()
    }
}

const NEEDED: &str = "the task needs the one that left it";

/// Why records of a kind that were seen are not among what is given.
fn left_out(
    by: Relevance,
    seen: &[Seen],
    ranked: &[Ranked],
    given: &[Chosen],
) -> Vec<(Refusal, usize)> {
    if by == Relevance::Off {
        return vec![(Refusal::RelevanceIsOff, seen.len().saturating_sub(given.len()))];
    }
    let worth = recall::choose(ranked, usize::MAX).len();
    let scored = given.iter().filter(|one| one.score.is_some()).count();
    let better = worth.min(scored);
    let silent = (seen.len() - ranked.len()).saturating_sub(given.len() - scored);
    let too_old = match by {
        Relevance::Seed => silent.min(seen.len().saturating_sub(recall::LAST)),
        Relevance::Words | Relevance::Off => 0,
    };
    vec![
        (Refusal::PassedOver, worth - better),
        (Refusal::Slight, ranked.len() - worth - (scored - better)),
        (Refusal::TooOld, too_old),
        (Refusal::Unrelated, silent - too_old),
    ]
}
