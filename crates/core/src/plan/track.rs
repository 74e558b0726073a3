//! `Track.Section.Task[.Subtask]` ids such as `A.9.1.3` in headings, boxes or bold items.
//!
//! A heading's text begins after it, an item's with its bullet. Tasks of a track are in order, tracks side by side, and phases
//! in order.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::markdown::Document;
use super::mention::Verbless;
use super::needs::Shape;
use super::unit::{self, Drafts, Rules, Unit};
use super::{Format, mark, words};

const RULES: Rules = Rules {
    format: Format::Track,
    nested: true,
    steps: true,
    shape: Shape::Plain(words::is_track_part),
    verbless: Verbless::Skipped,
};

pub(super) fn read(document: &Document<'_>) -> Drafts {
    let mut drafts = unit::assemble(document, find(document), &RULES);
    drafts.phases = phases(document);
    drafts
}

/// The tracks that are headed `Phase A` and nowhere `Track A`.
fn phases(document: &Document<'_>) -> BTreeSet<String> {
    let mut phases = BTreeSet::new();
    let mut tracks = HashSet::new();
    for block in document.blocks.iter().filter(|block| block.level().is_some()) {
        let title = document.text(&block.words).trim_start_matches(|c: char| !c.is_alphanumeric());
        let mut parts = title.split(|c: char| !c.is_alphanumeric()).filter(|part| !part.is_empty());
        let (Some(word), Some(letter)) = (parts.next(), parts.next()) else { continue };
        if words::is_phase(word) {
            phases.insert(letter.to_owned());
        } else if word.eq_ignore_ascii_case("track") {
            tracks.insert(letter);
        }
    }
    phases.retain(|letter| !tracks.contains(letter.as_str()));
    phases
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
    drop_bare_sections(document, units)
}

/// A heading `A.3` without tasks is a section, unless its track has no longer ids at all. A box or an item is a task.
fn drop_bare_sections(document: &Document<'_>, mut units: Vec<Unit>) -> Vec<Unit> {
    let track = |id: &str| id.split('.').next().unwrap_or_default().to_owned();
    let long = units.iter().filter(|unit| words::is_track(&unit.id));
    let long: HashSet<String> = long.map(|unit| track(&unit.id)).collect();
    let mut parents: HashSet<String> = HashSet::new();
    for unit in &units {
        let mut id = unit.id.as_str();
        while let Some((head, _)) = id.rsplit_once('.') {
            parents.insert(head.to_owned());
            id = head;
        }
    }
    units.retain(|unit| {
        let is_section =
            document.blocks[unit.block].level().is_some() && long.contains(&track(&unit.id));
        !is_section || words::is_track(&unit.id) || parents.contains(&unit.id)
    });
    units
}
