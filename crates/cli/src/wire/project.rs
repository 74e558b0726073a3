//! The repository that a command reads: HEAD, or the folder as it is.

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sequester_core::agent::Role;
use sequester_core::check;
use sequester_core::companion::Companions;
use sequester_core::context::{IsolatedContext, Kind};
use sequester_core::fault::{Code, Fault, FileFault};
use sequester_core::path::RepoPath;
use sequester_core::plan::{self, Presence, Task};
use sequester_core::repository::{self, EntryKind, Filtered, History, Snapshot};
use sequester_core::source::Origin;
use sequester_core::tokens;
use sequester_git::Repo;
use sequester_survey::{Folder, FoundCheck, detect_checks};

use crate::args::Args;
use crate::failure::Failure;
use crate::wire::base::Base;
use crate::wire::jail::Machine;
use crate::wire::trust::Trust;
use crate::wire::{Agents, PlanFile, Settings, asked, config};

/// One base, opened.
pub(crate) struct Project {
    pub(crate) root: PathBuf,
    pub(crate) base: Arc<Base>,
    pub(crate) history: Option<Box<dyn History>>,
    pub(crate) agents: Agents,
    pub(crate) settings: Settings,
    trust: Trust,
    problems: Vec<String>,
}

impl Project {
    pub(crate) fn open(args: &Args) -> Result<Self, Failure> {
        Self::open_at(find_folder(args)?, args)
    }

    /// The same for another folder than the one that was named.
    pub(crate) fn open_at(folder: PathBuf, args: &Args) -> Result<Self, Failure> {
        let search = env::var_os("PATH").unwrap_or_default();
        let found = Repo::discover(&folder, &search);
        match found.map_err(|error| unusable(&folder, error.to_string(), GIT_HINT))? {
            Some(repo) if args.include_dirty => Self::of_folder(repo.root().to_owned(), Some(repo)),
            Some(repo) => Self::of_head(repo),
            None => Self::of_folder(folder, None),
        }
    }

    fn of_head(repo: Repo) -> Result<Self, Failure> {
        let root = repo.root().to_owned();
        let broken = |error: repository::Error| unusable(&root, error.to_string(), GIT_HINT);
        let tree = repo.base().map_err(broken)?;
        let mut problems = tree.problems().to_vec();
        if tree.commit().is_none() {
            problems.push(NO_COMMIT.to_owned());
        }
        let history = repo.history().ok().map(|log| Box::new(log) as Box<dyn History>);
        Self::configured(root, Base::Tree { repo, tree: Box::new(tree) }, history, problems)
    }

    fn of_folder(root: PathBuf, git: Option<Repo>) -> Result<Self, Failure> {
        let tracked = git.as_ref().and_then(|repo| repo.tracked().ok()).unwrap_or_default();
        let folder = Folder::list_with(&root, &tracked).map_err(|error| {
            unusable(&root, error.to_string(), "Name a folder that you may read with `--repo DIR`.")
        })?;
        let folder = folder.without(&Machine::look().placeholders(&root));
        let problems = folder.problems().to_vec();
        let history = git.as_ref().and_then(|repo| repo.history().ok());
        let history = history.map(|log| Box::new(log) as Box<dyn History>);
        let base = match git {
            Some(repo) => Base::Uncommitted { repo, folder },
            None => Base::Folder(folder),
        };
        Self::configured(root, base, history, problems)
    }

    /// With the configuration, agents and profiles as they lie on disk.
    fn configured(
        root: PathBuf,
        base: Base,
        history: Option<Box<dyn History>>,
        problems: Vec<String>,
    ) -> Result<Self, Failure> {
        let (folder, trust) = (config::folder(), Trust::look());
        let mut agents = Agents::read(&root, folder.as_deref(), &trust);
        let settings = Settings::load(&root, folder.as_deref(), &agents, &trust)?;
        if let Some(lines) = settings.function_lines() {
            agents.limit_functions(lines);
        }
        Ok(Self { root, base: Arc::new(base), history, agents, settings, trust, problems })
    }

    /// All files of the base, also those that no subagent may see.
    pub(crate) fn snapshot(&self) -> &dyn Snapshot {
        self.base.snapshot()
    }

    fn is_head(&self) -> bool {
        matches!(*self.base, Base::Tree { .. })
    }

    /// What a person should know about the base.
    pub(crate) fn notes(&self) -> Vec<String> {
        let mut notes = self.problems.clone();
        notes.extend(self.agents.unused().map(|FileFault { file, fault }| {
            format!("`{file}`: {} {}", fault.message, fault.hint)
        }));
        notes.extend(self.settings.unknown_workflow(&self.agents).map(|failure| {
            format!("`workflow` in the configuration: {} {}", failure.message(), failure.hint())
        }));
        if let Base::Tree { repo, tree } = &*self.base
            && repo.dirty(tree.as_ref()).is_ok_and(|dirty| !dirty.is_clean())
        {
            notes.push(DIRTY.to_owned());
        }
        notes
    }

    /// Says in a context's manifest where the agent's own file is not the one of HEAD.
    pub(crate) fn admit_agent(&self, mut context: IsolatedContext, role: &Role) -> IsolatedContext {
        if self.is_head() && self.agents.differs(role, self.snapshot()) {
            let rows = context.manifest.fragments.iter_mut();
            for row in rows.filter(|row| row.kind == Kind::Agent) {
                "not committed".clone_into(&mut row.why);
            }
        }
        context
    }

    /// The base as subagents may know it: without the plan, lists of tasks beside it, our own folder, secrets.
    pub(crate) fn visible(&self, plan: Option<(&PlanFile, &Companions)>) -> Filtered<'_> {
        let hidden = plan.map(|plan| self.plan_paths(plan)).unwrap_or_default();
        Filtered::visible(self.snapshot(), |entry| hidden.contains(&entry.path))
    }

    /// Checks that are configured.
    pub(crate) fn checks(&self) -> BTreeMap<check::Kind, String> {
        let set = self.settings.checks();
        let known = set.iter().filter_map(|(name, commands)| {
            Some((check::Kind::parse(name)?, commands.join(" && ")))
        });
        known.collect()
    }

    /// One of each kind, configured or found.
    pub(crate) fn found_checks(&self, base: &dyn Snapshot) -> Vec<FoundCheck> {
        detect_checks(base, &self.checks(), &is_installed)
    }

    /// The plan and the lists of tasks beside it, where they lie in the repository, be they in the base or not.
    pub(crate) fn plan_paths(
        &self,
        (file, companions): (&PlanFile, &Companions),
    ) -> BTreeSet<RepoPath> {
        let with_tasks = companions.list.iter().filter(|one| !one.task_lists.is_empty());
        let lists = with_tasks.filter_map(|one| one.repo_path.clone());
        file.paths_in(&self.root).into_iter().chain(lists).collect()
    }

    /// What the person accepted.
    pub(crate) fn trust(&self) -> &Trust {
        &self.trust
    }

    /// All that is wrong with a plan, in itself and against this base, in the order of places.
    pub(crate) fn faults_of(&self, file: &PlanFile) -> Vec<Fault> {
        let origin = file.origin(&self.trust);
        let mut faults = file.faults.clone();
        faults.extend(
            file.plan
                .tasks
                .iter()
                .filter(|task| !task.done)
                .flat_map(|task| self.unfit(task, &origin)),
        );
        faults.sort_by_key(|fault| (fault.place, fault.code));
        // What the plan sets for all its tasks is one fault.
        faults.dedup();
        faults
    }

    /// Doubts about a plan, in itself and against this base, in the order of places. The plan runs all the same.
    pub(crate) fn warnings_of(&self, file: &PlanFile) -> Vec<Fault> {
        let entries = self.snapshot().entries();
        let paths: Vec<RepoPath> = entries.iter().map(|entry| entry.path.clone()).collect();
        let presence = |path: &RepoPath| self.presence(path);
        let mut warnings = plan::check(&file.plan, &file.graph, &presence, &paths);
        if self.is_head() {
            let missing = warnings.iter_mut().filter(|one| one.code == Code::MissingFile);
            for warning in missing {
                warning.hint += " A file that is not committed counts with `--include-dirty`.";
            }
        }
        warnings.extend(file.warnings.iter().cloned());
        warnings.sort_by_key(|warning| (warning.place, warning.code));
        warnings
    }

    /// What would keep a task from getting a context at all.
    fn unfit(&self, task: &Task, plan: &Origin) -> Vec<Fault> {
        let mut faults = Vec::new();
        let limit = self.settings.limits().context;
        // A token has at least a byte: most texts need no counting.
        if task.text.len() > limit && tokens::count(&task.text) > limit {
            let message = format!(
                "The text of task `{}` alone is larger than a context of {limit} tokens.",
                task.id
            );
            faults.push(Fault::new(Code::ContextTooLarge, task.place, message, "Split the task."));
        }
        faults.extend(asked::faults(task, &self.agents, plan));
        faults
    }

    /// What stands at a path of the base.
    fn presence(&self, path: &RepoPath) -> Presence {
        let entries = self.snapshot().entries();
        let mut prefix = String::new();
        for part in path.as_str().split('/') {
            if !prefix.is_empty() {
                prefix.push('/');
            }
            prefix.push_str(part);
            match repository::find(self.snapshot(), &prefix).map(|entry| entry.kind) {
                Some(EntryKind::Symlink) => return Presence::Symlink,
                Some(EntryKind::File | EntryKind::Submodule) if prefix == path.as_str() => {
                    return Presence::File;
                }
                _ => {}
            }
        }
        prefix.push('/');
        let next = entries.partition_point(|entry| entry.path.as_str() < prefix.as_str());
        match entries.get(next) {
            Some(entry) if entry.path.as_str().starts_with(&prefix) => Presence::Folder,
            _ => Presence::Absent,
        }
    }
}

/// The folder that was named, or the current one.
pub(crate) fn find_folder(args: &Args) -> Result<PathBuf, Failure> {
    let hint = "Name an existing folder with `--repo DIR`.";
    let named = args.repo.clone().unwrap_or_else(|| PathBuf::from("."));
    let folder = named.canonicalize().map_err(|error| {
        let message = format!("The repository's folder cannot be opened: {error}.");
        unusable(&named, message, hint)
    })?;
    if !folder.is_dir() {
        return Err(unusable(&named, "The repository is not a folder.", hint));
    }
    Ok(folder)
}

/// The root of the repository that was named, or the folder where there is none. Nothing of it is read.
pub(crate) fn find_root(args: &Args) -> Result<PathBuf, Failure> {
    let folder = find_folder(args)?;
    let found = Repo::discover(&folder, &env::var_os("PATH").unwrap_or_default());
    Ok(found.ok().flatten().map_or(folder, |repo| repo.root().to_owned()))
}

const DIRTY: &str = "The working tree has changes that are not in HEAD; they are not read. `--include-dirty` takes them.";
const NO_COMMIT: &str =
    "There is no commit yet, so the base is empty. `--include-dirty` takes the files as they are.";
const GIT_HINT: &str = "Check that `git` is installed and that `git status` works there.";

fn unusable(place: &Path, message: impl Into<String>, hint: &str) -> Failure {
    Failure::input(Code::NoRepository, place.display(), message, hint)
}

/// Whether a program is in one of the folders of PATH.
pub(crate) fn is_installed(program: &str) -> bool {
    let search = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&search).any(|folder| folder.join(program).is_file())
}
