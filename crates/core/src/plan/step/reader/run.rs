//! Commands, and what is expected of them.

use super::{Before, Reader, Sentence};
use crate::plan::step::gap::Gap;
use crate::plan::step::{Action, Exit, Expect, command, expect};

impl Reader<'_, '_> {
    pub(super) fn run(&mut self, script: &str, told: Option<Exit>, line: u32) -> Result<(), Gap> {
        let exit = told.or(self.heading.title.exit).unwrap_or_default();
        let expect = Expect { exit, ..Expect::default() };
        let said = told.or(self.heading.title.exit).is_some();
        for action in command::read(script, Some(&expect))? {
            match action {
                Action::Delete { .. } | Action::Rename { .. } => self.change(action, line)?,
                Action::Run { expect: ref found, .. } => {
                    self.state.unsaid |= !said && *found == expect;
                    self.push(action, line);
                }
                action => self.push(action, line),
            }
        }
        Ok(())
    }

    /// What is expected of the last command.
    pub(super) fn expect(&mut self, said: &Sentence) -> Result<(), Gap> {
        self.wake();
        let titled = self.heading.title.exit;
        let goes_on = self.context.before == Before::Expected;
        self.state.unsaid = false;
        self.context.before = if said.raw.is_empty() || said.raw.ends_with(':') {
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
            self.task.told.passed.push(format!("Expected: {}", said.raw));
        }
        Ok(())
    }

    /// What the last command of the section must come to.
    pub(super) fn last_run(&mut self) -> Result<&mut Expect, Gap> {
        let expects =
            self.task.told.steps[self.state.start..].iter_mut().rev().filter_map(|step| {
                match &mut step.action {
                    Action::Run { expect, .. } => Some(expect),
                    _ => None,
                }
            });
        let none = || Gap::command("it says what to expect, but spells out no command");
        expects.into_iter().next().ok_or_else(none)
    }
}

/// What stands behind `Expected:`.
pub(super) fn expectation(sentence: &Sentence) -> Option<Sentence> {
    let plain = sentence.plain.trim_start_matches(['-', '→', ' ']);
    let rest = plain.strip_prefix("expected").or_else(|| plain.strip_prefix("expect"))?;
    let rest = ["", " output", " result", " results"]
        .iter()
        .find_map(|word| rest.strip_prefix(word).filter(|rest| rest.starts_with([':', '：'])));
    rest.and_then(|_| sentence.after_colon())
}
