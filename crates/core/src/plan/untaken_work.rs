//! What looks like work and became no task: warnings, so that no task is lost without a word.

use std::cell::OnceCell;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;

use super::markdown::{Block, Document, Kind};
use super::tree::Tree;
use super::unit::Unit;
use super::{Format, aside, header, mark, openspec, table_rows, words, work_section};
use crate::fault::{Code, Fault, Place};

/// A longer jump begins a numbering of its own, unless the numbers before it follow each other.
const LONGEST_GAP: u32 = 20;

/// A plan whose first number is larger continues another: real second parts begin behind the tasks of the first.
const LATEST_START: u32 = 9;

/// What the document's tasks cover, in the order of the source.
pub(super) struct Covered<'a> {
    /// The texts of tasks and of skipped items.
    pub(super) tasks: &'a [Range<usize>],
    /// Sections that hold for all tasks.
    pub(super) general: &'a [Range<usize>],
}

/// Warnings about gaps in numbers, open boxes, open code blocks and sections that no task takes.
pub(super) fn find(
    document: &Document<'_>,
    tree: &Tree,
    covered: &Covered<'_>,
    format: Format,
) -> Vec<Fault> {
    let mut found = number_gaps(document, tree, format);
    found.extend(late_start(document, tree, format));
    found.extend(open_fences(document));
    if format == Format::Native {
        found.extend(stray_task_blocks(document, tree, covered));
    } else {
        found.extend(open_boxes(document, tree, covered));
        found.extend(empty_sections(document, tree, covered, format));
        found.extend(table_rows::untaken(document, tree));
    }
    found
}

/// Where the numbers of tasks jump: `3`, then `5`.
fn number_gaps(document: &Document<'_>, tree: &Tree, format: Format) -> Vec<Fault> {
    let leaves: HashSet<usize> = tree.leaves().collect();
    let known: HashSet<&str> = tree.units.iter().map(|unit| number_of(&unit.id)).collect();
    let mut last: HashMap<&str, (u32, usize, usize)> = HashMap::new();
    let hidden = OnceCell::new();
    let mut found = Vec::new();
    for (index, unit) in tree.units.iter().enumerate() {
        // In track plans, `A.3` may name a section without tasks.
        if format == Format::Track && !leaves.contains(&index) {
            continue;
        }
        let Some((prefix, number, width)) = words::split_number(number_of(&unit.id)) else {
            continue;
        };
        let before = last.insert(prefix, (number, index, width));
        let is_gap = |first: u32| number.saturating_sub(first) > 1;
        let Some((first, before, width)) = before.filter(|(first, ..)| is_gap(*first)) else {
            continue;
        };
        let name = |number: u32| format!("{prefix}{number:0width$}");
        let is_free = |id: &String| !known.contains(id.as_str());
        let is_long = number - first > LONGEST_GAP;
        // Of a long jump only the ends are looked at.
        let missing: Vec<String> = if is_long {
            [first + 1, number - 1].map(name).into_iter().filter(is_free).collect()
        } else {
            (first + 1..number).map(name).filter(is_free).collect()
        };
        let is_series = || first > 0 && missing.len() == 2 && !is_free(&name(first - 1));
        let grouped = number % 10 <= 1 && tree.sections[before] != tree.sections[index];
        if missing.is_empty() || grouped || is_long && !is_series() {
            continue;
        }
        let before = &tree.units[before];
        let between = block(document, before).range.start..block(document, unit).range.start;
        let hidden = hidden.get_or_init(|| HiddenIds::read(document));
        let line = hidden.line(document, &between, &missing[0]);
        let follows = format!("Task `{}` follows task `{}`", unit.id, before.id);
        found.push(gap(document.lines.place(between.end), &follows, &missing, line));
    }
    found
}

/// Where the numbers of a format that counts from 1 begin later: the first tasks may be written in another way.
///
/// A plan that says that it continues another one counts on. So does one that begins with a larger number.
fn late_start(document: &Document<'_>, tree: &Tree, format: Format) -> Option<Fault> {
    let counted = match format {
        Format::Superpowers => "",
        Format::SpecKit => "T",
        _ => return None,
    };
    let number = |unit: &Unit| {
        let (prefix, number, width) = words::split_number(number_of(&unit.id))?;
        (prefix == counted).then_some((number, width))
    };
    let numbers = tree.units.iter().filter_map(|unit| Some((number(unit)?, unit)));
    let ((first, width), unit) = numbers.min_by_key(|((number, _), _)| *number)?;
    let before = 0..block(document, unit).range.start;
    let head = document.text(&before).to_lowercase();
    let says = |word: &&str| head.contains(word);
    let continues = ["continues", "continued", "continuing", "continuation"].iter().any(says);
    if continues || !(2..=LATEST_START).contains(&first) {
        return None;
    }
    let missing: Vec<String> =
        (1..first).map(|number| format!("{counted}{number:0width$}")).collect();
    let line = HiddenIds::read(document).line(document, &before, &missing[0]);
    let place = document.lines.place(before.end);
    Some(gap(place, &format!("The tasks begin with `{}`", unit.id), &missing, line))
}

/// The warning about missing ids, with the line of a code block that has the first of them.
fn gap(place: Place, found: &str, missing: &[String], hidden: Option<u32>) -> Fault {
    let names = match missing {
        [one] => format!("`{one}`"),
        all => format!("`{}` to `{}`", all[0], all[all.len() - 1]),
    };
    let hint = match hidden {
        Some(line) => {
            format!("Line {line} has it inside a code block: close the block before that line.")
        }
        None => {
            "If a task is missing, write it like the others; otherwise nothing needs to be done."
                .to_owned()
        }
    };
    Fault::new(Code::NumberGap, place, format!("{found}: no task {names} was found."), hint)
}

/// An id without the letter that `3a` has.
fn number_of(id: &str) -> &str {
    id.trim_end_matches(|c: char| c.is_ascii_lowercase())
}

fn block<'d, 'a>(document: &'d Document<'a>, unit: &Unit) -> &'d Block<'a> {
    &document.blocks[unit.block]
}

/// Where the lines in code blocks stand that begin with an id as a task would.
struct HiddenIds<'a>(HashMap<&'a str, Vec<usize>>);

impl<'a> HiddenIds<'a> {
    fn read(document: &Document<'a>) -> Self {
        let mut places: HashMap<&str, Vec<usize>> = HashMap::new();
        for block in document.blocks.iter().filter(|block| matches!(block.kind, Kind::Fence(_))) {
            let text = document.text(&block.words);
            for line in text.lines() {
                let at = block.words.start + offset_in(text, line);
                let words = line.trim_start_matches(|c: char| !c.is_alphanumeric());
                let numbered = mark::numbered(words).map(|task| task.id);
                let boxed = line.contains('[').then(|| mark::leading_id(words, |_| true)).flatten();
                for id in numbered.into_iter().chain(boxed.map(|(id, _)| id)) {
                    places.entry(id).or_default().push(at);
                }
            }
        }
        Self(places)
    }

    /// The first line of an id in a range.
    fn line(&self, document: &Document<'_>, range: &Range<usize>, id: &str) -> Option<u32> {
        let places = self.0.get(id)?;
        let first = places.partition_point(|at| *at < range.start);
        let at = places.get(first).filter(|at| range.contains(at))?;
        Some(document.lines.place(*at).line)
    }
}

fn offset_in(text: &str, part: &str) -> usize {
    part.as_ptr() as usize - text.as_ptr() as usize
}

fn open_fences<'d>(document: &'d Document<'_>) -> impl Iterator<Item = Fault> + 'd {
    document.open_fences().map(|fence| {
        let last = document.lines.place(fence.range.end.saturating_sub(1)).line;
        Fault::new(
            Code::OpenFence,
            document.lines.place(fence.range.start),
            format!("The code block that begins here is not closed: it is read as code up to line {last}."),
            "Close it with a line of as many backticks or tildes, indented like the line that opens it.",
        )
    })
}

/// One warning for each section with open boxes that are neither tasks nor steps of one.
fn open_boxes(document: &Document<'_>, tree: &Tree, covered: &Covered<'_>) -> Vec<Fault> {
    let units: HashSet<usize> = tree.units.iter().map(|unit| unit.block).collect();
    let mut sections: BTreeMap<Option<usize>, (usize, usize)> = BTreeMap::new();
    let mut heading = None;
    for (index, block) in document.blocks.iter().enumerate() {
        if block.level().is_some() || work_section::is_label(document, block) {
            heading = Some(index);
        }
        let is_open = block.checkbox().is_some_and(|mark| !mark.ticked);
        if is_open && !units.contains(&index) && !covered.contains(block.range.start) {
            sections.entry(heading).or_insert((index, 0)).1 += 1;
        }
    }
    let warn = |(heading, (first, count)): (Option<usize>, (usize, usize))| {
        let place = document.lines.place(document.blocks[first].range.start);
        let under = heading.map_or(String::new(), |heading| {
            let title = document.text(&document.blocks[heading].words);
            format!(" under `{}`", work_section::bare_title(title))
        });
        let message = match count {
            1 => format!("An open checkbox{under} belongs to no task and is not worked on."),
            _ => format!("{count} open checkboxes{under} belong to no task and are not worked on."),
        };
        let hint = "If they are work, give them ids as the tasks have, or put them into a task.";
        Fault::new(Code::UntakenBox, place, message, hint)
    };
    sections.into_iter().map(warn).collect()
}

/// Numbered sections without a task beside such with tasks, and sections with a track id.
fn empty_sections(
    document: &Document<'_>,
    tree: &Tree,
    covered: &Covered<'_>,
    format: Format,
) -> Vec<Fault> {
    let parents: HashSet<usize> = tree.sections.iter().flatten().copied().collect();
    let units: HashSet<usize> = tree.units.iter().map(|unit| unit.block).collect();
    let ids: HashSet<&str> = tree.units.iter().map(|unit| unit.id.as_str()).collect();
    let series_of = |index: usize| {
        let block = &document.blocks[index];
        Some((block.level()?, series(document.text(&block.words))?))
    };
    let with_tasks: HashSet<(u8, String)> =
        parents.iter().filter_map(|at| series_of(*at)).collect();
    let is_untaken = |index: &usize| {
        let block = &document.blocks[*index];
        let Some(level) = block.level() else { return false };
        let track = mark::leading_id(document.text(&block.words), words::is_track_part);
        let is_track = || format == Format::Track && track.is_some_and(|(id, _)| !ids.contains(id));
        let is_series = || series_of(*index).is_some_and(|series| with_tasks.contains(&series));
        let free = !units.contains(index)
            && !parents.contains(index)
            && !covered.contains(block.range.start);
        free && (is_track() || is_series()) && aside::says_something(document, *index, level)
    };
    let sections = (0..document.blocks.len()).filter(is_untaken);
    let warn = |index: usize| {
        let block = &document.blocks[index];
        Fault::new(
            Code::UntakenTask,
            document.lines.place(block.range.start),
            format!(
                "The section `{}` has no task, unlike others like it. Its text is not worked on.",
                document.text(&block.words)
            ),
            "If it is work, write its tasks as the other sections have them.",
        )
    };
    sections.map(warn).collect()
}

/// What a numbered heading counts: `phase` for `Phase 2: ...`, nothing but a number for `2. ...`.
fn series(title: &str) -> Option<String> {
    if openspec::section_number(title).is_some() {
        return Some(String::new());
    }
    let title = title.trim_start_matches(|c: char| !c.is_alphanumeric());
    let (word, rest) = title.split_once(' ')?;
    let is_word = word.chars().all(char::is_alphabetic) && !words::is_task(word);
    (is_word && rest.starts_with(|c: char| c.is_ascii_digit())).then(|| word.to_lowercase())
}

/// `task` blocks under a heading that has no id.
fn stray_task_blocks(document: &Document<'_>, tree: &Tree, covered: &Covered<'_>) -> Vec<Fault> {
    let units: HashSet<usize> = tree.units.iter().map(|unit| unit.block).collect();
    let is_task = |block: &Block<'_>| matches!(block.kind, Kind::Fence(info) if info.split_whitespace().next() == Some("task"));
    let pairs = document.blocks.windows(2).enumerate();
    let stray = pairs.filter(|(index, pair)| {
        let [heading, block] = pair else { return false };
        let has_id = units.contains(index) || covered.contains(heading.range.start);
        heading.level().is_some() && is_task(block) && !has_id
    });
    let warn = |(_, pair): (usize, &[Block<'_>])| {
        Fault::new(
            Code::UntakenTask,
            document.lines.place(pair[0].range.start),
            format!(
                "`{}` has a `task` block and no id, so it is no task and is not worked on.",
                document.text(&pair[0].words)
            ),
            "Write the heading as `## [id] Title`, with an id without spaces.",
        )
    };
    stray.map(warn).collect()
}

impl Covered<'_> {
    fn contains(&self, offset: usize) -> bool {
        header::covers(self.tasks, offset) || header::covers(self.general, offset)
    }
}

/// So many skipped items are named.
const NAMED: usize = 10;

/// A warning that names what is skipped because it is struck or marked as cancelled.
pub(super) fn skipped(document: &Document<'_>, units: &[&Unit]) -> Option<Fault> {
    let (place, named) = places(document, units)?;
    let message = format!(
        "Skipped, because struck or marked as cancelled: {named}. A need on such a task counts as met."
    );
    let hint = "If one of them is to be done, remove its mark.";
    Some(Fault::new(Code::UntakenTask, place, message, hint))
}

/// A warning that names the tasks whose box is `[-]`: some write it for work under way, as Kiro does, others for cancelled work.
pub(super) fn under_way(
    document: &Document<'_>,
    tree: &Tree,
    cancelled: &HashSet<usize>,
    format: Format,
) -> Option<Fault> {
    let is_dash = |unit: &usize| {
        let mark = block(document, &tree.units[*unit]).checkbox();
        mark.is_some_and(|mark| mark.sign == '-') && !cancelled.contains(unit)
    };
    let units = tree.leaves().filter(|_| format != Format::Kiro).filter(is_dash);
    let units: Vec<&Unit> = units.map(|unit| &tree.units[unit]).collect();
    let (place, named) = places(document, &units)?;
    let message = format!("`[-]` is read as open, so these tasks are worked on: {named}.");
    let hint = "Mark a task `[⛔]` or strike its title if it is cancelled.";
    Some(Fault::new(Code::UntakenBox, place, message, hint))
}

/// Where the first of some units stands, and the names of the first few.
fn places(document: &Document<'_>, units: &[&Unit]) -> Option<(Place, String)> {
    let place = |unit: &Unit| document.lines.place(block(document, unit).range.start);
    let first = units.first()?;
    let named = units.iter().take(NAMED);
    let named: Vec<String> =
        named.map(|unit| format!("`{}` (line {})", unit.id, place(unit).line)).collect();
    let more = match units.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    Some((place(first), format!("{}{more}", named.join(", "))))
}

#[cfg(test)]
mod tests;
