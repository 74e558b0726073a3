//! `- [ ] T001 [P] [US1] ... path` in phases.
//!
//! The text is the whole item. Phases are in order; `[P]` runs side by side within its phase.

use std::collections::HashMap;

use super::markdown::Document;
use super::mention::Verbless;
use super::needs::Shape;
use super::unit::{self, Drafts, Rules, Unit};
use super::{Format, mark, stated_order, words};

const RULES: Rules = Rules {
    format: Format::SpecKit,
    nested: false,
    steps: false,
    shape: Shape::Plain(words::is_spec_kit),
    verbless: Verbless::Writes,
};

pub(super) fn read(document: &Document<'_>) -> Drafts {
    let mut drafts = unit::assemble(document, find(document), &RULES);
    // A long heading may stand above very many tasks.
    let mut phases: HashMap<usize, bool> = HashMap::new();
    for draft in &mut drafts.tasks {
        let phase = draft.sections.iter().rev().find(|section| {
            *phases.entry(**section).or_insert_with(|| is_phase(document, **section))
        });
        draft.sections = phase.or(draft.sections.last()).copied().into_iter().collect();
    }
    drafts.stated = stated_order::read(document, &mut drafts);
    drafts
}

/// Headings and boxes with an id; plain items only where nothing else has one.
fn find(document: &Document<'_>) -> Vec<Unit> {
    let boxed =
        |block: &super::markdown::Block<'_>| block.checkbox().is_some() || block.level().is_some();
    let carries = |block: &super::markdown::Block<'_>| {
        mark::leading_id(document.text(&block.words), words::is_spec_kit).is_some()
    };
    let any_boxed = document.blocks.iter().any(|block| boxed(block) && carries(block));
    let mut units = Vec::new();
    for (block, one) in document.blocks.iter().enumerate() {
        if !(boxed(one) || !any_boxed && one.item().is_some()) {
            continue;
        }
        if let Some((id, rest)) = mark::leading_id(document.text(&one.words), words::is_spec_kit) {
            let (parallel, rest) = strip_marks(rest);
            units.push(Unit {
                block,
                id: id.to_owned(),
                title: mark::title(rest),
                ticked: one.checkbox().is_some_and(|mark| mark.ticked),
                optional: one.checkbox().is_some_and(|mark| mark.starred),
                parallel,
            });
        }
    }
    units
}

/// Takes `[P]`, `[US1]` and their like off the front.
pub(super) fn strip_marks(rest: &str) -> (bool, &str) {
    let mut parallel = false;
    let mut rest = rest.trim_start_matches(|c: char| c.is_whitespace() || "*`]:.-_".contains(c));
    while let Some((inner, tail)) = rest.strip_prefix('[').and_then(|open| open.split_once(']')) {
        if tail.starts_with('(') || inner.len() > 16 {
            break;
        }
        parallel |= inner == "P";
        rest = tail.trim_start_matches(|c: char| c.is_whitespace() || "*`:".contains(c));
    }
    (parallel, rest)
}

fn is_phase(document: &Document<'_>, section: usize) -> bool {
    words::names_phase(document.text(&document.blocks[section].words))
}
