//! What an attempt is given: tools, and the record of its beginning.

use sequester_core::agent::{takes_tasks, task_spec};
use sequester_core::context::{IsolatedContext, Kind};
use sequester_core::digest::Digest;
use sequester_core::future::BoxFuture;
use sequester_core::id::{TaskId, TreeId};
use sequester_core::provider::Provider;
use sequester_core::run::{Agent, AttemptStarted, LITERAL, Order, Shown, Sources};
use sequester_core::secret::SecretSet;
use sequester_core::store::Batch;
use sequester_core::tool::{Invocation, Outcome, Returned, Spec, Toolbox};

use super::Controller;
use super::recorder::json;
use super::world::{Crew, Member, Trouble};
use crate::toolbox::{Capped, Filtered, Joined, Redacted};

impl Controller {
    /// What is listed to a model, before anything is started.
    pub(super) fn specs(
        &self,
        task: &TaskId,
        member: &Member,
        provider: &dyn Provider,
        (start, findings): (&TreeId, &[Digest]),
    ) -> Result<Vec<Spec>, Trouble> {
        let mut specs = self.world.jails.specs();
        specs.push(self.task_spec());
        let tools: Vec<Box<dyn Toolbox>> = vec![Box::new(Listed(specs))];
        let secrets = SecretSet::default();
        Ok(self.toolbox(task, member, provider, (start, findings), tools, secrets)?.specs())
    }

    /// The tool that delegates, with all agents of the run that can take work.
    pub(super) fn task_spec(&self) -> Spec {
        let is_literal = |agent: &Agent| agent.models.iter().all(|model| model == LITERAL);
        self.log.read(|run| {
            let agents = run.started.agents.iter();
            let able = agents.filter(|(name, _)| takes_tasks(name));
            let able = able.filter(|(_, one)| one.phase.changes_files() || !is_literal(one));
            let told = able.map(|(name, one)| (name.as_str(), one.description.as_str()));
            task_spec(&told.collect())
        })
    }

    /// As far as the profile grants them, with what everybody has.
    pub(super) fn toolbox<'b>(
        &self,
        task: &TaskId,
        member: &Member,
        provider: &dyn Provider,
        (start, findings): (&TreeId, &[Digest]),
        mut boxes: Vec<Box<dyn Toolbox + 'b>>,
        secrets: SecretSet,
    ) -> Result<impl Toolbox + use<'b>, Trouble> {
        let extra = self.world.crew.tools(member, provider, start);
        boxes.extend(extra.granted.into_iter().map(|one| one as Box<dyn Toolbox + 'b>));
        let specs: Vec<Spec> = boxes.iter().flat_map(|one| one.specs()).collect();
        let available: Vec<&str> = specs.iter().map(|spec| spec.name.as_ref()).collect();
        let resolved = member
            .profile
            .resolve(&available)
            .map_err(|error| Trouble::Crew { message: error.to_string(), hint: error.hint() })?;
        let granted = Filtered::new(Joined(boxes), resolved.listed);
        let mut all: Vec<Box<dyn Toolbox + 'b>> = vec![Box::new(granted)];
        all.extend(extra.always.into_iter().map(|one| one as Box<dyn Toolbox + 'b>));
        let recall =
            self.recall(task, member, findings).map(|one| Box::new(one) as Box<dyn Toolbox + 'b>);
        all.extend(recall);
        Ok(Capped { inner: Redacted::new(Joined(all), secrets), bytes: member.output_bytes })
    }
}

/// Tools that can be listed only.
struct Listed(Vec<Spec>);

impl Toolbox for Listed {
    fn specs(&self) -> Vec<Spec> {
        self.0.clone()
    }

    fn call<'a>(&'a self, _: &'a Invocation) -> BoxFuture<'a, Returned> {
        let text = "The tools are not there.".to_owned();
        Box::pin(async move { Outcome::Failed(text).into() })
    }
}

pub(super) fn started(
    order: &Order,
    member: &Member,
    base: &TreeId,
    context: &IsolatedContext,
    provider: Option<&dyn Provider>,
    tools: &[Spec],
) -> AttemptStarted {
    let powers = provider.map(Provider::powers).unwrap_or_default();
    let none = || Digest::of(b"");
    AttemptStarted {
        step: order.step.clone(),
        place: order.place,
        agent: order.agent.clone(),
        profile: member.profile.name.clone(),
        model: provider.map_or_else(|| order.model.clone(), |one| one.model().to_owned()),
        powers,
        rung: order.rung,
        purpose: order.purpose,
        base: base.clone(),
        from: order.from.clone(),
        findings: order.findings.clone(),
        context: Shown {
            digest: Digest::parse(&context.digest).unwrap_or_else(none),
            system: none(),
            prompt: none(),
            text: context.task_text(),
            manifest: none(),
            tokens: context.tokens,
        },
        handoff: None,
        tools: tools.iter().map(|spec| spec.name.to_string()).collect(),
        specs: none(),
        budget: member.budget.clone(),
        parent: None,
        sources: None,
        inherited: None,
    }
}

/// With all that it names in the batch.
pub(super) fn kept(
    mut started: AttemptStarted,
    (crew, member): (&dyn Crew, &Member),
    context: &IsolatedContext,
    tools: &[Spec],
    batch: &mut Batch,
) -> AttemptStarted {
    let quotes = |path: &str| {
        let mut spec = context.manifest.fragments.iter().filter(|row| row.kind == Kind::Spec);
        spec.any(|row| row.source.strip_prefix(path).is_some_and(is_section))
    };
    let companions = crew.companions().into_iter().filter(|(path, _)| quotes(path));
    started.sources = Some(Sources {
        granted: member.profile.granted(),
        agent: batch.keep(member.prompt.as_bytes()),
        companions: companions
            .map(|(path, text)| (path.to_owned(), batch.keep(text.as_bytes())))
            .collect(),
    });
    started.context.system = batch.keep(context.system.as_bytes());
    started.context.prompt = batch.keep(context.prompt.as_bytes());
    started.context.manifest = batch.keep(json(&context.manifest));
    started.handoff = context.handoff.as_ref().map(|handoff| batch.keep(json(handoff)));
    started.specs = batch.keep(json(&tools));
    started
}

/// What stands after a document's path where a section of it is named.
fn is_section(rest: &str) -> bool {
    rest.is_empty() || rest.starts_with(": ")
}
