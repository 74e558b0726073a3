//! What `auto` takes: the first model that can be had.

use std::time::Duration;

use sequester_core::provider::Error;
use serde_json::Value;

use crate::name::{self, Named, Sources, Target, Tier};
use crate::pool::{Missing, Pool};
use crate::service::{self, Service, Wire, services};

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
    /// Somebody gave a key or an address for it, and may wonder.
    pub expected: bool,
}

/// How long a server nearby may take to list its models, and one that a key is for.
const NEARBY: Duration = Duration::from_secs(1);
const KEYED: Duration = Duration::from_secs(5);
const LISTING: usize = 1 << 20;

/// Keys in the order of the services, then a server nearby, then `literal`; none of those that were `rejected` before.
/// Only servers at an address that a person named are asked over the network.
pub async fn choose(tier: Tier, sources: &Sources<'_>, pool: &Pool, rejected: &[Passed]) -> Choice {
    let mut passed = rejected.to_vec();
    let is_open = |service: &&'static Service| {
        // Who has a key for Chat Completions has it for Responses.
        service.name != "openai-responses"
            && !rejected.iter().any(|one| one.provider == service.name)
    };
    for service in services().iter().filter(is_open).filter(|one| !one.keys.is_empty()) {
        match keyed(service, tier, sources, pool).await {
            Ok(target) => {
                let why = format!("There is a key for `{}`.", service.name);
                return Choice { model: Named::Target(target), why, passed };
            }
            Err(one) => passed.push(one),
        }
    }
    // Who was asked with a key is not asked without.
    let asked: Vec<&str> =
        passed.iter().filter(|one| one.expected).map(|one| one.provider).collect();
    let near = ["ollama", "openai"].into_iter().filter(|name| !asked.contains(name));
    for service in near.filter_map(service::find) {
        match nearby(service, sources, pool).await {
            Ok(target) => {
                let why = format!("A server for `{}` answers without a key.", service.name);
                return Choice { model: Named::Target(target), why, passed };
            }
            Err(one) => passed.push(one),
        }
    }
    let why = "There is no key that can be used and no server nearby, so only what a task spells out is carried out; \
        for a model set a key such as `ANTHROPIC_API_KEY`, or start a server such as Ollama."
        .to_owned();
    Choice { model: Named::Literal, why, passed }
}

/// The service's model of this tier, if there is a key; at another address than the service's own, a model that is there.
async fn keyed(
    service: &'static Service,
    tier: Tier,
    sources: &Sources<'_>,
    pool: &Pool,
) -> Result<Target, Passed> {
    let pass = |why| Passed { provider: service.name, why, expected: true };
    let tell = |error: Error| pass(error.message);
    let Some(key) = name::key(service, sources).map_err(tell)? else {
        let why = format!("`{}` is not set.", service.keys.join("` nor `"));
        return Err(Passed { expected: false, ..pass(why) });
    };
    let model = service.models.map(|[strong, default, cheap]| match tier {
        Tier::Strong => strong,
        Tier::Default => default,
        Tier::Cheap => cheap,
    });
    let target = name::target_with(Some(key), service, model.unwrap_or_default(), sources);
    let target = target.map_err(tell)?;
    if service.wire == Wire::Chat && name::base(service, sources).is_some() {
        return listed(target, pool, KEYED).await.map_err(pass);
    }
    if model.is_none() {
        return Err(pass(format!(
            "There is a key, but no model is known to be a good default; name one: `{}/MODEL`.",
            service.name
        )));
    }
    Ok(target)
}

/// A server that asks for no key, with the first model that it lists.
async fn nearby(
    service: &'static Service,
    sources: &Sources<'_>,
    pool: &Pool,
) -> Result<Target, Passed> {
    let is_named = name::base(service, sources).is_some();
    let pass = |why| Passed { provider: service.name, why, expected: is_named };
    if let (false, false, Some(variable)) = (is_named, service.keys.is_empty(), service.base) {
        return Err(pass(format!("`{variable}` names no server.")));
    }
    let target = name::target_with(None, service, "", sources);
    let target = target.map_err(|error| pass(error.message))?;
    listed(target, pool, NEARBY).await.map_err(pass)
}

/// The target with its own model if the server lists it, else with the first that the server lists.
async fn listed(target: Target, pool: &Pool, wait: Duration) -> Result<Target, String> {
    let url = reqwest::Url::parse(&format!("{}models", target.address))
        .map_err(|_| "Its address is none.".to_owned())?;
    let listing = match pool.get(url, target.key.as_ref(), wait, LISTING).await {
        Ok(listing) => listing,
        Err(Missing::Refused(401 | 403)) => return Err("It does not accept the key.".to_owned()),
        // A server need not list its models to have them.
        Err(Missing::Refused(404 | 405 | 501)) if !target.model.is_empty() => return Ok(target),
        Err(why) => return Err(why.to_string()),
    };
    let listing: Value = serde_json::from_slice(&listing)
        .map_err(|_| "It lists its models in an unknown form.".to_owned())?;
    let model = find(&listing, &target.model).ok_or("It has no model that writes text.")?;
    Ok(Target { model: model.to_owned(), ..target })
}

/// The model of this name, else the first that is not for embeddings.
fn find<'a>(listing: &'a Value, wanted: &str) -> Option<&'a str> {
    let models = listing.get("data")?.as_array()?;
    let mut names = models.iter().filter_map(|model| model.get("id")?.as_str());
    names
        .clone()
        .find(|name| !name.is_empty() && *name == wanted)
        .or_else(|| names.find(|name| !name.is_empty() && !name.contains("embed")))
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
        sources_with(variables, |sources| runtime.block_on(choose(tier, sources, &pool, &[])))
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
        assert_eq!(choice.passed, [Passed { provider: "anthropic", why, expected: false }]);
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
        assert_eq!(find(&listing, ""), Some("qwen3"));
        assert_eq!(find(&listing, "nomic-embed-text"), Some("nomic-embed-text"));
        assert_eq!(find(&json!([]), "qwen3"), None);
        assert_eq!(find(&json!({"data": 3}), "qwen3"), None);
    }
}
