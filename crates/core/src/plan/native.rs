//! Front matter `sequester: 1`, then a heading `## [id] Title` per task with an optional `task` block beneath.
//!
//! The text begins after the block, which names other tasks. Needs are as declared; none means none.

use super::markdown::{Document, Kind};
use super::mention::Verbless;
use super::needs::Shape;
use super::unit::{self, Drafts, Rules, Unit};
use super::{Constraint, Format, Task, mark, single};
use crate::fault::{Code, Fault};

mod block;

use block::{Defaults, Reader};

const RULES: Rules = Rules {
    format: Format::Native,
    nested: false,
    steps: false,
    shape: Shape::Plain(|_| false),
    verbless: Verbless::Skipped,
};

/// Whether front matter declares this format.
pub(super) fn is_declared(front: &str) -> bool {
    front.lines().any(|line| line.starts_with("sequester:"))
}

pub(super) fn read(document: &Document<'_>) -> Drafts {
    let mut drafts = unit::assemble(document, find(document), &RULES);
    let mut faults = std::mem::take(&mut drafts.faults);
    let mut warnings = std::mem::take(&mut drafts.warnings);
    // Whether a task is empty is known only once its block is off its text.
    faults.retain(|fault| fault.code != Code::EmptyTask);
    let mut defaults = Defaults::default();
    if let Some(front) = &document.front {
        let (faults, warnings) = (&mut faults, &mut warnings);
        let mut reader = Reader { document, base: front.start, faults, warnings };
        defaults = reader.front(document.text(front));
    }
    let constraints = std::mem::take(&mut defaults.constraints).into_iter();
    drafts
        .plan
        .constraints
        .extend(constraints.map(|text| Constraint { label: "Constraints".to_owned(), text }));
    drafts.plan.checks.clone_from(&defaults.checks);
    for draft in &mut drafts.tasks {
        read_block(document, &mut draft.task, &defaults, (&mut faults, &mut warnings));
    }
    (drafts.faults, drafts.warnings) = (faults, warnings);
    drafts
}

fn find(document: &Document<'_>) -> Vec<Unit> {
    let mut units = Vec::new();
    for (block, one) in document.blocks.iter().enumerate() {
        let text = document.text(&one.words);
        let bracket = text.strip_prefix('[').and_then(|open| open.split_once(']'));
        let Some((id, rest)) = bracket.filter(|_| one.level().is_some_and(|level| level > 1))
        else {
            continue;
        };
        let named =
            !id.is_empty() && !id.contains(char::is_whitespace) && !rest.starts_with(['(', '[']);
        if named {
            let (id, title) = (id.to_owned(), mark::title(rest));
            units.push(Unit { block, id, title, ticked: false, optional: false, parallel: false });
        }
    }
    units
}

/// Takes the `task` block off the front of a task's text and reads it.
fn read_block(
    document: &Document<'_>,
    task: &mut Task,
    defaults: &Defaults,
    (faults, warnings): (&mut Vec<Fault>, &mut Vec<Fault>),
) {
    task.settings = defaults.settings.clone();
    task.checks.clone_from(&defaults.checks);
    task.files_declared = false;
    let is_task = |info: &str| info.split_whitespace().next() == Some("task");
    let mut blocks = document.blocks_in(&task.span).iter().filter(|block| block.within.is_none());
    let first = blocks.next();
    if let Some(block) =
        first.filter(|block| matches!(block.kind, Kind::Fence(info) if is_task(info)))
    {
        let mut reader = Reader { document, base: block.words.start, faults, warnings };
        let text = reader.task(document.text(&block.words), task);
        if task.files_declared {
            task.hints.clear();
        }
        task.span = document.trimmed(block.range.end.min(task.span.end)..task.span.end);
        task.text = document.text(&task.span).to_owned();
        if let Some(text) = text {
            say(document, task, text, faults);
        }
    }
    for block in document.blocks_in(&task.span) {
        if matches!(block.kind, Kind::Fence(info) if is_task(info)) {
            faults.push(Fault::new(
                Code::BadSyntax,
                document.lines.place(block.range.start),
                format!(
                    "The `task` block of `{}` does not stand directly under its heading.",
                    task.id
                ),
                "Move it up under the heading; there is one per task.",
            ));
        }
    }
    if task.text.is_empty() && !task.done {
        faults.push(Fault::new(
            Code::EmptyTask,
            task.place,
            format!("Task `{}` has a heading and nothing else.", task.id),
            "Say under the heading what is to be done, or remove it.",
        ));
    }
}

/// The text of a task whose block says it: nothing may stand beneath, and its first line is the title that the heading lacks.
fn say(document: &Document<'_>, task: &mut Task, text: String, faults: &mut Vec<Fault>) {
    if !task.text.is_empty() {
        faults.push(Fault::new(
            Code::BadSyntax,
            document.lines.place(task.span.start),
            format!("The text of `{}` stands in its block and beneath it.", task.id),
            "Leave one of them.",
        ));
    }
    if task.title.is_empty() {
        task.title = single::title(&text);
    }
    task.text = text;
}
