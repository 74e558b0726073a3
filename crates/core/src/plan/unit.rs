//! From the headings and items that a format recognises to tasks: extents, parents, steps, what is left aside.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::Range;

use super::markdown::Document;
use super::mention::{self, Verbless};
use super::needs::{self, Shape};
use super::shelf::Shelf;
use super::stated_order::StatedOrder;
use super::tree::Tree;
use super::untaken_work::{self, Covered};
use super::{Format, Need, Plan, Reason, Step, Task, aside, files, header, id_range};
use crate::fault::{Code, Fault};
use crate::id::TaskId;

/// A heading or item that carries an id.
#[derive(Clone)]
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
    /// Items are steps where what they stand under itself says what to do.
    pub(super) steps: bool,
    pub(super) shape: Shape,
    /// Files that a sentence without a known verb mentions.
    pub(super) verbless: Verbless,
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
    /// Ids of parents, with the positions of the tasks beneath them.
    pub(super) parents: HashMap<String, Vec<usize>>,
    /// Ids of tasks whose ids begin those of others.
    pub(super) kept_parents: HashSet<String>,
    /// Tracks that the plan heads as phases: they follow each other.
    pub(super) phases: BTreeSet<String>,
    /// The positions of the tasks, wave by wave, where the plan gives its waves.
    pub(super) waves: Option<Vec<Vec<usize>>>,
    /// The order of phases and tasks that the plan states in words.
    pub(super) stated: Option<StatedOrder>,
    pub(super) faults: Vec<Fault>,
    pub(super) warnings: Vec<Fault>,
}

impl Drafts {
    pub(super) fn new(format: Format) -> Self {
        Self {
            plan: Plan::new(format),
            tasks: Vec::new(),
            parents: HashMap::new(),
            kept_parents: HashSet::new(),
            phases: BTreeSet::new(),
            waves: None,
            stated: None,
            faults: Vec::new(),
            warnings: Vec::new(),
        }
    }
}

pub(super) fn assemble(document: &Document<'_>, units: Vec<Unit>, rules: &Rules) -> Drafts {
    let mut drafts = Drafts::new(rules.format);
    let units = id_range::expand(document, units, rules.format, &mut drafts.warnings);
    let tree = Tree::grow(document, units, rules);
    let extents: Vec<Range<usize>> =
        tree.leaves().map(|unit| tree.extent(document, unit, rules)).collect();
    let leaves: HashSet<&str> = tree.leaves().map(|unit| tree.units[unit].id.as_str()).collect();
    let cancelled: HashSet<usize> =
        (0..tree.units.len()).filter(|unit| tree.is_cancelled(document, *unit, rules)).collect();
    let mut shelf = Shelf::default();
    let mut consumed = Vec::new();
    for (unit, extent) in tree.leaves().zip(&extents) {
        let block = &document.blocks[tree.units[unit].block];
        let place = document.lines.place(block.range.start);
        if cancelled.contains(&unit) {
            drafts.plan.aside.push(aside::cancelled(place, &tree.units[unit].title));
            continue;
        }
        drafts.plan.reached.extend([block.range.start..block.words.end, extent.clone()]);
        let parents = || tree.parents(document, unit);
        let parents = shelf.keep(parents, place, &mut drafts.faults);
        let read = read_task(document, &tree.units[unit], extent, rules, &mut drafts);
        let unread = read.unread.iter().map(|entry| aside::unread(document, entry));
        drafts.plan.aside.extend(unread);
        consumed.push(read.consumed);
        let mut task = read.task;
        task.place = place;
        task.parents = parents;
        if rules.nested {
            let mut id = task.id.as_str();
            while let Some((head, _)) = id.rsplit_once('.') {
                if !leaves.contains(head) {
                    drafts.parents.entry(head.to_owned()).or_default().push(drafts.tasks.len());
                }
                id = head;
            }
        }
        drafts.tasks.push(Draft {
            task,
            sections: tree.sections[unit].clone(),
            parallel: tree.units[unit].parallel,
        });
    }
    drafts.kept_parents.clone_from(&tree.kept_parents);
    need_consumed(&mut drafts.tasks, consumed);
    skip_cancelled(document, &tree, &cancelled, &mut drafts);
    let taken = header::read(document, &tree, &extents, &mut drafts.plan);
    drafts.plan.reached.extend(taken.iter().cloned().chain(tree.shown(document)));
    drafts.plan.reached.extend(general_texts(document, &drafts.plan));
    drafts.plan.reached.sort_by_key(|range| (range.start, range.end));
    let covered = Covered { tasks: &extents, general: &taken };
    drafts.warnings.extend(untaken_work::find(document, &tree, &covered, rules.format));
    drafts.plan.aside.extend(aside::leave(document, &tree, &extents, &taken));
    drafts.plan.aside.sort_by_key(|aside| aside.place.line);
    drafts
}

/// A need on what is cancelled is met. A warning names what is skipped, so that it is seen where a run starts.
fn skip_cancelled(
    document: &Document<'_>,
    tree: &Tree,
    cancelled: &HashSet<usize>,
    drafts: &mut Drafts,
) {
    let ids: HashSet<&str> = cancelled.iter().map(|unit| tree.units[*unit].id.as_str()).collect();
    for draft in &mut drafts.tasks {
        draft.task.needs.retain(|need| !ids.contains(need.id.as_str()));
    }
    let skipped: Vec<&Unit> = tree
        .leaves()
        .filter(|unit| cancelled.contains(unit))
        .map(|unit| &tree.units[unit])
        .collect();
    drafts.warnings.extend(untaken_work::skipped(document, &skipped));
    drafts.warnings.extend(untaken_work::under_way(document, tree, cancelled, drafts.plan.format));
}

/// Where the plan's title, goal and labelled paragraphs stand, and its front matter.
fn general_texts(document: &Document<'_>, plan: &Plan) -> Vec<Range<usize>> {
    let source = document.source;
    let place = |text: &str, from: usize| {
        let at = from + source[from..].find(text).filter(|_| !text.is_empty())?;
        let line = source[..at].rfind('\n').map_or(0, |end| end + 1);
        Some(line..at + text.len())
    };
    let mut found: Vec<Range<usize>> = document.front.clone().into_iter().collect();
    found.extend(place(&plan.title, 0));
    found.extend(plan.goal.as_deref().and_then(|goal| place(goal, 0)));
    // They are in the order of the source, so that no part of it is searched twice.
    let mut from = 0;
    for constraint in &plan.constraints {
        if let Some(range) = place(&constraint.text, from) {
            from = range.end;
            found.push(range);
        }
    }
    found
}

/// Whether an item has nothing behind its box and id, and nothing beneath.
fn is_bare_item(document: &Document<'_>, unit: &Unit, extent: &Range<usize>) -> bool {
    let says = |text: &str| text.chars().any(char::is_alphanumeric);
    !says(&unit.title) && !document.text(extent).lines().skip(1).any(says)
}

/// Tasks that the lists of consumed interfaces name are needed, if they stand before. A later or unknown one is only spoken of.
fn need_consumed(tasks: &mut [Draft], consumed: Vec<Vec<Need>>) {
    if consumed.iter().all(Vec::is_empty) {
        return;
    }
    let mut first: HashMap<String, usize> = HashMap::new();
    for (at, draft) in tasks.iter().enumerate() {
        let mut id = draft.task.id.as_str();
        first.entry(id.to_owned()).or_insert(at);
        while let Some((parent, _)) = id.rsplit_once('.') {
            first.entry(parent.to_owned()).or_insert(at);
            id = parent;
        }
    }
    for (at, (draft, consumed)) in tasks.iter_mut().zip(consumed).enumerate() {
        let is_before = |need: &Need| first.get(need.id.as_str()).is_some_and(|first| *first < at);
        draft.task.needs.extend(consumed.into_iter().filter(is_before));
    }
}

/// A task as it was read.
struct ReadTask {
    task: Task,
    /// What its lists of files name that is no file.
    unread: Vec<Range<usize>>,
    /// Tasks that its lists of consumed interfaces name.
    consumed: Vec<Need>,
}

fn read_task(
    document: &Document<'_>,
    unit: &Unit,
    extent: &Range<usize>,
    rules: &Rules,
    drafts: &mut Drafts,
) -> ReadTask {
    let block = &document.blocks[unit.block];
    let item = block.item().is_some();
    // A step of a list may say all in its heading.
    let title = title_range(document, unit);
    let says_all = rules.format == Format::List && extent.is_empty() && !unit.title.is_empty();
    let extent = if says_all { &title } else { extent };
    let steps = read_steps(document, unit.block, extent);
    let mut found = Vec::new();
    let mut listed = files::listed(document, extent, &mut found);
    let has_list = listed.declared || !listed.files.is_empty() || !listed.unread.is_empty();
    if !has_list {
        let ranges = [title.clone(), extent.clone()];
        let ranges = if item || says_all { &ranges[1..] } else { &ranges };
        listed.hints = mention::read(document, ranges, rules.verbless);
    }
    let need = |(id, at): (String, usize)| Need {
        id: TaskId::new(id),
        reason: Reason::Declared,
        place: document.lines.place(at),
    };
    let declared = needs::declared(document, extent, &unit.id, rules.shape);
    let lists = listed.consumed.iter().filter(|_| matches!(rules.shape, Shape::Numbers));
    let consumed = lists.flat_map(|list| needs::named(document, list, &unit.id)).map(need);
    let consumed = consumed.collect();
    let done = unit.ticked || !steps.is_empty() && steps.iter().all(|step| step.done);
    // What a done task names is past.
    drafts.warnings.extend(found.into_iter().filter(|_| !done));
    listed.unread.retain(|_| !done);
    let (what, hint) = if item {
        ("is a box with nothing behind it", "Say behind the box what is to be done, or remove it.")
    } else {
        (
            "has a heading and nothing else",
            "Say under the heading what is to be done, or remove it.",
        )
    };
    let says_nothing = || !document.text(extent).chars().any(char::is_alphanumeric);
    let is_empty = if item { is_bare_item(document, unit, extent) } else { says_nothing() };
    if is_empty && !done {
        drafts.faults.push(Fault::new(
            Code::EmptyTask,
            document.lines.place(block.range.start),
            format!("Task `{}` {what}.", unit.id),
            hint,
        ));
    }
    let task = Task {
        id: TaskId::new(unit.id.as_str()),
        title: unit.title.clone(),
        text: document.text(extent).to_owned(),
        span: extent.clone(),
        needs: declared.into_iter().map(need).collect(),
        done,
        optional: unit.optional,
        files: listed.files,
        hints: listed.hints,
        files_declared: listed.declared,
        interfaces: listed.interfaces,
        steps,
        ..Task::default()
    };
    ReadTask { task, unread: listed.unread, consumed }
}

/// Where a task's title stands, without the id before it.
fn title_range(document: &Document<'_>, unit: &Unit) -> Range<usize> {
    let words = document.blocks[unit.block].words.clone();
    let before = document.text(&words).rfind(&unit.title).unwrap_or(0);
    words.start + before..words.end
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
