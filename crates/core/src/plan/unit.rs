//! From the headings and items that a format recognises to tasks: extents, parents, steps, what is left aside.

use std::collections::HashMap;
use std::ops::Range;

use super::markdown::Document;
use super::mention::{self, Bare};
use super::needs::{self, Shape};
use super::shelf::Shelf;
use super::tree::Tree;
use super::{Format, Need, Plan, Reason, Step, Task, aside, files, header};
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
    /// Items are steps where what they stand under itself says what to do.
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
    /// Ids of parents, with the positions of the tasks beneath them.
    pub(super) parents: HashMap<String, Vec<usize>>,
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

pub(super) fn assemble(document: &Document<'_>, units: Vec<Unit>, rules: &Rules) -> Drafts {
    let mut drafts = Drafts::new(rules.format);
    let tree = Tree::grow(document, units, rules);
    let extents: Vec<Range<usize>> =
        tree.leaves().map(|unit| tree.extent(document, unit, rules)).collect();
    let mut shelf = Shelf::default();
    for (unit, extent) in tree.leaves().zip(&extents) {
        let place = document.lines.place(document.blocks[tree.units[unit].block].range.start);
        let parents = shelf.keep(tree.parents(document, unit), place, &mut drafts.faults);
        let (mut task, unread) =
            read_task(document, &tree.units[unit], extent, rules, &mut drafts.faults);
        drafts.plan.aside.extend(unread.iter().map(|entry| aside::unread(document, entry)));
        task.place = place;
        task.parents = parents;
        if rules.nested {
            let mut id = task.id.as_str();
            while let Some((head, _)) = id.rsplit_once('.') {
                drafts.parents.entry(head.to_owned()).or_default().push(drafts.tasks.len());
                id = head;
            }
        }
        drafts.tasks.push(Draft {
            task,
            sections: tree.sections[unit].clone(),
            parallel: tree.units[unit].parallel,
        });
    }
    let taken = header::read(document, &tree, &extents, &mut drafts.plan);
    drafts.plan.aside.extend(aside::leave(document, &tree, &extents, &taken));
    drafts.plan.aside.sort_by_key(|aside| aside.place.line);
    drafts
}

/// Whether an item has nothing behind its box and id, and nothing beneath.
fn is_bare_item(document: &Document<'_>, unit: &Unit, extent: &Range<usize>) -> bool {
    let says = |text: &str| text.chars().any(char::is_alphanumeric);
    !says(&unit.title) && !document.text(extent).lines().skip(1).any(says)
}

/// A task, and what its lists of files name that is no file.
fn read_task(
    document: &Document<'_>,
    unit: &Unit,
    extent: &Range<usize>,
    rules: &Rules,
    faults: &mut Vec<Fault>,
) -> (Task, Vec<Range<usize>>) {
    let block = &document.blocks[unit.block];
    let item = block.item().is_some();
    let steps = read_steps(document, unit.block, extent);
    let mut found = Vec::new();
    let mut listed = files::listed(document, extent, &mut found);
    let mut files = listed.files;
    if let Some(bare) = rules.sentences.filter(|_| !listed.declared) {
        files = mention::read(document, extent, bare, &mut found);
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
    listed.unread.retain(|_| !done);
    let (what, hint) = if item {
        ("is a box with nothing behind it", "Say behind the box what is to be done, or remove it.")
    } else {
        (
            "has a heading and nothing else",
            "Say under the heading what is to be done, or remove it.",
        )
    };
    let is_empty = if item { is_bare_item(document, unit, extent) } else { extent.is_empty() };
    if is_empty && !done {
        faults.push(Fault::new(
            Code::EmptyTask,
            document.lines.place(block.range.start),
            format!("Task `{}` {what}.", unit.id),
            hint,
        ));
    }
    let needs = declared.into_iter().map(|(id, at)| Need {
        id: TaskId::new(id),
        reason: Reason::Declared,
        place: document.lines.place(at),
    });
    let task = Task {
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
    };
    (task, listed.unread)
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
