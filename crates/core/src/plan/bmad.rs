//! Story files of BMAD: boxes under `Tasks / Subtasks` or `Tasks & Acceptance`, in order.
//!
//! The text of a task is its box with everything beneath. Acceptance criteria that a task names, or all of them, and the notes for
//! developers are its constraints.

use std::ops::Range;

use super::markdown::{Document, Kind};
use super::mention::Verbless;
use super::needs::Shape;
use super::unit::{self, Drafts, Rules, Unit};
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

/// Whether a document is a story: it has a section with tasks as the templates head it, and says what is accepted.
pub(super) fn is_story(document: &Document<'_>) -> bool {
    let heads = |wanted: &dyn Fn(&str) -> bool| {
        let mut blocks = document.blocks.iter();
        blocks.any(|block| {
            matches!(block.kind, Kind::Heading(_) | Kind::Paragraph)
                && wanted(&heading(document.text(&block.words)))
        })
    };
    heads(&|text| TASKS.contains(&text)) && heads(&|text| text == CRITERIA)
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
    let mut drafts = unit::assemble(document, find(document), &RULES);
    let criteria = section(document, CRITERIA);
    let notes = section(document, NOTES);
    let numbered: Vec<(u32, &str)> =
        criteria.clone().map_or_else(Vec::new, |range| items(document, &range));
    for draft in &mut drafts.tasks {
        let task = &mut draft.task;
        let named = named_criteria(&task.text);
        let own = numbered.iter().filter(|(number, _)| named.contains(number));
        task.constraints = own.map(|(_, text)| (*text).to_owned()).collect();
        if let (Some(range), true) = (&criteria, task.constraints.is_empty()) {
            task.constraints.push(document.text(range).to_owned());
        }
    }
    if let Some(range) = &notes {
        let text = document.text(range).to_owned();
        let label = "Dev Notes".to_owned();
        drafts.plan.constraints.push(Constraint { label, text });
    }
    let taken = |line: u32| {
        let within = |range: &Range<usize>| {
            let first = document.lines.place(range.start).line;
            // The heading stands above, behind a blank line.
            (first.saturating_sub(2)..=document.lines.place(range.end).line).contains(&line)
        };
        criteria.iter().chain(&notes).any(within)
    };
    drafts.plan.aside.retain(|aside| !taken(aside.place.line));
    let is_given = |warning: &Fault| warning.code == Code::UntakenBox && taken(warning.place.line);
    drafts.warnings.retain(|warning| !is_given(warning));
    if drafts.tasks.is_empty() && lacks_tasks(document) {
        drafts.faults.push(no_tasks());
    }
    drafts
}

/// The headings `Task 3` under a heading of tasks if any of them has no box; else the outermost boxes there.
fn find(document: &Document<'_>) -> Vec<Unit> {
    let mut units: Vec<Unit> = Vec::new();
    let mut has_bare_heading = false;
    let mut open: Option<u8> = None;
    for (block, one) in document.blocks.iter().enumerate() {
        let text = document.text(&one.words);
        let Some(level) = one.level() else { continue };
        if TASKS.contains(&heading(text).as_str()) {
            open = Some(level);
        } else if open.is_some_and(|above| level <= above) {
            open = None;
        } else if let Some(numbered) = mark::numbered(text).filter(|_| open.is_some()) {
            let mut beneath = document.blocks[block + 1..].iter();
            let boxed = beneath.find(|next| next.level().is_some() || next.checkbox().is_some());
            has_bare_heading |= boxed.is_none_or(|next| next.checkbox().is_none());
            let ticked = numbered.ticked || text.contains('✅');
            let (id, title) = (numbered.id.to_owned(), numbered.title);
            units.push(Unit { block, id, title, ticked, optional: false, parallel: false });
        }
    }
    if has_bare_heading { units } else { find_boxes(document) }
}

/// The outermost boxes under a heading of tasks. `Task 3` has its number as its id, any other box its place.
fn find_boxes(document: &Document<'_>) -> Vec<Unit> {
    let mut units: Vec<Unit> = Vec::new();
    let mut open: Option<u8> = None;
    for (block, one) in document.blocks.iter().enumerate() {
        let text = document.text(&one.words);
        if let Some(level) = one.level() {
            if TASKS.contains(&heading(text).as_str()) {
                open = Some(level);
            } else if open.is_some_and(|above| level <= above) {
                open = None;
            }
        }
        let Some(mark) = one.checkbox().filter(|_| open.is_some() && one.within.is_none()) else {
            continue;
        };
        let numbered = mark::numbered(text);
        let place = (units.len() + 1).to_string();
        let id = numbered.as_ref().map_or(place.as_str(), |numbered| numbered.id).to_owned();
        let title = numbered.map_or_else(|| mark::title(text), |numbered| numbered.title);
        let (ticked, optional) = (mark.ticked, mark.starred);
        units.push(Unit { block, id, title, ticked, optional, parallel: false });
    }
    units
}

/// The body of the first section with a heading, or with a label on a line of its own.
fn section(document: &Document<'_>, wanted: &str) -> Option<Range<usize>> {
    let at = document.blocks.iter().position(|block| {
        matches!(block.kind, Kind::Heading(_) | Kind::Paragraph)
            && heading(document.text(&block.words)) == wanted
    })?;
    let level = document.blocks[at].level().unwrap_or(u8::MAX);
    let next =
        document.blocks[at + 1..].iter().find(|block| block.level().is_some_and(|l| l <= level));
    let end = next.map_or(document.source.len(), |block| block.range.start);
    let body = document.trimmed(document.blocks[at].range.end..end);
    (!body.is_empty()).then_some(body)
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

/// The numbers behind `AC:` in a text, as in `(AC: 1, 3)`.
fn named_criteria(text: &str) -> Vec<u32> {
    let mut found = Vec::new();
    for part in text.split("AC").skip(1) {
        let rest = part.trim_start_matches(['s', ':', '#', ' ']);
        let end = rest
            .find(|c: char| !(c.is_ascii_digit() || matches!(c, ',' | ' ' | '#' | '&')))
            .unwrap_or(rest.len());
        let numbers = rest[..end].split(|c: char| !c.is_ascii_digit());
        found.extend(numbers.filter_map(|number| number.parse::<u32>().ok()));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::{Options, parse};
    use super::*;

    const STORY: &str = "# Story 2.3: Links that end\n\nStatus: ready\n\n## Story\n\nAs a person, I want links to end.\n\n## Acceptance Criteria\n\n1. A link has an end.\n2. An ended link answers 410.\n\n## Tasks / Subtasks\n\n- [x] Task 1: Keep the end (AC: 1)\n  - [x] Field in `src/store.rs`\n- [ ] Task 2: Refuse it (AC: #2)\n  - [ ] Subtask 2.1: answer 410\n- [ ] Say it in the README\n\n## Dev Notes\n\n- Times are seconds.\n\n### References\n\n- none\n\n## Dev Agent Record\n\n- [ ] not filled in\n";

    #[test]
    fn a_task_has_the_criteria_that_it_names_and_the_notes() {
        let parsed = parse(STORY.as_bytes(), &Options::default());
        assert_eq!((&parsed.faults, parsed.plan.format), (&vec![], Format::Bmad));
        let rows = parsed.plan.tasks.iter().map(|task| {
            let needs: Vec<&str> = task.needs.iter().map(|need| need.id.as_str()).collect();
            (
                task.id.as_str(),
                task.title.as_str(),
                needs.join(" "),
                task.done,
                task.constraints.join("|"),
            )
        });
        let both = "1. A link has an end.\n2. An ended link answers 410.";
        let row = |id, title, needs: &str, done, constraints: &str| {
            (id, title, needs.to_owned(), done, constraints.to_owned())
        };
        assert_eq!(
            rows.collect::<Vec<_>>(),
            [
                row("1", "Keep the end (AC: 1)", "", true, "1. A link has an end."),
                row("2", "Refuse it (AC: #2)", "1", false, "2. An ended link answers 410."),
                row("3", "Say it in the README", "2", false, both),
            ]
        );
        assert_eq!(parsed.plan.title, "Story 2.3: Links that end");
        let notes = &parsed.plan.constraints[0];
        assert_eq!((notes.label.as_str(), notes.text.starts_with("- Times")), ("Dev Notes", true));
    }

    #[test]
    fn a_spec_with_boxes_that_begin_with_a_file_is_one_too() {
        let spec = "# Ends\n\n## Tasks & Acceptance\n\n**Execution:**\n- [ ] `src/store.rs` -- keep the end -- it must last\n- [ ] `src/api.rs` -- answer 410 -- seen by people\n\n**Acceptance Criteria:**\n- Given an ended link, when it is opened, then 410\n";
        let parsed = parse(spec.as_bytes(), &Options::default());
        assert_eq!((&parsed.faults, parsed.plan.format), (&vec![], Format::Bmad));
        assert_eq!(parsed.plan.tasks.len(), 2);
        let [only] = &parsed.plan.tasks[0].constraints[..] else { panic!("{parsed:?}") };
        assert!(only.starts_with("- Given an ended link"), "{only}");
    }
}
