//! Prices of the models that a plan would be run with here.

use std::env;

use sequester_core::price::{self, PRICES, Price};
use sequester_core::run::workflow;
use sequester_llm::services;

use super::Project;
use super::config::resolve_model;
use crate::failure::Failure;

/// Those of the writer's models that cost something: a model by its name, and where any may be taken, those of providers
/// that there is a key for.
pub(crate) fn of(project: &Project) -> Result<Vec<&'static Price>, Failure> {
    let role = project.agents.find(workflow::WRITER)?;
    let models = resolve_model(&[], None, role, &project.settings);
    let is_any = models.iter().any(|model| ["auto", "strong", "cheap"].contains(&model.as_str()));
    let named = |price: &&Price| {
        let mut found = models.iter().filter_map(|model| price::find(model));
        found.any(|one| one.model == price.model)
    };
    let reachable = |price: &&Price| is_any && has_key(project, provider(price));
    Ok(PRICES.iter().filter(|price| named(price) || reachable(price)).collect())
}

fn provider(price: &Price) -> &'static str {
    price.model.split('/').next().unwrap_or_default()
}

fn has_key(project: &Project, provider: &str) -> bool {
    let service = services().iter().find(|service| service.name == provider);
    let set = |name: &&str| env::var_os(name).is_some_and(|value| !value.is_empty());
    let is_set = service.is_some_and(|service| service.keys.iter().any(set));
    is_set || project.settings.keys().contains_key(provider)
}
