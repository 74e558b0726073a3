//! The keys of front matter and `task` blocks.

use super::super::files::outside_repository;
use super::super::markdown::Document;
use super::super::yaml::{self, Node, Value};
use super::super::{Action, FileRef, Need, Reason, Settings, Task, token};
use crate::fault::{Code, Fault, Place};
use crate::id::TaskId;
use crate::path::RepoPath;

const FRONT_KEYS: &str = "`sequester`, `workflow`, `agent`, `profile`, `model`, `tdd`, `budget`, `constraints` and `checks`";
const TASK_KEYS: &str = "`needs`, `agent`, `profile`, `workflow`, `model`, `files`, `produces`, `consumes`, `constraints`, \
    `checks`, `tdd`, `optional`, `done`, `budget` and `text`";
const FILE_KEYS: &str = "`create`, `modify`, `delete`, `read` and `test`";

/// What the front matter sets for all tasks.
#[derive(Default)]
pub(super) struct Defaults {
    pub(super) settings: Settings,
    pub(super) checks: Vec<String>,
    pub(super) constraints: Vec<String>,
}

/// Reads one YAML text of a plan.
pub(super) struct Reader<'r, 'a> {
    pub(super) document: &'r Document<'a>,
    /// Where the YAML begins in the source.
    pub(super) base: usize,
    pub(super) faults: &'r mut Vec<Fault>,
    pub(super) warnings: &'r mut Vec<Fault>,
}

impl Reader<'_, '_> {
    pub(super) fn front(&mut self, text: &str) -> Defaults {
        let mut found = Defaults::default();
        for (at, key, node) in self.entries(text) {
            match key.as_str() {
                "sequester" => {
                    if !matches!(&node.value, Value::Text(version) if version == "1") {
                        self.bad(node.at, "`sequester` must be 1, the version of the format.");
                    }
                }
                "constraints" => found.constraints = self.texts(&key, node),
                "checks" => found.checks = self.texts(&key, node),
                _ => self.setting(at, &key, node, &mut found.settings, FRONT_KEYS),
            }
        }
        found
    }

    /// Gives the task's text where it stands in the block, since it would be taken for something else beneath it.
    pub(super) fn task(&mut self, block: &str, task: &mut Task) -> Option<String> {
        let mut text = None;
        for (at, key, node) in self.entries(block) {
            match key.as_str() {
                "needs" => task.needs.extend(self.needs(node)),
                "files" => self.files(node, task),
                "produces" => task.interfaces.produces = self.texts(&key, node),
                "consumes" => task.interfaces.consumes = self.texts(&key, node),
                "constraints" => task.constraints = self.texts(&key, node),
                "checks" => task.checks = self.texts(&key, node),
                "optional" => task.optional = self.flag(&key, &node).unwrap_or(task.optional),
                "done" => task.done = self.flag(&key, &node).unwrap_or(task.done),
                "text" => match node.value {
                    Value::Text(value) => text = Some(value),
                    _ => self.bad(node.at, "`text` must be one text."),
                },
                _ => self.setting(at, &key, node, &mut task.settings, TASK_KEYS),
            }
        }
        text
    }

    fn setting(&mut self, at: usize, key: &str, node: Node, settings: &mut Settings, known: &str) {
        let slot = match key {
            "agent" => &mut settings.agent,
            "profile" => &mut settings.profile,
            "workflow" => &mut settings.workflow,
            "model" => &mut settings.model,
            "budget" => &mut settings.budget,
            "tdd" => {
                settings.tdd = self.flag(key, &node).or(settings.tdd);
                return;
            }
            _ => return self.unknown(at, key, known),
        };
        match node.value {
            Value::Text(value) => {
                *slot = Some(value);
                settings.places.insert(key.to_owned(), self.place(node.at));
            }
            _ => self.bad(node.at, &format!("`{key}` must be one text.")),
        }
    }

    fn files(&mut self, node: Node, task: &mut Task) {
        let Value::Map(entries) = node.value else {
            return self.bad(node.at, "`files` must be a mapping from an action to paths.");
        };
        task.files_declared = true;
        for (at, key, node) in entries {
            let action = match key.as_str() {
                "create" => Action::Create,
                "modify" => Action::Modify,
                "delete" => Action::Delete,
                "read" => Action::Read,
                "test" => Action::Test,
                _ => {
                    self.unknown(at, &key, FILE_KEYS);
                    continue;
                }
            };
            for (at, path) in self.placed(&key, node) {
                let (paths, lines) =
                    token::read(&path).unwrap_or_else(|| (vec![path.clone()], None));
                for path in paths {
                    self.file(at, &path, action, lines, task);
                }
            }
        }
    }

    fn file(
        &mut self,
        at: usize,
        path: &str,
        action: Action,
        lines: Option<(u32, u32)>,
        task: &mut Task,
    ) {
        let place = self.place(at);
        match RepoPath::parse(path) {
            Ok(path) => task.files.push(FileRef { path, action, lines, place }),
            Err(error) => self.warnings.push(outside_repository(path, error, place)),
        }
    }

    fn needs(&mut self, node: Node) -> Vec<Need> {
        let ids = self.placed("needs", node);
        let need = |(at, id): (usize, String)| Need {
            id: TaskId::new(id),
            reason: Reason::Declared,
            place: self.place(at),
        };
        ids.into_iter().map(need).collect()
    }

    fn entries(&mut self, text: &str) -> Vec<(usize, String, Node)> {
        yaml::read(text).unwrap_or_else(|error| {
            self.bad(
                error.at,
                &format!("This is not the YAML that was expected: {}.", error.message),
            );
            Vec::new()
        })
    }

    fn flag(&mut self, key: &str, node: &Node) -> Option<bool> {
        if let Value::Bool(value) = node.value {
            return Some(value);
        }
        self.bad(node.at, &format!("`{key}` must be `true` or `false`."));
        None
    }

    fn texts(&mut self, key: &str, node: Node) -> Vec<String> {
        self.placed(key, node).into_iter().map(|(_, text)| text).collect()
    }

    /// One text or a list of texts, each with its place.
    fn placed(&mut self, key: &str, node: Node) -> Vec<(usize, String)> {
        let values = match node.value {
            Value::List(values) => values,
            Value::Null => Vec::new(),
            value => vec![Node { at: node.at, value }],
        };
        let mut texts = Vec::with_capacity(values.len());
        for value in values {
            match value.value {
                Value::Text(text) => texts.push((value.at, text)),
                _ => self.bad(value.at, &format!("`{key}` must be a list of texts.")),
            }
        }
        texts
    }

    fn unknown(&mut self, at: usize, key: &str, known: &str) {
        let place = self.place(at);
        let hint = format!("The keys here are {known}.");
        self.faults.push(Fault::new(
            Code::UnknownKey,
            place,
            format!("`{key}` is not a key that is known here."),
            hint,
        ));
    }

    fn bad(&mut self, at: usize, message: &str) {
        let place = self.place(at);
        let hint = "See the native format in the reference: front matter `sequester: 1`, then `## [id] Title` with a `task` block.";
        self.faults.push(Fault::new(Code::BadSyntax, place, message, hint));
    }

    fn place(&self, at: usize) -> Place {
        self.document.lines.place(self.base + at)
    }
}
