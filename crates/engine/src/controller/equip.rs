//! What an attempt is given: tools, and the record of its beginning.

use sequester_core::context::IsolatedContext;
use sequester_core::digest::Digest;
use sequester_core::future::BoxFuture;
use sequester_core::id::TreeId;
use sequester_core::provider::Provider;
use sequester_core::run::{AttemptStarted, Order, Shown};
use sequester_core::store::Batch;
use sequester_core::tool::{Invocation, Outcome, Returned, Spec, Toolbox};

use super::Controller;
use super::recorder::json;
use super::world::{Member, Trouble};
use crate::toolbox::{Capped, Filtered, Joined, Redacted};

impl Controller {
    /// What is listed to a model, before anything is started.
    pub(super) fn specs(
        &self,
        member: &Member,
        provider: &dyn Provider,
        start: &TreeId,
    ) -> Result<Vec<Spec>, Trouble> {
        let tools: Box<dyn Toolbox> = Box::new(Listed(self.world.jails.specs()));
        Ok(self.toolbox(member, provider, start, tools)?.specs())
    }

    pub(super) fn toolbox(
        &self,
        member: &Member,
        provider: &dyn Provider,
        start: &TreeId,
        jailed: Box<dyn Toolbox>,
    ) -> Result<impl Toolbox + use<>, Trouble> {
        let extra = self.world.crew.tools(member, provider, start);
        let mut boxes = vec![jailed];
        boxes.extend(extra.granted);
        let specs: Vec<Spec> = boxes.iter().flat_map(|one| one.specs()).collect();
        let available: Vec<&str> = specs.iter().map(|spec| spec.name.as_ref()).collect();
        let resolved = member
            .profile
            .resolve(&available)
            .map_err(|error| Trouble::Crew { message: error.to_string(), hint: error.hint() })?;
        let granted = Filtered::new(Joined(boxes), resolved.listed);
        let mut all: Vec<Box<dyn Toolbox>> = vec![Box::new(granted)];
        all.extend(extra.always);
        Ok(Capped { inner: Redacted(Joined(all)), bytes: member.output_bytes })
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
        agent: order.agent.clone(),
        profile: member.profile.name.clone(),
        model: provider.map_or_else(|| order.model.clone(), |one| one.model().to_owned()),
        powers,
        rung: order.rung,
        purpose: order.purpose,
        base: base.clone(),
        from: order.from.clone(),
        context: Shown {
            digest: Digest::parse(&context.digest).unwrap_or_else(none),
            system: none(),
            prompt: none(),
            text: context.task_text(),
            manifest: none(),
            tokens: context.tokens,
        },
        tools: tools.iter().map(|spec| spec.name.to_string()).collect(),
        specs: none(),
        budget: member.budget.clone(),
        parent: None,
    }
}

/// With all that it names in the batch.
pub(super) fn kept(
    mut started: AttemptStarted,
    context: &IsolatedContext,
    tools: &[Spec],
    batch: &mut Batch,
) -> AttemptStarted {
    started.context.system = batch.keep(context.system.as_bytes());
    started.context.prompt = batch.keep(context.prompt.as_bytes());
    started.context.manifest = batch.keep(json(&context.manifest));
    started.specs = batch.keep(json(&tools));
    started
}
