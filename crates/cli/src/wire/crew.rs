//! Who works on a run: agents with their profiles, contexts over any tree, and models.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use sequester_core::architecture::Piece;
use sequester_core::budget::Budget;
use sequester_core::check::Kind;
use sequester_core::companion::Companions;
use sequester_core::context::{Builder, IsolatedContext, Refusal, Request, Shelf};
use sequester_core::fault::Code;
use sequester_core::future::BoxFuture;
use sequester_core::id::{TaskId, TreeId};
use sequester_core::jail::ErrorKind;
use sequester_core::limits::{HandoverSizes, Limit, Limits, OUTPUT_BYTES};
use sequester_core::notes::{Notes, Standing};
use sequester_core::outliner::Outliner as _;
use sequester_core::path::RepoPath;
use sequester_core::plan::Task;
use sequester_core::profile::{self, Profile, Profiles, TASK};
use sequester_core::protected::Grants;
use sequester_core::provider::{self, Deltas, Powers, Provider, Reply};
use sequester_core::repository::{Filtered, Snapshot};
use sequester_core::run::Settings as RunSettings;
use sequester_core::run::workflow::WRITER;
use sequester_core::tool::Toolbox;
use sequester_engine::{Asking, Crew, Extra, Member, Trouble, Wanted};
use sequester_git::Trees;
use sequester_llm::{Connected, Endpoint};
use sequester_survey::{Index, Survey};
use sequester_tools::Settings as ToolSettings;

use super::aside::aside;
use super::jail::Machine;
use super::model::Connections;
use super::outlines::Confined;
use super::outside::{Hosted, read_beside, requests};
use super::{PlanFile, Project};
use crate::disk_cache::DiskCache;
use crate::failure::Failure;

pub(crate) struct Staff {
    pub(crate) project: Arc<Project>,
    pub(crate) file: Arc<PlanFile>,
    companions: Companions,
    /// What no subagent may see of any tree.
    hidden: BTreeSet<RepoPath>,
    limits: BTreeMap<Limit, u64>,
    /// Protected names that people let writers change.
    grants: Grants,
    /// Of the run's start: the same for all.
    architecture: Vec<Piece>,
    share: sequester_core::context::Share,
    /// What a person wrote or pinned in the notes, as they stood when the run began.
    notes: Vec<Standing>,
    trees: Arc<Trees>,
    /// Trees hold what agents wrote.
    outlines: Arc<Confined>,
    connections: Connections,
    connected: Mutex<BTreeMap<String, Arc<Connected>>>,
}

impl Staff {
    /// Surveys what the run starts from. What it `hides` is known since its start, wherever the plan lies now.
    pub(crate) fn new(
        project: Arc<Project>,
        file: Arc<PlanFile>,
        trees: Arc<Trees>,
        machine: Arc<Machine>,
        start: &TreeId,
        hides: &BTreeSet<RepoPath>,
        settings: &RunSettings,
    ) -> Result<Self, Failure> {
        let companions = file.companions(&project);
        let mut hidden = project.plan_paths((&file, &companions));
        hidden.extend(hides.iter().cloned());
        let limits = project.settings.set_limits();
        let mut grants = project.settings.grants().with_named(&file.granted());
        grants.extend(&settings.grants);
        let connections = Connections::new(&project.settings)?;
        let mut staff = Self {
            companions,
            hidden,
            limits,
            grants,
            architecture: Vec::new(),
            share: settings.share,
            notes: Vec::new(),
            trees,
            outlines: Arc::new(Confined::on(machine)),
            connections,
            connected: Mutex::default(),
            project,
            file,
        };
        let checks = settings.active_checks();
        staff.architecture =
            staff.survey(start, &checks).map_err(|error| refuse_trouble(&error))?;
        Ok(staff)
    }

    /// The project's notes as the run began with them.
    #[must_use]
    pub(crate) fn with_notes(self, text: &str) -> Self {
        Self { notes: Notes::parse(text).standing(), ..self }
    }

    pub(crate) fn hidden(&self) -> &BTreeSet<RepoPath> {
        &self.hidden
    }

    /// The plan's bytes.
    pub(crate) fn plan_source(&self) -> &[u8] {
        &self.file.source
    }

    /// What configuration sets.
    pub(crate) fn limits(&self) -> &BTreeMap<Limit, u64> {
        &self.limits
    }

    /// What the tools in the jails keep to, as far as it is configured.
    pub(crate) fn tool_settings(&self) -> ToolSettings {
        let mut settings = ToolSettings::default();
        if let Some(bytes) = self.limits.get(&Limit::Output) {
            settings.output_bytes = usize::try_from(*bytes).unwrap_or(usize::MAX);
        }
        if let Some(seconds) = self.limits.get(&Limit::Bash) {
            settings.bash_time = Duration::from_secs(*seconds);
        }
        settings
    }

    fn survey(
        &self,
        start: &TreeId,
        checks: &BTreeMap<Kind, String>,
    ) -> Result<Vec<Piece>, Trouble> {
        let tree = self.trees.tree(start)?;
        let visible = self.visible(&tree);
        let (cache, limits) = (DiskCache::of(&self.project.root), self.sizes());
        Ok(Survey::of(&visible, None, &cache, &limits, checks).architecture)
    }

    fn visible<'a>(&self, tree: &'a dyn Snapshot) -> Filtered<'a> {
        Filtered::visible(tree, |entry| self.hidden.contains(&entry.path))
    }

    fn sizes(&self) -> Limits {
        Limits::default().with(&self.limits)
    }

    fn found(&self, model: &str) -> Option<Arc<Connected>> {
        self.connected.lock().unwrap_or_else(PoisonError::into_inner).get(model).cloned()
    }

    /// Whether an agent can begin with a task: what its profile grants is there, and what it must see has room. Known before
    /// anything is started.
    pub(crate) async fn check(
        &self,
        task: &Task,
        model: &str,
        base: &TreeId,
    ) -> Result<(), Failure> {
        let agent = task.settings.agent.as_deref().unwrap_or(WRITER);
        let role = self.project.agents.find(agent)?;
        let profile = self.project.agents.granted(role, task.settings.profile.as_deref())?;
        self.build(&Wanted::new(&task.id, agent, base))?;
        let hint = "Name another model with `--model`.";
        let provider = self.connect(model).await.map_err(|error| {
            Failure::input(Code::ProviderFailed, model, error.message.clone(), hint)
        })?;
        let member = self.of_profile(profile, &role.prompt);
        let extra = self.tools(&member, provider.as_ref(), base);
        let mut specs = sequester_tools::specs();
        specs.extend(extra.granted.iter().flat_map(|one| one.specs()));
        let names = specs.iter().map(|spec| spec.name.as_ref());
        let available: Vec<&str> = names.chain([TASK]).collect();
        let resolved = member.profile.resolve(&available);
        resolved.map(drop).map_err(|error| refuse_profile(&error))
    }

    fn build(&self, wanted: &Wanted<'_>) -> Result<IsolatedContext, Failure> {
        let role = self.project.agents.find(wanted.agent)?;
        let task = self.file.plan.task(wanted.task);
        let profile = task.and_then(|task| task.settings.profile.as_deref());
        let profile = self.project.agents.granted(role, profile)?;
        let tree = self.trees.tree(wanted.base);
        let tree = tree.map_err(|error| super::runs::git_failed(&self.project.root, &error))?;
        let visible = self.visible(&tree);
        let cache = DiskCache::of(&self.project.root);
        let limits = Limits::default().with(&profile.lower(&self.limits));
        let index = Index::open(&visible, self.project.history.as_deref(), &cache, &limits);
        let outlines = self.outlines.reader();
        let shelf = Shelf::new(&visible, &outlines, &limits);
        let (plan, graph) = (&self.file.plan, &self.file.graph);
        let mut builder = Builder::new(
            plan,
            graph,
            &self.architecture,
            &shelf,
            &index,
            &limits,
            &self.companions,
        );
        builder.share = self.share;
        builder.notes = &self.notes;
        let context = builder.build(&Request {
            task: wanted.task,
            role,
            phase: wanted.phase,
            judges: wanted.judges,
            clarifications: wanted.clarifications,
            given: wanted.given,
            records: wanted.records,
            backpack: wanted.backpack,
            work: wanted.work,
            simplified: wanted.simplified,
            delegated: wanted.delegated,
        });
        let context = context.map_err(|error| {
            let hint = "Shorten the task, or split it; name fewer files.";
            Failure::input(Code::ContextTooLarge, "", error.to_string(), hint)
        });
        drop(shelf);
        outlines.end()?;
        Ok(self.project.admit_agent(context?, role))
    }

    fn of_profile(&self, profile: Profile, prompt: &str) -> Member {
        let limits = profile.lower(&self.limits);
        let output = limits.get(&Limit::Output).map(|bytes| usize::try_from(*bytes));
        let output_bytes = output.map_or(OUTPUT_BYTES, |bytes| bytes.unwrap_or(usize::MAX));
        let profile = profile.with_hosts(self.project.settings.hosts());
        let depth = limits.get(&Limit::Delegation).copied().or(Limit::Delegation.default());
        let depth = depth.map_or(0, |depth| usize::try_from(depth).unwrap_or(usize::MAX));
        Member {
            profile,
            prompt: prompt.into(),
            budget: budget(&limits),
            grants: self.grants.clone(),
            output_bytes,
            records: Limits::default().with(&limits).records,
            owes: Vec::new(),
            depth,
        }
    }
}

/// What a task is about.
fn asking(task: &Task) -> Asking {
    Asking {
        text: format!("{}\n\n{}", task.title, task.text),
        paths: task
            .files
            .iter()
            .chain(task.hints.iter().map(|hint| &hint.0))
            .map(|file| file.path.to_string())
            .collect(),
    }
}

/// What one attempt may use.
fn budget(limits: &BTreeMap<Limit, u64>) -> Budget {
    let mut budget = Budget::default();
    let number = |limit| limits.get(&limit).map(|value| u32::try_from(*value).unwrap_or(u32::MAX));
    budget.turns = number(Limit::Turns).unwrap_or(budget.turns);
    budget.identical = number(Limit::Identical).unwrap_or(budget.identical);
    budget.output = number(Limit::Reply).unwrap_or(budget.output);
    budget.tokens = limits.get(&Limit::Tokens).copied();
    budget.price = limits.get(&Limit::Price).copied();
    budget.handover = HandoverSizes::with(limits);
    budget.wall =
        limits.get(&Limit::Wall).map_or(budget.wall, |seconds| Duration::from_secs(*seconds));
    budget
}

impl Crew for Staff {
    fn member(&self, agent: &str, profile: Option<&str>) -> Result<Member, Trouble> {
        let role = self.project.agents.find(agent).map_err(|failure| trouble(&failure))?;
        let granted =
            self.project.agents.granted(role, profile).map_err(|failure| trouble(&failure))?;
        let owes = role.artifacts.clone();
        Ok(Member { owes, ..self.of_profile(granted, &role.prompt) })
    }

    fn delegate(&self, agent: &str, under: &Profile) -> Result<Member, Trouble> {
        let own = self.member(agent, None)?;
        Ok(self.of_profile(own.profile.under(under), &own.prompt))
    }

    fn checker(&self) -> Result<Member, Trouble> {
        // Checks are the runtime's own: no file of a repository narrows what they can do.
        let profile = Profiles::built_in().get("validate");
        let profile = profile.map_err(|error| trouble(&refuse_profile(&error)))?;
        Ok(self.of_profile(profile.clone(), ""))
    }

    fn names<'a>(
        &'a self,
        tree: &'a TreeId,
        paths: &'a [String],
    ) -> BoxFuture<'a, Result<Option<BTreeSet<String>>, Trouble>> {
        let (trees, outlines) = (Arc::clone(&self.trees), Arc::clone(&self.outlines));
        let (root, most) = (self.project.root.clone(), self.sizes().file_bytes);
        let paths: Vec<RepoPath> =
            paths.iter().filter_map(|path| RepoPath::parse(path).ok()).collect();
        let tree = tree.clone();
        let found = aside(ErrorKind::Guarantee, move || {
            let tree = trees.tree(&tree).map_err(|error| super::runs::git_failed(&root, &error))?;
            let (mut names, reader) = (BTreeSet::new(), outlines.reader());
            for path in paths {
                let Ok(bytes) = tree.read(&path, most) else { continue };
                let text = String::from_utf8_lossy(&bytes);
                names.extend(reader.outline(&path, &text).into_iter().map(|one| one.name));
            }
            reader.end().map(|()| names)
        });
        Box::pin(async move {
            found.await.map(Some).map_err(|error| match error.kind {
                ErrorKind::Guarantee => Trouble::Guarantee(error),
                _ => Trouble::Crew { message: error.message, hint: error.hint },
            })
        })
    }

    fn context(&self, wanted: &Wanted<'_>) -> Result<IsolatedContext, Trouble> {
        self.build(wanted).map_err(|failure| trouble(&failure))
    }

    fn asking(&self, task: &TaskId) -> Asking {
        self.file.plan.task(task).map(asking).unwrap_or_default()
    }

    fn companions(&self) -> Vec<(&str, &str)> {
        let all = self.companions.list.iter();
        all.map(|one| (one.path.as_str(), one.text.as_str())).collect()
    }

    fn reveal(&self, path: &RepoPath) -> Result<Vec<u8>, Refusal> {
        if self.hidden.contains(path) {
            return Err(Refusal::Plan);
        }
        read_beside(&self.project.root, path, self.sizes().file_bytes)
    }

    fn connect<'a>(
        &'a self,
        model: &'a str,
    ) -> BoxFuture<'a, Result<Arc<dyn Provider>, provider::Error>> {
        Box::pin(async move {
            if let Some(known) = self.found(model) {
                return Ok(Arc::new(Shared(known)) as Arc<dyn Provider>);
            }
            let connected = Arc::new(self.connections.open(model, &[]).await?);
            let mut all = self.connected.lock().unwrap_or_else(PoisonError::into_inner);
            all.insert(connected.provider.model().to_owned(), Arc::clone(&connected));
            all.insert(model.to_owned(), Arc::clone(&connected));
            Ok(Arc::new(Shared(connected)) as Arc<dyn Provider>)
        })
    }

    fn tools(&self, _: &Member, model: &dyn Provider, base: &TreeId) -> Extra {
        let searches = self.found(model.model()).is_some_and(|found| found.searches);
        let search: Option<Box<dyn Toolbox>> = match self.project.settings.search() {
            Some("provider") if searches => Some(Box::new(Hosted)),
            Some("provider") | None => None,
            Some(address) => Endpoint::new(self.connections.pool(), address)
                .map(|endpoint| Box::new(endpoint) as Box<dyn Toolbox>),
        };
        let inside = self.trees.tree(base).map(|tree| {
            let visible = self.visible(&tree);
            visible.entries().iter().map(|entry| entry.path.clone()).collect()
        });
        let requests =
            requests(&self.project.root, inside.unwrap_or_default(), self.hidden.clone());
        Extra { granted: search.into_iter().collect(), always: vec![Box::new(requests)] }
    }
}

/// A profile that cannot be had as it is.
pub(super) fn refuse_profile(error: &profile::Error) -> Failure {
    let tell = if error.code().is_trust() { Failure::trust } else { Failure::input };
    tell(error.code(), "", error.to_string(), error.hint())
}

/// What a run that cannot go on says.
pub(crate) fn refuse_trouble(trouble: &Trouble) -> Failure {
    match trouble {
        Trouble::Store(error) => super::runs::failed_store(error),
        Trouble::Guarantee(error) => {
            Failure::guarantee(Code::NoJail, "", error.message.clone(), error.hint.clone())
        }
        Trouble::Repository { message, hint } => {
            Failure::work(Code::NoRepository, "", message.clone(), *hint)
        }
        Trouble::Crew { message, hint } => {
            Failure::work(Code::NoWorkspace, "", message.clone(), hint.clone())
        }
        Trouble::Thread { message } => {
            let hint = "Take the run up again with `sequester resume`.";
            Failure::work(Code::NoWorkspace, "", message.clone(), hint)
        }
    }
}

fn trouble(failure: &Failure) -> Trouble {
    Trouble::Crew { message: failure.message().to_owned(), hint: failure.hint().to_owned() }
}

/// A model that many attempts ask.
struct Shared(Arc<Connected>);

impl Provider for Shared {
    fn model(&self) -> &str {
        self.0.provider.model()
    }

    fn powers(&self) -> Powers {
        self.0.provider.powers()
    }

    fn complete<'a>(
        &'a self,
        request: provider::Request<'a>,
        deltas: &'a dyn Deltas,
    ) -> BoxFuture<'a, Result<Reply, provider::Error>> {
        self.0.provider.complete(request, deltas)
    }
}
