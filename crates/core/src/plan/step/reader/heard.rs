//! Sentences that are no instruction by their form: passed over and named, or unclear.

use crate::plan::step::lead::Lead;
use crate::plan::step::sentence::Sentence;
use crate::plan::step::target::{self, is_path};
use crate::plan::step::{STEPS, expect, prose};

use super::Reader;

impl Reader<'_, '_> {
    /// Words inside of a step, or behind the first thing to do.
    fn in_body(&self) -> bool {
        !self.preface && (self.is_step || self.pending.is_some() || !self.steps.is_empty())
    }

    /// What the last sentence was, now that no fence follows it.
    pub(super) fn judge(&mut self) {
        let Some((said, line)) = self.heard.take() else { return };
        if self.preface || prose::explains(&said.plain) {
            self.pass(&said);
        } else if self.in_body() || prose::asks(&said.plain) {
            self.ask(&said, line);
        }
    }

    /// The last sentence leads to a fence; whether that was taken.
    pub(super) fn introduce(&mut self, said: &Sentence, line: u32, taken: bool) {
        let leads = said.plain.ends_with([':', '：']) && !prose::warns(&said.plain);
        let leads = leads && !prose::asks(&said.plain) || prose::is_foreign(&said.plain);
        if self.preface || taken && leads || prose::explains(&said.plain) {
            self.pass(said);
        } else if self.in_body() {
            self.ask(said, line);
        }
    }

    /// Under a label that explains, only what plainly asks is unclear.
    pub(super) fn remark(&mut self, said: &Sentence, line: u32) {
        if !prose::asks(&said.plain) {
            self.pass(said);
        } else if self.in_body() {
            self.ask(said, line);
        }
    }

    /// A sentence under a condition that no fence follows.
    pub(super) fn depend(&mut self, said: &Sentence, line: u32) {
        if prose::explains(&said.plain) {
            self.pass(said);
        } else {
            let said = target::short(&said.raw);
            self.blame(format!("`{said}` holds under a condition only"), line);
        }
    }

    /// What a sentence asks for beyond what is carried out.
    pub(super) fn excess(&self, lead: &Lead, sentence: &Sentence) -> Option<String> {
        let more = match lead {
            _ if self.preface => false,
            Lead::Run { commands, tail } if !commands.is_empty() => {
                let looks = [
                    "verify",
                    "check",
                    "confirm",
                    "make sure",
                    "ensure",
                    " see ",
                    "must",
                    "should",
                ];
                let silent = expect::of_tail(tail) == Ok(None);
                prose::goes_on(&format!("run,{tail}"))
                    || silent && looks.iter().any(|word| tail.contains(word))
            }
            Lead::Make { .. }
            | Lead::Overwrite
            | Lead::Append
            | Lead::Insert { .. }
            | Lead::Commit(_) => prose::goes_on(&sentence.plain),
            Lead::Expected(said) => prose::goes_on(&format!("expected, {}", said.plain)),
            _ => false,
        };
        more.then(|| format!("not all of `{}` is spelled out", target::short(&sentence.raw)))
    }

    /// A code span alone is a name in a list, or words that nobody explains.
    pub(super) fn alone(&mut self, code: &str) -> Result<(), String> {
        if is_path(code) || !code.contains(char::is_whitespace) || !self.in_body() {
            return Ok(());
        }
        Err(format!("it does not say what `{}` is for", target::short(code)))
    }

    /// Where the words around a command are of another language, they may well say that it fails.
    pub(super) fn leave_unsaid(&mut self, foreign: bool, line: u32) {
        self.say_unsaid();
        let titled = self.title.as_ref().is_some_and(|title| prose::is_foreign(&title.plain));
        if titled || foreign {
            self.unsaid = Some(line);
        }
    }

    pub(super) fn say_unsaid(&mut self) {
        if let Some(line) = self.unsaid.take() {
            let reason = "it does not say with `Expected:` whether its command passes or fails";
            self.blame(reason.to_owned(), line);
        }
    }

    fn ask(&mut self, said: &Sentence, line: u32) {
        self.blame(format!("`{}` is not spelled out", target::short(&said.raw)), line);
    }

    fn pass(&mut self, said: &Sentence) {
        if self.in_body() && self.passed.len() < STEPS {
            self.passed.push(said.raw.clone());
        }
    }
}
