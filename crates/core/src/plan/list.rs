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
use super::{Constraint, Format, Need, header, mark, openspec, words};
use crate::fault::{Code, Fault, Place};
use crate::id::TaskId;

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
    let shape = confirmed_shape(document);
    let units = shape.map_or_else(Vec::new, |shape| find(document, shape));
    let mut drafts = unit::assemble(document, units, &RULES);
    drop_unknown_needs(&mut drafts);
    if matches!(shape, Some(ListShape::Boxes | ListShape::Numbers)) {
        add_criteria(document, &mut drafts);
    }
    drafts
}

/// The shape is a guess, and so is what a text means with an id that no task has: a warning, and the need counts as met.
fn drop_unknown_needs(drafts: &mut Drafts) {
    let ids: HashSet<TaskId> = drafts.tasks.iter().map(|draft| draft.task.id.clone()).collect();
    for draft in &mut drafts.tasks {
        let needs = std::mem::take(&mut draft.task.needs);
        let (known, unknown) = needs.into_iter().partition(|need| ids.contains(&need.id));
        draft.task.needs = known;
        let unknown: Vec<Need> = unknown;
        drafts.warnings.extend(unknown.iter().map(|need| {
            let (own, id) = (&draft.task.id, &need.id);
            let message = format!(
                "Task `{own}` is said to depend on `{id}`, which is no task of this plan. The need counts as met."
            );
            let hint = "If it is one, write the id as that task has it.";
            Fault::new(Code::UnknownNeed, need.place, message, hint)
        }));
    }
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

/// What the tasks are taken to be without being asked for.
fn shape(document: &Document<'_>) -> Option<ListShape> {
    let headings = || (2..=4).find(|level| are_steps(document, *level)).map(ListShape::Headings);
    let boxes = || (!work_boxes(document).is_empty()).then_some(ListShape::Boxes);
    let numbers = || only_numbered_list(document).filter(|list| is_under_work(document, *list));
    headings().or_else(boxes).or_else(|| numbers().map(|_| ListShape::Numbers))
}

/// What the tasks are where a person says that the text is a list.
fn confirmed_shape(document: &Document<'_>) -> Option<ListShape> {
    let headings = || (2..=4).find(|level| are_numbered(document, *level)).map(ListShape::Headings);
    let boxes = || (!boxes_aside(document).is_empty()).then_some(ListShape::Boxes);
    let numbers = || only_numbered_list(document).map(|_| ListShape::Numbers);
    shape(document).or_else(headings).or_else(boxes).or_else(numbers)
}

/// Whether several headings of a level are numbered in order. Numbers that begin again count something else in each section.
fn are_numbered(document: &Document<'_>, level: u8) -> bool {
    let numbers = titles(document, level).filter_map(part);
    let numbers: Vec<u64> = numbers.map(|(number, _)| number.parse().unwrap_or(0)).collect();
    numbers.len() > 1 && numbers.windows(2).all(|pair| pair[0] < pair[1])
}

/// Whether the numbered headings of a level are steps, and not the chapters of a report or specification.
fn are_steps(document: &Document<'_>, level: u8) -> bool {
    let mut chapters = titles(document, level).filter_map(chapter);
    are_numbered(document, level) && !chapters.any(work_section::is_chapter)
}

fn titles<'a>(document: &Document<'a>, level: u8) -> impl Iterator<Item = &'a str> {
    let headings = document.blocks.iter().filter(move |block| block.level() == Some(level));
    headings.map(|block| document.text(&block.words))
}

/// The words behind a heading's number, where nothing but the number stands before them.
fn chapter(title: &str) -> Option<&str> {
    let plain = title.trim_start_matches(|c: char| !c.is_alphanumeric());
    openspec::section_number(plain).map(|number| &plain[number.len()..])
}

/// Whether a list stands where work is listed: under a title of work, or under none but the document's.
fn is_under_work(document: &Document<'_>, list: usize) -> bool {
    let kinds = work_section::kinds(document);
    let is_of_list = |block: &Block<'_>| block.item().is_some_and(|item| item.list == list);
    let Some(first) = document.blocks.iter().position(is_of_list) else { return false };
    let mut before = document.blocks[..first].iter().rev();
    let title = before
        .find(|block| block.level().is_some() || work_section::is_label(document, block))
        .filter(|block| block.level() != Some(1));
    let announces = |block: &Block<'_>| work_section::announces_work(document.text(&block.words));
    matches!(kinds[first], SectionKind::Work | SectionKind::Plain) && title.is_none_or(announces)
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

/// The boxes that are work: those under headings of work where there are any, else all but those of other sections. Boxes of
/// other sections are work only where no section says anything else; criteria say what must hold and not what to do.
fn work_boxes(document: &Document<'_>) -> HashSet<usize> {
    let chosen = [&[SectionKind::Work][..], &[SectionKind::Work, SectionKind::Plain]];
    let mut chosen = chosen.into_iter().map(|kinds| outer_boxes(document, kinds));
    let chosen = chosen.find(|chosen| !chosen.is_empty()).unwrap_or_default();
    if chosen.is_empty() && !has_other_sections(document) { boxes_aside(document) } else { chosen }
}

/// The boxes of sections that are not about work.
fn boxes_aside(document: &Document<'_>) -> HashSet<usize> {
    outer_boxes(document, &[SectionKind::Aside])
}

fn outer_boxes(document: &Document<'_>, wanted: &[SectionKind]) -> HashSet<usize> {
    let kinds = work_section::kinds(document);
    let boxes = document.blocks.iter().enumerate().filter(|(_, block)| is_outer_box(block));
    boxes.map(|(index, _)| index).filter(|index| wanted.contains(&kinds[*index])).collect()
}

/// Whether a section below the title has words that may be the work.
fn has_other_sections(document: &Document<'_>) -> bool {
    let mut is_inside = false;
    let kinds = work_section::kinds(document);
    document.blocks.iter().zip(kinds).any(|(block, kind)| {
        is_inside |= block.level().is_some_and(|level| level > 1);
        let says = block.level().is_none() && !matches!(block.kind, Kind::Rule);
        is_inside && says && matches!(kind, SectionKind::Work | SectionKind::Plain)
    })
}

fn find(document: &Document<'_>, shape: ListShape) -> Vec<Unit> {
    let list = only_numbered_list(document);
    let mut boxes = work_boxes(document);
    if boxes.is_empty() {
        boxes = boxes_aside(document);
    }
    let mut units: Vec<Unit> = Vec::new();
    for (block, one) in document.blocks.iter().enumerate() {
        let text = document.text(&one.words);
        let (id, title) = match (shape, &one.kind) {
            (ListShape::Headings(level), Kind::Heading(own)) if level == *own => {
                let Some((id, rest)) = dotted_part(text).or_else(|| part(text)) else { continue };
                let is_judgement = chapter(text).is_some_and(work_section::is_judgement);
                if is_judgement || is_parent(document, block, id) {
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
