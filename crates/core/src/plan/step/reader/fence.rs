//! Fences: files, parts of files, scripts, and what commands print.

use crate::path::RepoPath;
use crate::plan::Action as Listed;
use crate::plan::step::form::Form;
use crate::plan::step::gap::Gap;
use crate::plan::step::section::Fence;
use crate::plan::step::sentence::{self, Sentence};
use crate::plan::step::{Action, Hunk, command, omission, patch, prose};

use super::{Before, Caught, Reader, Role, is_complete};

/// Languages of fences that hold no code.
const PLAIN: [&str; 6] = ["", "text", "txt", "plaintext", "output", "log"];

impl Fence<'_> {
    fn language(&self) -> String {
        self.info.split([' ', ':', '{', ',']).next().unwrap_or_default().to_lowercase()
    }

    fn is_shell(&self) -> bool {
        command::is_shell(&self.language())
    }

    /// Whether it shows a terminal, and does not mark which of its lines are commands.
    fn is_unmarked(&self) -> bool {
        let shows = matches!(self.language().as_str(), "console" | "terminal" | "shell-session");
        let lines = || self.content.lines().filter(|line| !line.trim().is_empty());
        shows && lines().count() > 1 && !lines().any(|line| line.trim_start().starts_with("$ "))
    }

    /// Its text, if that is all of it.
    fn whole(&self) -> Result<String, Gap> {
        omission::check(&self.content, &self.language(), self.marks)?;
        Ok(self.content.clone())
    }
}

/// Whether shell code can be a file of this name, and not the commands that make the file.
fn may_be_script(path: &RepoPath, code: &str) -> bool {
    let name = path.as_str().rsplit('/').next().unwrap_or_default();
    match path.extension() {
        _ if code.starts_with("#!") => true,
        Some(extension) => matches!(extension, "sh" | "bash" | "zsh" | "bats"),
        // `Makefile` and the like have a language of their own.
        None => {
            !name.contains("file") && !name.contains(char::is_uppercase) && !code.contains(name)
        }
    }
}

impl Reader<'_, '_> {
    pub(super) fn fence(&mut self, fence: &Fence<'_>) -> Result<(), Gap> {
        let pending = self.context.pending.take();
        if self.role == Role::Preface {
            let prose = PLAIN.contains(&fence.language().as_str());
            let held = |said: &Sentence| prose::cancels(said) || prose::holds(said);
            let held = prose && sentence::split(&fence.content).iter().any(held);
            return match pending {
                None if !held => Ok(()),
                _ => Err(Gap::new("it stands before the first step, and is none")),
            };
        }
        if fence.is_unmarked() && self.context.before == Before::Lead {
            return Err(Gap::command("it does not mark its commands with `$`"));
        }
        let language = fence.language();
        let printed = PLAIN.contains(&language.as_str()) || language == "console";
        if self.context.before == Before::Due || self.context.before == Before::Expected && printed
        {
            return self.expect_output(&fence.content);
        }
        if let Some((path, old)) = self.context.old.take() {
            if pending.is_none_or(|pending| pending.form != Form::With) {
                return Err(Gap::text("what stands in place of the text to find"));
            }
            let hunks = vec![Hunk { old, new: fence.whole()? }];
            return self.change(Action::Patch { path, hunks }, fence.line);
        }
        if self.context.before == Before::Words {
            return Err(Gap::purpose());
        }
        let titled =
            || self.heading.form.clone().filter(|(form, caught)| !is_complete(*form, caught));
        let is_titled = pending.is_none();
        let lead = pending.map(|pending| (pending.form, pending.caught)).or_else(titled);
        let named = lead.as_ref().and_then(|(_, caught)| caught.paths.first());
        let named = named.map(|path| self.task.files.find(path)).transpose()?;
        if matches!(language.as_str(), "diff" | "patch") {
            return self.diff(fence, lead.map(|(form, _)| form), named);
        }
        let Some((form, caught)) = lead else { return self.untold(fence) };
        let creates = matches!(form, Form::Create | Form::CreateTest | Form::CreateCode);
        let commands = command::commit(&fence.content).is_some()
            || is_titled && named.is_none() && self.is_script(fence);
        match form {
            Form::Run if fence.is_shell() || PLAIN.contains(&language.as_str()) => {
                self.run(&fence.content, None, fence.line)
            }
            _ if creates && commands => self.run(&fence.content, None, fence.line),
            _ => self.text(form, &caught, named, fence),
        }
    }

    /// A diff, by the files that it names or by the one that the text names.
    fn diff(
        &mut self,
        fence: &Fence<'_>,
        form: Option<Form>,
        named: Option<RepoPath>,
    ) -> Result<(), Gap> {
        if !matches!(form, None | Some(Form::Patch | Form::Create)) {
            return Err(Gap::purpose());
        }
        let named = named.or_else(|| self.context.path.clone());
        let mut actions = patch::read(&fence.content, named.as_ref())?.into_iter();
        actions.try_for_each(|action| self.change(action, fence.line))
    }

    /// Text that the form before it speaks of.
    fn text(
        &mut self,
        form: Form,
        caught: &Caught,
        named: Option<RepoPath>,
        fence: &Fence<'_>,
    ) -> Result<(), Gap> {
        let content = fence.whole()?;
        let here = || {
            let said = named.clone().or_else(|| self.context.path.clone());
            said.or_else(|| self.task.files.single()).ok_or_else(Gap::file)
        };
        let action = match form {
            Form::Create | Form::CreateTest | Form::CreateCode => {
                Action::Write { path: self.place(form, named, fence)?, content, fresh: true }
            }
            Form::Overwrite => Action::Write { path: here()?, content, fresh: false },
            Form::Append => Action::Append { path: here()?, content },
            Form::Find if content.trim().is_empty() => return Err(Gap::text("the text to find")),
            Form::Find => {
                self.context.old = Some((here()?, content));
                return Ok(());
            }
            Form::After | Form::Before => {
                let line = caught.codes.first().cloned().unwrap_or_default();
                Action::Insert { path: here()?, line, after: form == Form::After, content }
            }
            Form::With => {
                return Err(Gap::place("it says what to put in place, but not of which text"));
            }
            Form::Patch => return Err(Gap::place("its change is not given as a diff")),
            _ => return Err(Gap::purpose()),
        };
        self.change(action, fence.line)
    }

    /// Whether a fence under a title that makes something is rather the commands that make it.
    fn is_script(&self, fence: &Fence<'_>) -> bool {
        let unnamed = self.task.files.of_fence(fence.info, &fence.content) == Ok(None);
        fence.is_shell() && unnamed && self.heading.title.may_run()
    }

    /// The file that a fence makes: by its sentence, its own first line, the title, or the only one of its kind in the list.
    fn place(
        &self,
        form: Form,
        named: Option<RepoPath>,
        fence: &Fence<'_>,
    ) -> Result<RepoPath, Gap> {
        let own = self.task.files.of_fence(fence.info, &fence.content)?;
        let Some(path) = named else {
            let kind = if form == Form::CreateTest { Listed::Test } else { Listed::Create };
            let only =
                || self.task.files.only(kind, &fence.language()).filter(|_| form != Form::Create);
            let path = own.or_else(|| self.context.path.clone()).or_else(|| only().cloned());
            return path.ok_or_else(Gap::file);
        };
        if fence.is_shell() && !may_be_script(&path, &fence.content) {
            return Err(Gap::language(format!(
                "its code is marked as `{}`, and may be commands that make `{path}`",
                fence.language()
            )));
        }
        let within = |long: &RepoPath, short| long.as_str().ends_with(&format!("/{short}"));
        match own {
            Some(own) if within(&own, &path) => Ok(own),
            Some(own) if own != path && !within(&path, &own) => {
                Err(Gap::path(format!("it names `{path}`, and its code names `{own}`")))
            }
            _ if self.task.files.lacks(&path) => {
                Err(Gap::path(format!("it does not say in which folder `{path}` is to be")))
            }
            _ => Ok(path),
        }
    }

    /// A fence that no sentence leads: commands of a step, or a new file that names itself.
    fn untold(&mut self, fence: &Fence<'_>) -> Result<(), Gap> {
        let commits = command::commit(&fence.content).is_some();
        let runs =
            self.heading.title.is_order() && !self.heading.title.condition && fence.is_shell();
        if self.role == Role::Step && (commits || runs) {
            return self.run(&fence.content, None, fence.line);
        }
        if fence.is_shell() {
            return Err(Gap::command("it does not say that its commands are to be run"));
        }
        match (self.task.files.of_fence(fence.info, &fence.content)?, &self.context.path) {
            (Some(path), _) if self.role == Role::Step => {
                let content = fence.whole()?;
                self.change(Action::Write { path, content, fresh: true }, fence.line)
            }
            (_, Some(path)) => Err(Gap::fragment(path)),
            _ => Err(Gap::file()),
        }
    }

    /// The lines that the last command must print.
    fn expect_output(&mut self, content: &str) -> Result<(), Gap> {
        let last = self.last_run()?;
        let lines = content.lines().map(str::trim).filter(|line| !line.is_empty());
        last.lines = lines.map(str::to_owned).collect();
        last.silent |= last.lines.is_empty();
        Ok(())
    }
}
