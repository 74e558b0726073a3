//! The steps, gone through with the results that are there. The first calls without results are the next to make.
//!
//! Changes of files that follow each other go together: one turn to read what is there, one to change it. What is read
//! decides whether all of them can be made before the first is.

use std::collections::BTreeMap;

use sequester_core::message::{Answered, Call};
use sequester_core::path::RepoPath;
use sequester_core::plan::step::{Action, Expect, Step, head};
use sequester_core::tool::EXIT_CODE;
use serde_json::{Value, json};

use super::file::{self, Exchange, Page};
use super::{outcome, shell};

/// Calls in one reply.
const CALLS: usize = 16;
/// Most of an output that a report repeats.
const WORDS: usize = 600;

pub(super) enum Stop {
    /// Have no result yet.
    Calls(Vec<(&'static str, Value)>),
    /// The step by its place among the steps, and why it cannot be done.
    Blocked(usize, String),
    /// The conversation is not this model's.
    Foreign,
}

/// What became of one step.
pub(super) struct Row<'a> {
    pub(super) step: &'a Step,
    pub(super) ok: bool,
    /// What was seen.
    pub(super) note: String,
}

type Past<'a> = (&'a Call, Option<&'a Answered>);

pub(super) struct Play<'a> {
    steps: &'a [Step],
    past: &'a [Past<'a>],
    /// The lines of files that were read or written, or what ends a sentence that begins with the file. A command may change any.
    known: BTreeMap<RepoPath, Result<Vec<String>, String>>,
    pub(super) record: Record<'a>,
}

/// What became of the steps.
#[derive(Default)]
pub(super) struct Record<'a> {
    pub(super) rows: Vec<Row<'a>>,
    /// Something else than reading was tried.
    pub(super) acted: bool,
}

/// How many replies with calls the steps take, if every file is short.
pub(super) fn turns(steps: &[Step]) -> usize {
    let (mut turns, mut changes, mut reads) = (0, 0, false);
    let mut known: Vec<&RepoPath> = Vec::new();
    for step in steps {
        match changed(&step.action) {
            Some((path, count)) => {
                reads |= !known.contains(&path);
                changes += count;
                known.push(path);
            }
            None if matches!(step.action, Action::Commit { .. } | Action::Ask { .. }) => {}
            None => {
                turns += 1 + changes.div_ceil(CALLS) + usize::from(reads);
                (changes, reads) = (0, false);
                known.clear();
            }
        }
    }
    turns + changes.div_ceil(CALLS) + usize::from(reads)
}

/// The file that a step changes by itself, and in how many places.
fn changed(action: &Action) -> Option<(&RepoPath, usize)> {
    match action {
        Action::Write { path, .. } | Action::Replace { path, .. } | Action::Insert { path, .. } => {
            Some((path, 1))
        }
        Action::Patch { path, hunks } => Some((path, hunks.len())),
        _ => None,
    }
}

impl<'a> Play<'a> {
    pub(super) fn new(steps: &'a [Step], past: &'a [Past<'a>]) -> Self {
        Self { steps, past, known: BTreeMap::new(), record: Record::default() }
    }

    pub(super) fn all(&mut self) -> Result<(), Stop> {
        let mut at = 0;
        while let Some(step) = self.steps.get(at) {
            let run =
                self.steps[at..].iter().take_while(|step| changed(&step.action).is_some()).count();
            let done = if run > 0 {
                self.change(at, run)
            } else {
                self.step(step).map_err(|stop| stop.at(at))
            };
            if let Err(Stop::Blocked(at, why)) = &done {
                self.record.rows.push(Row { step: &self.steps[*at], ok: false, note: why.clone() });
            }
            done?;
            at += run.max(1);
        }
        if self.past.is_empty() { Ok(()) } else { Err(Stop::Foreign) }
    }

    fn done(&mut self, step: &'a Step, note: String) {
        self.record.rows.push(Row { step, ok: true, note });
    }

    /// Changes of files in a row: all are worked out on what was read before the first is made.
    fn change(&mut self, from: usize, count: usize) -> Result<(), Stop> {
        let steps = &self.steps[from..from + count];
        self.look(steps)?;
        let mut calls: Vec<(usize, &'static str, Value)> = Vec::new();
        for (at, step) in (from..).zip(steps) {
            let (path, _) = changed(&step.action).ok_or(Stop::Foreign)?;
            let worked = self.work_out(path, &step.action);
            let made = worked.map_err(|why| Stop::Blocked(at, format!("`{path}` {why}.")))?;
            calls.extend(made.into_iter().map(|(name, arguments)| (at, name, arguments)));
        }
        let mut failed = None;
        for part in calls.chunks(CALLS) {
            let asked =
                part.iter().map(|(_, name, arguments)| (*name, arguments.clone())).collect();
            for (answered, (at, ..)) in self.calls(asked)?.into_iter().zip(part) {
                if answered.failed && failed.is_none() {
                    failed = Some((
                        *at,
                        format!("it could not be changed: {}", tool_words(&answered.text)),
                    ));
                }
            }
            if failed.is_some() {
                break;
            }
        }
        let until = failed.as_ref().map_or(from + count, |(at, _)| *at);
        for step in &self.steps[from..until] {
            let note = changed(&step.action).map(|(path, _)| format!("`{path}` is as it says."));
            self.done(step, note.unwrap_or_default());
        }
        failed.map_or(Ok(()), |(at, why)| Err(Stop::Blocked(at, why)))
    }

    /// Reads every file of some steps that is not known, page by page and all of them at once.
    fn look(&mut self, steps: &[Step]) -> Result<(), Stop> {
        let mut open: BTreeMap<RepoPath, (Vec<String>, Option<usize>)> = BTreeMap::new();
        for (path, _) in steps.iter().filter_map(|step| changed(&step.action)) {
            if !self.known.contains_key(path) {
                open.insert(path.clone(), Default::default());
            }
        }
        while !open.is_empty() {
            let now: Vec<_> = std::mem::take(&mut open).into_iter().collect();
            for part in now.chunks(CALLS) {
                let call = |(path, (_, offset)): &(RepoPath, (_, Option<usize>))| {
                    let arguments = match offset {
                        Some(offset) => json!({ "file_path": path.as_str(), "offset": offset }),
                        None => json!({ "file_path": path.as_str() }),
                    };
                    ("Read", arguments)
                };
                let answers = self.calls(part.iter().map(call).collect())?;
                for ((path, (lines, _)), answered) in part.iter().zip(answers) {
                    if answered.failed {
                        self.known.insert(path.clone(), Err(unread(&answered.text)));
                        continue;
                    }
                    let page = Page::read(&answered.text);
                    let lines = [lines.clone(), page.lines].concat();
                    match page.next {
                        Some(next) => drop(open.insert(path.clone(), (lines, Some(next)))),
                        None => drop(self.known.insert(path.clone(), Ok(lines))),
                    }
                }
            }
        }
        Ok(())
    }

    /// The calls that make one change, and what the file is then. The error follows the file's name.
    fn work_out(
        &mut self,
        path: &RepoPath,
        action: &Action,
    ) -> Result<Vec<(&'static str, Value)>, String> {
        let there = self.known.get(path).cloned().unwrap_or_else(|| Err(unread("")));
        if let Action::Write { content, fresh, .. } = action {
            let same = there.as_ref().is_ok_and(|lines| lines.iter().eq(content.lines()));
            if *fresh && there.is_ok() && !same {
                return Err("is there already with other contents".to_owned());
            }
            self.known.insert(path.clone(), Ok(content.lines().map(str::to_owned).collect()));
            // How its lines end is not shown, so that the same lines are written as well.
            let write = json!({ "file_path": path.as_str(), "content": content });
            return Ok(vec![("Write", write)]);
        }
        let mut lines = there?;
        let mut calls = Vec::new();
        let edit = |old: String, new: String| {
            ("Edit", json!({ "file_path": path.as_str(), "old_string": old, "new_string": new }))
        };
        let mut put = |exchange: Option<Exchange>| {
            calls.extend(exchange.map(|change| edit(change.old, change.new)));
        };
        match action {
            Action::Patch { hunks, .. } => {
                for hunk in hunks {
                    put(file::apply(&mut lines, hunk)?);
                }
            }
            Action::Insert { line, after, content, .. } => {
                let at = file::find_line(&lines, line)? + usize::from(*after);
                put(file::put(&mut lines, at..at, &content.lines().collect::<Vec<_>>()));
            }
            Action::Replace { old, new, .. } => {
                let text = lines.join("\n");
                file::find_text(&text, old)?;
                lines =
                    text.replacen(old.as_str(), new, 1).split('\n').map(str::to_owned).collect();
                calls.extend((old != new).then(|| edit(old.clone(), new.clone())));
            }
            _ => {}
        }
        self.known.insert(path.clone(), Ok(lines));
        Ok(calls)
    }

    fn step(&mut self, step: &'a Step) -> Result<(), Stop> {
        let note = match &step.action {
            Action::Append { path, content } if content.len() <= shell::APPENDED => {
                self.command(
                    &shell::append(path, content),
                    &format!("`{path}` could not be added to"),
                    "it is not there",
                )?;
                format!("The text is at the end of `{path}`.")
            }
            Action::Append { path, .. } => {
                return Err(Stop::Blocked(
                    0,
                    format!("The text for the end of `{path}` is too long for one command."),
                ));
            }
            Action::Delete { path, folder } => {
                let delete = if *folder { shell::delete_folder } else { shell::delete };
                self.command(
                    &delete(path),
                    &format!("`{path}` could not be deleted"),
                    "it is not there",
                )?;
                format!("`{path}` is deleted.")
            }
            Action::Rename { from, to } => {
                self.command(
                    &shell::rename(from, to),
                    &format!("`{from}` could not become `{to}`"),
                    &format!("`{to}` is there already"),
                )?;
                format!("`{from}` is now `{to}`.")
            }
            Action::Run { command, expect } => self.run(command, expect)?,
            Action::Commit { .. } => "The runtime commits.".to_owned(),
            // Asked before the first step; unclear steps were refused.
            Action::Ask { question, answer, .. } => match answer {
                Some(answer) => format!("`{question}` is answered: {answer}."),
                None => format!("`{question}` is answered."),
            },
            _ => return Err(Stop::Foreign),
        };
        self.done(step, note);
        Ok(())
    }

    fn run(&mut self, command: &str, expect: &Expect) -> Result<String, Stop> {
        let (code, output) = self.bash(&shell::script(command, expect))?;
        let short = head(command, 200);
        match outcome::miss(command, expect, code, output) {
            Some(miss) => {
                Err(Stop::Blocked(0, printed(&format!("`{short}` was to {miss}."), output)))
            }
            None => Ok(format!("`{short}` gave exit code {code}, as expected.")),
        }
    }

    /// A command of our own. `silent` is why it fails where it prints nothing.
    fn command(&mut self, command: &str, failed: &str, silent: &str) -> Result<(), Stop> {
        match self.bash(command)? {
            (0, _) => Ok(()),
            (_, output) if output.trim().is_empty() => {
                Err(Stop::Blocked(0, format!("{failed}: {silent}.")))
            }
            (_, output) => Err(Stop::Blocked(0, printed(&format!("{failed}."), output))),
        }
    }

    fn bash(&mut self, command: &str) -> Result<(i32, &'a str), Stop> {
        self.known.clear();
        let answers = self.calls(vec![("Bash", json!({ "command": command }))])?;
        let text = answers.first().map_or("", |answered| answered.text.as_str());
        let (output, last) = text.rsplit_once('\n').unwrap_or(("", text));
        let code = last.strip_prefix(EXIT_CODE).and_then(|code| code.trim().parse().ok());
        let failed = answers.first().is_none_or(|answered| answered.failed);
        match code {
            Some(code) if !failed => Ok((code, output)),
            Some(_) => Err(Stop::Blocked(
                0,
                printed(&format!("`{}` did not end in time.", head(command, 200)), output),
            )),
            None => Err(Stop::Blocked(
                0,
                format!("`{}` gave no exit code: {}", head(command, 200), tool_words(text)),
            )),
        }
    }

    /// The results of calls, if they were made; else they are the next.
    fn calls(&mut self, calls: Vec<(&'static str, Value)>) -> Result<Vec<&'a Answered>, Stop> {
        if calls.is_empty() {
            return Ok(Vec::new());
        }
        if self.past.is_empty() {
            return Err(Stop::Calls(calls));
        }
        let (now, rest) = self.past.split_at_checked(calls.len()).ok_or(Stop::Foreign)?;
        self.past = rest;
        self.record.acted |= calls.iter().any(|(name, _)| *name != "Read");
        let answered =
            |((call, answered), (name, arguments)): (&Past<'a>, &(&'static str, Value))| {
                (call.name == *name && call.arguments == *arguments).then_some(*answered).flatten()
            };
        now.iter().zip(&calls).map(answered).collect::<Option<_>>().ok_or(Stop::Foreign)
    }
}

impl Stop {
    fn at(self, at: usize) -> Self {
        match self {
            Self::Blocked(_, why) => Self::Blocked(at, why),
            stop => stop,
        }
    }
}

/// Why a file could not be read, to follow its name.
fn unread(told: &str) -> String {
    if told.contains("does not exist") {
        return "is not there".to_owned();
    }
    format!("cannot be read: {}", tool_words(told).trim_end_matches('.'))
}

/// What a tool says, without what it says to a model only.
fn tool_words(text: &str) -> String {
    let text = text.trim().trim_start_matches("Refused: ");
    let sentences = text.split_inclusive(". ").take_while(|said| !is_for_model(said));
    let said: String = sentences.take(2).collect();
    if said.is_empty() {
        "the tools did not take it.".to_owned()
    } else {
        head(&said, WORDS).to_owned()
    }
}

/// Whether a sentence speaks to the model, outside of code.
fn is_for_model(said: &str) -> bool {
    let words =
        said.split('`').step_by(2).flat_map(|words| words.split(|c: char| !c.is_alphanumeric()));
    let mut words = words.map(str::to_lowercase);
    said.contains("`old_string`") || words.any(|word| matches!(word.as_str(), "you" | "your"))
}

/// A sentence, and on lines of its own the end of an output, where programs say what went wrong.
fn printed(sentence: &str, output: &str) -> String {
    let output = output.trim();
    if output.is_empty() {
        return format!("{sentence} It printed nothing.");
    }
    let tail = &output[output.ceil_char_boundary(output.len().saturating_sub(WORDS))..];
    format!("{sentence} It printed:\n{tail}")
}
