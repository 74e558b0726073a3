//! `## 1. ...` with `- [ ] 1.1 ...` beneath.
//!
//! The text is the whole item. Tasks are in order. Many such plans number only the sections, or nothing at all: then a
//! task's id is its section's number and its place in it.

use std::collections::HashMap;

use super::markdown::Document;
use super::mention::Verbless;
use super::needs::Shape;
use super::unit::{self, Drafts, Rules, Unit};
use super::{Format, doubled, mark, words};
use crate::fault::{Code, Fault};

const RULES: Rules = Rules {
    format: Format::OpenSpec,
    nested: true,
    steps: false,
    shape: Shape::Numbers,
    verbless: Verbless::Skipped,
};

pub(super) fn read(document: &Document<'_>) -> Drafts {
    let mut drafts = unit::assemble(document, find(document), &RULES);
    doubled::merge(&mut drafts);
    drafts
}

/// The warning that a person confirms, where nothing but numbered sections speaks for this format.
pub(super) fn doubt(document: &Document<'_>, drafts: &Drafts) -> Option<Fault> {
    let mut boxes = document.blocks.iter().filter(|block| block.checkbox().is_some());
    let has_ids = boxes.any(|block| mark::box_number(document.text(&block.words)).is_some());
    let place = drafts.tasks.first()?.task.place;
    let count = drafts.tasks.len();
    let message = format!(
        "The checkboxes of this plan have no ids. The {count} that stand in numbered sections are taken as tasks, one after the other."
    );
    let hint = "`--format openspec` confirms it, `--format single` makes the whole text one task, and \
        `sequester draft - < PLAN` turns it into a native plan to edit.";
    (!has_ids).then(|| Fault::new(Code::GuessedShape, place, message, hint))
}

/// Whether a document has any task of this format.
pub(super) fn has_tasks(document: &Document<'_>) -> bool {
    !find(document).is_empty()
}

fn find(document: &Document<'_>) -> Vec<Unit> {
    let numbered = document.blocks.iter().any(|block| {
        block.level().is_some_and(|level| level > 1)
            && section_number(document.text(&block.words)).is_some()
    });
    let mut units = Vec::new();
    // Boxes before the first heading are a section of their own.
    let mut section = Section { number: "1".to_owned(), work: !numbered, ..Section::default() };
    let mut ordinal = 0;
    for (block, one) in document.blocks.iter().enumerate() {
        let text = document.text(&one.words);
        if let Some(level) = one.level() {
            section.close(&mut units);
            ordinal += usize::from(level > 1);
            let number = section_number(text);
            // `#### 3.1` beneath `### 3.` is a part of that section.
            let is_part = number.is_none() && section.level.is_some_and(|above| above < level);
            if is_part && numbered {
                section.work = !is_aside(text);
            } else {
                section.work = if numbered { number.is_some() } else { !is_aside(text) };
                section.number = number.map_or_else(|| ordinal.max(1).to_string(), str::to_owned);
                section.level = number.map(|_| level);
            }
        }
        let Some(mark) = one.checkbox() else { continue };
        let id = mark::box_number(text);
        let outer = one.within.is_none();
        let unit = |id: &str, rest: &str| Unit {
            block,
            id: id.to_owned(),
            title: mark::title(rest),
            ticked: mark.ticked,
            optional: mark.starred,
            parallel: false,
        };
        match id {
            Some((id, rest)) => section.explicit.push(unit(id, rest)),
            None if outer => section.unnamed.push(unit("", text)),
            None => {}
        }
    }
    section.close(&mut units);
    units
}

/// The boxes under one heading.
#[derive(Default)]
struct Section {
    number: String,
    /// The level of its heading, if that has the number.
    level: Option<u8>,
    work: bool,
    explicit: Vec<Unit>,
    unnamed: Vec<Unit>,
    /// The last place given in each section's number, for two sections may share one.
    places: HashMap<String, usize>,
}

impl Section {
    /// Boxes with ids are tasks; boxes without become tasks only where none of their section has one.
    fn close(&mut self, units: &mut Vec<Unit>) {
        let explicit = std::mem::take(&mut self.explicit);
        let unnamed = std::mem::take(&mut self.unnamed);
        if !explicit.is_empty() {
            units.extend(explicit);
        } else if self.work {
            let place = self.places.entry(self.number.clone()).or_default();
            for mut unit in unnamed {
                *place += 1;
                unit.id = format!("{}.{place}", self.number);
                units.push(unit);
            }
        }
    }
}

/// `1. Setup`, `2) Build`, `Phase 3: ...`.
pub(super) fn section_number(text: &str) -> Option<&str> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.')?;
    let number = text[..end].trim_end_matches('.');
    let closed = text[end..].starts_with([' ', ')', ':']);
    (words::is_number(number) && closed && !number.contains('.')).then_some(number)
}

/// Sections whose boxes are no work of their own.
fn is_aside(title: &str) -> bool {
    let lower = title.to_lowercase();
    [
        "acceptance",
        "gaps",
        "candidate",
        "out of scope",
        "definition of done",
        "success criteria",
        "checklist",
        "follow-up",
        "future",
        "open questions",
        "non-goals",
        "abnahme",
        "offene",
        "aceptación",
    ]
    .iter()
    .any(|word| lower.contains(word))
}
