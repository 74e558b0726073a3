//! Artifacts as records: what a task left by kind, what refers to what, and what is still to be done.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Kind, Record};
use crate::agent::{Kept, Left};
use crate::digest::Digest;
use crate::id::TaskId;
use crate::report::Label;
use crate::secret;

/// The artifacts of a task, from those of its attempts that count, in order.
pub fn artifacts<'a>(
    (task, title): (&TaskId, &str),
    paths: &[String],
    kept: impl IntoIterator<Item = &'a Kept>,
) -> Vec<Record> {
    let left = kept.into_iter().flat_map(|kept| &kept.artifacts);
    left.map(|left| record((task, title), paths, left)).collect()
}

/// Their ids within the task: what its next attempt may refer to and must not use again.
pub fn artifact_ids<'a>(kept: impl IntoIterator<Item = &'a Kept>) -> BTreeSet<String> {
    let left = kept.into_iter().flat_map(|kept| &kept.artifacts);
    left.map(|left| left.id.clone()).collect()
}

/// What they say.
pub fn artifact_words<'a>(kept: impl IntoIterator<Item = &'a Kept>) -> BTreeSet<Digest> {
    let left = kept.into_iter().flat_map(|kept| &kept.artifacts);
    left.map(|left| left.artifact.words()).collect()
}

fn record(
    (task, title): (&TaskId, &str),
    paths: &[String],
    Left { id, artifact }: &Left,
) -> Record {
    let redacted = |text: &str| secret::redact(text).text.into_owned();
    // What it is about says more than what its task was about.
    let about = artifact.relevance.as_deref().map(str::trim).filter(|about| !about.is_empty());
    Record {
        id: format!("{task}/{id}").into(),
        task: task.clone(),
        kind: Kind::Artifact,
        title: redacted(about.unwrap_or(title)),
        text: redacted(&artifact.content),
        paths: paths.to_vec(),
        refs: artifact.refs.iter().map(|one| redacted(one)).collect(),
        label: artifact.label.word().to_owned(),
    }
}

/// What a task left to be done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Todo {
    /// Of its record.
    pub id: Arc<str>,
    pub task: TaskId,
    /// The beginning of it, on one line.
    pub text: String,
}

/// Characters of a TODO in a list.
const TEXT: usize = 300;

/// What is still to be done of what is given in the plan's order: a TODO to which no finding, decision or resource refers.
pub fn open_todos<'a>(records: impl Iterator<Item = &'a Record> + Clone) -> Vec<Todo> {
    let closes = |record: &&Record| {
        let closing = [Label::Finding, Label::Decision, Label::Resource];
        record.artifact_type().is_some_and(|label| closing.contains(&label))
    };
    let closed: BTreeSet<&str> = records
        .clone()
        .filter(closes)
        .flat_map(|record| &record.refs)
        .map(String::as_str)
        .collect();
    let is_open = |record: &&Record| {
        record.artifact_type() == Some(Label::Todo) && !closed.contains(&*record.id)
    };
    let todo = |record: &Record| Todo {
        id: Arc::clone(&record.id),
        task: record.task.clone(),
        text: line(&record.text),
    };
    records.filter(is_open).map(todo).collect()
}

fn line(text: &str) -> String {
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match words.char_indices().nth(TEXT) {
        Some((end, _)) => format!("{} …", &words[..end]),
        None => words,
    }
}

#[cfg(test)]
mod tests;
