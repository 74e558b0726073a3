//! What a plan says about all of its tasks: title, goal, architecture, tech stack, constraints.

use std::ops::Range;

use super::label::{self, Topic};
use super::markdown::{Document, Kind};
use super::tree::Tree;
use super::unit::Unit;
use super::{Constraint, Plan};

/// The block of the plan's title: the only heading of the first level, no unit itself and before the first of them.
///
/// Where there are several, each heads a part of the plan, and what stands under one concerns no other. Headings from
/// `bound` on belong to tasks.
pub(super) fn title(document: &Document<'_>, units: &[Unit], bound: usize) -> Option<usize> {
    let mut tops = (0..bound).filter(|at| document.blocks[*at].level() == Some(1));
    let title = tops.next()?;
    let first = units.first().map_or(usize::MAX, |unit| unit.block);
    (tops.next().is_none() && title < first).then_some(title)
}

/// Fills the plan's title, goal and constraints from the parts of the document that hold for all tasks.
///
/// A section does if it stands under nothing but the title and sections about the plan, and either before the first unit or
/// above the rank of all of them. Returns the ranges of the sections that were taken.
pub(super) fn read(
    document: &Document<'_>,
    tree: &Tree,
    tasks: &[Range<usize>],
    plan: &mut Plan,
) -> Vec<Range<usize>> {
    let title = tree.title;
    plan.title = title
        .map_or_else(String::new, |title| document.text(&document.blocks[title].words).to_owned());
    read_opening(document, tree, plan);
    let first = tree.units.first().map_or(usize::MAX, |unit| unit.block);
    let rank = tree.units.iter().filter_map(|unit| document.blocks[unit.block].level()).min();
    let mut taken: Vec<Range<usize>> = Vec::new();
    // The level of each open section, and whether it is about the plan.
    let mut open: Vec<(u8, bool)> = Vec::new();
    for (index, block) in document.blocks[..tree.bound].iter().enumerate() {
        let Some(level) = block.level() else { continue };
        while open.last().is_some_and(|(above, _)| *above >= level) {
            open.pop();
        }
        let name = document.text(&block.words);
        let general = open.iter().all(|(_, about)| *about)
            && (index < first || rank.is_none_or(|rank| level < rank));
        open.push((level, Some(index) == title || label::is_about_plan(name)));
        let Some(topic) = label::topic(name.trim_end_matches([':', '：'])).filter(|_| general)
        else {
            continue;
        };
        if level == 1 || covers(tasks, block.range.start) || covers(&taken, block.range.start) {
            continue;
        }
        let end = section_end(document, index, level).min(tree.next_start(document, index));
        let range = document.trimmed(block.range.end..end.max(block.range.end));
        if keep(plan, topic, name, document.text(&range)) {
            taken.push(block.range.start..end);
        }
    }
    taken
}

/// Labelled paragraphs before the first section and the first unit: `**Goal:** ...`, with a list where one follows.
fn read_opening(document: &Document<'_>, tree: &Tree, plan: &mut Plan) {
    let mut headings = (0..document.blocks.len())
        .filter(|at| document.blocks[*at].level().is_some() && Some(*at) != tree.title);
    let section = headings.next().unwrap_or(document.blocks.len());
    let end = tree.units.first().map_or(section, |unit| unit.block.min(section));
    let blocks = &document.blocks[..end];
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
