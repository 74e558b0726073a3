//! What a task spells out, step by step and word for word. Nothing is guessed: what is not spelled out is unclear.

use std::collections::HashMap;

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

use super::files;
use super::markdown::Document;
use super::{Action as Listed, FileRef};
use crate::path::RepoPath;
use gap::Gap;

mod command;
mod expect;
mod folder;
mod forbidden;
mod form;
mod gap;
mod number;
mod omission;
mod patch;
mod pattern;
mod prose;
mod quote;
mod reader;
mod scope;
mod script;
mod section;
mod sentence;
mod target;
mod title;
mod words;

/// One thing to do. Several of one step of the text follow each other under the same title.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The words of the step, cut to [`TITLE`] characters.
    pub title: String,
    /// In the task's text, counted from 1.
    pub line: u32,
    pub action: Action,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    Write {
        path: RepoPath,
        content: String,
        /// The file is new: one that is there with other contents is not replaced.
        fresh: bool,
    },
    Append {
        path: RepoPath,
        content: String,
    },
    /// Text that is in the file exactly once, and not as a part of a longer word.
    Replace {
        path: RepoPath,
        old: String,
        new: String,
    },
    Patch {
        path: RepoPath,
        hunks: Vec<Hunk>,
    },
    /// Lines beside one that is in the file exactly once, whatever its indent.
    Insert {
        path: RepoPath,
        line: String,
        after: bool,
        content: String,
    },
    Delete {
        path: RepoPath,
        folder: bool,
    },
    Rename {
        from: RepoPath,
        to: RepoPath,
    },
    Run {
        command: String,
        expect: Expect,
    },
    Ask {
        question: String,
        options: Vec<String>,
        default: Option<String>,
        /// What a person has said: it is not asked again.
        answer: Option<String>,
    },
    /// Taken over by the runtime.
    Commit {
        message: Option<String>,
    },
    Unclear {
        /// What is missing, without a full stop.
        reason: String,
        /// What a person can write in its place, as a sentence.
        remedy: &'static str,
    },
}

/// Whole lines that are in the file exactly once, and what stands in their place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hunk {
    pub old: String,
    pub new: String,
}

/// What a command must come to. All of it must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Expect {
    pub exit: Exit,
    /// Must be in the output, not as a part of a longer word.
    pub text: Option<String>,
    /// Must be lines of the output, in this order; times that they state may differ.
    pub lines: Vec<String>,
    /// So many tests must pass, by what the output says.
    pub count: Option<u32>,
    /// There must be no output at all.
    pub silent: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Exit {
    /// 0, which is what a command that says nothing else must end with.
    #[default]
    Pass,
    Fail,
    Code(u8),
}

/// What a task's text comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// Never empty: a task that spells nothing out is one unclear step.
    pub steps: Vec<Step>,
    /// Sentences in steps that explain and ask for nothing, in their order.
    pub passed: Vec<String>,
    /// Constraints that nothing compares with the steps.
    pub unchecked: Vec<String>,
}

pub const TITLE: usize = 120;
/// More than any person spells out; beyond it a task is not read at all.
const STEPS: usize = 1_000;
/// Longest task text that is read.
const TEXT: usize = 4 * 1024 * 1024;

/// The steps of a task's own text in their order.
pub fn read(text: &str) -> Told {
    if text.len() > TEXT {
        return unclear("the task's text is too long to be carried out word for word");
    }
    // A rule at the start of a task is not front matter.
    let body = text.strip_prefix("---").map_or(0, |rest| 3 + rest.find('\n').unwrap_or(0));
    let document = Document::read(&text[body..]);
    let contents = fences(&text[body..]);
    let everything = 0..document.source.len();
    let listed = files::listed(&document, &everything, &mut Vec::new());
    let sections = section::cut(&document, contents);
    let done = sections.iter().any(|section| section.mark == section::Mark::Done);
    let mut told = reader::read(&sections, &listed.files);
    if !told.steps.is_empty() {
        quote::judge(&document, &mut told);
    }
    forbidden::hold(&document, &mut told);
    let Told { mut steps, passed, unchecked } = told;
    if !steps.is_empty() && !done && is_unwritten(&steps, &listed.files) {
        let gap = Gap::new("its list names files to change, and no step changes one");
        steps.push(Step { title: String::new(), line: 1, action: gap.into() });
    }
    let before = text[..body].matches('\n').count() as u32;
    match steps.len() {
        0 => unclear("the task spells out no step"),
        1..=STEPS => {
            let placed = steps.into_iter().map(|step| Step { line: step.line + before, ..step });
            Told { steps: placed.collect(), passed, unchecked }
        }
        _ => unclear("the task has too many steps to be carried out word for word"),
    }
}

/// Whether files are listed to be changed, and nothing changes any.
fn is_unwritten(steps: &[Step], files: &[FileRef]) -> bool {
    let changes = |step: &Step| {
        !matches!(step.action, Action::Run { .. } | Action::Ask { .. } | Action::Commit { .. })
    };
    let listed =
        |file: &FileRef| matches!(file.action, Listed::Create | Listed::Modify | Listed::Delete);
    files.iter().any(listed) && !steps.iter().any(changes)
}

impl Action {
    /// The files that it changes by itself.
    pub fn touched(&self) -> Vec<&RepoPath> {
        match self {
            Self::Write { path, .. }
            | Self::Append { path, .. }
            | Self::Replace { path, .. }
            | Self::Patch { path, .. }
            | Self::Insert { path, .. }
            | Self::Delete { path, .. } => vec![path],
            Self::Rename { from, to } => vec![from, to],
            _ => Vec::new(),
        }
    }
}

/// A program in a pipeline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stage {
    pub program: String,
    /// Nothing that it is given is for the shell.
    pub is_plain: bool,
}

/// The programs of a script's last pipeline; none where something else than a program is last.
pub fn last_pipeline(script: &str) -> Vec<Stage> {
    let stage = |command: &script::Command| Stage {
        program: command.program().to_owned(),
        is_plain: command.words.iter().all(|word| !word.open && !word.quoted),
    };
    script::last_pipeline(script).iter().map(stage).collect()
}

/// The start of a text, cut between words.
pub fn head(text: &str, limit: usize) -> &str {
    if text.len() <= limit {
        return text.trim_end();
    }
    let head = &text[..text.floor_char_boundary(limit)];
    head.rsplit_once(char::is_whitespace).map_or(head, |(head, _)| head).trim_end()
}

impl From<Gap> for Action {
    fn from(Gap { reason, remedy }: Gap) -> Self {
        Self::Unclear { reason, remedy }
    }
}

/// The commit message that the steps spell out, each commit a paragraph.
pub fn message(steps: &[Step]) -> Option<String> {
    let messages = steps.iter().filter_map(|step| match &step.action {
        Action::Commit { message } => message.as_deref(),
        _ => None,
    });
    let messages: Vec<&str> = messages.collect();
    (!messages.is_empty()).then(|| messages.join("\n\n"))
}

/// Whether a file is a test by its name or folder.
pub fn is_test(path: &RepoPath) -> bool {
    super::token::is_test(path.as_str())
}

fn unclear(reason: &str) -> Told {
    let step = Step { title: String::new(), line: 1, action: Gap::new(reason).into() };
    Told { steps: vec![step], passed: Vec::new(), unchecked: Vec::new() }
}

/// What the fences hold, freed of their list's indent, by where they start.
fn fences(text: &str) -> HashMap<usize, String> {
    let mut found = HashMap::new();
    let mut open: Option<(usize, String)> = None;
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH;
    for (event, range) in Parser::new_ext(text, options).into_offset_iter() {
        match event {
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(_))) => {
                open = Some((range.start, String::new()));
            }
            Event::Text(piece) => {
                if let Some((_, content)) = &mut open {
                    content.push_str(&piece);
                }
            }
            Event::End(TagEnd::CodeBlock) => found.extend(open.take()),
            _ => {}
        }
    }
    for content in found.values_mut() {
        if content.contains('\r') {
            *content = content.replace("\r\n", "\n");
        }
    }
    found
}

#[cfg(test)]
mod tests;
