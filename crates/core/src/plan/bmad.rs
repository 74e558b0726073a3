//! Story files of BMAD: boxes under `Tasks / Subtasks` or `Tasks & Acceptance`, in order.
//!
//! The text of a task is its box with everything beneath. Acceptance criteria that a task names, or all of them, and the notes for
//! developers are its constraints.

use std::collections::{BTreeSet, HashSet};
use std::ops::Range;

use super::markdown::{Block, Document, Kind};
use super::mention::Verbless;
use super::needs::Shape;
use super::unit::{self, Drafts, Rules, Unit};
use super::work_section::{self, LABEL};
use super::{Constraint, Format, mark};
use crate::fault::{Code, Fault, Place};

const RULES: Rules = Rules {
    format: Format::Bmad,
    nested: false,
    steps: false,
    shape: Shape::Numbers,
    verbless: Verbless::Writes,
};

/// Headings of the sections with tasks, in lower case.
const TASKS: [&str; 3] = ["tasks / subtasks", "tasks/subtasks", "tasks & acceptance"];
const CRITERIA: &str = "acceptance criteria";
const NOTES: &str = "dev notes";

/// Titles of a story that end the tasks where they are mere labels.
const OTHERS: [&str; 7] = [
    CRITERIA,
    NOTES,
    "definition of done",
    "dev agent record",
    "qa results",
    "change log",
    "file list",
];

/// Copies of the criteria in the tasks take at most this many bytes.
const BYTES: usize = 8 << 20;

/// Whether a document is a story: it has a section with tasks as the templates head it, and says what is accepted.
pub(super) fn is_story(document: &Document<'_>) -> bool {
    let titles = document.blocks.iter().filter_map(|block| title(document, block));
    let (mut has_tasks, mut has_criteria) = (false, false);
    for (_, title) in titles {
        has_tasks |= TASKS.contains(&title.as_str());
        has_criteria |= title == CRITERIA;
    }
    has_tasks && has_criteria
}

/// Whether a document is a story that has no section with tasks.
pub(super) fn lacks_tasks(document: &Document<'_>) -> bool {
    let mut headings = document.blocks.iter().filter(|block| block.level().is_some());
    let first = headings.next().map(|block| heading(document.text(&block.words)));
    let is_story = first.is_some_and(|title| title.split([' ', ':']).next() == Some("story"));
    let mut has_criteria = false;
    for block in headings {
        let title = heading(document.text(&block.words));
        has_criteria |= title == CRITERIA;
        if title.contains("task") {
            return false;
        }
    }
    is_story && has_criteria
}

fn no_tasks() -> Fault {
    Fault::new(
        Code::NoTasks,
        Place { line: 1, column: 1 },
        "This is a BMAD story without a section `Tasks / Subtasks`. Its acceptance criteria are not tasks.",
        "Add `## Tasks / Subtasks` with a checkbox for each task, or use `--format single` to make the story one task.",
    )
}

pub(super) fn read(document: &Document<'_>) -> Drafts {
    let units = find(document);
    let starts: HashSet<usize> = units.iter().map(|unit| unit.block).collect();
    let criteria = section(document, CRITERIA, &starts);
    let notes = section(document, NOTES, &starts);
    let mut drafts = unit::assemble(document, units, &RULES);
    if let Some(criteria) = &criteria {
        add_criteria(document, &criteria.body, &mut drafts);
    }
    if let Some(notes) = &notes {
        let text = document.text(&notes.body).to_owned();
        let label = "Dev Notes".to_owned();
        drafts.plan.constraints.push(Constraint { label, text });
    }
    let line = |offset: usize| document.lines.place(offset).line;
    let lines = |section: &StorySection| line(section.start)..=line(section.body.end);
    let lines: Vec<_> = criteria.iter().chain(&notes).map(lines).collect();
    let taken = |line: u32| lines.iter().any(|lines| lines.contains(&line));
    drafts.plan.aside.retain(|aside| !taken(aside.place.line));
    let is_given = |warning: &Fault| warning.code == Code::UntakenBox && taken(warning.place.line);
    drafts.warnings.retain(|warning| !is_given(warning));
    if drafts.tasks.is_empty() && lacks_tasks(document) {
        drafts.faults.push(no_tasks());
    }
    drafts
}

/// Gives each task the criteria that it names, or all of them. Criteria whose copies would be too large hold for the whole plan.
fn add_criteria(document: &Document<'_>, criteria: &Range<usize>, drafts: &mut Drafts) {
    if criteria.len().saturating_mul(drafts.tasks.len()) > BYTES {
        let text = document.text(criteria).to_owned();
        let label = "Acceptance Criteria".to_owned();
        drafts.plan.constraints.push(Constraint { label, text });
        return;
    }
    let numbered = items(document, criteria);
    for draft in &mut drafts.tasks {
        let task = &mut draft.task;
        let mut named = named_criteria(&task.title);
        named.append(&mut named_criteria(&task.text));
        let own = numbered.iter().filter(|(number, _)| named.contains(number));
        task.constraints = own.map(|(_, text)| (*text).to_owned()).collect();
        if task.constraints.is_empty() {
            task.constraints.push(document.text(criteria).to_owned());
        }
    }
}

/// The headings `Task 3` among the tasks, with their boxes as steps; where there are none, the outermost boxes there.
fn find(document: &Document<'_>) -> Vec<Unit> {
    let within = within_tasks(document);
    let mut units: Vec<Unit> = Vec::new();
    for (block, one) in document.blocks.iter().enumerate().filter(|(block, _)| within[*block]) {
        let text = document.text(&one.words);
        let Some(numbered) = one.level().and_then(|_| mark::numbered(text)) else { continue };
        let ticked = numbered.ticked || text.contains('✅');
        let (id, title) = (numbered.id.to_owned(), numbered.title);
        units.push(Unit { block, id, title, ticked, optional: false, parallel: false });
    }
    if units.is_empty() { find_boxes(document, &within) } else { units }
}

/// The outermost boxes among the tasks. `Task 3` has its number as its id, any other box its place.
fn find_boxes(document: &Document<'_>, within: &[bool]) -> Vec<Unit> {
    let mut units: Vec<Unit> = Vec::new();
    for (block, one) in document.blocks.iter().enumerate().filter(|(block, _)| within[*block]) {
        let text = document.text(&one.words);
        let Some(mark) = one.checkbox().filter(|_| one.within.is_none()) else { continue };
        let numbered = mark::numbered(text);
        let place = (units.len() + 1).to_string();
        let id = numbered.as_ref().map_or(place.as_str(), |numbered| numbered.id).to_owned();
        let title = numbered.map_or_else(|| mark::title(text), |numbered| numbered.title);
        let (ticked, optional) = (mark.ticked, mark.starred);
        units.push(Unit { block, id, title, ticked, optional, parallel: false });
    }
    units
}

/// For each block, whether it stands under a title of tasks, and not under one of criteria or notes within.
fn within_tasks(document: &Document<'_>) -> Vec<bool> {
    let mut open: Option<u8> = None;
    let mut is_aside = false;
    let is_within = |block: &Block<'_>| {
        if let Some((level, title)) = title(document, block) {
            let is_other = OTHERS.contains(&title.as_str());
            let is_task = || mark::numbered(document.text(&block.words)).is_some();
            // A label does not end what a label of tasks begins, unless it is a part of the story.
            let ends = |above: u8| match above {
                LABEL if level == LABEL => is_other,
                LABEL => !is_task(),
                above => level <= above,
            };
            if TASKS.contains(&title.as_str()) {
                open = Some(open.map_or(level, |above| above.min(level)));
                is_aside = false;
            } else if open.is_some_and(ends) {
                open = None;
            } else {
                is_aside = is_other;
            }
        }
        open.is_some() && !is_aside
    };
    document.blocks.iter().map(is_within).collect()
}

/// A part of the story that holds for its tasks.
struct StorySection {
    /// Where its title stands.
    start: usize,
    body: Range<usize>,
}

/// The first section of a title that is no part of a task. It ends at a title of its rank, and at the first task or title of tasks.
fn section(document: &Document<'_>, wanted: &str, tasks: &HashSet<usize>) -> Option<StorySection> {
    // The level of the heading `Task 3` that is open.
    let mut task: Option<u8> = None;
    let is_wanted = |block: &Block<'_>| {
        if let Some(level) = block.level().filter(|level| task.is_none_or(|task| *level <= task)) {
            let is_task = mark::numbered(document.text(&block.words)).is_some();
            task = is_task.then_some(level);
        }
        task.is_none() && title(document, block).is_some_and(|(_, title)| title == wanted)
    };
    let at = document.blocks.iter().position(is_wanted)?;
    let own = document.blocks[at].level().unwrap_or(LABEL);
    let ends = |index: &usize| {
        let title = title(document, &document.blocks[*index]);
        tasks.contains(index)
            || title.is_some_and(|(level, title)| level <= own || TASKS.contains(&title.as_str()))
    };
    let next = (at + 1..document.blocks.len()).find(ends);
    let end = next.map_or(document.source.len(), |next| document.blocks[next].range.start);
    let range = &document.blocks[at].range;
    let body = document.trimmed(range.end..end);
    (!body.is_empty()).then_some(StorySection { start: range.start, body })
}

/// The level and the words of a heading, or of a label on a line of its own.
fn title(document: &Document<'_>, block: &Block<'_>) -> Option<(u8, String)> {
    let words = || heading(document.text(&block.words));
    match block.kind {
        Kind::Heading(level) => Some((level, words())),
        Kind::Paragraph if block.within.is_none() => {
            let title = words();
            let is_known = TASKS.contains(&title.as_str()) || OTHERS.contains(&title.as_str());
            (is_known || work_section::is_label(document, block)).then_some((LABEL, title))
        }
        _ => None,
    }
}

/// As it is compared: without marks, in lower case.
fn heading(text: &str) -> String {
    let plain = text.trim_matches(|c: char| c.is_whitespace() || "*_:#".contains(c));
    plain.to_lowercase()
}

/// The items of an ordered list, by their numbers.
fn items<'a>(document: &Document<'a>, range: &Range<usize>) -> Vec<(u32, &'a str)> {
    let blocks = document.blocks_in(range).iter().filter(|block| block.within.is_none());
    let number = |text: &str| {
        let end = text.find(|c: char| !c.is_ascii_digit())?;
        text[..end].parse().ok()
    };
    let items = blocks.filter(|block| block.item().is_some());
    let texts = items.map(|block| document.text(&block.range).trim_end());
    texts.filter_map(|text| Some((number(text)?, text))).collect()
}

/// The numbers behind `AC` in a text, as in `(AC: 1, 3)`. `HVAC 2` names none.
fn named_criteria(text: &str) -> BTreeSet<u32> {
    let mut found = BTreeSet::new();
    for (at, mark) in text.match_indices("AC") {
        if text[..at].ends_with(char::is_alphanumeric) {
            continue;
        }
        let rest = &text[at + mark.len()..];
        let rest = rest.strip_prefix('s').unwrap_or(rest).trim_start_matches([':', '#', ' ']);
        let end = rest
            .find(|c: char| !(c.is_ascii_digit() || matches!(c, ',' | ' ' | '#' | '&')))
            .unwrap_or(rest.len());
        let numbers = rest[..end].split(|c: char| !c.is_ascii_digit());
        found.extend(numbers.filter_map(|number| number.parse::<u32>().ok()));
    }
    found
}

#[cfg(test)]
mod tests;
