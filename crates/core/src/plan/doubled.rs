//! Numbered boxes that are there twice: restated parents, and equal copies.

use std::collections::{HashMap, HashSet};

use super::Task;
use super::unit::{Draft, Drafts};
use crate::fault::{Code, Fault};

/// Takes a box whose id has tasks beneath as their parent, and equal boxes of one id as one task. Warnings name both.
pub(super) fn merge(drafts: &mut Drafts) {
    let mut parents: HashSet<String> = HashSet::new();
    for draft in &drafts.tasks {
        let mut id = draft.task.id.as_str();
        while let Some((head, _)) = id.rsplit_once('.') {
            parents.insert(head.to_owned());
            id = head;
        }
    }
    let mut first: HashMap<(String, String), usize> = HashMap::new();
    let mut kept: Vec<Draft> = Vec::with_capacity(drafts.tasks.len());
    let mut warnings = Vec::new();
    for draft in std::mem::take(&mut drafts.tasks) {
        let id = draft.task.id.as_str().to_owned();
        if parents.contains(&id) && !drafts.kept_parents.contains(&id) {
            drafts.parents.entry(id).or_default();
            warnings.push(restated(&draft.task));
            continue;
        }
        let known = *first.entry((id, words(&draft.task).to_owned())).or_insert(kept.len());
        let Some(same) = kept.get_mut(known) else {
            kept.push(draft);
            continue;
        };
        warnings.push(repeated(&same.task, &draft.task));
        same.task.done &= draft.task.done;
    }
    if warnings.is_empty() {
        drafts.tasks = kept;
        return;
    }
    drafts.tasks = kept;
    drafts.warnings.extend(warnings);
    find_children(drafts);
}

/// The positions of the tasks beneath each parent, which have moved.
fn find_children(drafts: &mut Drafts) {
    drafts.parents.values_mut().for_each(Vec::clear);
    for (at, draft) in drafts.tasks.iter().enumerate() {
        let mut id = draft.task.id.as_str();
        while let Some((head, _)) = id.rsplit_once('.') {
            if let Some(beneath) = drafts.parents.get_mut(head) {
                beneath.push(at);
            }
            id = head;
        }
    }
    drafts.parents.retain(|_, beneath| !beneath.is_empty());
}

/// The text of a box, without its mark.
fn words(task: &Task) -> &str {
    task.text.split_once(']').map_or(task.text.as_str(), |(_, words)| words).trim()
}

fn restated(task: &Task) -> Fault {
    Fault::new(
        Code::DoubledId,
        task.place,
        format!(
            "Box `{}` is there twice. The tasks beneath it are the work, so it is no task itself.",
            task.id
        ),
        "Remove one of the two boxes.",
    )
}

fn repeated(first: &Task, task: &Task) -> Fault {
    Fault::new(
        Code::DoubledId,
        task.place,
        format!(
            "Task `{}` is there twice with the same text; the first is in line {}. It is taken once.",
            task.id, first.place.line
        ),
        "Remove one of the two.",
    )
}
