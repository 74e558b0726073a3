//! Sections to steps: each fence with the sentence before it, each command with what is expected of it.

mod fence;
mod heard;

use std::collections::BTreeSet;

use crate::path::RepoPath;
use crate::plan::FileRef;

use super::lead::{self, Lead};
use super::prose;
use super::section::{Part, Section};
use super::sentence::{self, Sentence};
use super::target::{self, Files};
use super::{Action, Exit, Expect, STEPS, Step, TITLE, Told, command, expect};

pub(super) fn read(sections: Vec<Section<'_>>, files: &[FileRef]) -> Told {
    let files = Files::new(files);
    let stepped = sections.iter().any(|section| section.is_step);
    let mut told = Told { steps: Vec::new(), passed: Vec::new() };
    let mut written = BTreeSet::new();
    let mut first = true;
    for section in sections {
        // Words before the first step are about all of them.
        let preface = stepped && first && !section.is_step;
        first &= !section.is_step;
        let mut reader = Reader::new(&section, &files, &mut told, &mut written, preface);
        reader.title();
        for part in section.parts {
            if reader.steps.len() > STEPS {
                return told;
            }
            reader.take(part);
        }
        reader.end(section.is_step && !section.has_steps);
    }
    told
}

/// A sentence that waits for its fence.
struct Pending {
    lead: Lead,
    sentence: Sentence,
    line: u32,
}

/// What the sentence right before a fence says of it, beside asking for it.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Before {
    #[default]
    Nothing,
    /// It leads to it, and is no instruction.
    Prose,
    /// `Expected:`, and nothing behind it.
    Expected,
}

struct Reader<'r, 'f> {
    files: &'r Files<'f>,
    steps: &'r mut Vec<Step>,
    /// Sentences that explain only.
    passed: &'r mut Vec<String>,
    /// Files that steps so far have written.
    written: &'r mut BTreeSet<RepoPath>,
    preface: bool,
    is_step: bool,
    /// The last sentence that is no instruction, until it is known what follows.
    heard: Option<(Sentence, u32)>,
    /// A command whose ending may be told in words of another language.
    unsaid: Option<u32>,
    title: Option<Sentence>,
    /// What the title asks of fences that no sentence leads.
    heading: Option<Lead>,
    line: u32,
    /// Where the steps of this section begin.
    start: usize,
    pending: Option<Pending>,
    /// The file that the section is about so far.
    path: Option<RepoPath>,
    /// Text that waits for what stands in its place.
    old: Option<(RepoPath, String)>,
    before: Before,
    /// What the sentence before expects, for as long as its paragraph goes on.
    expected: Option<Exit>,
    /// Backticks that open the fence.
    marks: usize,
    /// Sentences that ask for nothing by their first word.
    prose: usize,
    unclear: bool,
}

impl<'r, 'f> Reader<'r, 'f> {
    fn new(
        section: &Section<'_>,
        files: &'r Files<'f>,
        told: &'r mut Told,
        written: &'r mut BTreeSet<RepoPath>,
        preface: bool,
    ) -> Self {
        let start = told.steps.len();
        Self {
            files,
            steps: &mut told.steps,
            passed: &mut told.passed,
            written,
            preface,
            is_step: section.is_step,
            heard: None,
            unsaid: None,
            title: section.title.clone(),
            heading: None,
            line: section.line,
            start,
            pending: None,
            path: None,
            old: None,
            before: Before::Nothing,
            expected: None,
            marks: 0,
            prose: 0,
            unclear: false,
        }
    }

    fn title(&mut self) {
        let Some(title) = self.title.clone() else { return };
        let mut sentences = sentence::split(&title.raw).into_iter();
        let Some(first) = sentences.next() else { return };
        let lead = lead::read(&first);
        if let Ok(Some(path)) = self.files.named(&first) {
            self.path = Some(path);
        }
        match lead {
            Lead::Run { ref commands, .. } if !commands.is_empty() => {
                self.act(lead, first, self.line);
            }
            Lead::Inline { .. } | Lead::Delete { .. } | Lead::Rename { .. } | Lead::Ask(_) => {
                self.act(lead, first, self.line);
            }
            lead => self.heading = Some(lead),
        }
        for sentence in sentences {
            self.say(sentence, false, self.line);
        }
    }

    fn take(&mut self, part: Part<'_>) {
        match part {
            Part::Words { sentences, item, line } => {
                self.expected = None;
                for sentence in sentences {
                    self.say(sentence, item, line);
                }
            }
            Part::Remark { sentences, line } => {
                for sentence in &sentences {
                    self.remark(sentence, line);
                }
            }
            Part::Fence { info, content, marks, line } => {
                self.marks = marks;
                let introduced = self.heard.take();
                let foreign =
                    introduced.as_ref().is_some_and(|(said, _)| prose::is_foreign(&said.plain));
                let taken = self.fence(info, content, foreign, line);
                if let Some((said, at)) = introduced {
                    self.introduce(&said, at, taken.is_ok());
                }
                if let Err(reason) = taken {
                    self.blame(reason, line);
                }
            }
        }
    }

    fn say(&mut self, sentence: Sentence, item: bool, line: u32) {
        if let (true, Some(Action::Ask { options, default, .. })) = (item, self.open_question()) {
            let bare = sentence.raw.trim_matches(['`', '*', ' ']);
            let chosen =
                bare.strip_suffix("(default)").map(|bare| bare.trim_end_matches(['`', '*', ' ']));
            options.push(chosen.unwrap_or(bare).to_owned());
            if let Some(chosen) = chosen {
                *default = Some(chosen.to_owned());
            }
            return;
        }
        let lead = lead::read(&sentence);
        let leads = lead == Lead::Prose
            && sentence.plain.ends_with([':', '：'])
            && !is_content(&sentence.plain);
        self.before = if leads { Before::Prose } else { Before::Nothing };
        if let (Lead::Prose, Some(exit)) = (&lead, self.expected) {
            let other = expect::of_tail(&sentence.plain);
            if other.is_err()
                || other.is_ok_and(|other| {
                    other.is_some_and(|other| expect::is_pass(other) != expect::is_pass(exit))
                })
            {
                self.blame(
                    "what it expects is described, not spelled out: both pass and fail are said"
                        .to_owned(),
                    line,
                );
            }
        }
        self.judge();
        if lead == Lead::Prose {
            self.prose += 1;
            self.heard = Some((sentence, line));
            return;
        }
        self.settle();
        if let Some(reason) = self.excess(&lead, &sentence) {
            self.blame(reason, line);
        }
        self.act(lead, sentence, line);
    }

    fn open_question(&mut self) -> Option<&mut Action> {
        let last = self.steps[self.start..].last_mut()?;
        matches!(last.action, Action::Ask { .. }).then_some(&mut last.action)
    }

    /// Does what a sentence spells out, or keeps it for its fence.
    fn act(&mut self, lead: Lead, sentence: Sentence, line: u32) {
        let done = match lead {
            Lead::Run { ref commands, ref tail } if !commands.is_empty() => {
                self.run(&commands.join("\n"), tail, false, line)
            }
            Lead::Code(code) => match &self.heading {
                _ if command::commit(&code).is_some() => self.run(&code, "", false, line),
                Some(Lead::Run { .. } | Lead::Vague { writes: false }) => {
                    self.run(&code, "", false, line)
                }
                _ => self.alone(&code),
            },
            Lead::Expected(said) => self.expect(&said),
            Lead::Inline { old, new } => self
                .place(&sentence)
                .map(|path| self.push(Action::Replace { path, old, new }, line)),
            Lead::Delete { paths, folder } => paths.iter().try_for_each(|path| {
                let folder = folder || path.ends_with('/');
                target::inside(path).map(|path| self.push(Action::Delete { path, folder }, line))
            }),
            Lead::Rename { from, to } => target::inside(&from).and_then(|from| {
                let to = target::inside(&to)?;
                self.push(Action::Rename { from, to }, line);
                Ok(())
            }),
            Lead::Ask(question) => {
                self.push(Action::Ask { question, options: Vec::new(), default: None }, line);
                Ok(())
            }
            Lead::Options(all) => self.answer(|options, _| options.extend(all)),
            Lead::Default(one) => self.answer(|_, default| *default = Some(one)),
            Lead::Commit(Some(message)) => {
                self.push(Action::Commit { message: Some(message) }, line);
                Ok(())
            }
            lead => {
                if let Ok(Some(path)) = self.files.named(&sentence) {
                    self.path = Some(path);
                }
                self.pending = Some(Pending { lead, sentence, line });
                Ok(())
            }
        };
        if let Err(reason) = done {
            self.blame(reason, line);
        }
    }

    fn answer(
        &mut self,
        change: impl FnOnce(&mut Vec<String>, &mut Option<String>),
    ) -> Result<(), String> {
        match self.open_question() {
            Some(Action::Ask { options, default, .. }) => {
                change(options, default);
                Ok(())
            }
            _ => Err("it answers a question that is not asked".to_owned()),
        }
    }

    fn run(&mut self, script: &str, tail: &str, foreign: bool, line: u32) -> Result<(), String> {
        let titled = self.title.as_ref().and_then(expect::of_title);
        let told = expect::of_tail(tail)
            .map_err(|()| "what it expects cannot be told: both pass and fail are said")?;
        let exit = told.or(titled).unwrap_or_default();
        let expect = Expect { exit, ..Expect::default() };
        let actions = command::read(script, Some(&expect))?;
        let runs = actions.iter().any(|action| matches!(action, Action::Run { .. }));
        for action in actions {
            self.push(action, line);
        }
        if runs && told.or(titled).is_none() {
            self.leave_unsaid(foreign, line);
        }
        Ok(())
    }

    /// What is expected of the last command.
    fn expect(&mut self, said: &Sentence) -> Result<(), String> {
        let titled = self.title.as_ref().and_then(expect::of_title);
        let last =
            self.steps[self.start..].iter_mut().rev().find_map(|step| match &mut step.action {
                Action::Run { expect, .. } => Some(expect),
                _ => None,
            });
        let last = last.ok_or("it says what to expect, but spells out no command")?;
        self.unsaid = None;
        if said.plain.is_empty() {
            self.before = Before::Expected;
            return Ok(());
        }
        let mut found = expect::read(said).ok_or_else(|| {
            format!(
                "what it expects is described, not spelled out (`{}`)",
                target::short(&said.raw)
            )
        })?;
        if let Some(titled) = titled {
            if found.exit == Exit::Any {
                found.exit = titled;
            } else if expect::is_pass(found.exit) != expect::is_pass(titled) {
                return Err("its title and what it expects contradict each other".to_owned());
            }
        }
        found.text = found.text.or_else(|| last.text.take());
        self.expected = Some(found.exit);
        *last = found;
        Ok(())
    }

    fn push(&mut self, action: Action, line: u32) {
        let title = self.title.as_ref().map_or("", |title| title.raw.as_str()).replace("**", "");
        let title: String = title.trim_matches(['*', '_', ' ']).chars().take(TITLE).collect();
        self.steps.push(Step { title, line, action });
    }

    /// One reason is enough for a section.
    fn blame(&mut self, reason: String, line: u32) {
        if !std::mem::replace(&mut self.unclear, true) {
            self.push(Action::Unclear { reason }, line);
        }
    }

    /// A sentence that waited in vain.
    fn settle(&mut self) {
        let Some(Pending { lead, sentence, line }) = self.pending.take() else { return };
        let said = target::short(&sentence.raw).to_owned();
        match lead {
            Lead::Commit(message) => self.push(Action::Commit { message }, line),
            Lead::Prose => {}
            _ if self.preface => {}
            Lead::If => self.depend(&sentence, line),
            Lead::Make { .. }
            | Lead::Overwrite
            | Lead::Append
            | Lead::Insert { .. }
            | Lead::Find
            | Lead::With => {
                self.blame(format!("it does not give the text for `{said}`"), line);
            }
            Lead::Run { .. } => self.blame(format!("it names no command for `{said}`"), line),
            _ => self.blame(format!("`{said}` is not spelled out"), line),
        }
    }

    /// Whether the title asks for a change of files.
    fn wants_change(&self) -> bool {
        matches!(
            self.heading,
            Some(
                Lead::Vague { writes: true }
                    | Lead::Make { .. }
                    | Lead::Append
                    | Lead::Overwrite
                    | Lead::Find
            )
        )
    }

    fn changes(&self) -> bool {
        let other = |action: &Action| {
            matches!(action, Action::Run { .. } | Action::Ask { .. } | Action::Commit { .. })
        };
        self.steps[self.start..].iter().any(|step| !other(&step.action))
    }

    fn end(&mut self, must: bool) {
        self.judge();
        self.settle();
        self.say_unsaid();
        if self.old.take().is_some() {
            self.blame(
                "it says what to find, but not what to put in its place".to_owned(),
                self.line,
            );
        }
        if must && self.prose > 0 && self.wants_change() && !self.changes() {
            // Its words may well say what to change; its commands alone are not all of it.
            self.blame("it says what is wanted, but not word for word how".to_owned(), self.line);
        }
        if must && self.steps.len() == self.start {
            match &self.heading {
                Some(Lead::Commit(message)) => {
                    self.push(Action::Commit { message: message.clone() }, self.line);
                }
                _ => self.blame(
                    "it says what is wanted, but not word for word how".to_owned(),
                    self.line,
                ),
            }
        }
    }
}

/// `Contents:` and the like say nothing of their own.
fn is_content(plain: &str) -> bool {
    let plain = plain.trim_end_matches([':', '：']);
    matches!(
        plain,
        "content"
            | "contents"
            | "code"
            | "with content"
            | "full content"
            | "full code"
            | "file content"
            | "file contents"
            | "implementation"
            | "complete code"
    )
}
