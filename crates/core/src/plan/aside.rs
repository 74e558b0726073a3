//! What looks like work and is none.

use std::collections::HashSet;
use std::ops::Range;

use super::markdown::{Block, Document, Kind};
use super::tree::Tree;
use super::{Aside, header, label};
use crate::fault::Place;

/// Sections with boxes that no task takes, sections after the first task that belong to none, and text behind the tasks of a
/// section.
pub(super) fn leave(
    document: &Document<'_>,
    tree: &Tree,
    extents: &[Range<usize>],
    taken: &[Range<usize>],
) -> Vec<Aside> {
    let leaves: HashSet<usize> = tree.leaves().map(|unit| tree.units[unit].block).collect();
    let units: HashSet<usize> = tree.units.iter().map(|unit| unit.block).collect();
    let parents: HashSet<usize> = tree.sections.iter().flatten().copied().collect();
    let first = extents.first().map_or(usize::MAX, |extent| extent.start);
    let mut aside: Vec<Aside> = Vec::new();
    let mut heading: Option<&Block<'_>> = None;
    let mut told = false;
    // The block before is a rule, or ends in one.
    let mut ruled = false;
    // The level of the section that was left aside last: what stands under it goes with it.
    let mut under = u8::MAX;
    // A task of the section stands before, so that no task is shown what follows.
    let (mut behind, mut tailed) = (false, false);
    for (index, block) in document.blocks.iter().enumerate() {
        let start = block.range.start;
        if header::covers(extents, start) || header::covers(taken, start) || units.contains(&index)
        {
            ruled = block.rule(document.source).is_some();
            if units.contains(&index) {
                (behind, tailed, under) = (leaves.contains(&index), false, u8::MAX);
            }
            continue;
        }
        let ruled = std::mem::replace(&mut ruled, block.rule(document.source).is_some());
        if let Some(level) = block.level() {
            if level > under {
                continue;
            }
            heading = Some(block);
            (told, under, behind) = (false, u8::MAX, false);
            let why = if parents.contains(&index) {
                None
            } else if label::is_topic_of_plan(document.text(&block.words)) {
                Some("It does not stand at the head of the plan, so it holds for no task.")
            } else {
                let is_before = start < first && says_something(document, index, level);
                (start > first)
                    .then_some("A section after the tasks belongs to none of them.")
                    .or((is_before && Some(index) != tree.title).then_some(BEFORE))
            };
            if let Some(why) = why {
                (told, under) = (true, level);
                aside.push(note(document, block, why));
            }
        } else if ruled && start > first && under == u8::MAX {
            aside.push(note(document, block, "What stands behind a rule belongs to no task."));
        } else if block.checkbox().is_some() && !told {
            told = true;
            aside.push(note(
                document,
                heading.unwrap_or(block),
                "Its boxes carry no id of a task.",
            ));
        } else if start < first && under == u8::MAX && is_long_label(document, block) {
            aside.push(note(document, block, BEFORE));
        } else if behind
            && under == u8::MAX
            && block.within.is_none_or(|above| units.contains(&above))
            && is_tail(document, block, tailed)
        {
            tailed = true;
            let why = "It stands behind the tasks of its section, so it reaches none of them.";
            aside.push(note(document, block, why));
        }
    }
    aside
}

const BEFORE: &str = "It stands before the tasks, so it reaches none of them.";

/// A label with a shorter text is a remark such as a date or a link.
const REMARK: usize = 40;

/// Whether a paragraph begins with a label that holds for no task, and says more than a remark.
fn is_long_label(document: &Document<'_>, block: &Block<'_>) -> bool {
    let text = document.text(&block.words);
    let label = label::split(text).filter(|_| label::is_marked(text));
    matches!(block.kind, Kind::Paragraph)
        && block.within.is_none()
        && label
            .is_some_and(|(name, rest)| label::topic(name).is_none() && text.len() - rest > REMARK)
}

/// Whether a section has more than headings and rules of its own.
pub(super) fn says_something(document: &Document<'_>, heading: usize, level: u8) -> bool {
    let rest = document.blocks[heading + 1..].iter();
    let mut own = rest.take_while(|block| block.level().is_none_or(|other| other > level));
    own.any(|block| block.level().is_none() && !matches!(block.kind, Kind::Rule))
}

/// Whether a text is the first behind the tasks of its section, or a label that begins another part of it.
fn is_tail(document: &Document<'_>, block: &Block<'_>, tailed: bool) -> bool {
    let is_label = || label::is_marked(document.text(&block.words));
    block.rule(document.source).is_none()
        && block.checkbox().is_none()
        && (!tailed || matches!(block.kind, Kind::Paragraph) && is_label())
}

/// An entry of a list of files that is none: what it means stays with the task's text.
pub(super) fn unread(document: &Document<'_>, entry: &Range<usize>) -> Aside {
    Aside {
        place: document.lines.place(entry.start),
        text: document.text(entry).lines().next().unwrap_or_default().to_owned(),
        why: "It names no single file, so the task's files count as not all listed.".to_owned(),
    }
}

/// A unit that is struck or carries the sign of what is cancelled.
pub(super) fn cancelled(place: Place, title: &str) -> Aside {
    let why = "It is struck or marked as cancelled, so it is skipped; a need on it counts as met.";
    Aside { place, text: title.trim_matches('~').trim().to_owned(), why: why.to_owned() }
}

fn note(document: &Document<'_>, block: &Block<'_>, why: &str) -> Aside {
    let words = document.text(&block.words);
    Aside {
        place: document.lines.place(block.range.start),
        text: words.lines().next().unwrap_or_default().to_owned(),
        why: why.to_owned(),
    }
}
