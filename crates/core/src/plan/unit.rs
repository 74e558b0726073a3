//! From the headings and items that a format recognises to tasks: extents, parents, steps, what is left aside.

use std::collections::HashMap;
use std::ops::Range;

use super::files::{self, Bare};
use super::markdown::{Block, Document, Kind};
use super::needs::{self, Shape};
use super::{Aside, Format, Need, Parent, Plan, Reason, Step, Task, header, label};
use crate::fault::{Code, Fault};
use crate::id::TaskId;

/// A heading or item that carries an id.
pub(super) struct Unit {
    /// Index of its block.
    pub(super) block: usize,
    pub(super) id: String,
    pub(super) title: String,
    /// Its own box.
    pub(super) ticked: bool,
    pub(super) optional: bool,
    /// Marked as free to run beside its neighbours.
    pub(super) parallel: bool,
}

/// What differs between the Markdown formats.
pub(super) struct Rules {
    pub(super) format: Format,
    /// `1` is the parent of `1.1`, and only leaves are work.
    pub(super) nested: bool,
    /// Leaves of one line each are steps where their parent itself says what to do.
    pub(super) steps: bool,
    pub(super) shape: Shape,
    /// Files named in sentences; `None`: only lists count.
    pub(super) sentences: Option<Bare>,
}

/// A task with what its format knows about order.
pub(super) struct Draft {
    pub(super) task: Task,
    /// The headings above it that carry no id, outermost first, as block indexes.
    pub(super) sections: Vec<usize>,
    pub(super) parallel: bool,
}

/// A plan whose order is not yet worked out.
pub(super) struct Drafts {
    pub(super) plan: Plan,
    pub(super) tasks: Vec<Draft>,
    /// Ids of parents, with the tasks that a need on them means.
    pub(super) parents: HashMap<String, Vec<TaskId>>,
    pub(super) faults: Vec<Fault>,
}

impl Drafts {
    pub(super) fn new(format: Format) -> Self {
        Self {
            plan: Plan::new(format),
            tasks: Vec::new(),
            parents: HashMap::new(),
            faults: Vec::new(),
        }
    }
}

/// Parents' texts are repeated in every task beneath; together they may not take more than this.
const PARENT_BYTES: usize = 64 << 20;

pub(super) fn assemble(document: &Document<'_>, units: Vec<Unit>, rules: &Rules) -> Drafts {
    let mut drafts = Drafts::new(rules.format);
    let tree = Tree::grow(document, units, rules);
    let extents: Vec<Range<usize>> = tree
        .leaves()
        .map(|unit| tree.extent(document, unit))
        .collect();
    let mut shelf = Shelf {
        document,
        openings: HashMap::new(),
        spent: 0,
    };
    for (unit, extent) in tree.leaves().zip(&extents) {
        let place = document
            .lines
            .place(document.blocks[tree.units[unit].block].range.start);
        let parents = shelf.parents(&tree, unit, &mut drafts.faults);
        let mut task = read_task(
            document,
            &tree.units[unit],
            extent,
            rules,
            &mut drafts.faults,
        );
        task.place = place;
        task.parents = parents;
        if rules.nested {
            let mut id = task.id.as_str();
            while let Some((head, _)) = id.rsplit_once('.') {
                drafts
                    .parents
                    .insert(head.to_owned(), vec![task.id.clone()]);
                id = head;
            }
        }
        drafts.tasks.push(Draft {
            task,
            sections: tree.sections[unit].clone(),
            parallel: tree.units[unit].parallel,
        });
    }
    let starts: Vec<usize> = tree
        .units
        .iter()
        .map(|unit| document.blocks[unit.block].range.start)
        .collect();
    let taken = header::read(document, &extents, &starts, &mut drafts.plan);
    drafts.plan.aside = leave_aside(document, &tree, &extents, &taken);
    drafts
}

/// Units with their parents.
struct Tree {
    units: Vec<Unit>,
    parent: Vec<Option<usize>>,
    first_child: Vec<Option<usize>>,
    /// The headings above each unit that are no units, outermost first, as block indexes.
    sections: Vec<Vec<usize>>,
}

impl Tree {
    fn grow(document: &Document<'_>, units: Vec<Unit>, rules: &Rules) -> Self {
        let mut tree = Self::link(document, units, rules);
        if rules.steps {
            let steps = tree.mere_steps(document);
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
            if let Some(above) = found {
                first_child[above] = first_child[above].or(Some(index));
            }
            parent.push(found);
            by_block.insert(unit.block, index);
            by_id.entry(&unit.id).or_insert(index);
        }
        let sections = sections(document, &units);
        Self {
            units,
            parent,
            first_child,
            sections,
        }
    }

    fn leaves(&self) -> impl Iterator<Item = usize> {
        (0..self.units.len()).filter(|unit| self.first_child[*unit].is_none())
    }

    fn ancestors(&self, unit: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(self.parent[unit], |above| self.parent[*above])
    }

    /// Leaves of one line whose parent lists files or spells out code: the parent is the unit of work.
    fn mere_steps(&self, document: &Document<'_>) -> Vec<bool> {
        let mut steps = vec![false; self.units.len()];
        let mut verdicts: HashMap<usize, bool> = HashMap::new();
        for unit in self.leaves() {
            if let Some(parent) = self.parent[unit] {
                let single = is_single_line(document, self.units[unit].block);
                let verdict = verdicts
                    .entry(parent)
                    .or_insert_with(|| self.is_work(document, parent));
                *verdict &= single;
            }
        }
        for unit in self.leaves() {
            steps[unit] =
                self.parent[unit].is_some_and(|parent| verdicts.get(&parent) == Some(&true));
        }
        steps
    }

    /// Whether a parent's opening text itself says what to do.
    fn is_work(&self, document: &Document<'_>, unit: usize) -> bool {
        let opening = self.opening(document, unit);
        let spelled = document
            .blocks_in(&opening)
            .iter()
            .any(|block| matches!(block.kind, Kind::Fence(_)));
        spelled
            || !files::listed(document, &opening, &mut Vec::new())
                .files
                .is_empty()
    }

    /// A parent's text up to its first child.
    fn opening(&self, document: &Document<'_>, unit: usize) -> Range<usize> {
        let block = &document.blocks[self.units[unit].block];
        let start = if block.level().is_some() {
            block.range.end
        } else {
            block.words.end
        };
        let child = self.first_child[unit]
            .map(|child| document.blocks[self.units[child].block].range.start);
        let end = match block.level() {
            Some(_) => child
                .unwrap_or(start)
                .min(next_heading(document, self.units[unit].block)),
            None => block.range.end.min(child.unwrap_or(block.range.end)),
        };
        document.trimmed(start..end.max(start))
    }

    /// The text of a leaf: after its heading, or the whole item with its bullet and box.
    ///
    /// It ends at the next unit, and at the next heading of its own rank or above. Plain items that follow in the same
    /// list belong to the item before them: many plans do not indent the details.
    fn extent(&self, document: &Document<'_>, unit: usize) -> Range<usize> {
        let index = self.units[unit].block;
        let block = &document.blocks[index];
        let next_unit = self
            .units
            .get(unit + 1)
            .map(|next| document.blocks[next.block].range.start);
        let limit = next_unit.unwrap_or(document.source.len());
        let (start, end) = match (&block.kind, block.item()) {
            (Kind::Heading(level), _) => {
                let rest = document.blocks[index + 1..]
                    .iter()
                    .take_while(|other| other.range.start < limit);
                let end = rest
                    .filter(|other| other.level().is_some_and(|other| other <= *level))
                    .map(|other| other.range.start)
                    .next();
                (block.range.end, end.unwrap_or(limit))
            }
            (_, Some(item)) => {
                let rest = document.blocks[index + 1..]
                    .iter()
                    .take_while(|other| other.range.start < limit);
                let own = |other: &&Block<'_>| {
                    other.within.is_some()
                        || other
                            .item()
                            .is_some_and(|other| other.list == item.list && other.mark.is_none())
                };
                let last = rest.take_while(own).map(|other| other.range.end).max();
                (block.range.start, last.unwrap_or(0).max(block.range.end))
            }
            _ => (block.range.start, block.range.end),
        };
        document.trimmed(start..end.min(limit).max(start))
    }
}

/// A heading whose section is open.
struct Heading {
    level: u8,
    block: usize,
    /// It may be the parent of units; no longer once a rule ends its opening text.
    parent: bool,
    filled: bool,
}

/// The headings above each unit that are no units themselves.
///
/// Left out are the plan's title, sections about the plan as a whole, and sections that a rule ends before the first unit.
fn sections(document: &Document<'_>, units: &[Unit]) -> Vec<Vec<usize>> {
    let mut open: Vec<Heading> = Vec::new();
    let mut all = Vec::with_capacity(units.len());
    let mut next = units.iter().peekable();
    let title = document
        .blocks
        .iter()
        .position(|block| block.level() == Some(1));
    for (index, block) in document.blocks.iter().enumerate() {
        let unit = next.next_if(|unit| unit.block == index).is_some();
        if let Some(level) = block.level() {
            while open.last().is_some_and(|above| above.level >= level) {
                open.pop();
            }
        }
        if unit {
            all.push(
                open.iter()
                    .filter(|above| above.parent)
                    .map(|above| above.block)
                    .collect(),
            );
            open.iter_mut().for_each(|above| above.filled = true);
        } else if matches!(block.kind, Kind::Rule) {
            for above in open
                .iter_mut()
                .filter(|above| !above.filled && above.block + 1 < index)
            {
                above.parent = false;
            }
        }
        if let Some(level) = block.level().filter(|_| Some(index) != title) {
            let parent = !unit && !label::is_about_plan(document.text(&block.words));
            open.push(Heading {
                level,
                block: index,
                parent,
                filled: false,
            });
        }
    }
    all
}

/// What stands between a heading and its first unit or heading.
fn section_opening(document: &Document<'_>, tree: &Tree, section: usize) -> Range<usize> {
    let start = document.blocks[section].range.end;
    let first = tree.units.partition_point(|unit| unit.block < section);
    let unit = tree
        .units
        .get(first)
        .map_or(start, |unit| document.blocks[unit.block].range.start);
    // Boxes before the first unit are no words of the heading.
    let mut rest = document.blocks[section + 1..].iter();
    let other = rest.find(|block| block.level().is_some() || block.checkbox().is_some());
    let end = other.map_or(unit, |block| unit.min(block.range.start));
    document.trimmed(start..end.max(start))
}

fn next_heading(document: &Document<'_>, block: usize) -> usize {
    let mut rest = document.blocks[block + 1..].iter();
    rest.find(|block| block.level().is_some())
        .map_or(document.source.len(), |block| block.range.start)
}

fn is_single_line(document: &Document<'_>, index: usize) -> bool {
    let block = &document.blocks[index];
    block.item().is_some()
        && document
            .blocks
            .get(index + 1)
            .is_none_or(|next| next.within != Some(index))
        && !document.text(&block.words).contains('\n')
}

/// Reads parents, and watches how much their texts take together.
struct Shelf<'d, 'a> {
    document: &'d Document<'a>,
    /// By block: a heading's opening is looked for once, however many tasks stand under it.
    openings: HashMap<usize, Range<usize>>,
    spent: usize,
}

impl Shelf<'_, '_> {
    fn parents(&mut self, tree: &Tree, unit: usize, faults: &mut Vec<Fault>) -> Vec<Parent> {
        let above: Vec<usize> = tree.ancestors(unit).collect();
        let outermost = above.last().copied().unwrap_or(unit);
        let mut parents = Vec::new();
        for section in &tree.sections[outermost] {
            let document = self.document;
            let opening = self
                .openings
                .entry(*section)
                .or_insert_with(|| section_opening(document, tree, *section));
            let opening = opening.clone();
            parents.push(Parent {
                title: document.text(&document.blocks[*section].words).to_owned(),
                text: self.spend(opening, *section, faults),
            });
        }
        for unit in above.into_iter().rev() {
            let (document, block) = (self.document, tree.units[unit].block);
            let opening = self
                .openings
                .entry(block)
                .or_insert_with(|| tree.opening(document, unit))
                .clone();
            parents.push(Parent {
                title: tree.units[unit].title.clone(),
                text: self.spend(opening, block, faults),
            });
        }
        parents
    }

    fn spend(&mut self, opening: Range<usize>, block: usize, faults: &mut Vec<Fault>) -> String {
        let block = &self.document.blocks[block];
        let before = self.spent;
        self.spent += opening.len();
        if self.spent <= PARENT_BYTES {
            return self.document.text(&opening).to_owned();
        }
        if before <= PARENT_BYTES {
            faults.push(Fault::new(
                Code::PlanTooLarge,
                self.document.lines.place(block.range.start),
                format!("The text of `{}` above so many tasks is too large.", self.document.text(&block.words)),
                "Shorten what stands between the heading and its first task: each task below is given a copy.",
            ));
        }
        String::new()
    }
}

fn read_task(
    document: &Document<'_>,
    unit: &Unit,
    extent: &Range<usize>,
    rules: &Rules,
    faults: &mut Vec<Fault>,
) -> Task {
    let block = &document.blocks[unit.block];
    let item = block.item().is_some();
    let steps = read_steps(document, unit.block, extent);
    let mut found = Vec::new();
    let listed = files::listed(document, extent, &mut found);
    let mut files = listed.files;
    if let Some(bare) = rules.sentences.filter(|_| !listed.declared) {
        files = files::mentioned(document, extent, bare, &mut found);
    }
    let mut declared = needs::declared(document, extent, &unit.id, rules.shape);
    if matches!(rules.shape, Shape::Numbers) {
        for consumed in &listed.consumed {
            declared.extend(needs::named(document, consumed, &unit.id));
        }
    }
    let done = unit.ticked || !steps.is_empty() && steps.iter().all(|step| step.done);
    // What a done task names is past.
    faults.extend(found.into_iter().filter(|_| !done));
    if !item && extent.is_empty() && !done {
        faults.push(Fault::new(
            Code::EmptyTask,
            document.lines.place(block.range.start),
            format!("Task `{}` has a heading and nothing else.", unit.id),
            "Say under the heading what is to be done, or remove it.",
        ));
    }
    let needs = declared.into_iter().map(|(id, at)| Need {
        id: TaskId::new(id),
        reason: Reason::Declared,
        place: document.lines.place(at),
    });
    Task {
        id: TaskId::new(unit.id.as_str()),
        title: unit.title.clone(),
        text: document.text(extent).to_owned(),
        span: extent.clone(),
        needs: needs.collect(),
        done,
        optional: unit.optional,
        files,
        files_declared: listed.declared,
        interfaces: listed.interfaces,
        steps,
        ..Task::default()
    }
}

/// The boxes inside a task, its own left out.
fn read_steps(document: &Document<'_>, own: usize, extent: &Range<usize>) -> Vec<Step> {
    let from = document.block_at(extent.start);
    let inside = document.blocks_in(extent).iter().zip(from..);
    inside
        .filter(|(_, index)| *index != own)
        .filter_map(|(block, _)| Some((block, block.checkbox()?)))
        .map(|(block, mark)| Step {
            text: document.text(&block.words).to_owned(),
            done: mark.ticked,
            place: document.lines.place(block.range.start),
        })
        .collect()
}

/// Sections with boxes that no task takes, and sections after the first task that belong to none.
fn leave_aside(
    document: &Document<'_>,
    tree: &Tree,
    extents: &[Range<usize>],
    taken: &[Range<usize>],
) -> Vec<Aside> {
    let units: std::collections::HashSet<usize> =
        tree.units.iter().map(|unit| unit.block).collect();
    let parents: std::collections::HashSet<usize> =
        tree.sections.iter().flatten().copied().collect();
    let first = extents.first().map_or(usize::MAX, |extent| extent.start);
    let mut aside: Vec<Aside> = Vec::new();
    let mut heading: Option<&Block<'_>> = None;
    let mut told = false;
    // The level of the section that was left aside last: what stands under it goes with it.
    let mut under = u8::MAX;
    for (index, block) in document.blocks.iter().enumerate() {
        let start = block.range.start;
        if header::covers(extents, start) || header::covers(taken, start) || units.contains(&index)
        {
            continue;
        }
        if let Some(level) = block.level() {
            if level > under {
                continue;
            }
            heading = Some(block);
            (told, under) = (false, u8::MAX);
            if !parents.contains(&index) && start > first {
                (told, under) = (true, level);
                aside.push(note(
                    document,
                    block,
                    "A section after the tasks belongs to none of them.",
                ));
            }
        } else if block.checkbox().is_some() && !told {
            told = true;
            aside.push(note(
                document,
                heading.unwrap_or(block),
                "Its boxes carry no id of a task.",
            ));
        }
    }
    aside
}

fn note(document: &Document<'_>, block: &Block<'_>, why: &str) -> Aside {
    let words = document.text(&block.words);
    Aside {
        place: document.lines.place(block.range.start),
        text: words.lines().next().unwrap_or_default().to_owned(),
        why: why.to_owned(),
    }
}
