//! From a model's name to a model that can be asked.

use sequester_core::agent::{Fault, Outcome};
use sequester_core::budget::Spent;
use sequester_core::provider::{Error, Kind, Provider};

use crate::{Literal, Named, Passed, Pool, Remote, Sources, choose, resolve};

/// A model that can be asked.
pub struct Connected {
    pub provider: Box<dyn Provider>,
    /// It carries out web searches itself.
    pub searches: bool,
    pub chosen: Option<Chosen>,
}

/// Where nobody named the model: why it was taken, and what was passed over that a person might have expected.
pub struct Chosen {
    pub why: String,
    pub instead_of: Vec<Passed>,
    /// The service it belongs to; `literal` has none.
    service: Option<&'static str>,
}

impl Connected {
    /// Whether the provider would have nothing of us, and another is to be looked for: nobody asked for this one.
    pub fn rejected(&self, outcome: &Outcome, spent: &Spent) -> Option<Passed> {
        let provider = self.chosen.as_ref()?.service?;
        match outcome {
            Outcome::Failed { fault: Fault::Provider { error } }
                if spent.turns == 0
                    && matches!(error.kind, Kind::Authentication | Kind::Forbidden) =>
            {
                Some(Passed { provider, why: error.message.clone(), expected: true })
            }
            _ => None,
        }
    }
}

/// Finds the model; only `auto` and its aliases look for servers nearby, and for none that was `rejected`.
pub async fn connect(
    name: &str,
    sources: &Sources<'_>,
    pool: &Pool,
    rejected: &[Passed],
) -> Result<Connected, Error> {
    let (named, chosen) = match resolve(name, sources)? {
        Named::Auto(tier) => {
            let choice = choose(tier, sources, pool, rejected).await;
            let service = match &choice.model {
                Named::Target(target) => Some(target.service.name),
                _ => None,
            };
            let news = choice.passed.into_iter().skip(rejected.len());
            let instead_of = news.filter(|one| one.expected).collect();
            (choice.model, Some(Chosen { why: choice.why, instead_of, service }))
        }
        named => (named, None),
    };
    let Named::Target(target) = named else {
        return Ok(Connected { provider: Box::new(Literal), searches: false, chosen });
    };
    let remote = Remote::new(pool, target);
    Ok(Connected { searches: remote.can_search(), provider: Box::new(remote), chosen })
}
