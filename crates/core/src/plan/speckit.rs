//! `- [ ] T001 [P] [US1] ... path` in phases.
//!
//! The text is the whole item. Phases are in order; `[P]` runs side by side within its phase, tests before what they test.

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
    let mut titles: HashMap<usize, SectionTitle> = HashMap::new();
    for draft in &mut drafts.tasks {
        let mut title = |section: usize| {
            *titles.entry(section).or_insert_with(|| SectionTitle::of(document, section))
        };
        let mut phase = draft.sections.iter().rev().copied();
        let phase = phase.find(|section| title(*section).is_phase);
        let last = draft.sections.last().copied();
        // The tests of a story are written before what they test, though both may carry `[P]`.
        let tests = last.filter(|last| Some(*last) != phase && title(*last).names_tests);
        draft.sections = phase.or(last).into_iter().chain(tests).collect();
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

/// What the title of a section says of the tasks beneath it.
#[derive(Clone, Copy)]
struct SectionTitle {
    is_phase: bool,
    names_tests: bool,
}

impl SectionTitle {
    fn of(document: &Document<'_>, section: usize) -> Self {
        let title = document.text(&document.blocks[section].words).to_lowercase();
        let mut parts = title.split(|c: char| !c.is_alphanumeric());
        let names_tests = parts.any(|word| matches!(word, "test" | "tests" | "testing"));
        Self { is_phase: words::names_phase(&title), names_tests }
    }
}
