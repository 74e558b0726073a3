//! Headings of tasks that a wrong fence line turns into code.

use std::collections::HashSet;
use std::iter::Peekable;

use super::mark;
use super::markdown::{Block, Document, Kind};
use super::unit::Unit;
use crate::fault::{Code, Fault};

/// A task's heading inside a code block.
#[derive(Debug)]
pub(super) struct HiddenTask {
    /// Where its line begins.
    pub(super) at: usize,
    number: u32,
    level: u8,
    fence: usize,
    /// Behind it, a line opens another code block, which the line that closes this one would close.
    reopens: bool,
}

/// The hidden tasks of a document.
#[derive(Debug, Default)]
pub(super) struct HiddenTasks {
    /// They have exactly the numbers which are missing before, between or behind the tasks.
    pub(super) sure: Vec<HiddenTask>,
    /// Behind the last task, in a code block that is well closed: they may be an example.
    pub(super) doubtful: Vec<HiddenTask>,
}

/// A task outside of code: where it begins, its number and the level of its heading.
#[derive(Clone, Copy)]
struct KnownTask {
    at: usize,
    number: u32,
    level: u8,
}

impl HiddenTasks {
    pub(super) fn find(document: &Document<'_>, units: &[Unit]) -> Self {
        let numbered = |unit: &Unit| {
            let block = &document.blocks[unit.block];
            let (number, level) = (unit.id.parse::<u32>().ok()?, block.level()?);
            Some(KnownTask { at: block.range.start, number, level })
        };
        let tasks: Vec<KnownTask> = units.iter().filter_map(numbered).collect();
        let known: HashSet<u32> = tasks.iter().map(|task| task.number).collect();
        let Some(first) = tasks.first() else { return Self::default() };
        let mut hidden = fenced_headings(document).into_iter().peekable();
        let mut sure = leading(*first, &mut hidden);
        for (task, next) in tasks.iter().zip(&tasks[1..]) {
            let before = sure.len();
            let mut expected = task.number.checked_add(1);
            while let Some(one) = hidden.next_if(|one| one.at < next.at) {
                if Some(one.number) == expected
                    && one.level == task.level
                    && !known.contains(&one.number)
                {
                    expected = one.number.checked_add(1);
                    sure.push(one);
                }
            }
            // A gap that is not filled to its end may be an example.
            if Some(next.number) != expected {
                sure.truncate(before);
            }
        }
        let last = tasks.last().copied().unwrap_or(*first);
        let left_open = document.open_fences().last().map_or(0, |fence| fence.range.end);
        let mut all = Self { sure, doubtful: Vec::new() };
        all.take_trailing(last, hidden, left_open, &known);
        all
    }

    /// Those behind the last task. A code block whose first heading does not follow holds an example.
    fn take_trailing(
        &mut self,
        last: KnownTask,
        hidden: impl Iterator<Item = HiddenTask>,
        left_open: usize,
        known: &HashSet<u32>,
    ) {
        let mut expected = last.number.checked_add(1);
        let mut example: Option<usize> = None;
        for one in hidden {
            let is_open = one.at < left_open;
            if example == Some(one.fence) && !is_open {
                continue;
            }
            let fits = Some(one.number) == expected
                && one.level == last.level
                && !known.contains(&one.number);
            if !fits {
                example = Some(one.fence);
            } else if is_open || one.reopens {
                expected = one.number.checked_add(1);
                self.sure.push(one);
            } else {
                example = Some(one.fence);
                self.doubtful.push(one);
            }
        }
    }
}

/// Those before the first task, if they are all that are missing there.
fn leading(
    first: KnownTask,
    hidden: &mut Peekable<std::vec::IntoIter<HiddenTask>>,
) -> Vec<HiddenTask> {
    let mut found = Vec::new();
    let mut expected = 1;
    while let Some(task) = hidden.next_if(|task| task.at < first.at) {
        if task.number == expected && task.level == first.level && expected < first.number {
            expected += 1;
            found.push(task);
        }
    }
    if expected < first.number {
        found.clear();
    }
    found
}

fn fenced_headings(document: &Document<'_>) -> Vec<HiddenTask> {
    let mut found = Vec::new();
    for block in document.blocks.iter().filter(|block| matches!(block.kind, Kind::Fence(_))) {
        let text = document.text(&block.words);
        let reopened = last_opening(document, block);
        for line in text.split_inclusive('\n') {
            let level = line.len() - line.trim_start_matches('#').len();
            if !(1..=6).contains(&level) || !line[level..].starts_with(' ') {
                continue;
            }
            let task = mark::numbered(&line[level..]).filter(|task| task.separated);
            if let Some(number) = task.and_then(|task| task.id.parse().ok()) {
                let at = block.words.start + (line.as_ptr() as usize - text.as_ptr() as usize);
                let (fence, reopens) = (block.range.start, at < reopened);
                found.push(HiddenTask { at, number, level: level as u8, fence, reopens });
            }
        }
    }
    found
}

/// Where, in a code block, the last line stands that would open one like it.
fn last_opening(document: &Document<'_>, fence: &Block<'_>) -> usize {
    let opening = document.source[fence.range.clone()].trim_start();
    let sign = opening.chars().next().unwrap_or('`');
    let marks = |line: &str| line.len() - line.trim_start_matches(sign).len();
    let own = marks(opening);
    let text = document.text(&fence.words);
    let opens = |line: &&str| {
        let line = line.trim();
        marks(line) >= own && line[marks(line)..].starts_with(char::is_alphanumeric)
    };
    let last = text.lines().rfind(opens);
    last.map_or(0, |line| fence.words.start + (line.as_ptr() as usize - text.as_ptr() as usize))
}

impl HiddenTask {
    /// The code block is read as closed before it.
    pub(super) fn split_warning(&self, document: &Document<'_>) -> Fault {
        let fence = document.lines.place(self.fence).line;
        Fault::new(
            Code::OpenFence,
            document.lines.place(self.at),
            format!(
                "Task `{}` stands inside the code block that begins at line {fence}. The block is read as closed here.",
                self.number
            ),
            "Close the block where it ends; a block that shows others needs a longer fence than they have.",
        )
    }

    /// It stays code.
    pub(super) fn code_warning(&self, document: &Document<'_>) -> Fault {
        let fence = document.lines.place(self.fence).line;
        Fault::new(
            Code::OpenFence,
            document.lines.place(self.at),
            format!(
                "Task `{}` has the next number and stands inside the code block that begins at line {fence}. \
                 It is read as code and is not worked on.",
                self.number
            ),
            "If it is a task, close the block before it. If it is an example, nothing needs to be done.",
        )
    }
}
