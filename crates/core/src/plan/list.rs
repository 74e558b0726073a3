//! Plain lists of work that no format claims: `### Step 2: ...`, numbered headings, checkboxes without ids, or the one numbered list.
//!
//! Tasks are in order. Which of these is meant is a guess, so a warning asks the person to confirm it.

use super::markdown::{Block, Document, Kind};
use super::mention::Verbless;
use super::needs::Shape;
use super::openspec;
use super::unit::{self, Drafts, Rules, Unit};
use super::{Format, mark};
use crate::fault::{Code, Fault, Place};

const RULES: Rules = Rules {
    format: Format::List,
    nested: false,
    steps: false,
    shape: Shape::Numbers,
    verbless: Verbless::Skipped,
};

/// Words that number a part of the work in a heading.
const PARTS: [&str; 13] = [
    "step",
    "phase",
    "stage",
    "part",
    "milestone",
    "iteration",
    "item",
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
    fn noun(self) -> &'static str {
        match self {
            Self::Headings(_) => "numbered headings",
            Self::Boxes => "checkboxes",
            Self::Numbers => "numbered items",
        }
    }
}

/// Whether a document has a list that can be meant.
pub(super) fn is_list(document: &Document<'_>) -> bool {
    shape(document).is_some()
}

pub(super) fn read(document: &Document<'_>) -> Drafts {
    let shape = shape(document);
    let units = shape.map_or_else(Vec::new, |shape| find(document, shape));
    unit::assemble(document, units, &RULES)
}

/// The warning that a person confirms, for a list that was taken without being asked for.
pub(super) fn doubt(document: &Document<'_>, drafts: &Drafts) -> Option<Fault> {
    let shape = shape(document)?;
    let count = drafts.tasks.len();
    let place = drafts.tasks.first().map_or(Place { line: 1, column: 1 }, |first| first.task.place);
    let message = format!(
        "This plan has no known format. Its {count} {} are taken as tasks, one after the other.",
        shape.noun()
    );
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
    let boxes = || document.blocks.iter().filter(|block| is_outer_box(block)).count();
    let headings = (2..=4).find(is_numbered).map(ListShape::Headings);
    headings
        .or_else(|| (boxes() > 0).then_some(ListShape::Boxes))
        .or_else(|| only_numbered_list(document).map(|_| ListShape::Numbers))
}

fn is_outer_box(block: &Block<'_>) -> bool {
    block.checkbox().is_some() && block.within.is_none()
}

/// The numbered list of the document with more than one item, if there is just one.
fn only_numbered_list(document: &Document<'_>) -> Option<usize> {
    let mut lists: Vec<(usize, usize)> = Vec::new();
    for block in document.blocks.iter().filter(|block| block.within.is_none()) {
        let Some(item) = block.item() else { continue };
        if !document.text(&block.range).starts_with(|c: char| c.is_ascii_digit()) {
            continue;
        }
        match lists.last_mut().filter(|(list, _)| *list == item.list) {
            Some((_, count)) => *count += 1,
            None => lists.push((item.list, 1)),
        }
    }
    lists.retain(|(_, count)| *count > 1);
    match lists[..] {
        [(list, _)] => Some(list),
        _ => None,
    }
}

fn find(document: &Document<'_>, shape: ListShape) -> Vec<Unit> {
    let list = only_numbered_list(document);
    let mut units: Vec<Unit> = Vec::new();
    for (block, one) in document.blocks.iter().enumerate() {
        let text = document.text(&one.words);
        let (id, title) = match (shape, &one.kind) {
            (ListShape::Headings(level), Kind::Heading(own)) if level == *own => {
                let Some((id, rest)) = part(text) else { continue };
                (id.to_owned(), mark::title(rest))
            }
            (ListShape::Boxes, Kind::Item(_)) if is_outer_box(one) => {
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
mod tests {
    use super::super::{Options, Parsed, parse};
    use super::*;

    fn read_text(source: &str) -> Parsed {
        parse(source.as_bytes(), &Options::default())
    }

    fn tasks(parsed: &Parsed) -> Vec<String> {
        let row = |task: &super::super::Task| format!("{} {}", task.id, task.title);
        parsed.plan.tasks.iter().map(row).collect()
    }

    #[test]
    fn lists_of_many_kinds_are_read_with_a_warning_to_confirm() {
        for (source, wanted) in [
            (
                "# P\n\n### Step 1: Add it\n\nx\n\n### Step 2 - Use it\n\ny\n",
                ["1 Add it", "2 Use it"],
            ),
            ("# P\n\n## 1. Add it\n\nx\n\n## 2. Use it\n\ny\n", ["1 Add it", "2 Use it"]),
            ("Fix this.\n\n- [ ] Add it\n  - [ ] part\n- [x] Use it\n", ["1 Add it", "2 Use it"]),
            (
                "# P\n\nWords.\n\n1. Add it\n   - here\n2. Use it\n\n- a remark\n",
                ["1 Add it", "2 Use it"],
            ),
        ] {
            let parsed = read_text(source);
            assert_eq!(
                (parsed.plan.format, tasks(&parsed)),
                (Format::List, wanted.map(str::to_owned).into()),
                "{source}"
            );
            let codes: Vec<Code> = parsed.warnings.iter().map(|one| one.code).collect();
            assert_eq!(codes, [Code::GuessedShape], "{source}");
            let options = Options { format: Some(Format::List), ..Options::default() };
            assert_eq!(parse(source.as_bytes(), &options).warnings, [], "{source}");
        }
    }

    #[test]
    fn two_lists_that_could_be_meant_are_none() {
        let twice = read_text("## A\n\n### 1. x\n\n### 2. y\n\n## B\n\n### 1. z\n");
        assert_eq!(twice.faults[0].code, Code::NoTasks);
        let parsed = read_text("Before:\n\n1. a\n2. b\n\nThen:\n\n1. c\n2. d\n");
        assert_eq!(parsed.faults[0].code, Code::NoTasks);
        assert!(parsed.faults[0].message.contains("2 numbered lists"), "{:?}", parsed.faults);
        assert!(parsed.faults[0].hint.contains("--format single"), "{:?}", parsed.faults);
    }

    #[test]
    fn the_whole_text_is_one_task_where_a_person_says_so() {
        let options = Options { format: Some(Format::Single), ..Options::default() };
        let parsed = parse(b"# Make it fast\n\n1. a\n2. b\n", &options);
        assert_eq!(tasks(&parsed), ["1 Make it fast"]);
        assert_eq!(parsed.plan.tasks[0].text, "# Make it fast\n\n1. a\n2. b");
        assert_eq!((parsed.faults.len(), parsed.warnings.len()), (0, 0));
    }
}
