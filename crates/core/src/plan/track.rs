//! `Track.Section.Task[.Subtask]` ids such as `A.9.1.3` in headings, boxes or bold items.
//!
//! A heading's text begins after it, an item's with its bullet. Tasks of a track are in order, tracks side by side.

use std::collections::{HashMap, HashSet};

use super::markdown::Document;
use super::mention::Bare;
use super::needs::Shape;
use super::unit::{self, Drafts, Rules, Unit};
use super::{Format, mark, words};

const RULES: Rules = Rules {
    format: Format::Track,
    nested: true,
    steps: true,
    shape: Shape::Plain(words::is_track_part),
    sentences: Some(Bare::Left),
};

pub(super) fn read(document: &Document<'_>) -> Drafts {
    unit::assemble(document, find(document), &RULES)
}

/// How plainly a block is the place of a task: an id is taken where it is plainest, elsewhere it is restated.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Item,
    Box,
    Heading,
}

fn find(document: &Document<'_>) -> Vec<Unit> {
    let mut found: Vec<(Rank, Unit)> = Vec::new();
    let mut plainest: HashMap<String, (Rank, bool)> = HashMap::new();
    for (block, one) in document.blocks.iter().enumerate() {
        let text = document.text(&one.words);
        let rank = match (one.level(), one.item()) {
            (Some(_), _) => Rank::Heading,
            (_, Some(item)) if item.mark.is_some() => Rank::Box,
            (_, Some(_)) if text.starts_with("**") => Rank::Item,
            _ => continue,
        };
        let Some((id, rest)) = mark::leading_id(text, words::is_track_part) else {
            continue;
        };
        let ticked = one.checkbox().is_some_and(|mark| mark.ticked);
        let known = plainest.entry(id.to_owned()).or_insert((rank, false));
        *known = (known.0.max(rank), known.1 | ticked);
        let optional = one.checkbox().is_some_and(|mark| mark.starred);
        let unit = Unit {
            block,
            id: id.to_owned(),
            title: mark::title(rest),
            ticked,
            optional,
            parallel: false,
        };
        found.push((rank, unit));
    }
    let mut units = Vec::new();
    for (rank, mut unit) in found {
        let (best, ticked) = plainest[&unit.id];
        if rank == best {
            unit.ticked |= ticked && best == Rank::Heading;
            units.push(unit);
        }
    }
    drop_bare_sections(units)
}

/// `A.3` without tasks is a section, unless the plan has no longer ids at all.
fn drop_bare_sections(mut units: Vec<Unit>) -> Vec<Unit> {
    if !units.iter().any(|unit| words::is_track(&unit.id)) {
        return units;
    }
    let mut parents: HashSet<String> = HashSet::new();
    for unit in &units {
        let mut id = unit.id.as_str();
        while let Some((head, _)) = id.rsplit_once('.') {
            parents.insert(head.to_owned());
            id = head;
        }
    }
    units.retain(|unit| words::is_track(&unit.id) || parents.contains(&unit.id));
    units
}
