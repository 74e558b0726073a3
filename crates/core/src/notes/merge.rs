//! What a subagent leaves, put into the file without a line of anybody's being lost.

use std::collections::BTreeSet;

use super::mark::Mark;
use super::{Author, Note, Notes, Part, Section, TITLE, heading};
use crate::id::{RunId, TaskId};
use crate::{secret, tokens};

/// What became of a note.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Merged {
    Added,
    /// In the place of what the same task of the same run had left there before.
    Replaced,
    /// It stands there already.
    Unchanged,
}

/// Of one note, in tokens; as the tool that takes them says.
const NOTE_TOKENS: usize = 1_000;
/// Notes of one task.
const NOTES: usize = 32;
/// Characters of a section's name.
const NAME: usize = 100;

/// The notes of a task, of all that it left in order: those for one section become one, the same words once. Bounded, and what
/// is left out is said in their place.
pub fn joined<'n>(left: impl IntoIterator<Item = &'n Note>) -> Vec<Note> {
    let mut notes: Vec<Note> = Vec::new();
    let mut over = BTreeSet::new();
    for note in left {
        let (section, content) = (name(&note.section), bounded(&note.content));
        let known =
            notes.iter().position(|one| one.section.to_lowercase() == section.to_lowercase());
        match known {
            _ if content.is_empty() => {}
            Some(at) if is_within(&content, &notes[at].content) => {}
            Some(at) => {
                notes[at].content = bounded(&format!("{}\n\n{content}", notes[at].content));
            }
            None if notes.len() == NOTES => {
                over.insert(section.to_lowercase());
            }
            None => notes.push(Note { section, content }),
        }
    }
    if let Some(last) = notes.last_mut().filter(|_| !over.is_empty()) {
        let head = tokens::head(&last.content, NOTE_TOKENS - 40).trim_end();
        let over = over.len();
        last.content = format!(
            "{head}\n[A task leaves notes for {NOTES} sections: those for {over} more are left out.]"
        );
    }
    notes
}

/// Whether these lines stand there, one after the other.
fn is_within(lines: &str, text: &str) -> bool {
    format!("\n{text}\n").contains(&format!("\n{lines}\n"))
}

/// Without secrets, without lines that the file would take for its own, and not too long.
fn bounded(content: &str) -> String {
    // A token has at least a byte and hardly more than some: what is far too long is not looked through.
    let most = content.floor_char_boundary(content.len().min(NOTE_TOKENS * 64));
    let redacted = secret::redact(&content[..most]);
    let lines: Vec<String> = redacted.text.lines().map(quiet).collect();
    let text = lines.join("\n").trim_matches('\n').to_owned();
    if most == content.len() && tokens::head(&text, NOTE_TOKENS).len() == text.len() {
        return text;
    }
    // With room for the words that say so: to bound again changes nothing.
    let head = tokens::head(&text, NOTE_TOKENS - 40);
    let cut = content.len().saturating_sub(head.len());
    format!("{}\n{CUT} {cut} bytes that did not fit are left out.]", head.trim_end())
}

const CUT: &str = "[A note holds 1,000 tokens:";

/// A subagent begins no section, pins nothing and signs for nobody: a line that would is moved by a blank.
fn quiet(line: &str) -> String {
    let line: String = line.chars().filter(|c| !c.is_control() || *c == '\t').collect();
    let line = line.trim_end();
    let speaks = heading(line).is_some() || line.starts_with("<!--");
    if speaks { format!(" {line}") } else { line.to_owned() }
}

/// On one line, without secrets, and none that is more than a name.
fn name(section: &str) -> String {
    // Far more than is kept, so that no secret is cut to a part that nobody knows.
    let most = section.floor_char_boundary(section.len().min(NAME * 64));
    let words = section[..most].split_whitespace().collect::<Vec<_>>().join(" ");
    let words: String =
        secret::redact(&words).text.chars().filter(|c| !c.is_control()).take(NAME).collect();
    let words = words.trim_start_matches(['#', ' ']).trim_end();
    if words.is_empty() { "Notes".to_owned() } else { words.to_owned() }
}

impl Notes {
    /// Makes `notes` all that the file has of a task: what it wrote before under other headings goes, and a heading that nothing
    /// stands under any more. Nothing that anybody else wrote changes, and a second time changes nothing.
    pub fn settle(&mut self, run: &RunId, task: &TaskId, notes: &[Note]) {
        for note in notes {
            self.merge(note, run, task);
        }
        let author = Author::Task { run: run.clone(), task: task.clone() };
        let names: Vec<String> = notes.iter().map(|note| name(&note.section)).collect();
        let mut goes = false;
        for section in &mut self.sections {
            if names.iter().any(|name| section.is_called(name)) {
                continue;
            }
            for part in section.parts.iter_mut().filter(|part| part.author() == author) {
                part.remove();
                goes = true;
            }
        }
        if goes {
            self.drop_emptied();
        }
    }

    /// Puts a note under its heading. Nothing that anybody else wrote changes, and a second time changes nothing.
    pub fn merge(&mut self, note: &Note, run: &RunId, task: &TaskId) -> Merged {
        let (section, body) = (name(&note.section), bounded(&note.content));
        if body.is_empty() {
            return Merged::Unchanged;
        }
        let author = Author::Task { run: run.clone(), task: task.clone() };
        let number = self.newest().saturating_add(1);
        let part = |tail: &str| Part::written(Mark::of(number, run, task, &body), &body, tail);
        let at = self.find_or_add(&section);
        let last = at + 1 == self.sections.len();
        let found = &mut self.sections[at];
        let is_own = |one: &Part| one.author() == author;
        // The same words of an earlier run are kept once, as the later one's. Another task of this one may take its own back.
        let is_earlier =
            |one: &Part| matches!(one.author(), Author::Task { run: other, .. } if other != *run);
        let is_same = |one: &Part| is_earlier(one) && one.words(false) == body;
        if found.parts.iter().any(|one| is_own(one) && one.words(false) == body) {
            return Merged::Unchanged;
        }
        let find = |which: &dyn Fn(&Part) -> bool| found.parts.iter().position(which);
        if let Some(old) = find(&is_own).or_else(|| find(&is_same)) {
            let tail = tail(&found.parts[old].raw).to_owned();
            found.parts[old] = part(&tail);
            return Merged::Replaced;
        }
        found.end_with_blank_line();
        found.parts.push(part(if last { "\n" } else { "\n\n" }));
        Merged::Added
    }

    fn newest(&self) -> u64 {
        let marks = self.sections.iter().flat_map(|section| &section.parts);
        marks.filter_map(|part| part.mark.as_ref()).map(|mark| mark.number).max().unwrap_or(0)
    }

    fn find_or_add(&mut self, name: &str) -> usize {
        if let Some(at) = self.sections.iter().position(|section| section.is_called(name)) {
            return at;
        }
        if self.render().trim().is_empty() {
            *self = Self::parse(TITLE);
        }
        if let Some(last) = self.sections.last_mut() {
            last.end_with_blank_line();
        }
        self.sections.push(Section::new(name, &format!("## {name}\n")));
        self.sections.len() - 1
    }
}

impl Section {
    fn end_with_blank_line(&mut self) {
        let mut text = self.head.clone();
        text.extend(self.parts.iter().map(|part| part.raw.as_str()));
        let missing = match text.as_str() {
            "" => "",
            text if text.ends_with("\n\n") || text.ends_with("\n\r\n") => "",
            text if text.ends_with('\n') => "\n",
            _ => "\n\n",
        };
        if let Some(part) = self.parts.last_mut() {
            part.raw.push_str(missing);
        }
    }
}

impl Part {
    pub(super) fn written(mark: Mark, body: &str, tail: &str) -> Self {
        let raw = format!("{}{body}\n{}{tail}", mark.line(), mark.end());
        Self { mark: Some(mark), raw }
    }
}

/// The blanks that a text ends with, at least the end of its line.
pub(super) fn tail(raw: &str) -> &str {
    let tail = &raw[raw.trim_end().len()..];
    if tail.is_empty() { "\n" } else { tail }
}
