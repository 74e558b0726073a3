//! `tasks.json` of Task Master: id, dependencies, details, testStrategy, subtasks.
//!
//! The text is put together from description, details and test strategy, in that order. Needs are as declared; a task
//! with subtasks is their parent.

use std::collections::HashSet;
use std::ops::Range;

use serde_json::value::RawValue;

use super::lines::Lines;
use super::mention;
use super::shelf::Shelf;
use super::unit::{Draft, Drafts};
use super::{Aside, Format, Need, Parent, Reason, Step, Task};
use crate::fault::{Code, Fault, Place};
use crate::id::TaskId;

mod json;

use json::{Found, Raw, compose, id_of, is_beneath, plain, qualify, tasks_of};

/// Subtasks of subtasks are read this deep.
const DEPTH: usize = 4;

/// So many parts of an id are taken as ids of parents.
const DOTS: usize = 32;

/// Past so many needs that subtasks have from their parents, they get no more.
const INHERITED: usize = 1 << 20;

pub(super) fn read(source: &str, tag: Option<&str>) -> Drafts {
    let mut reader = Reader {
        source,
        lines: Lines::new(source),
        drafts: Drafts::new(Format::TaskMaster),
        cancelled: HashSet::new(),
        shelf: Shelf::default(),
        inherited: 0,
    };
    match tasks_of(source, tag) {
        Ok(found) => {
            if let Some(wanted) = tag.filter(|tag| found.tag != **tag) {
                reader.no_such_tag(wanted, &found);
                return reader.finish();
            }
            reader.drafts.plan.title = found.title;
            for (other, raw) in found.others {
                let place = reader.lines.place(reader.offset(raw));
                let why = format!(
                    "Another tag: `{}` is read. `--tag {other}` reads this one.",
                    found.tag
                );
                reader.drafts.plan.aside.push(Aside { place, text: other, why });
            }
            if !found.keys.is_empty() {
                reader.no_tasks(&found.keys);
            }
            for task in found.tasks {
                reader.take(task, &Above::default());
            }
            if found.are_stories {
                reader.put_in_order();
            }
        }
        Err(bad) => reader.bad(reader.lines.place(bad.at), &bad.error),
    }
    reader.finish()
}

/// What a subtask has from the tasks above it.
#[derive(Default)]
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
    cancelled: HashSet<String>,
    shelf: Shelf,
    /// How many needs subtasks have from what they stand under.
    inherited: usize,
}

impl<'a> Reader<'a> {
    fn take(&mut self, raw: &'a RawValue, above: &Above) {
        let start = self.offset(raw);
        let place = self.lines.place(start);
        let task: Raw<'_> = match serde_json::from_str(raw.get()) {
            Ok(task) => task,
            Err(error) => return self.bad(place, &error),
        };
        let named = task.id.map(plain).filter(|id| !id.is_empty() && id != "null");
        let Some(id) = named.map(|id| qualify(&id, &above.id)) else {
            return self.bad(place, &"a task has no `id`");
        };
        let status = task.status.as_deref().unwrap_or_default().to_ascii_lowercase();
        let text = task.title.clone().unwrap_or_default();
        if matches!(status.as_str(), "cancelled" | "canceled") {
            let why = "It is cancelled; a need on it counts as met.".to_owned();
            self.drafts.plan.aside.push(Aside { place, text, why });
            self.cancelled.insert(id);
            return;
        }
        if above.depth == 0 {
            self.drafts.plan.reached.push(start..start + raw.get().len());
        }
        let mut needs = self.needs(&task, above, &id);
        // A subtask that follows another has what its parent needs through that one.
        if !needs.iter().any(|need| is_beneath(need.id.as_str(), &above.id)) {
            self.inherit(above, place, &mut needs);
        }
        let mut below = Above {
            id,
            depth: above.depth + 1,
            needs,
            done: above.done
                || task.passes == Some(true)
                || matches!(status.as_str(), "done" | "completed"),
            optional: above.optional || status == "deferred",
            parents: above.parents.clone(),
            siblings: HashSet::new(),
        };
        let nested = task.subtasks.iter().flatten().any(|sub| sub.get().starts_with('{'));
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
        below.parents.push(Parent { title, text: compose(task).0 });
        self.drafts.parents.entry(below.id.clone()).or_default();
        for subtask in task.subtasks.iter().flatten() {
            self.take(subtask, &below);
        }
    }

    fn leaf(&mut self, task: &Raw<'_>, own: Above, span: Range<usize>) {
        let place = self.lines.place(span.start);
        let title = task.title.clone().unwrap_or_default();
        let (composed, tests) = compose(task);
        let text = if composed.is_empty() { title.clone() } else { composed };
        if text.is_empty() && !own.done {
            self.drafts.faults.push(Fault::new(
                Code::EmptyTask,
                place,
                format!("Task `{}` has no title, description, details or test strategy.", own.id),
                "Say in `description` or `details` what is to be done.",
            ));
        }
        let hints = mention::read_text(&[&title, &text], place);
        let parents = self.shelf.keep(|| own.parents, place, &mut self.drafts.faults);
        let step = |step: &&RawValue| Step { text: plain(step), done: own.done, place };
        self.push(Task {
            id: TaskId::new(own.id.as_str()),
            title,
            text,
            tests,
            hints,
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
        let id = task.id.as_str();
        // A hostile id has any number of dots.
        for (dot, _) in id.rmatch_indices('.').take(DOTS) {
            if let Some(leaves) = self.drafts.parents.get_mut(&id[..dot]) {
                leaves.push(index);
            }
        }
        self.drafts.tasks.push(Draft { task, sections: Vec::new(), parallel: false });
    }

    /// What the task above needs, as long as there is room.
    fn inherit(&mut self, above: &Above, place: Place, needs: &mut Vec<Need>) {
        let before = self.inherited;
        self.inherited += above.needs.len();
        if self.inherited <= INHERITED {
            needs.extend(above.needs.iter().cloned());
        } else if before <= INHERITED {
            self.drafts.faults.push(Fault::new(
                Code::PlanTooLarge,
                place,
                format!("The subtasks of `{}` have too many needs: each has all of its parent's.", above.id),
                "Let the other subtasks need the first; then only that one has what the parent needs.",
            ));
        }
    }

    /// Numbers in a subtask's dependencies mean its siblings, where there is such a one.
    fn needs(&self, task: &Raw<'_>, above: &Above, own: &str) -> Vec<Need> {
        let mut needs = Vec::new();
        for raw in task.dependencies.iter().flatten() {
            let place = self.lines.place(self.offset(raw));
            let id = plain(raw);
            let sibling = qualify(&id, &above.id);
            let id = if sibling != own && above.siblings.contains(&sibling) { sibling } else { id };
            needs.push(Need { id: TaskId::new(id), reason: Reason::Declared, place });
        }
        needs
    }

    /// A need on what is cancelled is met; which that is, is known only once all tasks are.
    fn finish(mut self) -> Drafts {
        for draft in &mut self.drafts.tasks {
            draft.task.needs.retain(|need| !self.cancelled.contains(need.id.as_str()));
        }
        self.drafts
    }

    /// User stories that name no others are worked on in their order.
    fn put_in_order(&mut self) {
        let mut before: Option<TaskId> = None;
        for Draft { task, .. } in &mut self.drafts.tasks {
            let id = before.replace(task.id.clone()).filter(|_| task.needs.is_empty());
            let need = id.map(|id| Need { id, reason: Reason::Order, place: task.place });
            task.needs.extend(need);
        }
    }

    fn no_tasks(&mut self, keys: &[String]) {
        let keys: Vec<String> = keys.iter().map(|key| format!("`{key}`")).collect();
        let message = format!("This JSON has no tasks. Its keys are {}.", keys.join(", "));
        let hint = "Tasks are read from `tasks`, from tags such as `master` with `tasks`, and from `userStories`.";
        let place = Place { line: 1, column: 1 };
        self.drafts.faults.push(Fault::new(Code::NoTasks, place, message, hint));
    }

    fn no_such_tag(&mut self, wanted: &str, found: &Found<'_>) {
        let others = found.others.iter().map(|(name, _)| name.as_str());
        let known = std::iter::once(found.tag.as_str()).chain(others).filter(|tag| !tag.is_empty());
        let known: Vec<String> = known.map(|tag| format!("`{tag}`")).collect();
        let message = format!("The file has no tag `{wanted}`.");
        let hint = if known.is_empty() {
            "It has no tags: leave `--tag` out.".to_owned()
        } else {
            format!("Its tags are {}.", known.join(", "))
        };
        let place = Place { line: 1, column: 1 };
        self.drafts.faults.push(Fault::new(Code::NoTasks, place, message, hint));
    }

    fn bad(&mut self, place: Place, error: &dyn std::fmt::Display) {
        let error = error.to_string();
        // The parser counts lines from where it was set to work; the place says it better.
        let what = error.split(" at line ").next().unwrap_or(&error);
        let message = format!("This is not the JSON of Task Master: {what}.");
        let hint = "Expected `{\"tasks\": [{\"id\": 1, \"title\": ..., \"dependencies\": [], \"details\": ...}]}`.";
        self.drafts.faults.push(Fault::new(Code::BadSyntax, place, message, hint));
    }
}
