//! The models that a run may ask, in the order in which they are tried.

use std::collections::{BTreeMap, BTreeSet};

use sequester_core::fault::Code;
use sequester_core::price;
use sequester_core::provider::Provider;
use sequester_core::run::{LITERAL, Tried};
use sequester_llm::{Connected, Passed};

use super::model::Connections;
use crate::failure::Failure;

/// Names of models, each looked for once.
pub(crate) struct Ladder<'a> {
    connections: &'a Connections,
    /// What would have nothing of us.
    rejected: &'a [Passed],
    known: BTreeMap<String, Option<String>>,
    /// What a person should know.
    pub(crate) notes: Vec<String>,
    /// Models that cost money.
    pub(crate) paid: BTreeSet<String>,
    pub(crate) chosen: Choices,
}

/// Models that were taken where nobody named one.
#[derive(Default)]
pub(crate) struct Choices(BTreeMap<String, Connected>);

impl Choices {
    /// Whether the provider would have nothing of us, so that another is to be looked for.
    pub(crate) fn rejected(&self, tried: &Tried) -> Option<Passed> {
        self.0.get(&tried.model)?.rejected(&tried.outcome, &tried.spent)
    }
}

impl<'a> Ladder<'a> {
    pub(crate) fn new(connections: &'a Connections, rejected: &'a [Passed]) -> Self {
        Self {
            connections,
            rejected,
            known: BTreeMap::new(),
            notes: Vec::new(),
            paid: BTreeSet::new(),
            chosen: Choices::default(),
        }
    }

    /// What `auto` and other names stand for, without those that cannot be had; none of them left is a failure, and so is
    /// one whose price nobody knows where there is a limit in `dollars`.
    pub(crate) async fn resolve(
        &mut self,
        wanted: Vec<String>,
        dollars: bool,
    ) -> Result<Vec<String>, Failure> {
        let mut found: Vec<String> = Vec::new();
        let mut last = None;
        for name in wanted {
            if let Some(known) = self.known.get(&name) {
                found.extend(known.clone());
                continue;
            }
            match self.connections.connect(&name, self.rejected).await {
                Ok(connected) => {
                    if dollars {
                        can_be_priced(connected.provider.as_ref())?;
                    }
                    let model = self.take(connected);
                    self.known.insert(name, Some(model.clone()));
                    found.push(model);
                }
                Err(failure) => {
                    self.notes.push(failure.message().to_owned());
                    self.known.insert(name, None);
                    last = Some(failure);
                }
            }
        }
        found.dedup();
        match last {
            Some(failure) if found.is_empty() => Err(failure),
            _ if found.is_empty() => Ok(vec![LITERAL.to_owned()]),
            _ => Ok(found),
        }
    }

    fn take(&mut self, connected: Connected) -> String {
        let model = connected.provider.model().to_owned();
        if !connected.provider.powers().free {
            self.paid.insert(model.clone());
        }
        if let Some(chosen) = &connected.chosen {
            for passed in &chosen.instead_of {
                self.notes.push(format!("`{}` is passed over: {}", passed.provider, passed.why));
            }
            self.notes.push(format!("the model is `{model}`: {}", chosen.why));
            self.chosen.0.insert(model.clone(), connected);
        }
        model
    }
}

/// A limit in dollars is none for a model whose price nobody knows.
fn can_be_priced(provider: &dyn Provider) -> Result<(), Failure> {
    let model = provider.model();
    if provider.powers().free || price::find(model).is_some() {
        return Ok(());
    }
    let message =
        format!("The price of `{model}` is not known, so a budget in dollars cannot be kept.");
    let hint = "Give the budget in tokens, such as `200k`.";
    Err(Failure::input(Code::BadArguments, "", message, hint))
}
