//! From a plan and what the person asked for to a run that can start.

use std::collections::{BTreeMap, BTreeSet};

use sequester_core::agent::Role;
use sequester_core::check::Kind;
use sequester_core::context::Share;
use sequester_core::digest::Digest;
use sequester_core::fault::Code;
use sequester_core::id::{RunId, TaskId};
use sequester_core::limits::{HandoverSizes, Limit};
use sequester_core::notes::Notes;
use sequester_core::plan::Task;
use sequester_core::price;
use sequester_core::profile::TASK;
use sequester_core::report::Phase;
use sequester_core::repository::{Snapshot, Start};
use sequester_core::run::{
    Agent, Base, Cap, Entry, Review, Settings as RunSettings, Source, Started, Step, TaskSpec,
    VERSION, Workflow, workflow,
};
use sequester_core::source::Origin;
use sequester_core::store::Batch;
use sequester_llm::Passed;

use super::config::{self, names_agent, resolve_model};
use super::ladder::{Choices, Ladder};
use super::model::Connections;
use super::notes::Book;
use super::{PlanFile, Project};
use crate::args::RunArgs;
use crate::failure::Failure;
use crate::render::run::checks_off;

/// How often a change is mended before another way is tried.
const FIXES: u32 = 2;

/// A run that can start.
pub(crate) struct Ready {
    pub(crate) started: Started,
    /// What a person should know first.
    pub(crate) notes: Vec<String>,
    /// Models that cost money.
    pub(crate) paid: BTreeSet<String>,
    pub(crate) chosen: Choices,
    /// The project's notes as they stand.
    pub(crate) noted: String,
}

impl Ready {
    /// What is kept with the first event, before `entries`.
    pub(crate) fn batch(&self, entries: Vec<Entry>) -> Batch {
        let mut batch = Batch { entries, blobs: Vec::new() };
        if self.started.notes.is_some() {
            batch.keep(self.noted.as_bytes());
        }
        batch
    }

    /// The tasks that are part of the run.
    pub(crate) fn part(&self) -> BTreeSet<TaskId> {
        let part = self.started.tasks.iter().filter(|spec| spec.left_out.is_none());
        part.map(|spec| spec.id.clone()).collect()
    }

    /// With the branch that its work goes to.
    pub(crate) fn named(&mut self, run: &RunId) {
        self.started.branch = format!("sequester/{run}");
    }
}

pub(crate) struct Asked<'a> {
    pub(crate) project: &'a Project,
    pub(crate) file: &'a PlanFile,
    pub(crate) given: &'a RunArgs,
    pub(crate) connections: &'a Connections,
}

impl Asked<'_> {
    pub(crate) async fn ready(&self, start: &Start, base: &dyn Snapshot) -> Result<Ready, Failure> {
        for (agent, _) in self.given.model.iter().filter_map(|flag| flag.split_once('=')) {
            self.project.agents.find(agent)?;
        }
        let mut models = Ladder::new(self.connections, &[]);
        let review = self.review()?;
        let workflows = self.workflows(review)?;
        let agents = self.agents(&workflows, &mut models).await?;
        let phase = |name: &str| agents.get(name).map(|one| one.phase);
        let workflows: BTreeMap<String, Workflow> =
            workflows.into_iter().map(|(name, one)| (name, one.completed(phase))).collect();
        let tasks = self.tasks(&mut models).await?;
        let settings = RunSettings {
            share: self.share(),
            relevance: self.given.relevance.unwrap_or_else(|| self.project.settings.relevance()),
            records: self.project.settings.records(),
            review,
            unattended: self.given.unattended,
            budget: cap(&self.given.budget),
            checks: self.checks(base),
            checks_off: self.checks_off(),
            grants: self.given.grants(),
            fixes: FIXES,
            handover: HandoverSizes::with(&self.project.settings.set_limits()),
            profile: None,
        };
        let (noted, untold) = match Book::of(&self.project.root).opening(settings.records) {
            Ok(noted) => (noted, None),
            Err(why) => (String::new(), Some(format!("{why} The run goes on without it."))),
        };
        let started = Started {
            version: VERSION,
            notes: (!noted.trim().is_empty()).then(|| Digest::of(noted.as_bytes())),
            plan: Source {
                format: self.given.reading.format.map(|format| format.as_str().to_owned()),
                parallel: self.given.reading.parallel,
                tag: self.given.reading.tag.clone(),
                ..self.file.to_recorded(self.project, &self.file.companions(self.project))
            },
            base: Base {
                commit: start.commit.clone(),
                tree: start.tree.clone(),
                uncommitted: Some(start.uncommitted),
            },
            branch: String::new(),
            tasks,
            workflows,
            agents,
            settings,
        };
        let Ladder { mut notes, paid, chosen, .. } = models;
        notes.extend(untold);
        notes.extend(self.unjudged(&started));
        let off: Vec<Kind> = started.settings.checks_off.iter().copied().collect();
        notes.extend((!off.is_empty()).then(|| format!("Checks are {}.", checks_off(&off))));
        notes.extend(self.redone());
        let limit = self.project.settings.limits().notes;
        notes.extend(Notes::parse(&noted).too_long(limit));
        Ok(Ready { started, notes, paid, chosen, noted })
    }

    /// The models of an agent without those that were `rejected`, with what a person should know of them.
    pub(crate) async fn again(
        &self,
        agent: &str,
        rejected: &[Passed],
    ) -> Result<(Vec<String>, Vec<String>, Choices), Failure> {
        let role = self.project.agents.find(agent)?;
        let mut models = Ladder::new(self.connections, rejected);
        let wanted = resolve_model(&self.given.model, None, role, &self.project.settings);
        let found = models.resolve(wanted, self.is_priced(role)).await?;
        Ok((found, models.notes, models.chosen))
    }

    fn workflow_of(&self, task: &Task) -> String {
        let flag = self.given.workflow.as_deref().filter(|_| !task.settings.asks_person);
        let named = flag.or(task.settings.workflow.as_deref());
        let set = || self.project.settings.later("workflow").and_then(toml::Value::as_str);
        named.or_else(set).unwrap_or(workflow::DEFAULT).to_owned()
    }

    /// Where the workflow of a task was named.
    fn workflow_place(&self, task: &Task) -> String {
        let own = task.settings.workflow.as_ref().map(|_| {
            let place = task.settings.places.get("workflow").unwrap_or(&task.place);
            format!("{}:{}:{}", self.file.name, place.line, place.column)
        });
        let flag = self.given.workflow.as_ref().map(|_| "--workflow".to_owned());
        flag.or(own).unwrap_or_else(|| "`workflow` in the configuration".to_owned())
    }

    /// Those that tasks use.
    fn workflows(&self, review: Review) -> Result<BTreeMap<String, Workflow>, Failure> {
        let writes = |name: &str| {
            self.project.agents.find(name).is_ok_and(|role| role.phase.changes_files())
        };
        let mut used = BTreeMap::new();
        for task in &self.file.plan.tasks {
            let name = self.workflow_of(task);
            let found = self.project.agents.workflow(&name);
            let found = found.map_err(|failure| failure.at(self.workflow_place(task)))?;
            self.refuse_step(found, task)?;
            let reviewed = match review {
                Review::Verdicts => found.clone(),
                Review::TwoStage => found.in_two_stages(writes),
            };
            used.insert(name, reviewed);
        }
        Ok(used)
    }

    /// Whether neither the person nor the plan names the workflow of a task, but the repository's configuration.
    fn workflow_is_chosen_by_repository(&self, task: &Task) -> bool {
        let is_named = self.given.workflow.is_some() || task.settings.workflow.is_some();
        !is_named && self.project.settings.is_set_by_untrusted_repository("workflow")
    }

    /// A repository gives no step to an agent that goes beyond what a repository may ask for, by a workflow of its own or by
    /// naming one. An own phase, which changes nothing, goes to no agent that changes files, and `when` follows an analysis.
    fn refuse_step(&self, workflow: &Workflow, task: &Task) -> Result<(), Failure> {
        let known = &self.project.agents;
        let place = |step: &Step| format!("workflow {}, step {}", workflow.name, step.id);
        let named_in_plan = self.given.workflow.is_none() && task.settings.workflow.is_some();
        let by_configuration = self.workflow_is_chosen_by_repository(task);
        let named_by = by_configuration.then(|| Origin::Repository(config::FILE.to_owned()));
        let plan = named_in_plan.then(|| self.file.origin(self.project.trust()));
        let origins = [known.workflow_origin(&workflow.name)].into_iter().chain(named_by);
        for origin in origins.chain(plan) {
            if let Some((step, error)) = known.refused_step(workflow, &origin) {
                let (message, hint) = (error.to_string(), error.hint());
                let tell = if error.code().is_trust() { Failure::trust } else { Failure::input };
                return Err(tell(error.code(), place(step), message, hint));
            }
        }
        for (at, step) in workflow.steps.iter().enumerate() {
            let before = &workflow.steps[..at];
            let Some(agent) = &step.agent else { continue };
            let role = known.find(agent)?;
            let is_analysis = |step: &Step| {
                let role = step.agent.as_deref().and_then(|agent| known.registry().find(agent));
                role.is_some_and(|role| role.phase == Phase::Analyze) && step.phase.is_none()
            };
            if step.when.is_some() && !before.iter().any(is_analysis) {
                let message = "`when` follows an analysis, and no earlier step analyses the task.";
                let hint = "Add a step with the agent `analyzer` before it, or leave `when` out.";
                return Err(Failure::input(Code::BadWorkflow, place(step), message, hint));
            }
            if step.phase.is_some() && role.phase.changes_files() {
                let message =
                    format!("A phase of a workflow's own changes no files, and `{agent}` does.");
                let hint =
                    "Name an agent that only reads, such as `Explore`, or leave `phase` out.";
                return Err(Failure::input(Code::BadWorkflow, place(step), message, hint));
            }
        }
        Ok(())
    }

    /// Those that the workflows and tasks use.
    async fn agents(
        &self,
        workflows: &BTreeMap<String, Workflow>,
        models: &mut Ladder<'_>,
    ) -> Result<BTreeMap<String, Agent>, Failure> {
        let steps = workflows.values().flat_map(|one| &one.steps);
        let named = steps.filter_map(|step| step.agent.clone());
        let asked = self.file.plan.tasks.iter().filter_map(|task| task.settings.agent.clone());
        let needed: BTreeSet<String> = named.chain(asked).collect();
        let mut names = needed.clone();
        let delegates = self.delegates(&needed);
        if delegates {
            let all = self.project.agents.registry().roles();
            names.extend(all.iter().map(|role| role.name.clone()));
        }
        let mut agents = BTreeMap::new();
        for name in names {
            let role = self.project.agents.find(&name)?;
            let wanted = resolve_model(&self.given.model, None, role, &self.project.settings);
            let models = if self.is_replaced(role) && !delegates {
                Vec::new()
            } else {
                match models.resolve(wanted, self.is_priced(role)).await {
                    // Nobody can give it work; why is among the notes.
                    Err(_) if !needed.contains(&name) => continue,
                    models => models?,
                }
            };
            let (phase, profile) = (role.phase, role.profile.clone());
            let description = role.description.clone();
            agents.insert(name, Agent { phase, profile, description, models });
        }
        Ok(agents)
    }

    /// Whether somebody in the run may give work to any agent there is.
    fn delegates(&self, agents: &BTreeSet<String>) -> bool {
        let known = &self.project.agents;
        let tasks = self.file.plan.tasks.iter();
        let asked = tasks.filter_map(|task| task.settings.profile.as_deref());
        let own = agents.iter().filter_map(|name| known.registry().find(name));
        let mut profiles = own.map(|role| role.profile.as_str()).chain(asked);
        profiles.any(|name| known.profiles.get(name).is_ok_and(|one| one.grants(TASK)))
    }

    /// Whether all tasks name another one to write: nobody asks it anything.
    fn is_replaced(&self, role: &Role) -> bool {
        let mut asked = self.file.plan.tasks.iter().map(|task| task.settings.agent.as_deref());
        role.phase.changes_files() && asked.all(|one| one.is_some_and(|name| name != role.name))
    }

    /// Whether what an agent does has a limit in dollars.
    fn is_priced(&self, role: &Role) -> bool {
        let named = self.file.plan.tasks.iter().filter_map(|task| task.settings.profile.as_deref());
        let known = &self.project.agents.profiles;
        let mut profiles =
            named.chain([role.profile.as_str()]).filter_map(|name| known.get(name).ok());
        let is_set = profiles.any(|profile| profile.limits.contains_key(&Limit::Price));
        let given = self.given.budget.iter().any(|(limit, _)| *limit == Limit::Price);
        is_set || given || self.project.settings.set_limits().contains_key(&Limit::Price)
    }

    async fn tasks(&self, models: &mut Ladder<'_>) -> Result<Vec<TaskSpec>, Failure> {
        let (plan, graph) = (&self.file.plan, &self.file.graph);
        self.chosen()?;
        let mut specs = Vec::with_capacity(plan.tasks.len());
        for task in &plan.tasks {
            let mut spec = TaskSpec::of(task, graph);
            spec.workflow = self.workflow_of(task);
            spec.left_out = self.left_out(task);
            spec.tdd = task.settings.tdd.unwrap_or_else(|| self.is_set("tdd"));
            let agent = task.settings.agent.as_deref().unwrap_or(workflow::WRITER);
            let is_overruled = !task.settings.asks_person && names_agent(&self.given.model, agent);
            if let Some(model) = task.settings.model.as_deref().filter(|_| !is_overruled) {
                let role = self.project.agents.find(agent)?;
                let wanted = resolve_model(&[], Some(model), role, &self.project.settings);
                spec.models = models.resolve(wanted, self.is_priced(role)).await?;
            }
            let budget = task
                .settings
                .budget
                .as_deref()
                .and_then(|text| sequester_core::budget::parse(text).ok());
            spec.budget = cap(&budget.into_iter().collect::<Vec<_>>());
            specs.push(spec);
        }
        Ok(specs)
    }

    /// Why a task is no part of this run.
    fn left_out(&self, task: &Task) -> Option<String> {
        let is_in = |list: &[String]| list.iter().any(|id| id == task.id.as_str());
        if task.done && !is_in(&self.given.redo) {
            return Some("It is done already.".to_owned());
        }
        if !self.given.only.is_empty() {
            return (!is_in(&self.given.only)).then(|| "It was not chosen.".to_owned());
        }
        let is_optional = task.optional && !self.given.optional;
        is_optional.then(|| "It is optional; `--optional` takes it.".to_owned())
    }

    /// What `--only` and `--redo` name must be there, and what the chosen tasks need must be done.
    fn chosen(&self) -> Result<(), Failure> {
        for id in self.given.only.iter().chain(&self.given.redo) {
            let Some(task) = self.file.plan.task(&TaskId::from(id.as_str())) else {
                let message = format!("The plan has no task `{id}`.");
                let hint = "`sequester plan` lists the tasks.";
                return Err(Failure::input(Code::UnknownTask, &self.file.name, message, hint));
            };
            let is_chosen = |id: &TaskId| self.given.only.iter().any(|one| one == id.as_str());
            let is_open = |id: &TaskId| self.file.plan.task(id).is_some_and(|one| !one.done);
            let mut needs = task.needs.iter().map(|need| &need.id);
            let open = needs.find(|id| is_open(id) && !is_chosen(id));
            if let Some(need) = open.filter(|_| self.given.only.contains(id)) {
                let message = format!("Task `{id}` needs `{need}`, which is not done.");
                let hint = format!("Choose all that is needed: `--only {}`.", self.with_needs());
                return Err(Failure::input(Code::UnknownNeed, &self.file.name, message, hint));
            }
        }
        Ok(())
    }

    /// The chosen tasks and all open ones that they need, near and far, in the plan's order.
    fn with_needs(&self) -> String {
        let plan = &self.file.plan;
        let mut all: BTreeSet<TaskId> = BTreeSet::new();
        let mut next: Vec<TaskId> =
            self.given.only.iter().map(|id| TaskId::from(id.as_str())).collect();
        while let Some(id) = next.pop() {
            let Some(task) = plan.task(&id).filter(|task| !task.done) else { continue };
            if all.insert(id) {
                next.extend(task.needs.iter().map(|need| need.id.clone()));
            }
        }
        let ids = plan.tasks.iter().map(|task| &task.id).filter(|id| all.contains(*id));
        ids.map(TaskId::as_str).collect::<Vec<_>>().join(",")
    }

    fn checks(&self, base: &dyn Snapshot) -> BTreeMap<Kind, String> {
        let found = self.project.found_checks(base);
        found.into_iter().filter_map(|one| Some((one.kind, one.command?))).collect()
    }

    /// Those that the configuration or the command line switches off.
    fn checks_off(&self) -> BTreeSet<Kind> {
        let configured = self.project.checks();
        let is_off = |kind: &Kind| configured.get(kind).is_some_and(String::is_empty);
        Kind::PROJECT.into_iter().filter(|kind| self.given.no_checks || is_off(kind)).collect()
    }

    /// Workflows in which nothing judges a change but its checks.
    fn unjudged(&self, started: &Started) -> Option<String> {
        // Who gives one task to one subagent knows.
        if self.given.reading.plan.as_os_str().is_empty() {
            return None;
        }
        let phase = |name: &str| started.agents.get(name).map(|one| one.phase);
        let in_use = |name: &&String| {
            let mut tasks = started.tasks.iter().filter(|task| task.left_out.is_none());
            tasks.any(|task| task.workflow == **name)
        };
        let unjudged =
            |name: &&String| started.workflows.get(*name).is_some_and(|one| one.is_unjudged(phase));
        let names: Vec<&str> =
            started.workflows.keys().filter(in_use).filter(unjudged).map(String::as_str).collect();
        if names.is_empty() {
            return None;
        }
        let settings = &started.settings;
        let is_on = |kind: &&Kind| !settings.checks_off.contains(kind);
        let commands: Vec<&str> = settings
            .checks
            .iter()
            .filter(|(kind, _)| is_on(kind))
            .map(|(_, command)| command.as_str())
            .collect();
        let checks = match commands[..] {
            [] if settings.checks_off.len() == Kind::PROJECT.len() => {
                "checks are switched off".to_owned()
            }
            [] => "the project has no checks".to_owned(),
            _ => format!("only these checks decide: `{}`", commands.join("`, `")),
        };
        Some(format!(
            "Workflow `{}`: no subagent judges the changes; {checks}.",
            names.join("`, `")
        ))
    }

    fn is_set(&self, key: &str) -> bool {
        self.project.settings.later(key).and_then(toml::Value::as_bool).unwrap_or(false)
    }

    /// What `--redo` leaves standing on what it does again.
    fn redone(&self) -> Option<String> {
        let again = &self.given.redo;
        let is_again = |id: &TaskId| again.iter().any(|one| one == id.as_str());
        let stands = |task: &&Task| {
            let mut below = self.file.graph.ancestors(&task.id).into_iter();
            task.done && !is_again(&task.id) && below.any(|id| is_again(&id))
        };
        let standing = self.file.plan.tasks.iter().filter(stands);
        let standing: Vec<&str> = standing.map(|task| task.id.as_str()).collect();
        standing_on(again, &standing)
    }

    fn share(&self) -> Share {
        let settings = &self.project.settings;
        self.given.share.as_deref().and_then(Share::parse).unwrap_or_else(|| settings.share())
    }

    fn review(&self) -> Result<Review, Failure> {
        match self.project.settings.later("review").and_then(toml::Value::as_str) {
            None | Some("verdicts") => Ok(Review::Verdicts),
            Some("two-stage") => Ok(Review::TwoStage),
            // Whoever asks for two reviewers must not get one without a word.
            Some(other) => Err(Failure::input(
                Code::BadConfiguration,
                "review",
                format!("`{other}` is no way to review that there is."),
                "Write `verdicts` or `two-stage`, or leave the key out.",
            )),
        }
    }
}

/// What is said of tasks that stay as they are while others below them are done again.
pub(crate) fn standing_on(again: &[impl std::fmt::Display], standing: &[&str]) -> Option<String> {
    let quoted = |all: &[&str]| format!("`{}`", all.join("`, `"));
    let below: Vec<String> = again.iter().map(ToString::to_string).collect();
    let below: Vec<&str> = below.iter().map(String::as_str).collect();
    let (stay, build) = match standing {
        [] => return None,
        [_] => ("stays as it is", "builds"),
        _ => ("stay as they are", "build"),
    };
    let all = [&below[..], standing].concat().join(",");
    Some(format!(
        "{} {stay}, done, and {build} on {}; `--redo {all}` does all of them again.",
        quoted(standing),
        quoted(&below)
    ))
}

pub(crate) fn cap(budget: &[(Limit, u64)]) -> Cap {
    let least = |wanted: Limit| {
        let set = budget.iter().filter(|(limit, _)| *limit == wanted);
        set.map(|(_, value)| *value).min()
    };
    Cap { tokens: least(Limit::Tokens), price: least(Limit::Price) }
}

/// What the run may cost at a model's price, if that is known.
pub(crate) fn estimate(file: &PlanFile, started: &Started, model: &str) -> Option<f64> {
    let price = price::find(model)?;
    let open = started.tasks.iter().filter(|spec| spec.left_out.is_none());
    let texts = open.filter_map(|spec| file.plan.task(&spec.id));
    Some(texts.map(|task| price.estimate(sequester_core::tokens::count(&task.text))).sum())
}
