//! Plain lists of work that no format claims: `### Step 2: ...`, numbered headings, checkboxes without ids, or the one numbered list.
//!
//! Tasks are in order. Which of these is meant is a guess, so a warning asks the person to confirm it.

use std::collections::HashSet;
use std::ops::Range;

use super::markdown::{Block, Document, Kind};
use super::mention::Verbless;
use super::needs::Shape;
use super::unit::{self, Drafts, Rules, Unit};
use super::work_section::{self, SectionKind};
use super::{Constraint, Format, header, mark, openspec, words};
use crate::fault::{Code, Fault, Place};

const RULES: Rules = Rules {
    format: Format::List,
    nested: false,
    steps: false,
    shape: Shape::Numbers,
    verbless: Verbless::Skipped,
};

/// Words that number a part of the work in a heading.
const PARTS: [&str; 18] = [
    "step",
    "phase",
    "stage",
    "part",
    "milestone",
    "iteration",
    "item",
    "fix",
    "change",
    "action",
    "feature",
    "improvement",
    "schritt",
    "étape",
    "paso",
    "passo",
    "шаг",
    "步骤",
];

/// What in a document the tasks are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ListShape {
    Headings(u8),
    Boxes,
    Numbers,
}

impl ListShape {
    fn nouns(self) -> String {
        let ending = if self == Self::Boxes { "es" } else { "s" };
        format!("{}{ending}", self.noun())
    }

    fn noun(self) -> &'static str {
        match self {
            Self::Headings(_) => "numbered heading",
            Self::Boxes => "checkbox",
            Self::Numbers => "numbered item",
        }
    }
}

/// Whether a document has a list that can be meant.
pub(super) fn is_list(document: &Document<'_>) -> bool {
    shape(document).is_some()
}

/// Criteria for acceptance beside the tasks hold for all of them.
pub(super) fn read(document: &Document<'_>) -> Drafts {
    let shape = shape(document);
    let units = shape.map_or_else(Vec::new, |shape| find(document, shape));
    let mut drafts = unit::assemble(document, units, &RULES);
    if matches!(shape, Some(ListShape::Boxes | ListShape::Numbers)) {
        add_criteria(document, &mut drafts);
    }
    drafts
}

fn add_criteria(document: &Document<'_>, drafts: &mut Drafts) {
    let criteria = work_section::criteria(document, &work_section::kinds(document));
    let line = |offset: usize| document.lines.place(offset).line as usize;
    let lines = criteria.iter().map(|(start, range)| line(*start)..line(range.end) + 1);
    let lines: Vec<Range<usize>> = lines.collect();
    let is_taken = |place: Place| header::covers(&lines, place.line as usize);
    drafts.warnings.retain(|one| one.code != Code::UntakenBox || !is_taken(one.place));
    drafts.plan.aside.retain(|aside| !is_taken(aside.place));
    for (start, range) in criteria {
        let label = document.source[start..range.start].lines().next().unwrap_or_default();
        let label =
            label.trim_matches(|c: char| c.is_whitespace() || "#*_:：".contains(c)).to_owned();
        let text = document.text(&range).to_owned();
        if !text.is_empty() {
            drafts.plan.constraints.push(Constraint { label, text });
            drafts.plan.reached.push(start..range.end);
        }
    }
    drafts.plan.reached.sort_by_key(|range| (range.start, range.end));
}

/// The warning that a person confirms, for a list that was taken without being asked for.
pub(super) fn doubt(document: &Document<'_>, drafts: &Drafts) -> Option<Fault> {
    let shape = shape(document)?;
    let count = drafts.tasks.len();
    let place = drafts.tasks.first().map_or(Place { line: 1, column: 1 }, |first| first.task.place);
    let message = match count {
        1 => format!("This plan has no known format. Its one {} is taken as a task.", shape.noun()),
        _ => format!(
            "This plan has no known format. Its {count} {} are taken as tasks, one after the other.",
            shape.nouns()
        ),
    };
    let hint = "`--format list` confirms it, `--format single` makes the whole text one task, and \
        `sequester draft - < PLAN` turns it into a native plan to edit.";
    Some(Fault::new(Code::GuessedShape, place, message, hint))
}

fn shape(document: &Document<'_>) -> Option<ListShape> {
    // Numbers that begin anew count something else in each section, so they are not one list.
    let is_numbered = |level: &u8| {
        let headings = document.blocks.iter().filter(|block| block.level() == Some(*level));
        let numbers = headings.filter_map(|block| part(document.text(&block.words)));
        let numbers: Vec<u64> = numbers.map(|(number, _)| number.parse().unwrap_or(0)).collect();
        numbers.len() > 1 && numbers.windows(2).all(|pair| pair[0] < pair[1])
    };
    let headings = (2..=4).find(is_numbered).map(ListShape::Headings);
    headings
        .or_else(|| (!work_boxes(document).is_empty()).then_some(ListShape::Boxes))
        .or_else(|| only_numbered_list(document).map(|_| ListShape::Numbers))
}

fn is_outer_box(block: &Block<'_>) -> bool {
    block.checkbox().is_some() && block.within.is_none()
}

/// The numbered list of the document if there is just one and it has several items. Those of criteria do not count.
fn only_numbered_list(document: &Document<'_>) -> Option<usize> {
    let mut lists: Vec<(usize, usize)> = Vec::new();
    let kinds = work_section::kinds(document);
    for (block, kind) in document.blocks.iter().zip(&kinds) {
        let item = block.item().filter(|_| block.within.is_none());
        let Some(item) = item.filter(|_| *kind != SectionKind::Criteria) else { continue };
        if !document.text(&block.range).starts_with(|c: char| c.is_ascii_digit()) {
            continue;
        }
        match lists.last_mut().filter(|(list, _)| *list == item.list) {
            Some((_, count)) => *count += 1,
            None => lists.push((item.list, 1)),
        }
    }
    match lists[..] {
        [(list, count)] if count > 1 => Some(list),
        _ => None,
    }
}

/// The boxes that are work: those under headings of work where there are any, else all but those of other sections, else all
/// but the criteria for acceptance, which say what must hold and not what to do.
fn work_boxes(document: &Document<'_>) -> HashSet<usize> {
    let kinds = work_section::kinds(document);
    let boxes = document.blocks.iter().enumerate().filter(|(_, block)| is_outer_box(block));
    let boxes: Vec<usize> = boxes.map(|(index, _)| index).collect();
    let of = |wanted: &[SectionKind]| -> HashSet<usize> {
        boxes.iter().copied().filter(|index| wanted.contains(&kinds[*index])).collect()
    };
    let chosen = [&[SectionKind::Work][..], &[SectionKind::Work, SectionKind::Plain]];
    let chosen = chosen.into_iter().map(of).find(|chosen| !chosen.is_empty());
    chosen.unwrap_or_else(|| of(&[SectionKind::Aside]))
}

fn find(document: &Document<'_>, shape: ListShape) -> Vec<Unit> {
    let list = only_numbered_list(document);
    let boxes = work_boxes(document);
    let mut units: Vec<Unit> = Vec::new();
    for (block, one) in document.blocks.iter().enumerate() {
        let text = document.text(&one.words);
        let (id, title) = match (shape, &one.kind) {
            (ListShape::Headings(level), Kind::Heading(own)) if level == *own => {
                let Some((id, rest)) = dotted_part(text).or_else(|| part(text)) else { continue };
                if is_parent(document, block, id) {
                    continue;
                }
                (id.to_owned(), mark::title(rest))
            }
            (ListShape::Boxes, Kind::Item(_)) if boxes.contains(&block) => {
                ((units.len() + 1).to_string(), mark::title(first_line(text)))
            }
            (ListShape::Numbers, Kind::Item(item))
                if Some(item.list) == list && one.within.is_none() =>
            {
                ((units.len() + 1).to_string(), mark::title(first_line(text)))
            }
            _ => continue,
        };
        let ticked = one.checkbox().is_some_and(|mark| mark.ticked) || has_done_mark(text);
        units.push(Unit { block, id, title, ticked, optional: false, parallel: false });
    }
    units
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

/// `✅` and its like in front of a heading or an item.
fn has_done_mark(text: &str) -> bool {
    text.trim_start_matches(['*', ' ']).starts_with(['✅', '☑', '✔'])
}

/// Whether a heading has nothing beneath but a heading of its level with a number below its own, as `## 3.` before `## 3.1`.
fn is_parent(document: &Document<'_>, block: usize, id: &str) -> bool {
    let Some(next) = document.blocks.get(block + 1) else { return false };
    let below = dotted_part(document.text(&next.words));
    let below = below.and_then(|(next, _)| next.strip_prefix(id));
    next.level() == document.blocks[block].level()
        && below.is_some_and(|rest| rest.starts_with('.'))
}

/// `3.1` in front of a heading, and the words behind it.
fn dotted_part(text: &str) -> Option<(&str, &str)> {
    let plain = text.trim_start_matches(|c: char| !c.is_alphanumeric());
    let word = plain.split_whitespace().next()?.trim_end_matches(['.', ')', ':']);
    words::is_dotted(word).then(|| plain.split_at(word.len()))
}

/// The number of a heading such as `Step 2: ...`, `Phase 3 - ...` or `2. ...`, and the words behind it.
fn part(text: &str) -> Option<(&str, &str)> {
    let plain = text.trim_start_matches(|c: char| !c.is_alphanumeric());
    if let Some(number) = openspec::section_number(plain) {
        return Some((number, &plain[number.len()..]));
    }
    let end = plain.find(|c: char| !c.is_alphabetic())?;
    let word = plain[..end].to_lowercase();
    let rest = plain[end..].trim_start_matches([' ', '#', '\u{a0}']);
    let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    (PARTS.contains(&word.as_str()) && digits > 0).then(|| rest.split_at(digits))
}

#[cfg(test)]
mod tests;
