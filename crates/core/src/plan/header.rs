//! What a plan says about all of its tasks: title, goal, architecture, tech stack, constraints.

use std::ops::Range;

use super::label::{self, Topic};
use super::markdown::{Document, Kind};
use super::{Constraint, Plan};

/// Fills the plan's title, goal and constraints from the parts of the document that no task takes.
///
/// `units` are the offsets at which tasks and their parents begin. Returns the ranges of the sections that were taken.
pub(super) fn read(
    document: &Document<'_>,
    tasks: &[Range<usize>],
    units: &[usize],
    plan: &mut Plan,
) -> Vec<Range<usize>> {
    let title = document.blocks.iter().find(|block| block.level() == Some(1));
    plan.title = title.map_or_else(String::new, |block| document.text(&block.words).to_owned());
    let mut taken: Vec<Range<usize>> = Vec::new();
    read_opening(document, tasks, plan);
    for (index, block) in document.blocks.iter().enumerate() {
        let Some(level) = block.level() else { continue };
        let name = document.text(&block.words);
        let Some(topic) = label::topic(name.trim_end_matches([':', '：'])) else {
            continue;
        };
        if level == 1 || covers(tasks, block.range.start) || covers(&taken, block.range.start) {
            continue;
        }
        let next = units.partition_point(|unit| *unit < block.range.start);
        let end =
            section_end(document, index, level).min(units.get(next).copied().unwrap_or(usize::MAX));
        let range = document.trimmed(block.range.end..end.max(block.range.end));
        if keep(plan, topic, name, document.text(&range)) {
            taken.push(block.range.start..end);
        }
    }
    taken
}

/// Labelled paragraphs before the first section: `**Goal:** ...`, with a list where one follows.
fn read_opening(document: &Document<'_>, tasks: &[Range<usize>], plan: &mut Plan) {
    let first_task = tasks.first().map(|task| task.start);
    let sections =
        document.blocks.iter().filter(|block| block.level().is_some_and(|level| level > 1));
    let first_section = sections.map(|block| block.range.start).next();
    let end = first_task.into_iter().chain(first_section).min().unwrap_or(document.source.len());
    let blocks = document.blocks_in(&(0..end));
    for (index, block) in blocks.iter().enumerate() {
        if !matches!(block.kind, Kind::Paragraph) || block.within.is_some() {
            continue;
        }
        let list = blocks[index + 1..]
            .iter()
            .take_while(|next| next.item().is_some() || next.within.is_some());
        let list_end = list.last().map_or(block.range.end, |last| last.range.end);
        read_paragraph(document, &block.words, list_end, plan);
    }
}

/// One paragraph may hold several labels, a line each; the last one takes the list that follows.
fn read_paragraph(document: &Document<'_>, words: &Range<usize>, list_end: usize, plan: &mut Plan) {
    let mut open: Option<(Topic, String, usize)> = None;
    let mut at = words.start;
    for line in document.text(words).split_inclusive('\n') {
        let labelled = label::split(line).filter(|_| open.is_none() || label::is_marked(line));
        if let Some((name, rest)) = labelled {
            if let Some((topic, name, start)) = open.take() {
                keep(plan, topic, &name, document.source[start..at].trim());
            }
            open = label::topic(name).map(|topic| (topic, name.to_owned(), at + rest));
        }
        at += line.len();
    }
    if let Some((topic, name, start)) = open {
        let end = list_end.max(words.end);
        keep(plan, topic, &name, document.source[start.min(end)..end].trim());
    }
}

fn keep(plan: &mut Plan, topic: Topic, name: &str, text: &str) -> bool {
    let kept = topic.is_of_plan();
    if !kept || text.is_empty() {
        return kept;
    }
    if topic == Topic::Goal {
        plan.goal.get_or_insert_with(|| text.to_owned());
    } else {
        let label = name.trim_end_matches([':', '：']).to_owned();
        plan.constraints.push(Constraint { label, text: text.to_owned() });
    }
    true
}

/// A section ends at the next heading of its rank, or at a rule.
fn section_end(document: &Document<'_>, heading: usize, level: u8) -> usize {
    document.blocks[heading + 1..]
        .iter()
        .find(|block| {
            matches!(block.kind, Kind::Rule) || block.level().is_some_and(|other| other <= level)
        })
        .map_or(document.source.len(), |block| block.range.start)
}

/// Whether a sorted list of ranges that do not overlap covers an offset.
pub(super) fn covers(ranges: &[Range<usize>], offset: usize) -> bool {
    let after = ranges.partition_point(|range| range.start <= offset);
    after > 0 && ranges[after - 1].end > offset
}
