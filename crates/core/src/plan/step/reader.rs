//! From sections to steps: each sentence is a form that is carried out, explains, or makes its step unclear.

mod fence;
mod question;

use std::collections::BTreeSet;

use fence::Fence;

use crate::path::RepoPath;
use crate::plan::FileRef;

use super::form::{self, Form};
use super::gap::{Gap, short};
use super::pattern::Caught;
use super::section::{Part, Section};
use super::sentence::Sentence;
use super::target::Files;
use super::title::{self, Title};
use super::{Action, Exit, Expect, STEPS, Step, TITLE, Told, command, expect, prose, words};

pub(super) fn read(sections: &[Section<'_>], files: &[FileRef]) -> Told {
    let files = Files::new(files);
    let mut told = Told { steps: Vec::new(), passed: Vec::new() };
    let mut written = BTreeSet::new();
    let first = sections.iter().position(|section| section.is_step || section.is_done);
    for (at, section) in sections.iter().enumerate() {
        if told.steps.len() > STEPS {
            break;
        }
        let role = match first {
            Some(first) if at < first => Role::Preface,
            Some(_) if !section.is_step => Role::Outside,
            Some(_) => Role::Step,
            None => Role::Whole,
        };
        Reader::new(section, role, &files, &mut told, &mut written).all();
    }
    told
}

/// What a section is in its task.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    /// Stands before the first step: it speaks of all of them.
    Preface,
    Step,
    /// Stands between or behind the steps, and is none.
    Outside,
    /// There are no steps by name: all of the text counts.
    Whole,
}

/// What stands right before a fence or a sentence.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Before {
    /// Nothing, or what the fence is for.
    Lead,
    /// Words that are no lead: a fence behind them is not what was asked for.
    Words,
    /// What is expected of a command: a fence in no language is its output.
    Expected,
    /// `Expected:`, and nothing behind it: any fence is output.
    Due,
}

/// A sentence that waits for its fence.
struct Pending {
    form: Form,
    caught: Caught,
    said: String,
    line: u32,
}

struct Reader<'r, 'f> {
    section: &'r Section<'r>,
    role: Role,
    files: &'r Files<'f>,
    told: &'r mut Told,
    /// Files that steps so far have written.
    written: &'r mut BTreeSet<RepoPath>,
    title: Title,
    /// What the title asks for as a sentence.
    heading: Option<(Form, Caught)>,
    /// Where the steps of this section begin.
    start: usize,
    pending: Option<Pending>,
    /// The file that the section is about so far.
    path: Option<RepoPath>,
    /// Lines that wait for what stands in their place.
    old: Option<(RepoPath, String)>,
    before: Before,
    /// Some command has nobody's word on how it must end.
    unsaid: bool,
    unclear: bool,
}

impl<'r, 'f> Reader<'r, 'f> {
    fn new(
        section: &'r Section<'r>,
        role: Role,
        files: &'r Files<'f>,
        told: &'r mut Told,
        written: &'r mut BTreeSet<RepoPath>,
    ) -> Self {
        let title = section.title.as_ref().map(Title::read).unwrap_or_default();
        let heading = section.title.as_ref().filter(|_| role == Role::Step).and_then(form::read);
        let path = match title.paths.as_slice() {
            [one] => files.find(one).ok(),
            _ => None,
        };
        let start = told.steps.len();
        Self {
            section,
            role,
            files,
            told,
            written,
            title,
            heading,
            start,
            pending: None,
            path,
            old: None,
            before: Before::Lead,
            unsaid: false,
            unclear: false,
        }
    }

    fn all(mut self) {
        for part in &self.section.parts {
            if self.told.steps.len() > STEPS || self.section.is_done {
                return;
            }
            self.take(part);
        }
        self.end();
    }

    fn take(&mut self, part: &Part<'_>) {
        match part {
            Part::Words { sentences, item, line } => {
                for sentence in sentences {
                    self.say(sentence, *item, *line);
                }
            }
            Part::Aside { sentences, judged, line } => {
                self.settle();
                for sentence in sentences {
                    let first = sentence.plain.split(' ').next().unwrap_or_default();
                    let asks = sentence
                        .plain
                        .split(|c: char| !c.is_alphanumeric())
                        .any(|word| words::ASKS.has(word));
                    if *judged && self.role != Role::Preface && (asks || words::is_order(first)) {
                        self.blame(Gap::sentence(&sentence.raw), *line);
                    } else {
                        self.told.passed.push(sentence.raw.clone());
                    }
                }
                self.before = Before::Words;
            }
            Part::Fence { info, content, marks, open, line } => {
                let marks = (!open).then_some(*marks);
                let taken = self.fence(&Fence { info, content, marks, line: *line });
                self.before = Before::Lead;
                if let Err(gap) = taken {
                    self.blame(gap, *line);
                }
            }
        }
    }

    fn say(&mut self, sentence: &Sentence, item: bool, line: u32) {
        if self.answer(sentence, item, line) {
            return;
        }
        if let Some(said) = expectation(sentence) {
            self.settle();
            return self.expect(&said).unwrap_or_else(|gap| self.blame(gap, line));
        }
        match form::read(sentence) {
            Some((form, caught)) => self.act(form, caught, sentence, line),
            None => self.other(sentence, line),
        }
    }

    /// A sentence that is no form: it goes on with what is expected, is a command by itself, explains, or is unclear.
    fn other(&mut self, sentence: &Sentence, line: u32) {
        if self.before == Before::Expected && expect::read(sentence).is_ok() {
            return self.expect(sentence).unwrap_or_else(|gap| self.blame(gap, line));
        }
        let waits = matches!(&self.pending, Some(Pending { form: Form::Run, .. }));
        if let [code] = sentence.codes.as_slice()
            && sentence.plain.trim_end_matches(['.', ':']) == "¤"
            && (waits || self.looks() || command::commit(code).is_some())
        {
            self.pending = None;
            let taken = self.run(code, None, line);
            return taken.unwrap_or_else(|gap| self.blame(gap, line));
        }
        self.settle();
        self.before = Before::Words;
        if self.role == Role::Preface {
            return;
        }
        if prose::explains(sentence) {
            self.told.passed.push(sentence.raw.clone());
        } else {
            self.blame(Gap::sentence(&sentence.raw), line);
        }
    }

    /// Whether the title asks for commands.
    fn looks(&self) -> bool {
        let runs = matches!(self.heading, Some((Form::Run | Form::RunToPass | Form::RunToFail, _)));
        self.role == Role::Step && (runs || self.title.wants_command())
    }

    /// Does what a sentence spells out, or keeps it for its fence.
    fn act(&mut self, form: Form, caught: Caught, sentence: &Sentence, line: u32) {
        self.before = Before::Lead;
        if form == Form::Caption {
            return;
        }
        self.settle();
        if is_complete(form, &caught) {
            let done = self.carry_out(form, &caught, line);
            return done.unwrap_or_else(|gap| self.blame(gap, line));
        }
        if let [path] = caught.paths.as_slice() {
            match self.files.find(path) {
                Ok(path) => self.path = Some(path),
                Err(gap) => return self.blame(gap, line),
            }
        }
        self.pending = Some(Pending { form, caught, said: sentence.raw.clone(), line });
    }

    /// A form that needs no fence.
    fn carry_out(&mut self, form: Form, caught: &Caught, line: u32) -> Result<(), Gap> {
        let found: Vec<RepoPath> =
            caught.paths.iter().map(|path| self.files.find(path)).collect::<Result<_, _>>()?;
        match (form, found.as_slice(), caught.codes.as_slice()) {
            (Form::Run, _, codes) => self.run(&codes.join("\n"), None, line),
            (Form::RunToPass, _, codes) => self.run(&codes.join("\n"), Some(Exit::Pass), line),
            (Form::RunToFail, _, codes) => self.run(&codes.join("\n"), Some(Exit::Fail), line),
            (Form::Empty, [path], _) => {
                let action =
                    Action::Write { path: path.clone(), content: String::new(), fresh: true };
                self.change(action, line)
            }
            (Form::Delete | Form::DeleteFolder, paths, _) => {
                let folders = caught.paths.iter().map(|path| path.ends_with('/'));
                for (path, slash) in paths.iter().zip(folders) {
                    let folder = slash || form == Form::DeleteFolder;
                    self.change(Action::Delete { path: path.clone(), folder }, line)?;
                }
                Ok(())
            }
            (Form::Rename, [from, to], _) => {
                if caught.paths.iter().any(|path| path.ends_with('/')) {
                    return Err(Gap::path(
                        "it does not say what the file is called in its new folder",
                    ));
                }
                self.change(Action::Rename { from: from.clone(), to: to.clone() }, line)
            }
            (Form::Swap, paths, [old, new]) => {
                let path = paths.first().or(self.path.as_ref()).cloned();
                let path = path.ok_or_else(|| Gap::path("it does not say in which file"))?;
                self.change(Action::Replace { path, old: old.clone(), new: new.clone() }, line)
            }
            (Form::Commit, _, codes) => {
                let message =
                    codes.first().map(|code| command::commit(code).unwrap_or(Some(code.clone())));
                self.push(Action::Commit { message: message.flatten() }, line);
                Ok(())
            }
            _ => Err(Gap::new("it does not say what to do")),
        }
    }

    fn run(&mut self, script: &str, told: Option<Exit>, line: u32) -> Result<(), Gap> {
        let exit = told.or(self.title.exit).unwrap_or_default();
        let expect = Expect { exit, ..Expect::default() };
        let said = told.or(self.title.exit).is_some();
        for action in command::read(script, Some(&expect))? {
            match action {
                Action::Delete { .. } | Action::Rename { .. } => self.change(action, line)?,
                Action::Run { expect: ref found, .. } => {
                    self.unsaid |= !said && *found == expect;
                    self.push(action, line);
                }
                action => self.push(action, line),
            }
        }
        Ok(())
    }

    /// What is expected of the last command.
    fn expect(&mut self, said: &Sentence) -> Result<(), Gap> {
        self.wake();
        let titled = self.title.exit;
        let goes_on = self.before == Before::Expected;
        self.unsaid = false;
        self.before = if said.raw.is_empty() || said.raw.ends_with(':') {
            Before::Due
        } else {
            Before::Expected
        };
        let last = self.last_run()?;
        if said.plain.is_empty() {
            return Ok(());
        }
        let (found, reason) = expect::read(said)?;
        let is_pass = |exit: Exit| exit == Exit::Pass;
        let spelled = found.text.is_some() || found.silent;
        if titled.is_some_and(|titled| is_pass(titled) != is_pass(found.exit) && !spelled) {
            return Err(Gap::result("its title and what it expects contradict each other"));
        }
        let exit = if spelled && found.exit == Exit::Pass { last.exit } else { found.exit };
        if goes_on && is_pass(last.exit) != is_pass(exit) && *last != Expect::default() {
            return Err(Gap::result("what it expects contradicts itself"));
        }
        *last = Expect {
            exit,
            text: found.text.or_else(|| last.text.take()),
            lines: std::mem::take(&mut last.lines),
            count: found.count.or(last.count),
            silent: found.silent || last.silent,
        };
        if reason {
            self.told.passed.push(format!("Expected: {}", said.raw));
        }
        Ok(())
    }

    /// What the last command of the section must come to.
    fn last_run(&mut self) -> Result<&mut Expect, Gap> {
        let expects = self.told.steps[self.start..].iter_mut().rev().filter_map(|step| {
            match &mut step.action {
                Action::Run { expect, .. } => Some(expect),
                _ => None,
            }
        });
        let none = || Gap::command("it says what to expect, but spells out no command");
        expects.into_iter().next().ok_or_else(none)
    }

    /// Adds a change of a file, unless the text leaves open what becomes of what is there.
    fn change(&mut self, action: Action, line: u32) -> Result<(), Gap> {
        if let Action::Write { path, fresh: true, .. } = &action {
            if self.written.contains(path) {
                return Err(Gap::place(format!(
                    "it does not say where in `{path}`, which an earlier step writes, its code belongs"
                )));
            }
            if self.files.is_there(path) {
                return Err(Gap::fragment(path));
            }
        }
        if let [path] = title::touched(&action).as_slice() {
            self.path = RepoPath::parse(path).ok();
            self.written.extend(self.path.clone());
        }
        self.push(action, line);
        Ok(())
    }

    fn push(&mut self, action: Action, line: u32) {
        let outside = match self.role {
            Role::Preface => Some("it stands before the first step, and is none"),
            Role::Outside => Some("it stands outside of the steps"),
            Role::Whole if self.section.title.is_some() && !self.title.leads() => {
                Some("it stands under a heading that asks for nothing")
            }
            Role::Step | Role::Whole => None,
        };
        if let Some(reason) = outside {
            return self.blame(Gap::new(reason), line);
        }
        let step = self.step(action, line);
        self.told.steps.push(step);
    }

    fn step(&self, action: Action, line: u32) -> Step {
        let title =
            self.section.title.as_ref().map_or("", |title| title.raw.as_str()).replace("**", "");
        let title: String = title.trim_matches(['*', '_', ' ']).chars().take(TITLE).collect();
        Step { title, line, action }
    }

    /// One reason is enough for a section.
    fn blame(&mut self, gap: Gap, line: u32) {
        if !std::mem::replace(&mut self.unclear, true) {
            let step = self.step(gap.into(), line);
            self.told.steps.push(step);
        }
    }

    /// A sentence that waited in vain.
    fn settle(&mut self) {
        let Some(Pending { form, said, line, .. }) = self.pending.take() else { return };
        if self.role == Role::Preface {
            return;
        }
        let gap = match form {
            Form::Run => Gap::command(format!("it names no command for `{}`", short(&said))),
            _ => Gap::text(&said),
        };
        self.blame(gap, line);
    }

    /// A title that says all by itself is carried out where nothing below it is.
    fn wake(&mut self) {
        if self.told.steps.len() > self.start {
            return;
        }
        if let Some((form, caught)) =
            self.heading.take_if(|(form, caught)| is_complete(*form, caught))
        {
            let line = self.section.line;
            if let Err(gap) = self.carry_out(form, &caught, line) {
                self.blame(gap, line);
            }
        }
    }

    fn end(&mut self) {
        self.settle();
        let line = self.section.line;
        if self.old.take().is_some() {
            self.blame(Gap::text("what stands in place of the text to find"), line);
        }
        if self.role != Role::Step || self.unclear {
            return;
        }
        if !self.section.has_steps {
            self.wake();
        }
        let steps = &self.told.steps[self.start..];
        let Some(said) = &self.section.title else { return };
        // A choice may well be what is asked.
        let acts = steps.iter().any(|step| !matches!(step.action, Action::Ask { .. }));
        if self.title.condition && self.heading.is_none() && acts {
            return self.blame(Gap::sentence(&said.raw), line);
        }
        if self.unsaid && !self.title.is_order && self.heading.is_none() {
            let reason = "it does not say what to expect of its command (`Expected:`)";
            return self.blame(Gap::result(reason), line);
        }
        if !(self.section.has_steps && steps.is_empty())
            && let Err(gap) = self.title.check(said, steps)
        {
            self.blame(gap, line);
        }
    }
}

/// Whether a form says all that is to be done.
fn is_complete(form: Form, caught: &Caught) -> bool {
    match form {
        Form::Run => !caught.codes.is_empty(),
        Form::RunToPass | Form::RunToFail | Form::Empty | Form::Swap | Form::Commit => true,
        form => matches!(form, Form::Delete | Form::DeleteFolder | Form::Rename),
    }
}

/// What stands behind `Expected:`.
fn expectation(sentence: &Sentence) -> Option<Sentence> {
    let plain = sentence.plain.trim_start_matches(['-', '→', ' ']);
    let rest = plain.strip_prefix("expected").or_else(|| plain.strip_prefix("expect"))?;
    let rest = ["", " output", " result", " results"]
        .iter()
        .find_map(|word| rest.strip_prefix(word).filter(|rest| rest.starts_with([':', '：'])));
    rest.and_then(|_| sentence.after_colon())
}
