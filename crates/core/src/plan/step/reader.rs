//! Sections to steps: each fence with the sentence before it, each command with what is expected of it.

use std::collections::BTreeSet;

use crate::path::RepoPath;
use crate::plan::{Action as Listed, FileRef};

use super::lead::{self, Lead};
use super::section::{Part, Section};
use super::sentence::{self, Sentence};
use super::target::{self, Files};
use super::{Action, Exit, Expect, Step, TITLE, code, command, expect, patch};

pub(super) fn read(sections: Vec<Section<'_>>, files: &[FileRef]) -> Vec<Step> {
    let files = Files::new(files);
    let stepped = sections.iter().any(|section| section.is_step);
    let mut steps = Vec::new();
    let mut written = BTreeSet::new();
    let mut first = true;
    for section in sections {
        // Words before the first step are about all of them.
        let preface = stepped && first && !section.is_step;
        first &= !section.is_step;
        let mut reader = Reader::new(&section, &files, &mut steps, &mut written, preface);
        reader.title();
        for part in section.parts {
            reader.take(part);
        }
        reader.end(section.is_step && !section.has_steps);
    }
    steps
}

/// A sentence that waits for its fence.
struct Pending {
    lead: Lead,
    sentence: Sentence,
    line: u32,
}

struct Reader<'r, 'f> {
    files: &'r Files<'f>,
    steps: &'r mut Vec<Step>,
    /// Files that steps so far have written.
    written: &'r mut BTreeSet<RepoPath>,
    preface: bool,
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
    /// `Expected:` with nothing behind it: the fence says it.
    expecting: bool,
    /// The last sentence leads somewhere, and is no instruction.
    colon: bool,
    /// What the sentence before expects, for as long as its paragraph goes on.
    expected: Option<Exit>,
    /// Backticks that open the fence.
    marks: usize,
    unclear: bool,
}

impl<'r, 'f> Reader<'r, 'f> {
    fn new(
        section: &Section<'_>,
        files: &'r Files<'f>,
        steps: &'r mut Vec<Step>,
        written: &'r mut BTreeSet<RepoPath>,
        preface: bool,
    ) -> Self {
        let start = steps.len();
        Self {
            files,
            steps,
            written,
            preface,
            title: section.title.clone(),
            heading: None,
            line: section.line,
            start,
            pending: None,
            path: None,
            old: None,
            expecting: false,
            colon: false,
            expected: None,
            marks: 0,
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
                self.act(lead, first, self.line)
            }
            Lead::Inline { .. } | Lead::Delete { .. } | Lead::Rename { .. } | Lead::Ask(_) => {
                self.act(lead, first, self.line)
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
            Part::Fence { info, content, marks, line } => {
                self.marks = marks;
                if let Err(reason) = self.fence(info, content, line) {
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
        self.colon = lead == Lead::Prose
            && sentence.plain.ends_with([':', '：'])
            && !is_content(&sentence.plain);
        self.expecting = false;
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
        if lead != Lead::Prose {
            self.settle();
            self.act(lead, sentence, line);
        }
    }

    fn open_question(&mut self) -> Option<&mut Action> {
        let last = self.steps[self.start..].last_mut()?;
        matches!(last.action, Action::Ask { .. }).then_some(&mut last.action)
    }

    /// Does what a sentence spells out, or keeps it for its fence.
    fn act(&mut self, lead: Lead, sentence: Sentence, line: u32) {
        let done = match lead {
            Lead::Run { ref commands, ref tail } if !commands.is_empty() => {
                self.run(&commands.join("\n"), tail, line)
            }
            Lead::Code(code) => match &self.heading {
                _ if command::commit(&code).is_some() => self.run(&code, "", line),
                Some(Lead::Run { .. } | Lead::Vague { writes: false }) => self.run(&code, "", line),
                _ => Ok(()),
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

    fn run(&mut self, script: &str, tail: &str, line: u32) -> Result<(), String> {
        let titled = self.title.as_ref().and_then(expect::of_title);
        let told = expect::of_tail(tail)
            .map_err(|()| "what it expects cannot be told: both pass and fail are said")?;
        let exit = told.or(titled).unwrap_or_default();
        let expect = Expect { exit, ..Expect::default() };
        for action in command::read(script, Some(&expect))? {
            self.push(action, line);
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
        if said.plain.is_empty() {
            self.expecting = true;
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

    fn fence(&mut self, info: &str, content: String, line: u32) -> Result<(), String> {
        let language = info.split([' ', ':', '{', ',']).next().unwrap_or_default().to_lowercase();
        let pending = self.pending.take();
        if std::mem::take(&mut self.expecting) {
            return self.expect_text(content);
        }
        let colon = std::mem::take(&mut self.colon);
        let lead = pending.as_ref().map(|pending| pending.lead.clone());
        if let Some((path, old)) = self.old.take() {
            return match lead {
                Some(Lead::With) => self.replace(path, old, content, &language, line),
                _ => Err("it says what to find, but not what to put in its place".to_owned()),
            };
        }
        let lead = lead.or_else(|| self.heading.clone()).unwrap_or(Lead::Prose);
        let sentence = pending.map(|pending| pending.sentence).or_else(|| self.title.clone());
        let sentence = sentence.unwrap_or_else(|| Sentence::new(""));
        if self.is_script(&language, &content, &lead, &sentence) {
            return match lead {
                Lead::If => Err("its commands are to be run under a condition only".to_owned()),
                _ => self.run(&content, "", line),
            };
        }
        if language == "diff" || language == "patch" || content.starts_with("diff --git ") {
            let named = self.files.named(&sentence)?.or_else(|| self.path.clone());
            return patch::read(&content, named.as_ref())?
                .into_iter()
                .try_for_each(|action| self.write(action, line));
        }
        if let Some(fault) = code::fault(&content, &language, self.marks) {
            return Err(fault.to_owned());
        }
        if colon {
            return Err("it is not said what its code is for".to_owned());
        }
        self.code(lead, &sentence, info, content, line)
    }

    /// Code that is to stand in a file.
    fn code(
        &mut self,
        lead: Lead,
        sentence: &Sentence,
        info: &str,
        content: String,
        line: u32,
    ) -> Result<(), String> {
        match lead {
            Lead::Make { whole } => {
                // A file that the sentence itself does not name is not said to be replaced.
                let whole = whole && self.files.named(sentence)?.is_some();
                let path = self.target(sentence, info, &content)?;
                self.write(Action::Write { path, content, fresh: !whole }, line)
            }
            Lead::Overwrite => {
                let path = self.place(sentence)?;
                self.write(Action::Write { path, content, fresh: false }, line)
            }
            Lead::Append => {
                let path = self.place(sentence)?;
                self.write(Action::Append { path, content }, line)
            }
            Lead::Find => {
                self.old = Some((self.place(sentence)?, content));
                Ok(())
            }
            Lead::Insert { anchor, after } => {
                let path = self.place(sentence)?;
                let (old, new) = if after {
                    (format!("{anchor}\n"), format!("{anchor}\n{content}"))
                } else {
                    (format!("\n{anchor}"), format!("\n{content}{anchor}"))
                };
                self.write(Action::Replace { path, old, new }, line)
            }
            Lead::With => Err("it says what to put in place, but not of which text".to_owned()),
            Lead::If => Err("its code is wanted under a condition only".to_owned()),
            Lead::Prose
                if self.heading.is_none()
                    && self.title.is_none()
                    && self.files.of_fence(info, &content)?.is_none() =>
            {
                Err("it is not said which file its code belongs to".to_owned())
            }
            Lead::Prose | Lead::Vague { .. } | Lead::Run { .. } | Lead::Commit(_) => {
                self.unplaced(&lead, sentence, info, content, line)
            }
            _ => Err("it is not said what its code is for".to_owned()),
        }
    }

    /// Code of a new file that names itself; anything else has no place.
    fn unplaced(
        &mut self,
        lead: &Lead,
        sentence: &Sentence,
        info: &str,
        content: String,
        line: u32,
    ) -> Result<(), String> {
        let own = self.files.of_fence(info, &content)?;
        let new = own.filter(|path| *lead == Lead::Prose || self.files.says(path, Listed::Create));
        if let Some(path) = new {
            return self.write(Action::Write { path, content, fresh: true }, line);
        }
        Err(match self.files.named(sentence)?.or_else(|| self.path.clone()) {
            Some(path) => format!("it does not say where in `{path}` its code belongs"),
            None => "it is not said which file its code belongs to".to_owned(),
        })
    }

    /// Whether a fence holds commands to run.
    fn is_script(&self, language: &str, content: &str, lead: &Lead, sentence: &Sentence) -> bool {
        let shell = command::is_shell(language);
        let bare = matches!(language, "" | "text" | "plaintext");
        if content.starts_with("#!") || !shell && !bare {
            return false;
        }
        let committed = command::commit(content).is_some();
        match lead {
            Lead::Make { .. } => {
                let folders =
                    ["director", "folder"].iter().any(|word| sentence.plain.contains(word));
                (committed || shell && folders) && self.files.named(sentence) == Ok(None)
            }
            Lead::Overwrite | Lead::Append | Lead::Find | Lead::With | Lead::Insert { .. } => false,
            Lead::Vague { writes: true } => committed || shell && is_generator(&sentence.plain),
            Lead::Run { .. } | Lead::Commit(_) => true,
            _ => shell || committed,
        }
    }

    fn expect_text(&mut self, content: String) -> Result<(), String> {
        let titled = self.title.as_ref().and_then(expect::of_title);
        let run =
            self.steps[self.start..].iter_mut().rev().find_map(|step| match &mut step.action {
                Action::Run { expect, .. } => Some(expect),
                _ => None,
            });
        let run = run.ok_or("it says what to expect, but spells out no command")?;
        let text = content.trim().to_owned();
        let exit = titled.unwrap_or(Exit::Any);
        *run = Expect {
            exit,
            silent: text.is_empty(),
            text: Some(text).filter(|text| !text.is_empty()),
        };
        Ok(())
    }

    fn replace(
        &mut self,
        path: RepoPath,
        old: String,
        new: String,
        language: &str,
        line: u32,
    ) -> Result<(), String> {
        if let Some(fault) = code::fault(&new, language, self.marks) {
            return Err(fault.to_owned());
        }
        if old.trim().is_empty() {
            return Err("the text to find is empty".to_owned());
        }
        self.write(Action::Replace { path, old, new }, line)
    }

    /// The file for a sentence that makes one: named by it, by the fence, by the title, or the only one of its kind.
    fn target(&self, sentence: &Sentence, info: &str, content: &str) -> Result<RepoPath, String> {
        if let Some(path) = self.files.named(sentence)? {
            return Ok(path);
        }
        if let Some(path) = self.files.of_fence(info, content)? {
            return Ok(path);
        }
        if let Some(path) = &self.path {
            return Ok(path.clone());
        }
        let test = sentence
            .plain
            .split(|c: char| !c.is_alphanumeric())
            .any(|word| matches!(word, "test" | "tests"));
        let only = self.files.only(test).cloned();
        only.ok_or_else(|| "it is not said which file its code belongs to".to_owned())
    }

    /// The file that a change is for: named by the sentence, or the one the step is about.
    fn place(&self, sentence: &Sentence) -> Result<RepoPath, String> {
        let named = self.files.named(sentence);
        let named = if matches!(lead::read(sentence), Lead::Inline { .. }) {
            self.files.named(&in_words(sentence))
        } else {
            named
        };
        named?
            .or_else(|| self.path.clone())
            .ok_or_else(|| "it does not say in which file".to_owned())
    }

    fn write(&mut self, mut action: Action, line: u32) -> Result<(), String> {
        let path = match &mut action {
            Action::Write { path, fresh, .. } => {
                if *fresh && self.written.contains(path) {
                    return Err(format!(
                        "it does not say where in `{path}`, which an earlier step writes, its code belongs"
                    ));
                }
                if *fresh && self.files.changes(path) {
                    return Err(format!("it does not say where in `{path}` its code belongs"));
                }
                *fresh &= !self.files.says(path, Listed::Create);
                path
            }
            Action::Append { path, .. }
            | Action::Replace { path, .. }
            | Action::Patch { path, .. }
            | Action::Delete { path, .. } => path,
            _ => return Err("it does not say what to do".to_owned()),
        };
        self.path = Some(path.clone());
        self.written.insert(path.clone());
        self.push(action, line);
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
            Lead::If | Lead::Prose => {}
            _ if self.preface => {}
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

    fn end(&mut self, must: bool) {
        self.settle();
        if self.old.take().is_some() {
            self.blame(
                "it says what to find, but not what to put in its place".to_owned(),
                self.line,
            );
        }
        if must && self.steps.len() == self.start {
            match &self.heading {
                Some(Lead::Commit(message)) => {
                    self.push(Action::Commit { message: message.clone() }, self.line)
                }
                _ => self.blame(
                    "it says what is wanted, but not word for word how".to_owned(),
                    self.line,
                ),
            }
        }
    }
}

/// The last path of an exchange of exact texts.
fn in_words(sentence: &Sentence) -> Sentence {
    let mut placed = sentence.clone();
    let first = sentence.plain.starts_with("in ") || sentence.plain.starts_with("open ");
    placed.codes = if first {
        placed.codes[..1].to_vec()
    } else {
        placed.codes.split_off(2.min(placed.codes.len()))
    };
    placed.raw = String::new();
    placed
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

/// Steps whose commands make the files themselves.
fn is_generator(plain: &str) -> bool {
    [
        "generate",
        "scaffold",
        "create the director",
        "create director",
        "create the folder",
        "make the script executable",
        "make it executable",
        "clean",
        "copy",
        "format",
    ]
    .iter()
    .any(|start| plain.starts_with(start))
}
