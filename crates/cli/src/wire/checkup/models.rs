//! Models that can be had: names of keys and servers, never a value.

use std::env;

use sequester_engine::block_on;
use sequester_llm::{Connected, services};
use serde::Serialize;

use super::Problem;
use crate::failure::Failure;
use crate::wire::{Connections, Settings};

#[derive(Serialize)]
pub(crate) struct Model {
    /// A provider, or the whole name of the one that `auto` takes.
    pub(crate) name: String,
    /// Why it is here, as a sentence.
    pub(crate) why: String,
    /// Whether `auto` takes it.
    pub(crate) auto: bool,
}

/// The one that `auto` takes first, then the providers for which there is a key; and what is wrong with a key.
pub(super) fn look(settings: &Settings) -> (Vec<Model>, Vec<Problem>) {
    let (mut models, mut problems) = (Vec::new(), Vec::new());
    match take(settings) {
        Ok(connected) => {
            let name = connected.provider.model().to_owned();
            let chosen = connected.chosen.as_ref();
            let why = chosen.map(|chosen| chosen.why.clone()).unwrap_or_default();
            models.push(Model { name, why, auto: true });
            let passed = chosen.into_iter().flat_map(|chosen| &chosen.instead_of);
            problems.extend(passed.map(|passed| Problem {
                message: format!(
                    "The provider `{}` is passed over: {}",
                    passed.provider, passed.why
                ),
                hint: "Mend its key or its address, or name a model with `--model`.".to_owned(),
            }));
        }
        Err(failure) => problems.push(Problem::of(&failure)),
    }
    models.extend(keyed(settings));
    (models, problems)
}

fn take(settings: &Settings) -> Result<Connected, Failure> {
    let connections = Connections::new(settings)?;
    block_on(connections.connect("auto", &[])).map_err(|error| Failure::no_runtime(&error))?
}

fn keyed(settings: &Settings) -> impl Iterator<Item = Model> {
    let set = |name: &&&str| env::var_os(name).is_some_and(|value| !value.is_empty());
    services().iter().filter_map(move |service| {
        let why = if let Some(variable) = service.keys.iter().find(set) {
            format!("`{variable}` is set.")
        } else {
            settings.keys().get(service.name)?;
            "Your configuration has a command that prints its key.".to_owned()
        };
        Some(Model { name: service.name.to_owned(), why, auto: false })
    })
}
