//! From sections to steps: each sentence is a form that is carried out, explains, or makes its step unclear.

mod aim;
mod fence;
mod question;
mod run;

use std::collections::BTreeSet;

use crate::path::RepoPath;
use crate::plan::FileRef;

use super::form::{self, Form};
use super::gap::{self, Gap, short};
use super::pattern::Caught;
use super::prose::{self, Bearing};
use super::scope::Aside;
use super::section::{Mark, Part, Section, What};
use super::sentence::Sentence;
use super::target::Files;
use super::title::Title;
use super::{Action, Exit, STEPS, Step, TITLE, Told, command, expect, words};

pub(super) fn read(sections: &[Section<'_>], files: &[FileRef]) -> Told {
    let told = Told { steps: Vec::new(), passed: Vec::new(), unchecked: Vec::new() };
    let mut task = Task { files: Files::new(files), told, written: BTreeSet::new() };
    let first = sections.iter().position(|section| section.mark != Mark::Text);
    let mut open = Vec::new();
    for (at, section) in sections.iter().enumerate() {
        if task.told.steps.len() > STEPS {
            break;
        }
        let role = match first {
            Some(first) if at < first => Role::Preface,
            Some(_) if section.mark == Mark::Text => Role::Outside,
            Some(_) => Role::Step,
            None => Role::Whole,
        };
        if let (Role::Whole, Some(level)) = (role, section.level) {
            task.close(&mut open, level);
            open.push((section, task.told.steps.len()));
        }
        Reader::new(section, role, sections.get(at + 1), &mut task).all();
    }
    task.close(&mut open, 0);
    task.told
}

/// What the sections of a task share.
struct Task<'f> {
    files: Files<'f>,
    told: Told,
    /// Files that steps so far have written.
    written: BTreeSet<RepoPath>,
}

impl Task<'_> {
    /// Leaves headings down to a level: what each asks for, the steps below it must come to.
    fn close(&mut self, open: &mut Vec<(&Section<'_>, usize)>, level: u8) {
        while let Some((section, start)) = open.pop_if(|(one, _)| one.level >= Some(level)) {
            let Some(said) = &section.title else { continue };
            let title = Title::read(said);
            let steps = &self.told.steps[start.min(self.told.steps.len())..];
            let unclear = steps.iter().any(|step| matches!(step.action, Action::Unclear { .. }));
            if !unclear
                && title.asks()
                && let Err(gap) = title.check(said, steps)
            {
                self.told.steps.push(step(section, gap.into(), section.line));
            }
        }
    }
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
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Before {
    /// Nothing, or what the fence is for.
    #[default]
    Lead,
    /// Words that are no lead: a fence behind them is not what was asked for.
    Words,
    /// What is expected of a command: a fence in no language is its output.
    Expected,
    /// `Expected:`, and nothing behind it: any fence is output.
    Due,
}

/// Where a sentence stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Text,
    Item,
}

/// A sentence that waits for its fence.
struct Pending {
    form: Form,
    caught: Caught,
    said: String,
    line: u32,
}

/// What has been said so far, for what comes next.
#[derive(Default)]
struct Context<'r> {
    pending: Option<Pending>,
    /// The file that the section is about.
    path: Option<RepoPath>,
    /// Lines that wait for what stands in their place.
    old: Option<(RepoPath, String)>,
    before: Before,
    /// A heading or a label that may hold it back.
    held: Option<&'r str>,
    /// A sentence that may speak of the instruction behind it.
    pointer: Option<(&'r Sentence, u32)>,
}

/// What the title says, and what became of it.
struct Heading {
    title: Title,
    /// What it asks for as a sentence.
    form: Option<(Form, Caught)>,
    /// It was itself carried out.
    woken: bool,
}

/// What is known of the section's steps.
struct State {
    /// Where they begin.
    start: usize,
    /// Some command has nobody's word on how it must end.
    unsaid: bool,
    unclear: bool,
}

struct Reader<'r, 'f> {
    section: &'r Section<'r>,
    role: Role,
    next: Option<&'r Section<'r>>,
    task: &'r mut Task<'f>,
    heading: Heading,
    context: Context<'r>,
    state: State,
}

impl<'r, 'f> Reader<'r, 'f> {
    fn new(
        section: &'r Section<'r>,
        role: Role,
        next: Option<&'r Section<'r>>,
        task: &'r mut Task<'f>,
    ) -> Self {
        let title = section.title.as_ref().map(Title::read).unwrap_or_default();
        let form = section.title.as_ref().filter(|_| role == Role::Step).and_then(form::read);
        let path = match title.paths.as_slice() {
            [one] => task.files.find(one).ok(),
            _ => None,
        };
        let state = State { start: task.told.steps.len(), unsaid: false, unclear: false };
        let heading = Heading { title, form, woken: false };
        let context = Context { path, held: section.held, ..Context::default() };
        Self { section, role, next, task, heading, context, state }
    }

    fn all(mut self) {
        if let Some(title) = self.section.title.as_ref().filter(|_| self.role == Role::Step) {
            self.heading.woken = self.answer(title, Place::Text, self.section.line);
        }
        let aim = self.aim();
        for part in &self.section.parts {
            if self.task.told.steps.len() > STEPS {
                return;
            }
            if aim.is_none_or(|(_, lead)| !std::ptr::eq(lead, part)) {
                self.take(part);
            }
        }
        self.end();
        self.meet(aim);
    }

    fn take(&mut self, part: &'r Part<'_>) {
        self.context.held = part.held;
        match &part.what {
            What::Words(sentences) => self.say_all(sentences, Place::Text, part.line),
            What::Item(sentences) => self.say_all(sentences, Place::Item, part.line),
            What::Aside(aside, sentences) => self.pass(*aside, sentences, part.line),
            What::Doubt(said) => self.blame(Gap::sentence(&said.raw), part.line),
            What::Fence(fence) => {
                let taken = self.fence(fence);
                self.context.before = Before::Lead;
                if let Err(gap) = taken {
                    self.blame(gap, part.line);
                }
            }
        }
    }

    /// Names what an aside says; what explains may ask all the same.
    fn pass(&mut self, aside: Aside, sentences: &[Sentence], line: u32) {
        self.settle();
        for said in sentences {
            let first = said.plain.split(' ').next().unwrap_or_default();
            let asks = words::split(&said.plain).any(|word| words::ASKS.has(word));
            let aim = aside == Aside::Aim && prose::introduction(said) == Bearing::None;
            let orders = self.role != Role::Preface && (asks || words::is_order(first) && !aim);
            let held = aside == Aside::Aim && prose::holds(said);
            if matches!(aside, Aside::Remark | Aside::Aim)
                && (orders || held || !prose::is_remark(said))
            {
                self.blame(Gap::sentence(&said.raw), line);
            } else {
                self.task.told.passed.push(said.raw.clone());
            }
        }
        self.context.before = Before::Words;
    }

    fn say_all(&mut self, sentences: &'r [Sentence], place: Place, line: u32) {
        for sentence in sentences {
            self.say(sentence, place, line);
        }
    }

    fn say(&mut self, sentence: &'r Sentence, place: Place, line: u32) {
        if self.answer(sentence, place, line) {
            return;
        }
        if let Some(said) = run::expectation(sentence) {
            self.settle();
            return self.expect(&said).unwrap_or_else(|gap| self.blame(gap, line));
        }
        match form::read(sentence).filter(|_| !prose::is_struck(sentence)) {
            Some((form, caught)) => self.act(form, caught, sentence, line),
            None => self.other(sentence, line),
        }
    }

    /// A sentence that is no form: it goes on with what is expected, is a command by itself, explains, or is unclear.
    fn other(&mut self, sentence: &'r Sentence, line: u32) {
        if self.context.before == Before::Expected && expect::read(sentence).is_ok() {
            return self.expect(sentence).unwrap_or_else(|gap| self.blame(gap, line));
        }
        let waits = matches!(&self.context.pending, Some(Pending { form: Form::Run, .. }));
        if let [code] = sentence.codes.as_slice()
            && sentence.plain.trim_end_matches(['.', ':']) == "¤"
            && (waits || self.looks() || command::commit(code).is_some())
        {
            self.context.pending = None;
            let taken = self.run(code, None, line);
            return taken.unwrap_or_else(|gap| self.blame(gap, line));
        }
        self.settle();
        self.context.before = Before::Words;
        let preface = self.role == Role::Preface;
        if preface && prose::is_constraint(sentence) {
            return self.task.told.unchecked.push(sentence.raw.clone());
        }
        let bearing =
            if preface { prose::introduction(sentence) } else { prose::bearing(sentence) };
        match bearing {
            Bearing::Unclear => return self.blame(Gap::sentence(&sentence.raw), line),
            // It speaks of every step.
            Bearing::Points if preface => return self.blame(Gap::above(&sentence.raw), line),
            Bearing::Points => self.context.pointer = Some((sentence, line)),
            Bearing::None => {}
        }
        if !preface {
            self.task.told.passed.push(sentence.raw.clone());
        }
    }

    /// Whether the title asks for commands.
    fn looks(&self) -> bool {
        let runs = [Form::Run, Form::RunToPass, Form::RunToFail];
        let asked = self.heading.form.as_ref().is_some_and(|(form, _)| runs.contains(form));
        self.role == Role::Step && (asked || self.heading.title.wants_command())
    }

    /// Does what a sentence spells out, or keeps it for its fence.
    fn act(&mut self, form: Form, caught: Caught, sentence: &Sentence, line: u32) {
        self.context.before = Before::Lead;
        if form == Form::Caption {
            return;
        }
        self.settle();
        if is_complete(form, &caught) {
            let done = self.carry_out(form, &caught, line);
            return done.unwrap_or_else(|gap| self.blame(gap, line));
        }
        if let [path] = caught.paths.as_slice() {
            match self.task.files.find(path) {
                Ok(path) => self.context.path = Some(path),
                Err(gap) => return self.blame(gap, line),
            }
        }
        self.context.pending = Some(Pending { form, caught, said: sentence.raw.clone(), line });
    }

    /// A form that needs no fence.
    fn carry_out(&mut self, form: Form, caught: &Caught, line: u32) -> Result<(), Gap> {
        let found: Vec<RepoPath> =
            caught.paths.iter().map(|path| self.task.files.find(path)).collect::<Result<_, _>>()?;
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
                let path = paths.first().or(self.context.path.as_ref()).cloned();
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

    /// Adds a change of a file, unless the text leaves open what becomes of what is there.
    fn change(&mut self, action: Action, line: u32) -> Result<(), Gap> {
        if let Action::Write { path, fresh: true, .. } = &action {
            if self.task.written.contains(path) {
                return Err(Gap::place(format!(
                    "it does not say where in `{path}`, which an earlier step writes, its code belongs"
                )));
            }
            if self.task.files.is_there(path) {
                return Err(Gap::fragment(path));
            }
        }
        if let [path] = action.touched().as_slice() {
            self.context.path = Some((*path).clone());
            self.task.written.extend(self.context.path.clone());
        }
        self.push(action, line);
        Ok(())
    }

    fn push(&mut self, action: Action, line: u32) {
        let outside = match self.role {
            Role::Preface => Some("it stands before the first step, and is none"),
            Role::Outside => Some("it stands outside of the steps"),
            Role::Whole if self.section.title.is_some() && !self.heading.title.leads() => {
                Some("it stands under a heading that asks for nothing")
            }
            Role::Step | Role::Whole => None,
        };
        let above = || {
            let pointed = self.context.pointer.map(|(said, _)| said.raw.as_str());
            self.context.held.or(pointed).map(Gap::above)
        };
        match outside.map(Gap::new).or_else(above) {
            Some(gap) => self.blame(gap, line),
            None => self.task.told.steps.push(step(self.section, action, line)),
        }
    }

    /// One reason is enough for a section.
    fn blame(&mut self, gap: Gap, line: u32) {
        if !std::mem::replace(&mut self.state.unclear, true) {
            self.task.told.steps.push(step(self.section, gap.into(), line));
        }
    }

    /// A sentence that waited in vain.
    fn settle(&mut self) {
        let Some(Pending { form, said, line, .. }) = self.context.pending.take() else { return };
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
        if self.task.told.steps.len() > self.state.start {
            return;
        }
        if let Some((form, caught)) =
            self.heading.form.take_if(|(form, caught)| is_complete(*form, caught))
        {
            let line = self.section.line;
            self.heading.woken = true;
            self.context.held = self.section.held;
            if let Err(gap) = self.carry_out(form, &caught, line) {
                self.blame(gap, line);
            }
        }
    }

    /// A sentence that points on to what stands below the section.
    fn point_on(&mut self) {
        let Some((said, line)) = self.context.pointer else { return };
        let last = match self.section.parts.last().map(|part| &part.what) {
            Some(What::Words(all) | What::Item(all)) => all.last(),
            _ => None,
        };
        let leads =
            said.raw.ends_with([':', '：']) && last.is_some_and(|last| std::ptr::eq(last, said));
        let Some(next) = self.next else { return };
        let below = self.section.mark == Mark::Text
            && (next.level.is_none() || next.level > self.section.level);
        if leads || below {
            self.blame(Gap::above(&said.raw), line);
        }
    }

    fn end(&mut self) {
        self.settle();
        self.point_on();
        let line = self.section.line;
        if self.context.old.take().is_some() {
            self.blame(Gap::text("what stands in place of the text to find"), line);
        }
        if self.role != Role::Step || self.state.unclear {
            return;
        }
        if !self.section.has_steps {
            self.wake();
        }
        let steps = &self.task.told.steps[self.state.start..];
        let Some(said) = &self.section.title else { return };
        // A choice may well be what is asked.
        let acts = steps.iter().any(|step| !matches!(step.action, Action::Ask { .. }));
        let held = acts || gap::is_by_hand(&said.raw);
        if self.heading.title.condition && self.heading.form.is_none() && held {
            return self.blame(Gap::sentence(&said.raw), line);
        }
        if self.state.unsaid && !self.heading.title.is_order() && self.heading.form.is_none() {
            let reason = "it does not say what to expect of its command (`Expected:`)";
            return self.blame(Gap::result(reason), line);
        }
        let met = self.heading.woken || self.section.has_steps && steps.is_empty();
        if !met && let Err(gap) = self.heading.title.check(said, steps) {
            self.blame(gap, line);
        }
    }
}

/// A step of a section.
fn step(section: &Section<'_>, action: Action, line: u32) -> Step {
    let title = section.title.as_ref().map_or("", |title| title.raw.as_str()).replace("**", "");
    let title: String = title.trim_matches(['*', '_', ' ']).chars().take(TITLE).collect();
    Step { title, line, action }
}

/// Whether a form says all that is to be done.
fn is_complete(form: Form, caught: &Caught) -> bool {
    match form {
        Form::Run => !caught.codes.is_empty(),
        Form::RunToPass | Form::RunToFail | Form::Empty | Form::Swap | Form::Commit => true,
        form => matches!(form, Form::Delete | Form::DeleteFolder | Form::Rename),
    }
}
