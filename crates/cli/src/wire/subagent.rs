//! One subagent: its context, its tools and its limits put together, driven to its end.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use sequester_core::agent::{AgentRun, Brief, Ending, Role};
use sequester_core::budget::Budget;
use sequester_core::context::IsolatedContext;
use sequester_core::fault::Code;
use sequester_core::jail::Jail;
use sequester_core::limits::{Limit, OUTPUT_BYTES};
use sequester_core::path::RepoPath;
use sequester_core::price;
use sequester_core::profile::{self, Profile};
use sequester_core::protected::Grants;
use sequester_core::provider::Provider;
use sequester_core::repository::{self, Snapshot};
use sequester_core::tool::{Effect, Spec, Toolbox};
use sequester_engine::{Capped, Feed, Filtered, Joined, Redacted, Requests, Standing, Stop, drive};
use sequester_llm::{Connected, Endpoint};
use sequester_survey::Folder;
use sequester_tools::Settings as ToolSettings;
use serde_json::Value;

use super::crew::budget;
use super::evidence::Evidence;
use super::jail::Machine;
use super::jailed::{Confines, Jailed};
use super::model::Connections;
use crate::failure::Failure;
use crate::wire::Project;

/// What every attempt of one subagent has in common.
pub(crate) struct Subagent<'a> {
    pub(crate) project: &'a Project,
    pub(crate) machine: Arc<Machine>,
    pub(crate) base: &'a dyn Snapshot,
    pub(crate) role: &'a Role,
    pub(crate) profile: Profile,
    pub(crate) context: &'a IsolatedContext,
    /// Paths that the task names.
    pub(crate) named: &'a [RepoPath],
    /// Files of the plan in the repository.
    pub(crate) plan: BTreeSet<RepoPath>,
    /// Protected names that it may change.
    pub(crate) grants: Grants,
    /// The lowest that configuration, profile and flags set.
    pub(crate) limits: BTreeMap<Limit, u64>,
}

/// What of the profile's tools there is, known before anything is started.
pub(crate) struct Equipment {
    search: Option<Box<dyn Toolbox>>,
    listed: Vec<String>,
}

impl Subagent<'_> {
    /// A grant that cannot be had ends it here: before there is a workspace, and before the first turn.
    pub(crate) fn equip(
        &self,
        connections: &Connections,
        model: &Connected,
    ) -> Result<Equipment, Failure> {
        let search: Option<Box<dyn Toolbox>> = match self.project.settings.search() {
            Some("provider") if model.searches => Some(Box::new(Hosted)),
            Some("provider") | None => None,
            Some(address) => Endpoint::new(connections.pool(), address)
                .map(|endpoint| Box::new(endpoint) as Box<dyn Toolbox>),
        };
        let mut specs = sequester_tools::specs();
        specs.extend(search.iter().flat_map(|search| search.specs()));
        let available: Vec<&str> = specs.iter().map(|spec| spec.name.as_ref()).collect();
        let resolved = self.profile.resolve(&available).map_err(|error| refuse(&error))?;
        Ok(Equipment { search, listed: resolved.listed })
    }

    /// A fresh attempt: a fresh workspace, the context from the start.
    pub(crate) async fn attempt(
        &self,
        equipment: Equipment,
        model: &Connected,
        feed: &dyn Feed,
        stop: &Stop,
    ) -> Result<(Ending, Evidence), Failure> {
        let jail = self.jail()?;
        let toolbox = self.toolbox(equipment, jail.tools());
        let provider = model.provider.as_ref();
        let named = (provider.model(), provider.powers());
        let brief = Brief {
            grants: self.grants.clone(),
            ..Brief::new(self.context, self.role.phase, named, toolbox.specs())
        };
        let run = AgentRun::new(brief, self.budget());
        let ending = drive(run, provider, &toolbox, feed, stop).await;
        // The server and all that it started are gone before anybody looks.
        drop(toolbox);
        // The work was paid for: its report stands, whatever became of the change.
        let evidence = match jail.harvest().await {
            Ok(change) => Evidence::from(change),
            Err(error) => Evidence::missing(&error.message),
        };
        Ok((ending, evidence))
    }

    fn toolbox(&self, equipment: Equipment, jailed: Box<dyn Toolbox>) -> impl Toolbox + use<> {
        let mut boxes = vec![jailed];
        boxes.extend(equipment.search);
        let granted = Filtered::new(Joined(boxes), equipment.listed);
        let all: Vec<Box<dyn Toolbox>> =
            vec![Box::new(granted), Box::new(requests(&self.project.root, self.inside()))];
        Capped { inner: Redacted(Joined(all)), bytes: self.output_bytes() }
    }

    fn output_bytes(&self) -> usize {
        let bytes = self.limit(Limit::Output).map(usize::try_from);
        bytes.map_or(OUTPUT_BYTES, |bytes| bytes.unwrap_or(usize::MAX))
    }

    fn jail(&self) -> Result<Box<dyn Jail>, Failure> {
        let mut settings =
            ToolSettings { output_bytes: self.output_bytes(), ..ToolSettings::default() };
        if let Some(seconds) = self.limit(Limit::Bash) {
            settings.bash_time = Duration::from_secs(seconds);
        }
        let ground = self.project.ground(self.plan.clone());
        let confines = Confines {
            profile: self.profile.clone(),
            change: None,
            named: self.named.iter().cloned().collect(),
            grants: self.grants.clone(),
            wall: self.budget().wall,
        };
        let (machine, root) = (Arc::clone(&self.machine), &self.project.root);
        let jail = Jailed::open(machine, root, move || Ok(ground.clone()), confines, settings)?;
        Ok(Box::new(jail))
    }

    fn inside(&self) -> BTreeSet<RepoPath> {
        self.base.entries().iter().map(|entry| entry.path.clone()).collect()
    }

    /// A limit in dollars is none for a model whose price nobody knows.
    pub(crate) fn can_be_priced(&self, provider: &dyn Provider) -> Result<(), Failure> {
        let model = provider.model();
        if self.limit(Limit::Price).is_none()
            || provider.powers().free
            || price::find(model).is_some()
        {
            return Ok(());
        }
        let message =
            format!("The price of `{model}` is not known, so a budget in dollars cannot be kept.");
        let hint = "Give the budget in tokens, such as `200k`.";
        Err(Failure::input(Code::BadArguments, "", message, hint))
    }

    fn limit(&self, limit: Limit) -> Option<u64> {
        self.limits.get(&limit).copied()
    }

    fn budget(&self) -> Budget {
        budget(&self.limits)
    }
}

/// Files that are not in the workspace: whether they are ignored, or only not committed, or not there at all.
pub(super) fn requests(root: &Path, inside: BTreeSet<RepoPath>) -> Requests {
    let root = root.to_owned();
    // Nobody may ever ask: the folder is listed with the first request.
    let open: OnceLock<Result<BTreeSet<RepoPath>, repository::Error>> = OnceLock::new();
    let list = move |root: &Path| {
        let folder = Folder::list(root)?;
        Ok(folder.entries().iter().map(|entry| entry.path.clone()).collect())
    };
    Requests::new(move |path| {
        if inside.contains(path) {
            return Standing::InWorkspace;
        }
        if !is_file(&root, path) {
            return Standing::Absent;
        }
        match open.get_or_init(|| list(&root)) {
            Ok(open) if !open.contains(path) => Standing::Ignored,
            _ => Standing::Uncommitted,
        }
    })
}

/// Whether a file lies there and no link leads to it.
fn is_file(root: &Path, path: &RepoPath) -> bool {
    let mut place = root.to_path_buf();
    let mut parts = path.as_str().split('/').peekable();
    while let Some(part) = parts.next() {
        place.push(part);
        let Ok(found) = place.symlink_metadata() else { return false };
        if parts.peek().is_none() {
            return found.is_file();
        }
        if !found.is_dir() {
            return false;
        }
    }
    false
}

/// The provider's own search: it is carried out where the model is, so nobody here can call it.
pub(super) struct Hosted;

impl Toolbox for Hosted {
    fn specs(&self) -> Vec<Spec> {
        vec![Spec {
            name: "WebSearch".into(),
            description: "Searches the web.".into(),
            parameters: Arc::new(Value::Null),
            effect: Effect::Reads,
        }]
    }

    fn call<'a>(
        &'a self,
        _: &'a sequester_core::tool::Invocation,
    ) -> sequester_core::future::BoxFuture<'a, sequester_core::tool::Returned> {
        let text = "The model's provider carries out searches itself.".to_owned();
        Box::pin(async move { sequester_core::tool::Outcome::Failed(text).into() })
    }
}

pub(crate) fn refuse(error: &profile::Error) -> Failure {
    let tell = if error.code().is_trust() { Failure::trust } else { Failure::input };
    tell(error.code(), "", error.to_string(), error.hint())
}
