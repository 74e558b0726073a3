//! Fences: files, parts of files, scripts, and what commands print.

use crate::path::RepoPath;
use crate::plan::Action as Listed;
use crate::plan::step::form::Form;
use crate::plan::step::gap::{Gap, short};
use crate::plan::step::{Action, Hunk, command, omission, patch};

use super::{Exit, Output, Pending, Reader, Role, is_complete};

/// A fence as it stands in the text.
struct Fence<'t> {
    info: &'t str,
    language: String,
    content: &'t str,
    line: u32,
}

impl Reader<'_, '_> {
    pub(super) fn fence(&mut self, info: &str, content: &str, marks: Option<usize>, line: u32) -> Result<(), Gap> {
        let language = info.split([' ', ':', '{', ',']).next().unwrap_or_default().to_lowercase();
        let fence = Fence { info, language, content, line };
        let pending = self.pending.take();
        if self.role == Role::Preface {
            return match pending {
                Some(_) => Err(Gap::new("it stands before the first step, and is none")),
                None => Ok(()),
            };
        }
        let plain = matches!(fence.language.as_str(), "" | "text" | "txt" | "plaintext" | "console" | "output" | "log");
        if self.output == Output::Due || self.output == Output::Likely && plain {
            return self.expect_output(content);
        }
        if let Some((path, old)) = self.old.take() {
            let given = matches!(&pending, Some(Pending { form: Form::With, .. }));
            if !given {
                return Err(Gap::text("what stands in place of the text to find"));
            }
            omission::check(content, marks)?;
            let hunks = vec![Hunk { old, new: content.to_owned() }];
            return self.change(Action::Patch { path, hunks }, line);
        }
        if self.led {
            return Err(Gap::purpose());
        }
        let lead = match &pending {
            Some(pending) => Some((pending.form, &pending.caught)),
            None => self.heading.as_ref().map(|(form, caught)| (*form, caught)).filter(|lead| !is_complete(lead.0, lead.1)),
        };
        let form = lead.map(|(form, _)| form);
        let named = lead.and_then(|(_, caught)| caught.paths.first());
        let named = named.map(|path| self.files.find(path)).transpose()?;
        if matches!(fence.language.as_str(), "diff" | "patch") {
            return self.diff(&fence, form, named);
        }
        match form {
            Some(Form::Run | Form::RunToPass | Form::RunToFail | Form::Commit) => self.script(&fence, form),
            Some(Form::Patch) => Err(Gap::place("its change is not given as a diff")),
            Some(form) => self.text(form, named, &fence, marks, pending.as_ref()),
            None => self.untold(&fence, marks),
        }
    }

    /// A diff, by the files that it names or by the one that the text names.
    fn diff(&mut self, fence: &Fence<'_>, form: Option<Form>, named: Option<RepoPath>) -> Result<(), Gap> {
        let meant = matches!(form, None | Some(Form::Patch | Form::Create | Form::Find));
        if !meant || self.role == Role::Outside {
            return Err(Gap::purpose());
        }
        let named = named.or_else(|| self.path.clone());
        for action in patch::read(fence.content, named.as_ref())? {
            self.change(action, fence.line)?;
        }
        Ok(())
    }

    fn script(&mut self, fence: &Fence<'_>, form: Option<Form>) -> Result<(), Gap> {
        let plain = matches!(fence.language.as_str(), "" | "text" | "plaintext");
        if !command::is_shell(&fence.language) && !plain {
            return Err(Gap::purpose());
        }
        let exit = match form {
            Some(Form::RunToPass) => Some(Exit::Pass),
            Some(Form::RunToFail) => Some(Exit::Fail),
            _ => None,
        };
        self.run(fence.content, exit, fence.line)
    }

    /// Text that the form before it speaks of.
    fn text(
        &mut self,
        form: Form,
        named: Option<RepoPath>,
        fence: &Fence<'_>,
        marks: Option<usize>,
        pending: Option<&Pending>,
    ) -> Result<(), Gap> {
        let content = fence.content.to_owned();
        if matches!(form, Form::Create | Form::CreateTest | Form::CreateCode)
            && (command::commit(&content).is_some() || pending.is_none() && self.is_script(fence, named.as_ref()))
        {
            return self.script(fence, None);
        }
        omission::check(&content, marks)?;
        let here = || {
            let said = named.clone().or_else(|| self.path.clone());
            said.or_else(|| self.files.single()).ok_or_else(Gap::file)
        };
        let action = match form {
            Form::Create | Form::CreateTest | Form::CreateCode => {
                let path = self.place(form, named, fence)?;
                Action::Write { path, content, fresh: true }
            }
            Form::Overwrite => Action::Write { path: here()?, content, fresh: false },
            Form::Append => Action::Append { path: here()?, content },
            Form::Find if content.trim().is_empty() => return Err(Gap::text("the text to find")),
            Form::Find => {
                self.old = Some((here()?, content));
                return Ok(());
            }
            Form::After | Form::Before => {
                let anchor = pending.and_then(|pending| pending.caught.codes.first().cloned());
                let line = anchor.ok_or_else(|| Gap::place("it does not say beside which line"))?;
                Action::Insert { path: here()?, line, after: form == Form::After, content }
            }
            Form::With => return Err(Gap::place("it says what to put in place, but not of which text")),
            _ => return Err(Gap::purpose()),
        };
        self.change(action, fence.line)
    }

    /// Whether a fence under a title that makes something is rather the commands that make it.
    fn is_script(&self, fence: &Fence<'_>, named: Option<&RepoPath>) -> bool {
        command::is_shell(&fence.language) && named.is_none() && self.files.of_fence(fence.info, fence.content) == Ok(None)
            && self.title.may_run()
    }

    /// The file that a fence makes: by its sentence, its own first line, the title, or the only one of its kind in the list.
    fn place(&self, form: Form, named: Option<RepoPath>, fence: &Fence<'_>) -> Result<RepoPath, Gap> {
        let own = self.files.of_fence(fence.info, fence.content)?;
        if let Some(path) = named {
            let shell = command::is_shell(&fence.language)
                && !matches!(path.extension(), Some("sh" | "bash" | "zsh" | "bats"))
                && !fence.content.starts_with("#!");
            if shell {
                return Err(Gap::purpose());
            }
            let within = |long: &RepoPath, short: &RepoPath| long.as_str().ends_with(&format!("/{short}"));
            return match own {
                Some(own) if within(&own, &path) => Ok(own),
                Some(own) if own != path && !within(&path, &own) => {
                    Err(Gap::path(format!("it names `{path}`, and its code names `{}`", short(own.as_str()))))
                }
                _ if self.files.lacks(&path) => {
                    Err(Gap::path(format!("it does not say in which folder `{path}` is to be")))
                }
                _ => Ok(path),
            };
        }
        if let Some(path) = own.or_else(|| self.path.clone()) {
            return Ok(path);
        }
        let kind = match form {
            Form::CreateTest => Listed::Test,
            Form::CreateCode => Listed::Create,
            _ => return Err(Gap::file()),
        };
        self.files.only(kind, &fence.language).cloned().ok_or_else(Gap::file)
    }

    /// A fence that no sentence leads: commands of a step, or a new file that names itself.
    fn untold(&mut self, fence: &Fence<'_>, marks: Option<usize>) -> Result<(), Gap> {
        let commits = command::commit(fence.content).is_some();
        let runs = self.title.is_order && !self.title.condition;
        if self.role == Role::Step && (commits || runs && command::is_shell(&fence.language)) {
            return self.run(fence.content, None, fence.line);
        }
        let own = self.files.of_fence(fence.info, fence.content)?;
        match (own, &self.path) {
            (Some(path), _) if self.role == Role::Step && !command::is_shell(&fence.language) => {
                omission::check(fence.content, marks)?;
                let action = Action::Write { path, content: fence.content.to_owned(), fresh: true };
                self.change(action, fence.line)
            }
            (_, Some(path)) => Err(Gap::place(format!("it does not say where in `{path}` its code belongs"))),
            _ if command::is_shell(&fence.language) => {
                Err(Gap::command("it does not say that its commands are to be run"))
            }
            _ => Err(Gap::file()),
        }
    }

    /// The lines that the last command must print.
    fn expect_output(&mut self, content: &str) -> Result<(), Gap> {
        let steps = self.told.steps[self.start..].iter_mut().rev();
        let mut runs = steps.filter_map(|step| match &mut step.action {
            Action::Run { expect, .. } => Some(expect),
            _ => None,
        });
        let last = runs.next().ok_or_else(|| Gap::command("it says what to expect, but spells out no command"))?;
        last.lines = content.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned).collect();
        last.silent |= last.lines.is_empty();
        Ok(())
    }
}
