//! Files of configuration: who wrote them, and how they are read.

use std::fmt;

use serde::{Serialize, Serializer};

use crate::fault::{Code, Fault, FileFault, Place};
use crate::plan::lines::Lines;
use crate::plan::yaml::{self, Node, Value};
use crate::spelling;

/// Who wrote it. The repository is not trusted: it may narrow what is built in, never widen it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    BuiltIn,
    /// A file of the user's own configuration.
    User(String),
    /// A file of the repository, by its path in it.
    Repository(String),
    /// A file of the repository that the person accepted as it stands.
    Accepted(String),
}

impl Origin {
    pub fn is_trusted(&self) -> bool {
        !matches!(self, Self::Repository(_))
    }

    /// The file's path in the repository, if it is one of it.
    pub fn in_repository(&self) -> Option<&str> {
        match self {
            Self::Repository(path) | Self::Accepted(path) => Some(path),
            Self::BuiltIn | Self::User(_) => None,
        }
    }

    /// Written for Claude Code, whose fields keep their meaning.
    pub(crate) fn is_claude(&self) -> bool {
        self.in_repository().is_some_and(|path| path.starts_with(".claude/"))
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BuiltIn => formatter.write_str("built-in"),
            Self::User(path) | Self::Repository(path) | Self::Accepted(path) => {
                formatter.write_str(path)
            }
        }
    }
}

impl Serialize for Origin {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A file as it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    pub origin: Origin,
    pub text: String,
}

impl Source {
    /// A file of the repository as if it were of another standing; any other as it is.
    #[must_use]
    pub fn clone_as(&self, origin: fn(String) -> Origin) -> Self {
        let own = self.origin.in_repository().map(str::to_owned);
        let origin = own.map_or_else(|| self.origin.clone(), origin);
        Self { origin, text: self.text.clone() }
    }

    /// Without the mark that some editors put first.
    pub(crate) fn body(&self) -> &str {
        self.text.strip_prefix('\u{feff}').unwrap_or(&self.text)
    }
}

/// Reads the keys of one YAML text and collects all that is wrong with it.
pub(crate) struct Reader<'a> {
    lines: Lines<'a>,
    /// Where the YAML begins in the file.
    base: usize,
    code: Code,
    faults: Vec<Fault>,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(file: &'a str, base: usize, code: Code) -> Self {
        Self { lines: Lines::new(file), base, code, faults: Vec::new() }
    }

    /// The keys of the text with their values; nothing where it is no YAML, which is told.
    pub(crate) fn entries(&mut self, text: &str) -> Option<Vec<(usize, String, Node)>> {
        let read = yaml::read(text).map_err(|error| {
            let message = format!("This is not the YAML that was expected: {}.", error.message);
            self.bad(error.at, message, "Write `key: value` lines; quote a text that holds `: `.");
        });
        read.ok()
    }

    pub(crate) fn text(&mut self, key: &str, node: &Node) -> Option<String> {
        match &node.value {
            Value::Text(text) if !text.trim().is_empty() => Some(text.trim().to_owned()),
            _ => {
                let hint = format!("Write `{key}: ...`, or leave the key out.");
                self.bad(node.at, format!("`{key}` must be one text."), hint);
                None
            }
        }
    }

    /// A list of texts, or one text with commas, each with its place.
    pub(crate) fn texts(&mut self, key: &str, node: Node) -> Vec<(usize, String)> {
        let hint = || format!("Write `{key}: [...]`.");
        match node.value {
            Value::List(values) => {
                let mut texts = Vec::with_capacity(values.len());
                for value in values {
                    match value.value {
                        Value::Text(text) => texts.push((value.at, text.trim().to_owned())),
                        _ => {
                            self.bad(value.at, format!("`{key}` must be a list of texts."), hint());
                        }
                    }
                }
                texts
            }
            Value::Text(text) if !text.trim().is_empty() => {
                text.split(',').map(|one| (node.at, one.trim().to_owned())).collect()
            }
            _ => {
                self.bad(node.at, format!("`{key}` must be a list of texts."), hint());
                Vec::new()
            }
        }
    }

    pub(crate) fn unknown(&mut self, at: usize, key: &str, known: &[&str]) {
        let hint = spelling::perhaps(key, known.iter().copied())
            .unwrap_or_else(|| format!("The keys here are `{}`.", known.join("`, `")));
        self.bad(at, format!("`{key}` is not a key that is known here."), hint);
    }

    pub(crate) fn bad(&mut self, at: usize, message: impl Into<String>, hint: impl Into<String>) {
        self.refuse(self.code, at, message, hint);
    }

    pub(crate) fn refuse(
        &mut self,
        code: Code,
        at: usize,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) {
        self.faults.push(Fault::new(code, self.place(at), message, hint));
    }

    pub(crate) fn place(&self, at: usize) -> Place {
        self.lines.place(self.base + at)
    }

    /// What was read, unless something was wrong.
    pub(crate) fn finish<T>(self, value: Option<T>) -> Result<T, Vec<Fault>> {
        value.filter(|_| self.faults.is_empty()).ok_or(self.faults)
    }
}

/// The faults of one file with its name.
pub(crate) fn of_file(origin: &Origin, faults: impl IntoIterator<Item = Fault>) -> Vec<FileFault> {
    faults.into_iter().map(|fault| FileFault { file: origin.to_string(), fault }).collect()
}
