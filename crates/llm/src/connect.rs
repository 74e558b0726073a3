//! From a model's name to a model that can be asked.

use sequester_core::provider::{Error, Provider};

use crate::{Literal, Named, Pool, Remote, Sources, choose, resolve};

/// A model that can be asked.
pub struct Connected {
    pub provider: Box<dyn Provider>,
    /// It carries out web searches itself.
    pub searches: bool,
    /// Why it was taken, where nobody named it.
    pub why: Option<String>,
}

/// Finds the model; only `auto` and its aliases look for servers nearby.
pub async fn connect(name: &str, sources: &Sources<'_>, pool: &Pool) -> Result<Connected, Error> {
    let (named, why) = match resolve(name, sources)? {
        Named::Auto(tier) => {
            let choice = choose(tier, sources, pool).await;
            (choice.model, Some(choice.why))
        }
        named => (named, None),
    };
    let Named::Target(target) = named else {
        return Ok(Connected { provider: Box::new(Literal), searches: false, why });
    };
    let remote = Remote::new(pool, target);
    Ok(Connected { searches: remote.can_search(), provider: Box::new(remote), why })
}
