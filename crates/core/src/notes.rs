//! The project's notes: one Markdown file that people and subagents write together.
//!
//! A section is a line `## Name` and what follows it. Inside a section, what a subagent wrote stands under a mark that names its
//! task and run and holds a check of the words below it; everything else is a person's, also words under a mark whose
//! check no longer fits: whoever changes them makes them theirs. So the file itself remembers who wrote what. A table or a second
//! file would have to be kept in step with this one through every crash, checkout and removal of old runs; here the words
//! and their author are one write. Who can forge a mark can edit the file anyway, and what a mark brings is less to be seen, not more.
//!
//! Headings count wherever they stand, also inside a fence: a fence that nobody closed then hides nobody's section, and a
//! section that is split by one loses nothing.

mod book;
mod compact;
mod mark;
mod merge;
mod rescue;
mod standing;
#[cfg(test)]
mod tests;

pub use book::Notebook;
pub use merge::{Merged, joined};
pub use rescue::rescue;
pub use standing::Standing;

use serde::Serialize;

use crate::id::{RunId, TaskId};
pub use crate::report::Note;
use mark::Mark;

/// Where the file lies, from the root of a project.
pub const PATH: &str = ".sequester/NOTES.md";
/// What the file may have before what subagents wrote is shortened.
pub const BYTES: usize = 64 << 10;
/// A larger file is not read at all.
pub const LARGEST: usize = 1 << 20;
/// The sections that a new file is offered with.
pub const TEMPLATE: [&str; 4] = ["Findings", "Decisions", "TODO", "Resources"];

/// Above everything in a file that is made anew.
const TITLE: &str = "# Notes\n";
/// The line by which a person keeps a section for all runs to come.
const PINNED: &str = "pinned";

/// The whole file. Its parts hold every byte of it, so that what nobody changes stays as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Notes {
    sections: Vec<Section>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Section {
    /// Empty for what stands above the first heading.
    name: String,
    /// The line of the heading, as it is.
    head: String,
    /// In the order of the file; the first has no mark.
    parts: Vec<Part>,
}

/// Words of one author, with the mark above them.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Part {
    mark: Option<Mark>,
    raw: String,
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
        for line in text.split_inclusive('\n') {
            if let Some(name) = heading(line) {
                sections.push(Section::new(name, line));
            } else if let Some(section) = sections.last_mut() {
                section.take(line);
            }
        }
        Self { sections }
    }

    /// The empty sections that people usually want.
    pub fn template() -> Self {
        let sections: String = TEMPLATE.iter().map(|name| format!("\n## {name}\n")).collect();
        Self::parse(&format!("{TITLE}{sections}"))
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
    fn new(name: &str, head: &str) -> Self {
        let first = Part { mark: None, raw: String::new() };
        Self { name: name.to_owned(), head: head.to_owned(), parts: vec![first] }
    }

    fn take(&mut self, line: &str) {
        if let Some(mark) = Mark::parse(line) {
            self.parts.push(Part { mark: Some(mark), raw: line.to_owned() });
        } else if let Some(part) = self.parts.last_mut() {
            part.raw.push_str(line);
        }
    }

    /// Only a person pins: the line counts outside of what subagents wrote.
    fn is_pinned(&self) -> bool {
        let persons = self.parts.iter().filter(|part| part.author() == Author::Person);
        persons.flat_map(|part| part.raw.lines()).any(is_pin)
    }

    /// Names are compared as people read them.
    fn is_called(&self, name: &str) -> bool {
        !self.name.is_empty() && self.name.to_lowercase() == name.to_lowercase()
    }
}

impl Part {
    /// A mark counts while its check fits what stands below it.
    fn author(&self) -> Author {
        match &self.mark {
            Some(mark) if mark.fits(self.body()) => mark.author(),
            _ => Author::Person,
        }
    }

    /// What stands below the mark.
    fn body(&self) -> &str {
        let below = self.mark.as_ref().and_then(|_| self.raw.split_once('\n'));
        match (&self.mark, below) {
            (Some(_), Some((_, body))) => body,
            (Some(_), None) => "",
            (None, _) => &self.raw,
        }
    }

    /// The text without our lines in it; of what stands above all sections also without its title.
    fn words(&self, is_top: bool) -> String {
        let kept = |line: &&str| !is_pin(line) && !(is_top && line.starts_with("# "));
        let lines: Vec<&str> = self.body().lines().filter(kept).map(str::trim_end).collect();
        lines.join("\n").trim_matches('\n').to_owned()
    }
}

/// The name in a line that begins a section.
fn heading(line: &str) -> Option<&str> {
    line.strip_prefix("## ").map(str::trim).filter(|name| !name.is_empty())
}

fn is_pin(line: &str) -> bool {
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
