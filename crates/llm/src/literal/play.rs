//! The steps, gone through with the results that are there. The first call without a result is the next to make.

use std::collections::BTreeSet;

use sequester_core::message::{Answered, Call};
use sequester_core::path::RepoPath;
use sequester_core::plan::step::{Action, Exit, Expect, Step};
use sequester_core::tool::EXIT_CODE;
use serde_json::{Value, json};

use super::{place, shell};

/// Most of a tool's words that a report repeats.
const WORDS: usize = 600;
/// What shells give for a command that could not run, or whose reader left: never the failure that a step expects.
const NOT_RUN: [i32; 3] = [126, 127, 141];

pub(super) enum Stop {
    /// Has no result yet.
    Call(&'static str, Value),
    Blocked(String),
    /// The conversation is not this model's.
    Foreign,
}

pub(super) enum Ending {
    Complete,
    /// No turn is left.
    Unfinished,
    Blocked(String),
}

impl Ending {
    pub(super) fn refused(reason: String) -> Self {
        Self::Blocked(reason)
    }
}

/// What became of one step.
pub(super) struct Row<'a> {
    pub(super) step: &'a Step,
    pub(super) ok: bool,
    /// What was seen.
    pub(super) note: String,
}

pub(super) struct Play<'a> {
    past: std::slice::Iter<'a, (&'a Call, Option<&'a Answered>)>,
    /// Files whose contents the tools know to be known; a command may change any.
    known: BTreeSet<RepoPath>,
    /// What was seen at each step so far.
    notes: Vec<String>,
    failed: Option<String>,
}

impl<'a> Play<'a> {
    pub(super) fn new(past: &'a [(&'a Call, Option<&'a Answered>)]) -> Self {
        Self { past: past.iter(), known: BTreeSet::new(), notes: Vec::new(), failed: None }
    }

    pub(super) fn all(&mut self, steps: &[Step]) -> Result<(), Stop> {
        for step in steps {
            match self.step(&step.action) {
                Ok(note) => self.notes.push(note),
                Err(Stop::Blocked(why)) => {
                    self.failed = Some(why.clone());
                    return Err(Stop::Blocked(format!("{}: {why}", place(step))));
                }
                Err(stop) => return Err(stop),
            }
        }
        if self.past.next().is_some() { Err(Stop::Foreign) } else { Ok(()) }
    }

    /// The steps that were begun.
    pub(super) fn rows<'s>(&self, steps: &'s [Step]) -> Vec<Row<'s>> {
        let done = self.notes.iter().map(|note| (true, note));
        let all = done.chain(self.failed.iter().map(|why| (false, why)));
        steps
            .iter()
            .zip(all)
            .map(|(step, (ok, note))| Row { step, ok, note: note.clone() })
            .collect()
    }

    fn step(&mut self, action: &Action) -> Result<String, Stop> {
        match action {
            Action::Write { path, content, fresh } => self.write(path, content, *fresh),
            Action::Replace { path, old, new } => self.edit(path, old, new),
            Action::Patch { path, hunks } => {
                for hunk in hunks {
                    self.edit(path, &hunk.old, &hunk.new)?;
                }
                Ok(format!("`{path}` is patched."))
            }
            Action::Append { path, content } if content.len() <= shell::APPENDED => {
                self.command(&shell::append(path, content))?;
                Ok(format!("The text is at the end of `{path}`."))
            }
            Action::Append { path, .. } => Err(Stop::Blocked(format!(
                "the text for the end of `{path}` is too long for one command."
            ))),
            Action::Delete { path, folder } => {
                self.command(&shell::delete(path, *folder))?;
                Ok(format!("`{path}` is deleted."))
            }
            Action::Rename { from, to } => {
                self.command(&shell::rename(from, to))?;
                Ok(format!("`{from}` is now `{to}`."))
            }
            Action::Run { command, expect } => self.run(command, expect),
            Action::Commit { .. } => Ok("The runtime commits.".to_owned()),
            // Asked before the first step; unclear steps were refused.
            Action::Ask { question, .. } => Ok(format!("Answered: {question}")),
            Action::Unclear { reason } => Err(Stop::Blocked(format!("{reason}."))),
        }
    }

    fn write(&mut self, path: &RepoPath, content: &str, fresh: bool) -> Result<String, Stop> {
        let read = json!({ "file_path": path.as_str() });
        let write = json!({ "file_path": path.as_str(), "content": content });
        if fresh && !self.call("Read", read.clone())?.failed {
            return Err(Stop::Blocked(format!(
                "`{path}` is there already, and it does not say where its text belongs."
            )));
        }
        let mut written = self.call("Write", write.clone())?;
        if written.failed && !fresh {
            // It is there and must be seen before it is replaced; what is wrong with it the second try will tell.
            self.call("Read", read)?;
            written = self.call("Write", write)?;
        }
        must(written)?;
        self.known.insert(path.clone());
        Ok(format!("`{path}` is written."))
    }

    fn edit(&mut self, path: &RepoPath, old: &str, new: &str) -> Result<String, Stop> {
        if !self.known.contains(path) {
            let read = self.call("Read", json!({ "file_path": path.as_str() }))?;
            must(read)?;
            self.known.insert(path.clone());
        }
        let edit = json!({ "file_path": path.as_str(), "old_string": old, "new_string": new });
        let edited = self.call("Edit", edit)?;
        must(edited)?;
        Ok(format!("`{path}` is changed."))
    }

    fn run(&mut self, command: &str, expect: &Expect) -> Result<String, Stop> {
        let (code, output) = self.bash(&shell::script(command, expect))?;
        let seen = format!("exit code {code}");
        let met = match expect.exit {
            Exit::Pass => code == 0,
            Exit::Fail => code != 0 && !NOT_RUN.contains(&code),
            Exit::Code(wanted) => code == i32::from(wanted),
            Exit::Any => !NOT_RUN.contains(&code),
        };
        let wanted = match expect.exit {
            Exit::Pass => "exit code 0".to_owned(),
            Exit::Fail => "a failure".to_owned(),
            Exit::Code(wanted) => format!("exit code {wanted}"),
            Exit::Any => "that it runs".to_owned(),
        };
        let command = head(command, 200);
        if !met {
            return Err(Stop::Blocked(format!(
                "`{command}` was to give {wanted}, and gave {seen}: {}",
                tail(output)
            )));
        }
        if let Some(text) =
            expect.text.as_ref().filter(|text| !lines(output).contains(&lines(text)))
        {
            let text = head(text, 200);
            return Err(Stop::Blocked(format!(
                "`{text}` was expected in the output of `{command}`, which is: {}",
                tail(output)
            )));
        }
        if expect.silent && !output.trim().is_empty() {
            return Err(Stop::Blocked(format!(
                "`{command}` was to print nothing, and printed: {}",
                tail(output)
            )));
        }
        Ok(format!("`{command}` gave {seen}, as expected."))
    }

    fn command(&mut self, command: &str) -> Result<(), Stop> {
        match self.bash(command)? {
            (0, _) => Ok(()),
            (code, output) => Err(Stop::Blocked(format!(
                "`{}` gave exit code {code}: {}",
                head(command, 200),
                tail(output)
            ))),
        }
    }

    fn bash(&mut self, command: &str) -> Result<(i32, &'a str), Stop> {
        self.known.clear();
        let answered = self.call("Bash", json!({ "command": command }))?;
        must(answered)?;
        let (output, last) = answered.text.rsplit_once('\n').unwrap_or(("", &answered.text));
        let code = last.strip_prefix(EXIT_CODE).and_then(|code| code.trim().parse().ok());
        let code = code
            .ok_or_else(|| Stop::Blocked("`Bash` did not say how the command ended.".to_owned()))?;
        Ok((code, output))
    }

    /// The result of a call, if it was made; else it is the next.
    fn call(&mut self, name: &'static str, arguments: Value) -> Result<&'a Answered, Stop> {
        match self.past.next() {
            None => Err(Stop::Call(name, arguments)),
            Some((call, Some(answered))) if call.name == name && call.arguments == arguments => {
                Ok(answered)
            }
            Some(_) => Err(Stop::Foreign),
        }
    }
}

fn must(answered: &Answered) -> Result<(), Stop> {
    if answered.failed {
        return Err(Stop::Blocked(format!(
            "`{}` says: {}",
            answered.name,
            head(&answered.text, WORDS)
        )));
    }
    Ok(())
}

/// A text without what stands invisible at the ends of its lines.
fn lines(text: &str) -> String {
    text.trim().lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
}

pub(super) fn head(text: &str, limit: usize) -> &str {
    text[..text.floor_char_boundary(limit)].trim_end()
}

/// The end of an output is where tools say what went wrong.
fn tail(text: &str) -> &str {
    let text = text.trim();
    if text.is_empty() {
        "no output"
    } else {
        &text[text.ceil_char_boundary(text.len().saturating_sub(WORDS))..]
    }
}
