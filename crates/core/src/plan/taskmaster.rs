//! `tasks.json` of Task Master: id, dependencies, details, testStrategy, subtasks.
//!
//! The text is put together from description, details and test strategy, in that order. Needs are as declared; a task
//! with subtasks is their parent, and a need on it is a need on those subtasks that no other of them needs.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::lines::Lines;
use super::shelf::Shelf;
use super::unit::{Draft, Drafts};
use super::{Aside, Format, Need, Parent, Reason, Step, Task};
use crate::fault::{Code, Fault, Place};
use crate::id::TaskId;

/// Subtasks of subtasks are read this deep.
const DEPTH: usize = 4;

#[derive(Deserialize)]
struct Raw<'a> {
    #[serde(borrow, default, alias = "task_id")]
    id: Option<&'a RawValue>,
    #[serde(default)]
    title: Option<String>,
    #[serde(default)]
    description: Option<String>,
    #[serde(default)]
    details: Option<Value>,
    #[serde(default, rename = "testStrategy", alias = "test_strategy")]
    test_strategy: Option<Value>,
    #[serde(default)]
    status: Option<String>,
    #[serde(borrow, default, alias = "depends_on")]
    dependencies: Option<Vec<&'a RawValue>>,
    #[serde(borrow, default)]
    subtasks: Option<Vec<&'a RawValue>>,
}

pub(super) fn read(source: &str) -> Drafts {
    let mut reader = Reader {
        source,
        lines: Lines::new(source),
        drafts: Drafts::new(Format::TaskMaster),
        leaves: HashMap::new(),
        cancelled: HashSet::new(),
        shelf: Shelf::default(),
    };
    match tasks_of(source) {
        Ok((title, tasks)) => {
            reader.drafts.plan.title = title;
            for task in tasks {
                reader.take(task, &Above::default());
            }
        }
        Err(error) => {
            let (line, column) = (error.line() as u32, error.column() as u32);
            reader.bad(
                Place {
                    line: line.max(1),
                    column: column.max(1),
                },
                &error,
            );
        }
    }
    reader.finish()
}

type Object<'a> = BTreeMap<String, &'a RawValue>;

/// `{tasks: [..]}`, `{tag: {tasks: [..]}}` (the tag `master` if it is there, else the first by name), or a bare list.
fn tasks_of(source: &str) -> Result<(String, Vec<&RawValue>), serde_json::Error> {
    if source.trim_start().starts_with('[') {
        return serde_json::from_str(source).map(|tasks| (String::new(), tasks));
    }
    let root: Object<'_> = serde_json::from_str(source)?;
    if let Some(tasks) = root.get("tasks") {
        return Ok((title_of(&root), serde_json::from_str(tasks.get())?));
    }
    for tag in root.get("master").into_iter().chain(root.values()) {
        let inner: Object<'_> = serde_json::from_str(tag.get()).unwrap_or_default();
        if let Some(tasks) = inner.get("tasks") {
            return Ok((title_of(&inner), serde_json::from_str(tasks.get())?));
        }
    }
    Ok((String::new(), Vec::new()))
}

fn title_of(object: &Object<'_>) -> String {
    let meta = object.get("meta").or_else(|| object.get("metadata"));
    let meta: Option<Value> = meta.and_then(|meta| serde_json::from_str(meta.get()).ok());
    let name = meta
        .as_ref()
        .and_then(|meta| meta.get("projectName").or_else(|| meta.get("description")));
    name.and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// What a subtask has from the tasks above it.
#[derive(Clone, Default)]
struct Above {
    id: String,
    depth: usize,
    siblings: HashSet<String>,
    parents: Vec<Parent>,
    needs: Vec<Need>,
    done: bool,
    optional: bool,
}

struct Reader<'a> {
    source: &'a str,
    lines: Lines<'a>,
    drafts: Drafts,
    /// The tasks beneath each parent.
    leaves: HashMap<String, Vec<usize>>,
    cancelled: HashSet<String>,
    shelf: Shelf,
}

impl<'a> Reader<'a> {
    fn take(&mut self, raw: &'a RawValue, above: &Above) {
        let start = self.offset(raw);
        let place = self.lines.place(start);
        let task: Raw<'_> = match serde_json::from_str(raw.get()) {
            Ok(task) => task,
            Err(error) => return self.bad(place, &error),
        };
        let named = task
            .id
            .map(plain)
            .filter(|id| !id.is_empty() && id != "null");
        let Some(id) = named.map(|id| qualify(&id, &above.id)) else {
            return self.bad(place, &"a task has no `id`");
        };
        let status = task
            .status
            .as_deref()
            .unwrap_or_default()
            .to_ascii_lowercase();
        let text = task.title.clone().unwrap_or_default();
        if matches!(status.as_str(), "cancelled" | "canceled") {
            let why = "It is cancelled; a need on it counts as met.".to_owned();
            self.drafts.plan.aside.push(Aside { place, text, why });
            self.cancelled.insert(id);
            return;
        }
        let mut needs = self.needs(&task, above, &id);
        // A subtask that follows another has what its parent needs through that one.
        if !needs
            .iter()
            .any(|need| is_beneath(need.id.as_str(), &above.id))
        {
            needs.extend(above.needs.iter().cloned());
        }
        let mut below = Above {
            id,
            depth: above.depth + 1,
            needs,
            done: above.done || matches!(status.as_str(), "done" | "completed"),
            optional: above.optional || status == "deferred",
            ..above.clone()
        };
        let nested = task
            .subtasks
            .iter()
            .flatten()
            .any(|sub| sub.get().starts_with('{'));
        if nested && above.depth < DEPTH {
            let siblings = task.subtasks.iter().flatten().filter_map(|sub| id_of(sub));
            below.siblings = siblings.map(|sub| qualify(&sub, &below.id)).collect();
            self.descend(&task, below);
        } else {
            self.leaf(&task, below, start..start + raw.get().len());
        }
    }

    fn descend(&mut self, task: &Raw<'a>, mut below: Above) {
        let title = task.title.clone().unwrap_or_default();
        below.parents.push(Parent {
            title,
            text: compose(task),
        });
        self.leaves.entry(below.id.clone()).or_default();
        for subtask in task.subtasks.iter().flatten() {
            self.take(subtask, &below);
        }
    }

    fn leaf(&mut self, task: &Raw<'_>, own: Above, span: Range<usize>) {
        let place = self.lines.place(span.start);
        let title = task.title.clone().unwrap_or_default();
        let composed = compose(task);
        let text = if composed.is_empty() {
            title.clone()
        } else {
            composed
        };
        if text.is_empty() && !own.done {
            self.drafts.faults.push(Fault::new(
                Code::EmptyTask,
                place,
                format!(
                    "Task `{}` has no title, description, details or test strategy.",
                    own.id
                ),
                "Say in `description` or `details` what is to be done.",
            ));
        }
        let parents = self.shelf.keep(own.parents, place, &mut self.drafts.faults);
        let step = |step: &&RawValue| Step {
            text: plain(step),
            done: own.done,
            place,
        };
        self.push(Task {
            id: TaskId::new(own.id.as_str()),
            title,
            text,
            span,
            place,
            needs: own.needs,
            done: own.done,
            optional: own.optional,
            steps: task.subtasks.iter().flatten().map(step).collect(),
            parents,
            ..Task::default()
        });
    }

    fn offset(&self, raw: &RawValue) -> usize {
        raw.get().as_ptr() as usize - self.source.as_ptr() as usize
    }

    fn push(&mut self, task: Task) {
        let index = self.drafts.tasks.len();
        let mut id = task.id.as_str();
        while let Some((head, _)) = id.rsplit_once('.') {
            if let Some(leaves) = self.leaves.get_mut(head) {
                leaves.push(index);
            }
            id = head;
        }
        self.drafts.tasks.push(Draft {
            task,
            sections: Vec::new(),
            parallel: false,
        });
    }

    /// Numbers in a subtask's dependencies mean its siblings, where there is such a one.
    fn needs(&self, task: &Raw<'_>, above: &Above, own: &str) -> Vec<Need> {
        let mut needs = Vec::new();
        for raw in task.dependencies.iter().flatten() {
            let place = self.lines.place(self.offset(raw));
            let id = plain(raw);
            let sibling = qualify(&id, &above.id);
            let id = if sibling != own && above.siblings.contains(&sibling) {
                sibling
            } else {
                id
            };
            needs.push(Need {
                id: TaskId::new(id),
                reason: Reason::Declared,
                place,
            });
        }
        needs
    }

    /// Works out what a need on a parent means, once all tasks are known.
    fn finish(mut self) -> Drafts {
        for draft in &mut self.drafts.tasks {
            draft
                .task
                .needs
                .retain(|need| !self.cancelled.contains(need.id.as_str()));
        }
        for (parent, leaves) in self.leaves {
            let needed: HashSet<&TaskId> = leaves
                .iter()
                .flat_map(|leaf| &self.drafts.tasks[*leaf].task.needs)
                .map(|need| &need.id)
                .collect();
            let ids = leaves.iter().map(|leaf| &self.drafts.tasks[*leaf].task.id);
            let ends = ids.filter(|id| !needed.contains(id)).cloned().collect();
            self.drafts.parents.insert(parent, ends);
        }
        self.drafts
    }

    fn bad(&mut self, place: Place, error: &dyn std::fmt::Display) {
        let message = format!("This is not the JSON of Task Master: {error}.");
        let hint = "Expected `{\"tasks\": [{\"id\": 1, \"title\": ..., \"dependencies\": [], \"details\": ...}]}`.";
        self.drafts
            .faults
            .push(Fault::new(Code::BadSyntax, place, message, hint));
    }
}

/// A raw id without quotes.
fn plain(raw: &RawValue) -> String {
    serde_json::from_str::<String>(raw.get()).unwrap_or_else(|_| raw.get().to_owned())
}

fn id_of(raw: &RawValue) -> Option<String> {
    #[derive(Deserialize)]
    struct Id<'a> {
        #[serde(borrow)]
        id: &'a RawValue,
    }
    serde_json::from_str::<Id<'_>>(raw.get())
        .ok()
        .map(|found| plain(found.id))
}

fn qualify(id: &str, parent: &str) -> String {
    if parent.is_empty() || is_beneath(id, parent) {
        id.to_owned()
    } else {
        format!("{parent}.{id}")
    }
}

/// Whether an id stands under a parent's.
fn is_beneath(id: &str, parent: &str) -> bool {
    id.strip_prefix(parent)
        .is_some_and(|rest| rest.starts_with('.'))
}

fn compose(task: &Raw<'_>) -> String {
    let said = |value: &Option<Value>| match value {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    };
    let description = task.description.clone().unwrap_or_default();
    let parts = [
        ("Description", description),
        ("Details", said(&task.details)),
        ("Test strategy", said(&task.test_strategy)),
    ];
    let parts = parts.iter().filter(|(_, text)| !text.trim().is_empty());
    parts
        .map(|(label, text)| format!("{label}:\n{text}"))
        .collect::<Vec<_>>()
        .join("\n\n")
}
