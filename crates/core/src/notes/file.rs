//! The file and its parts, read and written.

use serde::Serialize;

use super::fence::fenced;
use super::mark::{Mark, is_end};
use super::{TEMPLATE, TITLE};
use crate::id::{RunId, TaskId};

/// The line by which a person keeps a section for all runs to come.
const PINNED: &str = "pinned";

/// The whole file. Its parts hold every byte of it, so that what nobody changes stays as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Notes {
    pub(super) sections: Vec<Section>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Section {
    /// Empty for what stands above the first heading.
    pub(super) name: String,
    /// The line of the heading, as it is.
    pub(super) head: String,
    /// In the order of the file; the first has no mark.
    pub(super) parts: Vec<Part>,
}

/// Words of one author, with the mark above them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) mark: Option<Mark>,
    pub(super) raw: String,
}

/// Who wrote a part.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Author {
    Person,
    Task { run: RunId, task: TaskId },
}

/// A part as people and programs see it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Entry {
    pub section: String,
    pub content: String,
    /// In words.
    pub author: String,
    pub pinned: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<RunId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<TaskId>,
}

impl Notes {
    /// Never fails: whatever is no heading and no mark is text.
    pub fn parse(text: &str) -> Self {
        let mut sections = vec![Section::new("", "")];
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        for (line, is_fenced) in lines.iter().zip(fenced(&lines)) {
            if let Some(name) = heading(line).filter(|_| !is_fenced) {
                sections.push(Section::new(name, line));
            } else if let Some(section) = sections.last_mut() {
                section.take(line);
            }
        }
        Self { sections }
    }

    /// The empty sections that people usually want.
    pub fn template() -> Self {
        let headings = TEMPLATE.map(|name| format!("\n## {name}\n"));
        Self::parse(&format!("{TITLE}{}", headings.concat()))
    }

    pub fn render(&self) -> String {
        let mut text = String::new();
        for section in &self.sections {
            text.push_str(&section.head);
            text.extend(section.parts.iter().map(|part| part.raw.as_str()));
        }
        text
    }

    /// What is written, part by part, in the order of the file.
    pub fn entries(&self) -> Vec<Entry> {
        let mut entries = Vec::new();
        for section in &self.sections {
            for part in &section.parts {
                let content = part.words(section.name.is_empty());
                if content.is_empty() {
                    continue;
                }
                let author = part.author();
                let (run, task) = match &author {
                    Author::Person => (None, None),
                    Author::Task { run, task } => (Some(run.clone()), Some(task.clone())),
                };
                let (section, pinned) = (section.name.clone(), section.is_pinned());
                let author = author.to_string();
                entries.push(Entry { section, content, author, pinned, run, task });
            }
        }
        entries
    }
}

impl Section {
    pub(super) fn new(name: &str, head: &str) -> Self {
        let first = Part { mark: None, raw: String::new() };
        Self { name: name.to_owned(), head: head.to_owned(), parts: vec![first] }
    }

    fn take(&mut self, line: &str) {
        if let Some(mark) = Mark::parse(line) {
            self.parts.push(Part { mark: Some(mark), raw: line.to_owned() });
        } else if let Some(part) = self.parts.last_mut() {
            part.raw.push_str(line);
            if part.mark.as_ref().is_some_and(|mark| mark.is_ended_by(line)) {
                self.parts.push(Part { mark: None, raw: String::new() });
            }
        }
    }

    /// Only a person pins: the line counts outside of what subagents wrote.
    pub(super) fn is_pinned(&self) -> bool {
        let lines = self.parts.iter().flat_map(|part| {
            let is_persons = part.author() == Author::Person;
            part.raw.lines().map(move |line| (line, is_persons))
        });
        let (lines, persons): (Vec<&str>, Vec<bool>) = lines.unzip();
        let fenced = fenced(&lines);
        (0..lines.len()).any(|at| is_pin(lines[at]) && persons[at] && !fenced[at])
    }

    /// Names are compared as people read them.
    pub(super) fn is_called(&self, name: &str) -> bool {
        !self.name.is_empty() && self.name.to_lowercase() == name.to_lowercase()
    }
}

impl Part {
    /// A mark counts while its check fits what stands below it.
    pub(super) fn author(&self) -> Author {
        match &self.mark {
            Some(mark) if mark.fits(self.body()) => mark.author(),
            _ => Author::Person,
        }
    }

    /// What stands below the mark, and above the line that ends it: files of before have none.
    fn body(&self) -> &str {
        let Some(mark) = &self.mark else { return &self.raw };
        let below = self.raw.split_once('\n').map_or("", |(_, below)| below);
        let above = below.trim_end().strip_suffix(mark.end().as_str());
        above.filter(|above| above.is_empty() || above.ends_with('\n')).unwrap_or(below)
    }

    /// The text without our lines in it; of what stands above all sections also without its title.
    pub(super) fn words(&self, is_top: bool) -> String {
        let is_ours = |line: &str| is_pin(line) || is_end(line) || is_top && line.starts_with("# ");
        let lines = lines_of(self.body()).filter(|(line, is_fenced)| *is_fenced || !is_ours(line));
        let lines: Vec<&str> = lines.map(|(line, _)| line.trim_end()).collect();
        lines.join("\n").trim_matches('\n').to_owned()
    }
}

/// The lines of a part, each with whether it stands between fences.
fn lines_of(text: &str) -> impl Iterator<Item = (&str, bool)> {
    let lines: Vec<&str> = text.lines().collect();
    let fenced = fenced(&lines);
    lines.into_iter().zip(fenced)
}

/// The name in a line that begins a section.
pub(super) fn heading(line: &str) -> Option<&str> {
    line.strip_prefix("## ").map(str::trim).filter(|name| !name.is_empty())
}

pub(super) fn is_pin(line: &str) -> bool {
    let inner = line.trim_end().strip_prefix("<!--").and_then(|rest| rest.strip_suffix("-->"));
    inner.is_some_and(|inner| inner.trim() == PINNED)
}

impl std::fmt::Display for Author {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Person => formatter.write_str("a person"),
            Self::Task { run, task } => write!(formatter, "task {task} of run {run}"),
        }
    }
}
