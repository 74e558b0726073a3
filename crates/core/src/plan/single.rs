//! A plan of one task, said in a sentence.

use std::fmt::Write as _;

use super::markdown::Document;
use super::mention::{self, Verbless};
use super::unit::{Draft, Drafts};
use super::{Action, FileRef, Format, Plan, Task};
use crate::fault::Place;
use crate::id::TaskId;
use crate::path::RepoPath;

/// The whole document as one task.
pub(super) fn read(document: &Document<'_>) -> Drafts {
    let mut drafts = Drafts::new(Format::Single);
    let start = document.front.as_ref().map_or(0, |front| front.end);
    let mut span = document.trimmed(start..document.source.len());
    if document.front.is_some() {
        // The fence that ends the front matter.
        let fence = document.text(&span).lines().next().map_or(0, str::len);
        span = document.trimmed(span.start + fence..span.end);
    }
    let text = document.text(&span).to_owned();
    let task = Task {
        id: TaskId::new("1"),
        title: title(&text),
        place: document.lines.place(span.start),
        hints: mention::read(document, std::slice::from_ref(&span), Verbless::Skipped),
        text,
        span,
        ..Task::default()
    };
    drafts.plan.reached.push(task.span.clone());
    drafts.tasks.push(Draft { task, sections: Vec::new(), parallel: false });
    drafts
}

impl Plan {
    /// A task whose text, files to be shown and constraints are given one by one. Its title is the text's first line.
    pub fn single(text: &str, files: Vec<RepoPath>, constraints: Vec<String>) -> Self {
        let place = Place { line: 1, column: 1 };
        let file = |path| FileRef { path, action: Action::Read, lines: None, place };
        let task = Task {
            id: TaskId::new("task"),
            title: title(text),
            text: text.to_owned(),
            files: files.into_iter().map(file).collect(),
            constraints,
            ..Task::default()
        };
        let mut plan = Self::new(Format::Native);
        plan.tasks.push(task);
        plan
    }
}

impl Task {
    /// As a native plan of its own that says the same of it, whatever its text holds: who takes it, what it is shown, its
    /// constraints and its text.
    pub fn to_document(&self) -> String {
        let mut text = format!("---\nsequester: 1\n---\n\n## [{}]\n\n```task\n", self.id);
        let mut line = |key: &str, value: String| {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{key}: {value}");
        };
        let settings = [("agent", &self.settings.agent), ("profile", &self.settings.profile)];
        for (key, value) in settings {
            if let Some(value) = value {
                line(key, quoted(value));
            }
        }
        if !self.files.is_empty() {
            let shown = self.files.iter().map(|file| quoted(file.path.as_str()));
            line("files", format!("{{read: {}}}", list(shown)));
        }
        if !self.constraints.is_empty() {
            line("constraints", list(self.constraints.iter().map(|one| quoted(one))));
        }
        line("text", quoted(&self.text));
        text.push_str("```\n");
        text
    }
}

fn list(values: impl Iterator<Item = String>) -> String {
    format!("[{}]", values.collect::<Vec<_>>().join(", "))
}

/// As YAML takes it on one line, whatever it holds.
fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            ' '..='~' => quoted.push(c),
            // Letters of any language stay what they are; marks that no one sees do not.
            _ if c.is_alphanumeric() => quoted.push(c),
            _ => {
                let _ = write!(quoted, "\\U{:08X}", u32::from(c));
            }
        }
    }
    quoted.push('"');
    quoted
}

/// The first line of a text, without the marks of a list or a heading.
pub(super) fn title(text: &str) -> String {
    let line = text.trim_start().lines().next().unwrap_or_default();
    let mut title = line.trim_start_matches('#').trim();
    for mark in ["- ", "* ", "[ ] "] {
        title = title.strip_prefix(mark).unwrap_or(title).trim_start();
    }
    if title.chars().count() <= TITLE {
        return title.to_owned();
    }
    let cut: String = title.chars().take(TITLE - 1).collect();
    format!("{}…", cut.trim_end())
}

const TITLE: usize = 80;

#[cfg(test)]
mod tests {
    use super::super::{Options, parse};
    use super::*;
    use crate::graph::TaskGraph;

    #[test]
    fn the_title_is_the_first_line_without_its_marks() {
        let title = |text: &str| Plan::single(text, vec![], vec![]).tasks[0].title.clone();
        assert_eq!(title("\n## Mails \n\nSend them."), "Mails");
        assert_eq!(title("- [ ] Send `a`:\n"), "Send `a`:");
        assert_eq!(title("* **[x]** is kept"), "**[x]** is kept");
        assert_eq!(title("find it"), "find it");
        assert_eq!(title(&"x".repeat(200)), format!("{}…", "x".repeat(TITLE - 1)));
        assert_eq!(title(&"x".repeat(TITLE)), "x".repeat(TITLE));
    }

    #[test]
    fn its_document_is_read_back_whatever_the_text_holds() {
        let texts = [
            "find it",
            "  \n\tindented\n\n",
            "---\nsequester: 1\n---\n## [other] Another\n\n```task\nneeds: [x]\n```\n",
            "Unclosed:\n\n````rust\nfn a() {}\n",
            "```\n```task\nagent: reviewer\n```\n# [a] b\n===\n",
            "- [x] done\n- [ ] open \"quoted\" \\ back\r\nslash: #no comment\u{0}\u{7f}\u{85}\u{2028}\u{feff}",
            "任务3：写 ü é 🦀 \u{202e}right\u{200b}",
            "true",
            "1.10",
            "%YAML 1.2\n--- !!tag &a *b\n...",
        ];
        for text in texts {
            let file = || vec![RepoPath::parse("src/a \"b\".rs").unwrap()];
            let limit = || vec!["- keep: it\n```".to_owned(), "1".to_owned()];
            let mut said = Plan::single(text, file(), limit()).tasks.remove(0);
            said.settings.agent = Some("Explore: *x".to_owned());
            said.settings.profile = Some("read-only".to_owned());
            let source = said.to_document();
            let options = Options { format: Some(Format::Native), ..Options::default() };
            let parsed = parse(source.as_bytes(), &options);
            assert_eq!(parsed.faults, [], "{source}");
            let [read] = &parsed.plan.tasks[..] else { panic!("{source}") };
            assert!(TaskGraph::new(&parsed.plan).1.is_empty() && parsed.plan.feature().is_empty());
            assert_eq!((&read.id, &read.title, &read.text), (&said.id, &said.title, &said.text));
            let files = |task: &Task| {
                let row = |file: &FileRef| (file.path.clone(), file.action);
                task.files.iter().map(row).collect::<Vec<_>>()
            };
            assert_eq!((files(read), &read.constraints), (files(&said), &said.constraints));
            assert_eq!(read.settings.agent, said.settings.agent);
            assert_eq!(read.settings.profile, said.settings.profile);
        }
    }
}
