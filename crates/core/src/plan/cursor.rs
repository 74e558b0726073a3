//! Plans of Cursor: front matter with `todos`, each a task, and the plan itself beneath.
//!
//! The text of a task is the content of its entry. The document beneath holds for all tasks. Tasks are in order, unless any
//! entry names its `dependencies`.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::ops::Range;

use super::lines::Lines;
use super::markdown::Document;
use super::unit::{Draft, Drafts};
use super::yaml::{self, Node, Value};
use super::{Aside, Constraint, Format, Need, Reason, Task, mention, single};
use crate::fault::{Code, Fault, Place};
use crate::id::TaskId;

/// Whether front matter has a list of todos that holds something.
pub(super) fn is_declared(front: &str) -> bool {
    let is_list = |value: &Value| matches!(value, Value::List(todos) if !todos.is_empty());
    let has_list = |entries: Vec<(usize, String, Node)>| {
        entries.iter().any(|(_, key, node)| key == "todos" && is_list(&node.value))
    };
    // Where it is not YAML, the reader says so.
    front.lines().any(|line| line.starts_with("todos:")) && yaml::read(front).map_or(true, has_list)
}

pub(super) fn read(document: &Document<'_>) -> Drafts {
    let mut drafts = Drafts::new(Format::Cursor);
    let Some(front) = &document.front else { return drafts };
    let (repaired, quoted_lines);
    let mut lines = &document.lines;
    let entries = match yaml::read(document.text(front)) {
        Ok(entries) => entries,
        Err(error) => {
            let place = document.lines.place(front.start + error.at);
            let message = format!("The front matter is not YAML: {}.", error.message);
            repaired = with_quotes(document.source, front);
            let end = repaired.len() - (document.source.len() - front.end);
            let Ok(entries) = yaml::read(&repaired[front.start..end]) else {
                let hint = "Correct it: `todos` lists the tasks.";
                drafts.faults.push(Fault::new(Code::BadSyntax, place, message, hint));
                return drafts;
            };
            let message = format!("{message} Texts without quotes are taken as they stand.");
            let hint = "Put such a text in quotes.";
            drafts.warnings.push(Fault::new(Code::BadSyntax, place, message, hint));
            quoted_lines = Lines::new(&repaired);
            lines = &quoted_lines;
            entries
        }
    };
    let mut reader = Reader { lines, base: front.start, drafts };
    for (_, key, node) in entries {
        match (key.as_str(), node.value) {
            ("name", Value::Text(name)) => reader.drafts.plan.title = name,
            ("overview", Value::Text(overview)) => reader.drafts.plan.goal = Some(overview),
            ("todos", Value::List(todos)) => reader.take_todos(todos),
            _ => {}
        }
    }
    let mut drafts = reader.drafts;
    drafts.plan.reached.push(0..document.source.len());
    let rest = document.trimmed(front.end..document.source.len());
    let body = document.text(&rest).trim_start_matches("---").trim();
    if !body.is_empty() {
        let text = body.to_owned();
        drafts.plan.constraints.push(Constraint { label: "Plan".to_owned(), text });
    }
    drafts
}

/// Keys whose texts people write without quotes, whatever is in them.
const TEXT_KEYS: [&str; 3] = ["name", "overview", "content"];

/// The source with the plain texts of the front matter in quotes, each on its line.
fn with_quotes(source: &str, front: &Range<usize>) -> String {
    let mut quoted = String::with_capacity(source.len() + 64);
    quoted.push_str(&source[..front.start]);
    for line in source[front.clone()].split_inclusive('\n') {
        let body = line.trim_end_matches(['\n', '\r']);
        let indent = body.len() - body.trim_start_matches([' ', '-']).len();
        let pair = body[indent..].split_once(": ").filter(|(key, _)| TEXT_KEYS.contains(key));
        match pair.map(|(key, text)| (key, text.trim())) {
            Some((key, text)) if !text.starts_with(['"', '\'', '|', '>']) => {
                let (head, text) = (&body[..indent], text.replace('\'', "''"));
                let _ = write!(quoted, "{head}{key}: '{text}'");
            }
            _ => quoted.push_str(body),
        }
        quoted.push_str(&line[body.len()..]);
    }
    quoted.push_str(&source[front.end..]);
    quoted
}

struct Reader<'r, 'a> {
    lines: &'r Lines<'a>,
    /// Where the front matter begins.
    base: usize,
    drafts: Drafts,
}

impl Reader<'_, '_> {
    /// A need on a cancelled entry is met.
    fn take_todos(&mut self, todos: Vec<Node>) {
        let todos: Vec<(usize, Option<Todo>)> =
            todos.into_iter().map(|node| (node.at, Todo::of(node.value))).collect();
        let is_ordered = |(_, todo): &(usize, Option<Todo>)| {
            todo.as_ref().is_some_and(|todo| todo.dependencies.is_some())
        };
        // Where one entry names its needs, an entry without such a list has none.
        let is_declared = todos.iter().any(is_ordered);
        let mut before: Option<TaskId> = None;
        let mut cancelled: HashSet<TaskId> = HashSet::new();
        for (at, (offset, todo)) in todos.into_iter().enumerate() {
            let place = self.lines.place(self.base + offset);
            let Some(todo) = todo else {
                let message = format!("Entry {} of `todos` is no task, and is ignored.", at + 1);
                let hint = "Write it as `- id: ...` with `content: ...` beneath, or as plain text.";
                self.drafts.warnings.push(Fault::new(Code::UntakenTask, place, message, hint));
                continue;
            };
            let id = if todo.id.is_empty() { (at + 1).to_string() } else { todo.id };
            let status = todo.status.to_ascii_lowercase();
            if matches!(status.as_str(), "cancelled" | "canceled") {
                let why = "It is cancelled.".to_owned();
                self.drafts.plan.aside.push(Aside { place, text: todo.content, why });
                cancelled.insert(TaskId::new(id));
                continue;
            }
            let id = TaskId::new(id);
            let done = matches!(status.as_str(), "completed" | "done");
            if todo.content.trim().is_empty() && !done {
                let message = format!("Task `{id}` has no `content`.");
                let hint = "Say there what to do, or remove the entry.";
                self.drafts.faults.push(Fault::new(Code::EmptyTask, place, message, hint));
            }
            let needs = needs(todo.dependencies, before.take(), place);
            before = Some(id.clone()).filter(|_| !is_declared);
            let hints = mention::read_text(&[&todo.content], place);
            let task = Task {
                id,
                hints,
                title: single::title(&todo.content),
                text: todo.content,
                place,
                needs,
                done,
                ..Task::default()
            };
            self.drafts.tasks.push(Draft { task, sections: Vec::new(), parallel: false });
        }
        let known: HashSet<TaskId> =
            self.drafts.tasks.iter().map(|draft| draft.task.id.clone()).collect();
        for draft in &mut self.drafts.tasks {
            let is_met = |id: &TaskId| cancelled.contains(id) && !known.contains(id);
            draft.task.needs.retain(|need| !is_met(&need.id));
        }
    }
}

fn needs(declared: Option<Vec<String>>, before: Option<TaskId>, place: Place) -> Vec<Need> {
    let need = |id, reason| Need { id, reason, place };
    match declared {
        Some(ids) => ids.into_iter().map(|id| need(TaskId::new(id), Reason::Declared)).collect(),
        None => before.into_iter().map(|id| need(id, Reason::Order)).collect(),
    }
}

#[derive(Default)]
struct Todo {
    id: String,
    content: String,
    status: String,
    dependencies: Option<Vec<String>>,
}

impl Todo {
    /// An entry with its keys, or the bare content.
    fn of(value: Value) -> Option<Self> {
        let entries = match value {
            Value::Text(content) => return Some(Self { content, ..Self::default() }),
            Value::Map(entries) => entries,
            _ => return None,
        };
        let mut todo = Self::default();
        for (_, key, node) in entries {
            match (key.as_str(), node.value) {
                ("id", Value::Text(id)) => todo.id = joined(&id),
                ("content", Value::Text(content)) => todo.content = content,
                ("status", Value::Text(status)) => todo.status = status,
                ("dependencies", Value::List(ids)) => {
                    let text = |node: Node| match node.value {
                        Value::Text(id) => Some(joined(&id)),
                        _ => None,
                    };
                    todo.dependencies = Some(ids.into_iter().filter_map(text).collect());
                }
                ("dependencies", Value::Text(ids)) => {
                    let ids = ids.split(',').map(joined).filter(|id| !id.is_empty());
                    todo.dependencies = Some(ids.collect());
                }
                _ => {}
            }
        }
        Some(todo)
    }
}

/// An id without blanks, wherever it stands.
fn joined(id: &str) -> String {
    id.split_whitespace().collect::<Vec<_>>().join("-")
}

#[cfg(test)]
mod tests;
