//! The JSON of Task Master: tags, tasks, ids, texts.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

const TESTS: &str = "Test strategy";

/// One task as the file has it.
#[derive(Deserialize)]
#[serde(expecting = "a task, which is an object")]
pub(super) struct Raw<'a> {
    #[serde(borrow, default, alias = "task_id")]
    pub(super) id: Option<&'a RawValue>,
    #[serde(default)]
    pub(super) title: Option<String>,
    #[serde(default)]
    pub(super) description: Option<String>,
    #[serde(default)]
    pub(super) details: Option<Value>,
    #[serde(default, rename = "testStrategy", alias = "test_strategy")]
    pub(super) test_strategy: Option<Value>,
    #[serde(default)]
    pub(super) status: Option<String>,
    /// Of a user story.
    #[serde(default)]
    pub(super) passes: Option<bool>,
    #[serde(default, rename = "acceptanceCriteria")]
    pub(super) criteria: Option<Value>,
    #[serde(default)]
    pub(super) notes: Option<Value>,
    #[serde(borrow, default, alias = "depends_on", alias = "dependsOn")]
    pub(super) dependencies: Option<Vec<&'a RawValue>>,
    #[serde(borrow, default)]
    pub(super) subtasks: Option<Vec<&'a RawValue>>,
}

type Object<'a> = BTreeMap<String, &'a RawValue>;

/// What the parser says, and where in the source.
pub(super) struct Bad {
    pub(super) at: usize,
    pub(super) error: serde_json::Error,
}

/// The tasks of a file, and what of it was not read.
#[derive(Default)]
pub(super) struct Found<'a> {
    pub(super) title: String,
    pub(super) tasks: Vec<&'a RawValue>,
    /// The tag that was read, if there are tags, and the others.
    pub(super) tag: String,
    pub(super) others: Vec<(String, &'a RawValue)>,
    /// The tasks are user stories, which are worked on one after the other.
    pub(super) are_stories: bool,
    /// The keys of a file that has no tasks.
    pub(super) keys: Vec<String>,
}

/// `{tasks: [..]}`, `{tag: {tasks: [..]}}` (the tag that is wanted, else `master`, else the first by name), or a bare list.
pub(super) fn tasks_of<'a>(source: &'a str, wanted: Option<&str>) -> Result<Found<'a>, Bad> {
    if source.trim_start().starts_with('[') {
        return Ok(Found { tasks: parse(source, source)?, ..Found::default() });
    }
    let root: Object<'_> = parse(source, source)?;
    if let Some(tasks) = root.get("tasks") {
        let tasks = parse(source, tasks.get())?;
        return Ok(Found { title: title_of(&root), tasks, ..Found::default() });
    }
    if let Some(stories) = root.get("userStories") {
        let mut tasks: Vec<&RawValue> = parse(source, stories.get())?;
        tasks.sort_by_cached_key(|raw| priority_of(raw));
        return Ok(Found { title: title_of(&root), tasks, are_stories: true, ..Found::default() });
    }
    let keys: Vec<String> = root.keys().take(KEYS).cloned().collect();
    let mut tags: Vec<(String, &RawValue, Object<'_>)> = Vec::new();
    for (name, raw) in root {
        let inner: Object<'_> = serde_json::from_str(raw.get()).unwrap_or_default();
        if inner.contains_key("tasks") {
            tags.push((name, raw, inner));
        }
    }
    let wanted = wanted.unwrap_or("master");
    tags.sort_by_key(|(name, ..)| name != wanted);
    let mut tags = tags.into_iter();
    let Some((tag, _, inner)) = tags.next() else { return Ok(Found { keys, ..Found::default() }) };
    let tasks = inner.get("tasks").map_or(Ok(Vec::new()), |tasks| parse(source, tasks.get()))?;
    let others = tags.map(|(name, raw, _)| (name, raw)).collect();
    Ok(Found { title: title_of(&inner), tasks, tag, others, ..Found::default() })
}

/// Keys of a file that are named.
const KEYS: usize = 12;

/// The number that orders a story; one without comes last.
fn priority_of(raw: &RawValue) -> u64 {
    #[derive(Deserialize)]
    struct Priority {
        priority: u64,
    }
    serde_json::from_str::<Priority>(raw.get()).map_or(u64::MAX, |found| found.priority)
}

/// Reads a part of the source. The parser counts lines from where the part begins, and bytes from where the line does.
fn parse<'a, T: Deserialize<'a>>(source: &str, part: &'a str) -> Result<T, Bad> {
    serde_json::from_str(part).map_err(|error| {
        let base = part.as_ptr() as usize - source.as_ptr() as usize;
        let lines = part.split_inclusive('\n').take(error.line().saturating_sub(1));
        let line: usize = lines.map(str::len).sum();
        Bad { at: base + line + error.column().saturating_sub(1), error }
    })
}

fn title_of(object: &Object<'_>) -> String {
    let project = object.get("project").and_then(|raw| serde_json::from_str(raw.get()).ok());
    if let Some(project) = project {
        return project;
    }
    let meta = object.get("meta").or_else(|| object.get("metadata"));
    let meta: Option<Value> = meta.and_then(|meta| serde_json::from_str(meta.get()).ok());
    let name =
        meta.as_ref().and_then(|meta| meta.get("projectName").or_else(|| meta.get("description")));
    name.and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// A raw id without quotes.
pub(super) fn plain(raw: &RawValue) -> String {
    serde_json::from_str::<String>(raw.get()).unwrap_or_else(|_| raw.get().to_owned())
}

pub(super) fn id_of(raw: &RawValue) -> Option<String> {
    #[derive(Deserialize)]
    struct Id<'a> {
        #[serde(borrow)]
        id: &'a RawValue,
    }
    serde_json::from_str::<Id<'_>>(raw.get()).ok().map(|found| plain(found.id))
}

pub(super) fn qualify(id: &str, parent: &str) -> String {
    if parent.is_empty() || is_beneath(id, parent) {
        id.to_owned()
    } else {
        format!("{parent}.{id}")
    }
}

/// Whether an id stands under a parent's.
pub(super) fn is_beneath(id: &str, parent: &str) -> bool {
    id.strip_prefix(parent).is_some_and(|rest| rest.starts_with('.'))
}

/// The fields of a task under their names, and where that of the tests begins.
pub(super) fn compose(task: &Raw<'_>) -> (String, Option<usize>) {
    let description = task.description.clone().unwrap_or_default();
    let parts = [
        ("Description", description),
        ("Details", text_of(task.details.as_ref())),
        ("Acceptance criteria", text_of(task.criteria.as_ref())),
        ("Notes", text_of(task.notes.as_ref())),
        (TESTS, text_of(task.test_strategy.as_ref())),
    ];
    let (mut composed, mut tests) = (String::new(), None);
    for (label, text) in parts.iter().filter(|(_, text)| !text.trim().is_empty()) {
        if !composed.is_empty() {
            composed.push_str("\n\n");
        }
        tests = (*label == TESTS).then_some(composed.len());
        let _ = write!(composed, "{label}:\n{text}");
    }
    (composed, tests)
}

/// A text as it is, a list of texts as items, anything else as JSON.
fn text_of(value: Option<&Value>) -> String {
    let item = |value: &Value| match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    match value {
        None | Some(Value::Null) => String::new(),
        Some(Value::Array(items)) => {
            items.iter().map(|one| format!("- {}", item(one))).collect::<Vec<_>>().join("\n")
        }
        Some(other) => item(other),
    }
}
