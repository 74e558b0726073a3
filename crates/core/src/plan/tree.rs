//! Headings and items with ids as a tree: which are work, where their texts end, what they stand under.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::markdown::{Block, Document, Kind};
use super::unit::{Rules, Unit};
use super::work_section::{self, SectionKind};
use super::{Format, Parent, files, header, label, strike, words};

/// Units with their parents.
pub(super) struct Tree {
    pub(super) units: Vec<Unit>,
    parent: Vec<Option<usize>>,
    first_child: Vec<Option<usize>>,
    /// Ids of tasks whose ids begin those of others.
    pub(super) kept_parents: HashSet<String>,
    /// The headings above each unit that are no units, outermost first, as block indexes.
    pub(super) sections: Vec<Vec<usize>>,
    /// The block of the plan's title.
    pub(super) title: Option<usize>,
    /// Headings before this block may speak of more than one task.
    pub(super) bound: usize,
    /// By block: a parent's opening is looked for once, however many tasks stand under it.
    openings: RefCell<HashMap<usize, Range<usize>>>,
}

impl Tree {
    pub(super) fn grow(document: &Document<'_>, units: Vec<Unit>, rules: &Rules) -> Self {
        let mut tree = Self::link(document, units, rules);
        if rules.steps {
            let steps = tree.mere_steps(document, rules);
            if steps.iter().any(|step| *step) {
                let mut keep = steps.iter().map(|step| !step);
                let mut units = std::mem::take(&mut tree.units);
                units.retain(|_| keep.next().unwrap_or(true));
                tree = Self::link(document, units, rules);
            }
        }
        tree
    }

    fn link(document: &Document<'_>, units: Vec<Unit>, rules: &Rules) -> Self {
        let mut by_block: HashMap<usize, usize> = HashMap::new();
        let mut by_id: HashMap<&str, usize> = HashMap::new();
        let mut parent: Vec<Option<usize>> = Vec::new();
        let mut first_child = vec![None; units.len()];
        let mut kept_parents: HashSet<String> = HashSet::new();
        for (index, unit) in units.iter().enumerate() {
            let mut found = None;
            if rules.nested {
                let mut within = document.blocks[unit.block].within;
                while let (None, Some(block)) = (found, within) {
                    found = by_block.get(&block).copied();
                    within = document.blocks[block].within;
                }
                let mut id = unit.id.as_str();
                while let (None, Some((head, _))) = (found, id.rsplit_once('.')) {
                    id = head;
                    found = by_id.get(id).copied();
                }
            }
            // `### Task 17.5` stands beside `### Task 17`, which has work of its own.
            let beside = |above: &usize| {
                let (one, two) = (units[*above].block, unit.block);
                let level = document.blocks[one].level();
                let has_text = document.blocks[one + 1].level().is_none();
                level.is_some() && level == document.blocks[two].level() && has_text
            };
            // `1.2.1` in the same list as `1.2` stands beside it.
            let in_list_of = |above: &usize| {
                let list = |unit: &Unit| document.blocks[unit.block].item().map(|item| item.list);
                let above = &units[*above];
                above.id.contains('.') && list(above).is_some() && list(above) == list(unit)
            };
            let is_beside = found.is_some_and(|above| match rules.format {
                Format::Superpowers => beside(&above),
                Format::OpenSpec => in_list_of(&above),
                _ => false,
            });
            if is_beside {
                kept_parents.extend(found.take().map(|above| units[above].id.clone()));
            }
            if let Some(above) = found {
                first_child[above] = first_child[above].or(Some(index));
            }
            parent.push(found);
            by_block.insert(unit.block, index);
            by_id.entry(&unit.id).or_insert(index);
        }
        // In the native format everything behind a task's heading is that task's own, whatever headings it has.
        let native = rules.format == Format::Native;
        let first = units.first().filter(|_| native).map(|unit| unit.block);
        let bound = first.unwrap_or(document.blocks.len());
        let title = header::title(document, &units, bound);
        let sections =
            if native { vec![Vec::new(); units.len()] } else { sections(document, &units, title) };
        let openings = RefCell::default();
        let mut tree =
            Self { units, parent, first_child, kept_parents, sections, title, bound, openings };
        if rules.format == Format::Kiro {
            tree.keep_required_parents(document);
        }
        tree
    }

    /// A required item that says what to do is a task beside the optional ones beneath it, if they are all that it has.
    fn keep_required_parents(&mut self, document: &Document<'_>) {
        let mut has_required = vec![false; self.units.len()];
        for (unit, above) in self.units.iter().zip(&self.parent) {
            if let (false, Some(above)) = (unit.optional, *above) {
                has_required[above] = true;
            }
        }
        for (unit, has_required) in has_required.into_iter().enumerate() {
            let is_alone = !self.units[unit].optional && !has_required;
            if is_alone && self.first_child[unit].is_some() && self.says_what_to_do(document, unit)
            {
                self.first_child[unit] = None;
                self.kept_parents.insert(self.units[unit].id.clone());
            }
        }
    }

    /// Whether an item has words beneath its title that do not merely name requirements.
    fn says_what_to_do(&self, document: &Document<'_>, unit: usize) -> bool {
        let opening = self.opening(document, unit);
        let mut lines = document.text(&opening).lines();
        lines.any(|line| {
            let words = line.trim_start_matches(|c: char| !c.is_alphanumeric());
            !words.is_empty() && !words.to_lowercase().starts_with("requirement")
        })
    }

    pub(super) fn leaves(&self) -> impl Iterator<Item = usize> {
        (0..self.units.len()).filter(|unit| self.first_child[*unit].is_none())
    }

    /// Where the first unit behind a block begins, at the latest the end of the source.
    pub(super) fn next_start(&self, document: &Document<'_>, block: usize) -> usize {
        let next = self.units.partition_point(|unit| unit.block <= block);
        let start = |unit: &Unit| document.blocks[unit.block].range.start;
        self.units.get(next).map_or(document.source.len(), start)
    }

    fn ancestors(&self, unit: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(self.parent[unit], |above| self.parent[*above])
    }

    /// Whether a unit, or one above it, is struck or carries the sign of what is cancelled. One that is ticked is done.
    ///
    /// In spec-kit plans `[-]` is such a sign: it stands there for skipped or deferred work. Elsewhere it may mean work under way.
    pub(super) fn is_cancelled(&self, document: &Document<'_>, unit: usize, rules: &Rules) -> bool {
        let is_dropped = |sign: char| sign == '-' && rules.format == Format::SpecKit;
        let mut above = std::iter::once(unit).chain(self.ancestors(unit));
        above.any(|unit| {
            let Unit { block, ticked, id, .. } = &self.units[unit];
            let block = &document.blocks[*block];
            let sign = block.checkbox().map_or(' ', |mark| mark.sign);
            let is_struck = || strike::is_struck(document.text(&block.words), id);
            !ticked && (matches!(sign, '⛔' | '🚫') || is_dropped(sign) || is_struck())
        })
    }

    /// Where the headings and opening texts stand that tasks are shown with what is above them.
    pub(super) fn shown(&self, document: &Document<'_>) -> Vec<Range<usize>> {
        let openings = self.openings.borrow();
        let both = |(block, opening): (&usize, &Range<usize>)| {
            let block = &document.blocks[*block];
            [block.range.start..block.words.end, opening.clone()]
        };
        openings.iter().flat_map(both).collect()
    }

    /// Items beneath a unit that itself says what to do: that unit is the work, and they are its steps.
    ///
    /// A unit with headings beneath it is never taken so. No words but those of the unit above count, so that no text of one
    /// item decides what another is.
    fn mere_steps(&self, document: &Document<'_>, rules: &Rules) -> Vec<bool> {
        let heading = |unit: usize| document.blocks[self.units[unit].block].level().is_some();
        let mut headed = vec![false; self.units.len()];
        for unit in (0..self.units.len()).rev() {
            if let Some(parent) = self.parent[unit] {
                headed[parent] |= heading(unit) || headed[unit];
            }
        }
        let mut work: HashMap<usize, bool> = HashMap::new();
        let mut steps = vec![false; self.units.len()];
        for unit in 0..self.units.len() {
            steps[unit] = !heading(unit)
                && self.parent[unit].is_some_and(|parent| {
                    let is_work = || !headed[parent] && self.is_work(document, parent, rules);
                    steps[parent] || *work.entry(parent).or_insert_with(is_work)
                });
        }
        steps
    }

    /// Whether a parent's opening text lists files or spells out code. In track plans, `A.1` names a section of tasks.
    /// A section `Task N` of superpowers counts as a whole, and criteria for its acceptance count too: split into its boxes, it would
    /// lose what stands behind them.
    fn is_work(&self, document: &Document<'_>, unit: usize, rules: &Rules) -> bool {
        if rules.format == Format::Track && !words::is_track(&self.units[unit].id) {
            return false;
        }
        let opening = self.opening(document, unit);
        let spelled =
            document.blocks_in(&opening).iter().any(|block| matches!(block.kind, Kind::Fence(_)));
        let lists =
            |part: &Range<usize>| !files::listed(document, part, &mut Vec::new()).files.is_empty();
        let says_work = |part: &Range<usize>| {
            let mut blocks = document.blocks_in(part).iter();
            lists(part) || blocks.any(|block| is_code_or_criteria(document, block))
        };
        spelled
            || lists(&opening)
            || rules.format == Format::Superpowers
                && self.own_parts(document, unit, rules).iter().any(says_work)
    }

    /// The parts of a heading's section that belong to no item beneath it.
    fn own_parts(&self, document: &Document<'_>, unit: usize, rules: &Rules) -> Vec<Range<usize>> {
        let index = self.units[unit].block;
        let Some(level) = document.blocks[index].level() else { return Vec::new() };
        let mut start = document.blocks[index].range.end;
        let mut rest = document.blocks[index + 1..].iter();
        let next = rest.find(|block| block.level().is_some_and(|other| other <= level));
        let end = next.map_or(document.source.len(), |next| next.range.start);
        let (end, mut parts) = (before_prose(document, start..end), Vec::new());
        for below in unit + 1..self.units.len() {
            let item = &document.blocks[self.units[below].block].range;
            if item.start >= end {
                break;
            }
            if item.start >= start {
                parts.push(start..item.start);
                start = self.extent(document, below, rules).end.max(item.end);
            }
        }
        parts.push(start..end.max(start));
        parts
    }

    /// Titles and opening texts of what a unit stands under, outermost first.
    pub(super) fn parents(&self, document: &Document<'_>, unit: usize) -> Vec<Parent> {
        let above: Vec<usize> = self.ancestors(unit).collect();
        let outermost = above.last().copied().unwrap_or(unit);
        let mut openings = self.openings.borrow_mut();
        let mut parents = Vec::new();
        for block in &self.sections[outermost] {
            let opening =
                openings.entry(*block).or_insert_with(|| section_opening(document, self, *block));
            parents.push(Parent {
                title: document.text(&document.blocks[*block].words).to_owned(),
                text: document.text(opening).to_owned(),
            });
        }
        for unit in above.into_iter().rev() {
            let Unit { block, title, .. } = &self.units[unit];
            let opening = openings.entry(*block).or_insert_with(|| self.opening(document, unit));
            parents.push(Parent { title: title.clone(), text: document.text(opening).to_owned() });
        }
        parents
    }

    /// A parent's text up to its first child, or whatever unit comes first.
    fn opening(&self, document: &Document<'_>, unit: usize) -> Range<usize> {
        let index = self.units[unit].block;
        let block = &document.blocks[index];
        if block.level().is_some() {
            return section_opening(document, self, index);
        }
        let end = block.range.end.min(self.next_start(document, index));
        document.trimmed(block.words.end..end.max(block.words.end))
    }

    /// The text of a leaf: after its heading, or the whole item with its bullet and box.
    ///
    /// It ends at the next unit, at the next heading of its own rank or above, and at a rule behind which no work follows.
    /// Plain items that follow in the same list belong to the item before them, for many plans do not indent the details; so
    /// does, in track plans, code.
    pub(super) fn extent(
        &self,
        document: &Document<'_>,
        unit: usize,
        rules: &Rules,
    ) -> Range<usize> {
        let index = self.units[unit].block;
        let block = &document.blocks[index];
        // The ids of a range share one block.
        let next = self.units[unit + 1..].iter().find(|next| next.block != index);
        let next = next.map(|next| document.blocks[next.block].range.start);
        let limit = next.unwrap_or(document.source.len());
        let rest =
            document.blocks[index + 1..].iter().take_while(|other| other.range.start < limit);
        let (start, end) = if let Some(level) = block.level() {
            let mut ends = rest.filter(|other| other.level().is_some_and(|other| other <= level));
            let end = ends.next().map_or(limit, |other| other.range.start);
            // The native format promises everything up to the next heading.
            let prose = rules.format != Format::Native;
            (
                block.range.end,
                if prose { before_prose(document, block.range.end..end) } else { end },
            )
        } else {
            (
                block.range.start,
                item_end(document.source, block, rest, rules.format == Format::Track),
            )
        };
        document.trimmed(start..end.min(limit).max(start))
    }
}

/// Where a section ends if words that a rule parts from the rest of it are left out.
///
/// Boxes, headings, code and lists of files behind the rule are work of the task, and so is all before them.
fn before_prose(document: &Document<'_>, section: Range<usize>) -> usize {
    let blocks = document.blocks_in(&section);
    let work = |block: &Block<'_>| match block.kind {
        Kind::Heading(_) | Kind::Fence(_) => true,
        Kind::Item(item) => item.mark.is_some(),
        Kind::Paragraph => {
            let label = label::split(document.text(&block.words)).map(|(name, _)| name);
            label.and_then(label::topic).is_some_and(|topic| !topic.is_of_plan())
        }
        Kind::Rule => false,
    };
    let from = blocks.iter().rposition(work).map_or(0, |last| last + 1);
    let rule = blocks[from..].iter().find_map(|block| block.rule(document.source));
    let rule = rule.filter(|rule| !document.source[rule.end..section.end].trim().is_empty());
    rule.map_or(section.end, |rule| rule.start)
}

/// Where an item ends, with the plain items after it and, if `code` is taken, with code that is not indented: directly
/// behind it, or behind a paragraph that announces it.
fn item_end<'b, 'a: 'b>(
    source: &str,
    block: &Block<'a>,
    rest: impl Iterator<Item = &'b Block<'a>>,
    code: bool,
) -> usize {
    let list = block.item().map(|item| item.list);
    let mut end = block.range.end;
    let mut after = end;
    for other in rest {
        match (&other.kind, other.item()) {
            _ if other.range.start < after => {}
            (_, Some(item)) if Some(item.list) == list && item.mark.is_none() && after == end => {
                end = other.range.end;
                after = end;
            }
            (Kind::Fence(_), _) if code && other.within.is_none() => {
                end = other.range.end;
                after = end;
            }
            (Kind::Paragraph, _) if code && other.within.is_none() && announces(source, other) => {
                after = other.range.end;
            }
            _ => break,
        }
    }
    end
}

fn is_code_or_criteria(document: &Document<'_>, block: &Block<'_>) -> bool {
    let words = document.text(&block.words);
    let title = match block.kind {
        Kind::Fence(_) => return true,
        Kind::Heading(_) => Some(words),
        _ => label::split(words).map(|(name, _)| name),
    };
    title.is_some_and(|title| work_section::kind_of(title) == SectionKind::Criteria)
}

fn announces(source: &str, paragraph: &Block<'_>) -> bool {
    source[paragraph.words.clone()].trim_end_matches(['*', '_', ' ']).ends_with([':', '：'])
}

/// A heading whose section is open.
struct Heading {
    level: u8,
    block: usize,
    /// It may be the parent of units.
    parent: bool,
}

/// The headings above each unit that are no units themselves.
///
/// Left out are the plan's title and sections about the plan as a whole.
fn sections(document: &Document<'_>, units: &[Unit], title: Option<usize>) -> Vec<Vec<usize>> {
    let mut open: Vec<Heading> = Vec::new();
    let mut all = Vec::with_capacity(units.len());
    let mut next = units.iter().peekable();
    for (index, block) in document.blocks.iter().enumerate() {
        let mut here = 0;
        while next.next_if(|unit| unit.block == index).is_some() {
            here += 1;
        }
        let unit = here > 0;
        if let Some(level) = block.level() {
            while open.last().is_some_and(|above| above.level >= level) {
                open.pop();
            }
        }
        if unit {
            let above = open.iter().filter(|above| above.parent).map(|above| above.block);
            let above: Vec<usize> = above.collect();
            all.extend(std::iter::repeat_n(above, here));
        }
        if let Some(level) = block.level().filter(|_| Some(index) != title) {
            let parent = !unit && !label::is_about_plan(document.text(&block.words));
            open.push(Heading { level, block: index, parent });
        }
    }
    all
}

/// What stands between a heading and its first unit, box, heading or rule.
fn section_opening(document: &Document<'_>, tree: &Tree, section: usize) -> Range<usize> {
    let start = document.blocks[section].range.end;
    // Boxes before the first unit are no words of the heading.
    let mut rest = document.blocks[section + 1..].iter();
    let other = rest.find(|block| {
        block.level().is_some() || block.checkbox().is_some() || matches!(block.kind, Kind::Rule)
    });
    let unit = tree.next_start(document, section);
    let end = other.map_or(unit, |block| unit.min(block.range.start));
    document.trimmed(start..end.max(start))
}
