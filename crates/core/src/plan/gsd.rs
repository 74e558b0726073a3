//! GSD: the `<task>` elements of a `PLAN.md`, or of all plans of a phase directory. A test-driven plan has a `<feature>` instead.
//!
//! The text of a task is everything between its tags. The tasks of one plan are in order, and the plans of a directory as their
//! `depends_on` says. A `checkpoint:*` task is a question to the person.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::ops::Range;

use super::lines::Lines;
use super::shelf::Shelf;
use super::unit::{Draft, Drafts};
use super::{Action, Aside, FileRef, Format, Need, Parent, Reason, Task, mention, single, token};
use crate::fault::{Code, Fault, Place};
use crate::id::TaskId;
use crate::path::RepoPath;

mod element;
mod fence;
mod front;
mod phase;
mod scan;

use element::{Element, child};
use front::PlanFront;
use phase::Part;
use scan::PlanScan;

pub(super) use fence::range_at;
pub use phase::{PhasePlan, join_phase};
pub(super) use phase::{joined_parts, name_files};

/// Where the tasks stand that make a text a plan of this format. One of them makes it, then all of them count.
pub(super) fn marks(source: &str) -> Vec<Range<usize>> {
    let tasks = PlanScan::read(source, &(0..source.len())).elements;
    let is_plan = tasks.iter().any(|task| task.is_marked(source));
    let tasks = tasks.into_iter().filter(|task| is_plan && task.is_closed);
    tasks.map(|task| task.start..task.inner.end).collect()
}

pub(super) fn read(source: &str) -> Drafts {
    let mut reader = Reader {
        source,
        lines: Lines::new(source),
        drafts: Drafts::new(Format::Gsd),
        known: BTreeSet::new(),
        present: BTreeSet::new(),
        shelf: Shelf::default(),
    };
    let mut parts = joined_parts(source);
    if parts.is_empty() {
        parts.push(Part { name: String::new(), done: false, range: 0..source.len() });
    }
    let mut plans: Vec<PhasePart> = Vec::new();
    for part in parts {
        let front = front::read(source, &part.range, &part.name);
        if let Some((at, message)) = &front.unread {
            reader.warn_of_front(*at, message);
        }
        let scan = PlanScan::read(source, &part.range);
        let general = ["objective", "context"].map(|name| scan.own(source, &part.range, name));
        plans.push(PhasePart { part, front, scan, general });
    }
    let with_tasks =
        plans.iter().filter(|plan| !plan.front.superseded && !plan.scan.elements.is_empty());
    reader.known = with_tasks.filter_map(|plan| plan.front.id.clone()).collect();
    reader.present = plans.iter().filter_map(|plan| plan.front.id.clone()).collect();
    for plan in &plans {
        reader.take_plan(plan);
    }
    let mut drafts = reader.drafts;
    if let [PhasePart { part, front, general: [objective, _], .. }] = &plans[..] {
        drafts.plan.title = front.title(&part.name);
        let objective = objective.clone();
        drafts.plan.goal = objective.map(|range| source[range].trim().to_owned());
    } else if let Some(first) = plans.first() {
        drafts.plan.title.clone_from(&first.front.phase);
    }
    drafts
}

/// A plan with what was read of it.
struct PhasePart {
    part: Part,
    front: PlanFront,
    scan: PlanScan,
    /// What its objective and its context say.
    general: [Option<Range<usize>>; 2],
}

struct Reader<'a> {
    source: &'a str,
    lines: Lines<'a>,
    drafts: Drafts,
    /// Ids of the plans in the text that have tasks.
    known: BTreeSet<String>,
    /// Ids of all plans in the text.
    present: BTreeSet<String>,
    shelf: Shelf,
}

impl Reader<'_> {
    fn take_plan(&mut self, plan: &PhasePart) {
        let PhasePart { part, front, scan, general } = plan;
        let mut general: Vec<Range<usize>> = general.iter().flatten().cloned().collect();
        general.sort_by_key(|range| range.start);
        self.drafts.plan.reached.append(&mut general);
        let place = self.lines.place(part.range.start);
        if !front.superseded && !part.done {
            self.warn_of_strays(&scan.strays);
        }
        if front.superseded || scan.elements.is_empty() && !part.name.is_empty() {
            let why = if front.superseded {
                "The plan is superseded."
            } else {
                self.warn_of_no_task(front, part);
                "The plan has no `<task>`."
            };
            let (text, why) =
                (front.title(&part.name), format!("{why} A need on it counts as met."));
            self.drafts.plan.aside.push(Aside { place, text, why });
            return;
        }
        let mut before: Vec<Need> = Vec::new();
        for id in &front.depends_on {
            before.extend(self.needed_plan(id, plan, place));
        }
        let parent = self.parent(plan);
        let numbered = scan.elements.iter().zip(1..);
        let ids = numbered.filter_map(|(element, number)| Some((element.attribute("id")?, number)));
        let ids: BTreeMap<&str, usize> = ids.collect();
        for (at, element) in scan.elements.iter().enumerate() {
            let id = task_id(front, at + 1);
            if !element.is_closed {
                self.warn_of_tag(element, &id);
            }
            let mut task = self.task(id.as_str(), element);
            task.done = part.done;
            let parents = || parent.iter().cloned().collect();
            task.parents = self.shelf.keep(parents, task.place, &mut self.drafts.faults);
            let order = std::mem::take(&mut before);
            let named = element.attribute("depends_on").unwrap_or_default();
            let named = needed_words(named).map(|word| match needed_number(word, &ids) {
                Some(number) => task_id(front, number),
                None => TaskId::new(word),
            });
            let need = |id| Need { id, reason: Reason::Declared, place: task.place };
            task.needs = named.filter(|named| *named != id).map(need).collect();
            if at == 0 || task.needs.is_empty() {
                task.needs.extend(order);
            }
            before = vec![Need { id, reason: Reason::Order, place: task.place }];
            if let Some(plan) = &front.id {
                let tasks = self.drafts.parents.entry(plan.clone()).or_default();
                tasks.push(self.drafts.tasks.len());
            }
            self.drafts.plan.reached.push(element.start..element.inner.end);
            self.drafts.tasks.push(Draft { task, sections: Vec::new(), parallel: false });
        }
    }

    /// The need on a plan. One without tasks is met, and so is one that is not in the text, unless its phase is: then the need
    /// stays, for the graph finds fault with it.
    fn needed_plan(&mut self, id: &str, plan: &PhasePart, place: Place) -> Option<Need> {
        let PhasePart { part, front, .. } = plan;
        let own = front.id.as_deref().filter(|_| !part.name.is_empty());
        let [own, other] = [own, Some(id)].map(|id| Some(id?.split_once('-')?.0));
        let is_of_phase = own.is_some() && own == other;
        let is_absent = !self.present.contains(id) && !part.done;
        if self.known.contains(id) || is_absent && is_of_phase {
            return Some(Need { id: TaskId::new(id), reason: Reason::Declared, place });
        }
        if is_absent {
            let message = format!(
                "The plan depends on the plan `{id}`, which is not in this text. The need counts as met."
            );
            let hint = "Run that plan first, or name the directory that holds both. Without such a plan, correct `depends_on`.";
            self.drafts.warnings.push(Fault::new(Code::UnknownNeed, place, message, hint));
        }
        None
    }

    /// What the plan says of all its tasks.
    fn parent(&self, PhasePart { part, front, general, .. }: &PhasePart) -> Option<Parent> {
        let mut text = String::new();
        for range in general.iter().flatten().cloned() {
            let said = self.source[range].lines().filter(|line| !line.starts_with('@'));
            let said = said.collect::<Vec<_>>().join("\n");
            if !said.trim().is_empty() {
                let _ = writeln!(text, "{}\n", said.trim());
            }
        }
        if !front.truths.is_empty() {
            text.push_str("When the plan is done:\n");
            for truth in &front.truths {
                let _ = writeln!(text, "- {truth}");
            }
        }
        let text = text.trim_end().to_owned();
        (!text.is_empty()).then(|| Parent { title: front.title(&part.name), text })
    }

    fn task(&mut self, id: &str, element: &Element) -> Task {
        let place = self.lines.place(element.start);
        let own = self.source[element.inner.clone()].find("<option").map_or_else(
            || element.inner.clone(),
            |options| element.inner.start..element.inner.start + options,
        );
        let title = self.title(element, &own);
        let span = trimmed(self.source, element.inner.clone());
        let mut task = Task {
            id: TaskId::new(id),
            title,
            text: self.source[span.clone()].to_owned(),
            span,
            place,
            ..Task::default()
        };
        if task.text.is_empty() {
            let message = format!("Task `{id}` is an empty element.");
            let hint = "Say between its tags what to do, or remove it.";
            self.drafts.faults.push(Fault::new(Code::EmptyTask, place, message, hint));
        }
        if element.kind().starts_with("checkpoint") {
            self.ask(&mut task, element);
        } else if let Some(files) = child(self.source, &element.inner, "files") {
            (task.files, task.files_declared) = self.files(&files);
        }
        if !element.kind().starts_with("checkpoint") && !task.files_declared {
            task.hints =
                mention::read_text(&[&task.title, &element::without_tags(&task.text)], place);
        }
        task
    }

    /// Its `<name>`, else what comes nearest to one.
    fn title(&self, element: &Element, own: &Range<usize>) -> String {
        let inside = |name: &str| child(self.source, own, name).map(|range| &self.source[range]);
        let named = inside("name").or_else(|| inside("title")).or(element.attribute("title"));
        let lines = || {
            let lines = self.source[own.clone()].lines().map(str::trim);
            lines.filter(|line| !line.is_empty() && !line.starts_with('<'))
        };
        let heading = || lines().find(|line| line.starts_with('#'));
        let acted = || {
            let parts = ["action", "what-built", "instructions", "decision"];
            let part = parts.into_iter().find_map(inside)?;
            part.lines().map(str::trim).find(|line| !line.is_empty())
        };
        if named.is_none() && element.kind().starts_with("checkpoint") {
            return String::new();
        }
        let said = named.or_else(heading).or_else(acted).or_else(|| lines().next());
        let said = said.map_or("", |said| said.trim().trim_start_matches('#').trim());
        let title = said
            .split_once(':')
            .filter(|(head, _)| head.to_lowercase().starts_with("task "))
            .map_or(said, |(_, title)| title.trim());
        let title = title.split_whitespace().collect::<Vec<_>>().join(" ");
        if named.is_some() { title } else { single::title(&title) }
    }

    /// A checkpoint waits for the person: `literal` asks what the task says, and does nothing else.
    fn ask(&self, task: &mut Task, element: &Element) {
        let source = self.source;
        let one_line = |range: Range<usize>| {
            let words = source[range].split_whitespace().collect::<Vec<_>>().join(" ");
            words.trim_end_matches(':').to_owned()
        };
        let parts = ["decision", "what-built", "how-to-verify", "action", "instructions"];
        let said = parts.iter().filter_map(|name| child(source, &element.inner, name));
        let said: Vec<String> = said.map(one_line).collect();
        let question = if said.is_empty() { task.title.clone() } else { said.join(" ") };
        let mut text = format!("Ask: {}\n", excerpt(&question));
        let mut options: Vec<String> = Vec::new();
        let mut rest = element.inner.clone();
        while let Some(range) = child(source, &rest, "option") {
            rest.start = range.end;
            let label = child(source, &range, "name").unwrap_or(range);
            options.push(excerpt(&one_line(label)));
        }
        if options.is_empty() {
            options.push(
                if element.kind().ends_with("human-action") { "done" } else { "approved" }
                    .to_owned(),
            );
        }
        text.push('\n');
        for option in &options {
            let _ = writeln!(text, "- {option}");
        }
        if task.title.is_empty() {
            task.title = single::title(said.first().unwrap_or(&question));
        }
        task.text = text;
        task.settings.model = Some("literal".to_owned());
        task.settings.workflow = Some("solo".to_owned());
        task.settings.asks_person = true;
        task.settings.places =
            BTreeMap::from([("model".to_owned(), task.place), ("workflow".to_owned(), task.place)]);
    }

    /// The paths of a `<files>` element, and whether all of it was understood.
    fn files(&self, range: &Range<usize>) -> (Vec<FileRef>, bool) {
        let (mut files, mut is_whole): (Vec<FileRef>, bool) = (Vec::new(), true);
        let mut at = range.start;
        for entry in self.source[range.clone()].split_inclusive([',', '\n']) {
            let start = at;
            at += entry.len();
            let entry = entry.trim_end_matches([',', '\n']).trim().trim_start_matches("- ");
            let entry = entry.split(" (").next().unwrap_or_default();
            let entry = entry.trim_matches(|c: char| c == '`' || c.is_whitespace());
            if entry.is_empty() {
                continue;
            }
            let place = self.lines.place(start);
            let paths = token::read(entry).map(|(paths, lines)| {
                let parsed = paths.iter().map(|path| RepoPath::parse(path).ok());
                (parsed.collect::<Option<Vec<_>>>(), lines)
            });
            if let Some((Some(paths), lines)) = paths {
                let file = |path| FileRef { path, action: Action::Change, lines, place };
                let new = paths.into_iter().map(file);
                files.extend(new);
            } else {
                is_whole = false;
            }
        }
        files.dedup_by(|later, kept| later.path == kept.path);
        let declared = is_whole && !files.is_empty();
        (files, declared)
    }

    fn warn_of_strays(&mut self, strays: &[usize]) {
        for at in strays {
            let message = "This `<task` begins no task: what it holds is not worked on as one.";
            let hint = "Begin a line with the whole tag, outside of other tasks and of code, and end it with `</task>`.";
            let place = self.lines.place(*at);
            self.drafts.warnings.push(Fault::new(Code::UntakenTask, place, message, hint));
        }
    }

    fn warn_of_no_task(&mut self, front: &PlanFront, part: &Part) {
        if part.done {
            return;
        }
        let message = format!(
            "The plan {} has neither a `<task>` nor a `<feature>`: nothing of it is worked on, and a need on it counts as met.",
            front.title(&part.name)
        );
        let hint = "Write its work as `<task>` elements, or set `status: superseded`.";
        let place = self.lines.place(part.range.start);
        self.drafts.warnings.push(Fault::new(Code::UntakenTask, place, message, hint));
    }

    fn warn_of_tag(&mut self, element: &Element, id: &TaskId) {
        let message =
            format!("Task `{id}` has no `</task>`. Its text ends where the next task begins.");
        let hint = "Close the element.";
        let place = self.lines.place(element.start);
        self.drafts.warnings.push(Fault::new(Code::BadSyntax, place, message, hint));
    }

    fn warn_of_front(&mut self, at: usize, message: &str) {
        let message = format!("The front matter is not YAML ({message}). It is ignored.");
        let hint = "Correct it, so that the plan's id, order and goals count.";
        let place = self.lines.place(at);
        self.drafts.warnings.push(Fault::new(Code::BadSyntax, place, message, hint));
    }
}

/// The words of `depends_on` that name something.
fn needed_words(list: &str) -> impl Iterator<Item = &str> {
    let parts = |c: char| c.is_whitespace() || matches!(c, ',' | ';' | '[' | ']' | '"' | '\'');
    list.split(parts).filter(|word| !["", "and", "none", "Task", "task"].contains(word))
}

/// The number of the task that a word names: its id, `2` or `task-2`.
fn needed_number(word: &str, ids: &BTreeMap<&str, usize>) -> Option<usize> {
    let bare = word.to_ascii_lowercase();
    let number = bare.strip_prefix("task").unwrap_or(&bare).trim_start_matches(['-', '#']);
    ids.get(word).copied().or_else(|| number.parse().ok())
}

/// The id of the task with a number in its plan.
fn task_id(front: &PlanFront, number: usize) -> TaskId {
    let plan = front.id.as_ref().map_or_else(String::new, |plan| format!("{plan}."));
    TaskId::new(format!("{plan}{number}"))
}

/// So much of a question or an option is shown.
const EXCERPT: usize = 1_000;

fn excerpt(text: &str) -> String {
    match text.char_indices().nth(EXCERPT) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Without white space at either end.
fn trimmed(source: &str, range: Range<usize>) -> Range<usize> {
    let text = &source[range.clone()];
    let start = range.start + (text.len() - text.trim_start().len());
    start..(start + text.trim().len())
}

#[cfg(test)]
mod tests;
