//! What `auto` takes: the first model that can be had.

use std::time::Duration;

use sequester_core::provider::{Error, Kind};
use serde_json::Value;

use crate::name::{self, Named, Sources, Target, Tier};
use crate::pool::Pool;
use crate::service::{self, Service, services};

/// What was taken, and what was passed over on the way.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// `Literal` or a `Target`.
    pub model: Named,
    /// Why this one, in a sentence.
    pub why: String,
    pub passed: Vec<Passed>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passed {
    pub provider: &'static str,
    /// A sentence.
    pub why: String,
}

/// How long a server nearby may take to list its models.
const PROBE: Duration = Duration::from_secs(1);
const LISTING: usize = 1 << 20;

/// Keys in the order of the services, then a server nearby, then `literal`. Only servers are asked over the network.
pub async fn choose(tier: Tier, sources: &Sources<'_>, pool: &Pool) -> Choice {
    let mut passed = Vec::new();
    for service in services().iter().filter(|service| !service.keys.is_empty()) {
        match keyed(service, tier, sources) {
            Ok(target) => {
                let why = format!("There is a key for `{}`.", service.name);
                return Choice { model: Named::Target(target), why, passed };
            }
            // One entry for one key: Responses is not what `auto` would take.
            Err(_) if service.name == "openai-responses" => {}
            Err(error) => passed.push(Passed { provider: service.name, why: error.message }),
        }
    }
    for provider in ["ollama", "openai"] {
        let Some(service) = service::find(provider) else { continue };
        match nearby(service, sources, pool).await {
            Ok(target) => {
                let why = format!("A server for `{provider}` answers without a key.");
                return Choice { model: Named::Target(target), why, passed };
            }
            Err(why) => passed.push(Passed { provider, why }),
        }
    }
    let why = "`literal` needs nothing: it carries out what a task spells out.".to_owned();
    Choice { model: Named::Literal, why, passed }
}

/// The service's model of this tier, if there is a key.
fn keyed(service: &'static Service, tier: Tier, sources: &Sources<'_>) -> Result<Target, Error> {
    if name::key(service, sources)?.is_none() {
        let message = format!("`{}` is not set.", service.keys.join("` nor `"));
        return Err(Error { kind: Kind::NoKey, message, retry_after: None });
    }
    let Some([strong, default, cheap]) = service.models else {
        let message = format!(
            "There is a key, but no model is known to be a good default; name one: `{}/MODEL`.",
            service.name
        );
        return Err(Error { kind: Kind::UnknownModel, message, retry_after: None });
    };
    let model = match tier {
        Tier::Strong => strong,
        Tier::Default => default,
        Tier::Cheap => cheap,
    };
    name::target(service, model, sources)
}

/// A server that asks for no key, with the first model that it lists.
async fn nearby(
    service: &'static Service,
    sources: &Sources<'_>,
    pool: &Pool,
) -> Result<Target, String> {
    if let (true, Some(variable)) = (!service.keys.is_empty(), service.base)
        && name::base(service, sources).is_none()
    {
        return Err(format!("`{variable}` names no server."));
    }
    let target = name::target(service, "", sources).map_err(|error| error.message)?;
    let url = reqwest::Url::parse(&format!("{}models", target.address))
        .map_err(|_| "Its address is none.".to_owned())?;
    let listing = pool.get(url, PROBE, LISTING).await?;
    let listing: Value = serde_json::from_slice(&listing)
        .map_err(|_| "It lists its models in an unknown form.".to_owned())?;
    let model = first(&listing).ok_or("It has no model that writes text.")?;
    Ok(Target { model: model.to_owned(), ..target })
}

/// The first model that is not for embeddings.
fn first(listing: &Value) -> Option<&str> {
    let models = listing.get("data")?.as_array()?;
    let names = models.iter().filter_map(|model| model.get("id")?.as_str());
    names.into_iter().find(|name| !name.is_empty() && !name.contains("embed"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{Models, Timeouts};

    fn sources_with<T>(variables: &[(&str, &str)], run: impl FnOnce(&Sources<'_>) -> T) -> T {
        let models = Models::default();
        let environment = |wanted: &str| {
            let found = variables.iter().find(|(name, _)| *name == wanted);
            found.map(|(_, value)| (*value).to_owned())
        };
        run(&Sources { models: &models, environment: &environment, command: &|_| None })
    }

    fn chosen(tier: Tier, variables: &[(&str, &str)]) -> Choice {
        let pool = Pool::new(Timeouts::default()).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        sources_with(variables, |sources| runtime.block_on(choose(tier, sources, &pool)))
    }

    fn name_of(choice: &Choice) -> String {
        match &choice.model {
            Named::Target(target) => target.name(),
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn the_first_key_wins_and_what_came_before_it_is_told() {
        let keys = [("OPENAI_API_KEY", "made-up"), ("GEMINI_API_KEY", "made-up")];
        let choice = chosen(Tier::Cheap, &keys);
        assert_eq!(name_of(&choice), "openai/gpt-5-mini");
        let why = "`ANTHROPIC_API_KEY` is not set.".to_owned();
        assert_eq!(choice.passed, [Passed { provider: "anthropic", why }]);
    }

    #[test]
    fn a_key_without_a_known_model_is_passed_over_and_literal_is_the_last_resort() {
        // A port that nothing listens on: the lowest one.
        let variables = [("TOGETHER_API_KEY", "made-up"), ("OLLAMA_HOST", "http://127.0.0.1:1")];
        let choice = chosen(Tier::Default, &variables);
        assert_eq!(choice.model, Named::Literal);
        let why = |provider: &str| {
            let passed = choice.passed.iter().rfind(|passed| passed.provider == provider);
            passed.map(|passed| passed.why.as_str()).unwrap_or_default().to_owned()
        };
        assert!(why("together").contains("name one: `together/MODEL`"));
        assert_eq!(why("ollama"), "No connection could be made.");
        assert_eq!(why("openai"), "`OPENAI_BASE_URL` names no server.");
    }

    #[test]
    fn a_listing_is_read_with_suspicion() {
        let listing = json!({"data": [{}, {"id": "nomic-embed-text"}, {"id": "qwen3"}]});
        assert_eq!(first(&listing), Some("qwen3"));
        assert_eq!(first(&json!([])), None);
        assert_eq!(first(&json!({"data": 3})), None);
    }
}
