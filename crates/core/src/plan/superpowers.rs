//! `### Task N: ...` with **Files:**, **Interfaces:** and steps as checkboxes.
//!
//! The text begins after the heading. Each task needs the one before.

use super::hidden_task::HiddenTasks;
use super::mark::{self, Numbered};
use super::markdown::Document;
use super::mention::Verbless;
use super::needs::Shape;
use super::unit::{self, Drafts, Rules, Unit};
use super::{Format, words};
use crate::fault::Code;

const RULES: Rules = Rules {
    format: Format::Superpowers,
    nested: true,
    steps: true,
    shape: Shape::Numbers,
    verbless: Verbless::Skipped,
};

pub(super) fn read(document: &Document<'_>) -> Drafts {
    let units = find(document);
    let HiddenTasks { sure, doubtful } = HiddenTasks::find(document, &units);
    let mut drafts = if sure.is_empty() {
        unit::assemble(document, units, &RULES)
    } else {
        let ends: Vec<usize> = sure.iter().map(|task| task.at).collect();
        let repaired = Document::read_parts(document.source, &ends);
        let mut drafts = unit::assemble(&repaired, find(&repaired), &RULES);
        // The code blocks are closed here, and each of these says so.
        drafts.warnings.retain(|warning| warning.code != Code::OpenFence);
        drafts
    };
    drafts.warnings.extend(sure.iter().map(|task| task.split_warning(document)));
    drafts.warnings.extend(doubtful.iter().map(|task| task.code_warning(document)));
    drafts
}

/// Headings `Task N`; where there are none, boxes `Task N`. Numbered boxes under a heading are its children.
pub(super) fn find(document: &Document<'_>) -> Vec<Unit> {
    let headings = |separated: bool| {
        let mut all = document.blocks.iter().enumerate();
        all.any(|(_, block)| {
            let number = block.level().and_then(|_| mark::numbered(document.text(&block.words)));
            number.is_some_and(|number| number.separated || !separated)
        })
    };
    let strict = headings(true);
    let by_heading = headings(false);
    let mut units: Vec<Unit> = Vec::new();
    let mut last = None;
    for (block, one) in document.blocks.iter().enumerate() {
        let text = document.text(&one.words);
        let in_reach = if by_heading { one.level().is_some() } else { one.checkbox().is_some() };
        let ticked = one.checkbox().is_some_and(|mark| mark.ticked);
        let found = mark::numbered(text).filter(|number| number.separated || !strict);
        if let Some(Numbered { id, title, ticked: inner, .. }) = found.filter(|_| in_reach) {
            let (id, ticked) = (id.to_owned(), ticked || inner);
            if one.level().is_some() {
                last = Some(units.len());
            }
            units.push(Unit { block, id, title, ticked, optional: false, parallel: false });
        } else if let Some(child) =
            child_of_heading(document, block, last.map(|last: usize| &units[last]))
        {
            units.push(child);
        }
    }
    units
}

/// `- [ ] 3.1 ...` under `### Task 3`.
fn child_of_heading(document: &Document<'_>, block: usize, heading: Option<&Unit>) -> Option<Unit> {
    let one = &document.blocks[block];
    let mark = one.checkbox()?;
    let (id, rest) = mark::leading_id(document.text(&one.words), words::is_dotted)?;
    id.strip_prefix(heading?.id.as_str())?.strip_prefix('.')?;
    Some(Unit {
        block,
        id: id.to_owned(),
        title: mark::title(rest),
        ticked: mark.ticked,
        optional: mark.starred,
        parallel: false,
    })
}
