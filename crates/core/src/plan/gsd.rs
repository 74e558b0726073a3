//! GSD: the `<task>` elements of a `PLAN.md`, or of all plans of a phase directory.
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
mod front;

use element::{Element, child, elements};
use front::PlanFront;

/// Begins the line before each plan of a phase directory.
const FILE_MARK: &str = "<!-- plan file: ";
const DONE_MARK: &str = " (done)";

/// A plan of a phase directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PhasePlan {
    pub file_name: String,
    pub text: String,
    /// Its summary lies beside it.
    pub done: bool,
}

/// The plans of a phase directory as one text, in the order of their names.
pub fn join_phase(mut plans: Vec<PhasePlan>) -> String {
    plans.sort_by(|one, two| one.file_name.cmp(&two.file_name));
    let mut joined = String::new();
    for PhasePlan { file_name, text, done } in plans {
        let mark = if done { DONE_MARK } else { "" };
        // Writing to a string cannot fail.
        let _ = write!(joined, "{FILE_MARK}{file_name}{mark} -->\n{text}");
        if !joined.ends_with('\n') {
            joined.push('\n');
        }
    }
    joined
}

/// Whether a text has tasks of this format.
pub(super) fn is_plan(source: &str) -> bool {
    source.starts_with(FILE_MARK)
        || elements(source, 0..source.len())
            .iter()
            .any(|task| task.is_closed || child(source, &task.inner, "name").is_some())
}

pub(super) fn read(source: &str) -> Drafts {
    let mut reader = Reader {
        source,
        lines: Lines::new(source),
        drafts: Drafts::new(Format::Gsd),
        known: BTreeSet::new(),
        shelf: Shelf::default(),
    };
    let mut plans: Vec<PhasePart> = Vec::new();
    for part in parts(source) {
        let front = front::read(source, &part.range, &part.name);
        if let Some((at, message)) = &front.unread {
            reader.warn_of_front(*at, message);
        }
        let elements = elements(source, part.range.clone());
        plans.push(PhasePart { part, front, elements });
    }
    let with_tasks =
        plans.iter().filter(|plan| !plan.front.superseded && !plan.elements.is_empty());
    reader.known = with_tasks.filter_map(|plan| plan.front.id.clone()).collect();
    for plan in &plans {
        reader.take_plan(plan);
    }
    let mut drafts = reader.drafts;
    if let [PhasePart { part, front, .. }] = &plans[..] {
        drafts.plan.title = front.title(&part.name);
        let objective = child(source, &part.range, "objective");
        drafts.plan.goal = objective.map(|range| source[range].trim().to_owned());
    } else if let Some(first) = plans.first() {
        drafts.plan.title.clone_from(&first.front.phase);
    }
    drafts
}

/// The numbers of tasks by the ids that their tags give them.
fn task_numbers(elements: &[Element]) -> BTreeMap<&str, usize> {
    let numbered = elements.iter().zip(1..);
    numbered.filter_map(|(element, number)| Some((element.attribute("id")?, number))).collect()
}

/// The tasks that a tag names in `depends_on`, or `None` where it names none that is known. `id` is the task's own.
fn needed_tasks(
    element: &Element,
    numbers: &BTreeMap<&str, usize>,
    id: &str,
    place: Place,
) -> Option<Vec<Need>> {
    let own = id.rsplit('.').next().and_then(|number| number.parse().ok());
    let named = element.attribute("depends_on")?.split([',', ' ']).map(str::trim);
    let numbers = named.filter_map(|name| numbers.get(name).copied());
    let prefix = id.rsplit_once('.').map_or(String::new(), |(plan, _)| format!("{plan}."));
    let needs: Vec<Need> = numbers
        .filter(|number| Some(*number) != own)
        .map(|number| {
            let id = TaskId::new(format!("{prefix}{number}"));
            Need { id, reason: Reason::Declared, place }
        })
        .collect();
    (!needs.is_empty()).then_some(needs)
}

/// One plan of the text.
struct Part {
    /// Of its file; empty where the text is one file.
    name: String,
    done: bool,
    range: Range<usize>,
}

/// A plan with what was read of it.
struct PhasePart {
    part: Part,
    front: PlanFront,
    elements: Vec<Element>,
}

fn parts(source: &str) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    let mut at = 0;
    for line in source.split_inclusive('\n') {
        let start = at;
        at += line.len();
        let named =
            line.trim_end().strip_prefix(FILE_MARK).and_then(|rest| rest.strip_suffix(" -->"));
        if let Some(named) = named {
            if let Some(before) = parts.last_mut() {
                before.range.end = start;
            }
            let open = named.strip_suffix(DONE_MARK);
            let (name, done) = (open.unwrap_or(named).to_owned(), open.is_some());
            parts.push(Part { name, done, range: at..source.len() });
        }
    }
    if parts.is_empty() {
        parts.push(Part { name: String::new(), done: false, range: 0..source.len() });
    }
    parts
}

struct Reader<'a> {
    source: &'a str,
    lines: Lines<'a>,
    drafts: Drafts,
    /// Ids of the plans in the text that have tasks. A need on any other plan is met.
    known: BTreeSet<String>,
    shelf: Shelf,
}

impl Reader<'_> {
    fn take_plan(&mut self, PhasePart { part, front, elements }: &PhasePart) {
        let general = ["objective", "context"].map(|name| child(self.source, &part.range, name));
        let mut general: Vec<Range<usize>> = general.into_iter().flatten().collect();
        general.sort_by_key(|range| range.start);
        self.drafts.plan.reached.append(&mut general);
        let place = self.lines.place(part.range.start);
        if front.superseded || elements.is_empty() && !part.name.is_empty() {
            let why = if front.superseded {
                "The plan is superseded."
            } else {
                "The plan has no `<task>`."
            };
            let (text, why) =
                (front.title(&part.name), format!("{why} A need on it counts as met."));
            self.drafts.plan.aside.push(Aside { place, text, why });
            return;
        }
        let mut before = self.needed_plans(front, place);
        let parent = self.parent(part, front);
        let numbers = task_numbers(elements);
        for (at, element) in elements.iter().enumerate() {
            let number = at + 1;
            let id =
                front.id.as_ref().map_or_else(|| number.to_string(), |id| format!("{id}.{number}"));
            if !element.is_closed {
                self.warn_of_tag(element, &id);
            }
            let mut task = self.task(&id, element);
            task.done = part.done;
            let parents = || parent.iter().cloned().collect();
            task.parents = self.shelf.keep(parents, task.place, &mut self.drafts.faults);
            let order = std::mem::take(&mut before);
            task.needs = needed_tasks(element, &numbers, &id, task.place).unwrap_or(order);
            before = vec![Need { id: task.id.clone(), reason: Reason::Order, place: task.place }];
            if let Some(plan) = &front.id {
                let tasks = self.drafts.parents.entry(plan.clone()).or_default();
                tasks.push(self.drafts.tasks.len());
            }
            self.drafts.plan.reached.push(element.start..element.inner.end);
            self.drafts.tasks.push(Draft { task, sections: Vec::new(), parallel: false });
        }
    }

    /// The plans that a plan depends on. Those without tasks in the text are met.
    fn needed_plans(&self, front: &PlanFront, place: Place) -> Vec<Need> {
        let known = front.depends_on.iter().filter(|plan| self.known.contains(*plan));
        let need = |plan: &String| {
            let id = TaskId::new(plan.as_str());
            Need { id, reason: Reason::Declared, place }
        };
        known.map(need).collect()
    }

    /// What the plan says of all its tasks.
    fn parent(&self, part: &Part, front: &PlanFront) -> Option<Parent> {
        let mut text = String::new();
        for name in ["objective", "context"] {
            if let Some(range) = child(self.source, &part.range, name) {
                let said = self.source[range].lines().filter(|line| !line.starts_with('@'));
                let said = said.collect::<Vec<_>>().join("\n");
                if !said.trim().is_empty() {
                    let _ = writeln!(text, "{}\n", said.trim());
                }
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
            task.title = excerpt(&question);
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

    fn warn_of_tag(&mut self, element: &Element, id: &str) {
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
