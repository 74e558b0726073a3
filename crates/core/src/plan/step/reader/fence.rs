//! Fences: files, parts of files, scripts, and what commands print.

use crate::path::RepoPath;
use crate::plan::Action as Listed;
use crate::plan::step::lead::{self, Lead};
use crate::plan::step::sentence::Sentence;
use crate::plan::step::{Action, Exit, Expect, code, command, expect, patch};

use super::{Before, Reader};

impl Reader<'_, '_> {
    pub(super) fn fence(
        &mut self,
        info: &str,
        content: String,
        foreign: bool,
        line: u32,
    ) -> Result<(), String> {
        let language = info.split([' ', ':', '{', ',']).next().unwrap_or_default().to_lowercase();
        let pending = self.pending.take();
        let before = std::mem::take(&mut self.before);
        if before == Before::Expected {
            return self.expect_text(&content);
        }
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
                _ => self.run(&content, "", foreign, line),
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
        if before == Before::Prose {
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

    fn expect_text(&mut self, content: &str) -> Result<(), String> {
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
    pub(super) fn place(&self, sentence: &Sentence) -> Result<RepoPath, String> {
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
